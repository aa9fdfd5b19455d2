//! Names of methods that are the same in each run.

use super::names;

/// `package.Class.method`, without the parts that differ between generated classes of one kind: the
/// addresses of hidden classes, and the numbers of lambdas, proxies and reflective accessors.
/// `class` has dots or slashes between packages.
pub fn place(class: &str, method: &str) -> String {
    let shown = names::without_address(class.as_bytes());
    let shown = String::from_utf8_lossy(shown).replace('/', ".");
    // `jdk.proxy2.$Proxy14`: both numbers count proxies.
    if shown.contains("$Proxy") && names::is_numbered(shown.as_bytes()) {
        return format!("$Proxy.{method}");
    }
    let numberless = shown.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_generated = numberless.ends_with("$$Lambda$")
        || (numberless.contains(".reflect.Generated") && numberless.ends_with("Accessor"));
    let class = if is_generated {
        numberless.trim_end_matches('$')
    } else {
        &shown
    };
    format!("{class}.{method}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_has_the_same_name_in_each_run() {
        for (class, expected) in [
            ("p/A", "p.A.m"),
            ("p.A$12", "p.A$12.m"),
            ("p/A$$Lambda$14/0x00007f12", "p.A$$Lambda.m"),
            ("p/A$$Lambda+0x00007f12", "p.A$$Lambda.m"),
            ("p.A$$Lambda.0x00007f12", "p.A$$Lambda.m"),
            ("p/A$$Lambda+0x00007f1/1790421142", "p.A$$Lambda.m"),
            (
                "java.lang.invoke.LambdaForm$MH+0x000a",
                "java.lang.invoke.LambdaForm$MH.m",
            ),
            (
                "jdk/internal/reflect/GeneratedMethodAccessor12",
                "jdk.internal.reflect.GeneratedMethodAccessor.m",
            ),
            ("jdk/proxy2/$Proxy14", "$Proxy.m"),
        ] {
            assert_eq!(place(class, "m"), expected, "{class}");
        }
    }
}
