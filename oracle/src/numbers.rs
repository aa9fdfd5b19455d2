//! Numbers in sentences for people.

/// A count with separators: `683,739,826`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share as somebody has set it, from 0 to 1, in per cent: `0.5 %`, `2 %`.
pub fn exact(share: f64) -> String {
    // Nine decimals hide that 100 times 0.07 is not 7.
    let percent = format!("{:.9}", 100.0 * share);
    match percent.trim_end_matches('0').trim_end_matches('.') {
        "0" => format!("{} %", 100.0 * share),
        percent => format!("{percent} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_easily() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(683_739_826), "683,739,826");
        assert_eq!(exact(0.0), "0 %");
        assert_eq!(exact(0.07), "7 %");
        assert_eq!(exact(0.00001), "0.001 %");
        assert_eq!(exact(1e-12), "0.0000000001 %");
    }
}
