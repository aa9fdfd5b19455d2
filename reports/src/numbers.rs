//! Numbers for people: thousands separators, per cent, "1 in N". Never an exponent.

/// Smallest rate that is shown in per cent; smaller ones are shown as "1 in N".
const SMALLEST_PERCENT: f64 = 1e-6;

pub use oracle::numbers::count;

/// A count with a noun: `1 run`, `2 runs`.
pub(crate) fn counted(n: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { more })
}

/// A number with two significant digits at least, and no exponent: `0.0043`, `0.68`, `20`, `1,234`.
pub(crate) fn digits(number: f64) -> String {
    let size = number.abs();
    if size >= 99.5 || !number.is_finite() {
        let sign = if number < 0.0 { "-" } else { "" };
        return format!("{sign}{}", count(size.round() as u64));
    }
    if size == 0.0 {
        return "0".into();
    }
    let places = (1 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{number:.places$}");
    // 9.96 is 10, not 10.0.
    let is_long = text
        .trim_start_matches(['-', '0', '.'])
        .replace('.', "")
        .len()
        > 2
        && places > 0;
    if is_long {
        let places = places - 1;
        return format!("{number:.places$}");
    }
    text
}

/// A share from 0 to 1: `0.68 %`, or `1 in 228 million` where per cent would have too many zeros.
pub(crate) fn share(share: f64) -> String {
    if share == 0.0 {
        "0 %".into()
    } else if share < SMALLEST_PERCENT {
        one_in(share)
    } else {
        format!("{} %", digits(100.0 * share))
    }
}

/// A share from 0 to 1 as a fraction: `1 in 25,000`, `1 in 228 million`.
pub(crate) fn one_in(share: f64) -> String {
    let n = (1.0 / share).min(9e18);
    for (size, name) in [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")] {
        if n >= size {
            return format!("1 in {} {name}", digits(n / size));
        }
    }
    // Two significant digits.
    let step = 10f64.powf(n.max(1.0).log10().floor() - 1.0).max(1.0);
    format!("1 in {}", count(((n / step).round() * step) as u64))
}

/// A share as somebody has set it, without rounding to two digits: `0.5 %`, `2 %`.
pub(crate) fn exact(share: f64) -> String {
    match share {
        0.0..1e-11 if share > 0.0 => one_in(share),
        _ => oracle::numbers::exact(share),
    }
}

/// A share with one decimal: `93.8 %`.
pub(crate) fn tenths(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// An interval of shares in per cent: `0.61 to 0.75 %`.
pub(crate) fn interval(low: f64, high: f64) -> String {
    format!("{} to {} %", digits(100.0 * low), digits(100.0 * high))
}

/// The part of a whole, in per cent with one decimal; `-` without a whole.
pub(crate) fn part(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".into(),
        _ => format!("{:.1} %", 100.0 * part as f64 / whole as f64),
    }
}

/// A difference in per cent with its sign: `-56 %`, `+5.2 %`.
pub(crate) fn signed(difference: f64) -> String {
    let sign = if difference < 0.0 { "-" } else { "+" };
    format!("{sign}{} %", digits(100.0 * difference.abs()))
}

/// A duration: `107 s`, `4 min 20 s`, `2 h 5 min`.
pub(crate) fn duration(seconds: f64) -> String {
    let seconds = seconds.round().max(0.0) as u64;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", count(seconds / 3600), seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_easily() {
        assert_eq!(count(0), "0");
        assert_eq!(count(683_739_826), "683,739,826");
        assert_eq!(counted(1, "run", "runs"), "1 run");
        for (number, shown) in [
            (0.68, "0.68"),
            (0.684, "0.68"),
            (0.0043, "0.0043"),
            (0.00996, "0.010"),
            (9.96, "10"),
            (20.04, "20"),
            (5.5, "5.5"),
            (100.0, "100"),
            (0.0, "0"),
            (-5.21, "-5.2"),
            (1234.5, "1,235"),
        ] {
            assert_eq!(digits(number), shown, "{number}");
        }
        assert_eq!(share(0.0068), "0.68 %");
        assert_eq!(share(1.0), "100 %");
        assert_eq!(share(4.38e-9), "1 in 228 million");
        assert_eq!(one_in(1.0 / 25_312.0), "1 in 25,000");
        assert_eq!(one_in(0.4), "1 in 3");
        assert_eq!(interval(0.0061, 0.0075), "0.61 to 0.75 %");
        assert_eq!(exact(0.07), "7 %");
        assert_eq!(exact(0.005), "0.5 %");
        assert_eq!(exact(0.0), "0 %");
        assert_eq!(tenths(0.9384), "93.8 %");
        assert_eq!(part(1, 8), "12.5 %");
        assert_eq!(part(1, 0), "-");
        assert_eq!(signed(-0.561), "-56 %");
        assert_eq!(signed(0.052), "+5.2 %");
        assert_eq!(duration(107.2), "107 s");
        assert_eq!(duration(260.0), "4 min 20 s");
    }

    proptest! {
        #[test]
        fn numbers_have_no_exponent_and_keep_their_value(rate in 1e-15f64..1.0) {
            for text in [share(rate), one_in(rate), digits(rate)] {
                let exponent = text.as_bytes().windows(2);
                let mut exponent = exponent.filter(|pair| pair[0].is_ascii_digit() && pair[1] == b'e');
                prop_assert!(exponent.next().is_none(), "{}", text);
            }
            if let Some(percent) = share(rate).strip_suffix(" %") {
                let value: f64 = percent.parse().expect("a number");
                prop_assert!((value / 100.0 - rate).abs() <= 0.06 * rate, "{} {}", percent, rate);
            }
        }
    }
}
