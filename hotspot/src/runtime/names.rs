//! Names of the classes that HotSpot and the JDK generate at run time.

use oracle::edge::{ClassKind, package};
use std::borrow::Cow;

/// A class's name without the part that differs between hidden classes of one name, and the kind of
/// the class.
///
/// HotSpot appends the address of a hidden class to its name, after `+` (JFR, JVM), `.`
/// (signatures, JVMTI) or `/` (`Class.getName`).
pub(super) fn of(name: &[u8]) -> (&[u8], ClassKind) {
    let base = hidden(name);
    let shown = base.unwrap_or(name);
    // Up to JDK 20 the names of lambdas are numbered. A program that loads a class again and again
    // has ever higher numbers.
    let shown = lambda(shown).unwrap_or(shown);
    // The VM calls this class, and no method handle does.
    let natives = shown == b"java/lang/invoke/MethodHandleNatives";
    let kind = if package(shown) == b"java/lang/invoke" && !natives {
        ClassKind::Linker
    } else if shown.windows(8).any(|w| w == b"$$Lambda")
        || shown == b"java/lang/String$$StringConcat"
    {
        ClassKind::Lambda
    } else if base.is_some() {
        ClassKind::Hidden
    } else if is_accessor(shown) {
        ClassKind::Accessor
    } else if is_proxy(shown) {
        ClassKind::Proxy
    } else {
        ClassKind::Ordinary
    };
    (shown, kind)
}

/// Whether this is the name of a hidden class whose own code shows what it calls. The hidden
/// classes of `java.lang.invoke` pass calls on to any target, so they are not meant.
pub fn is_hidden(name: &[u8]) -> bool {
    hidden(name).is_some() && of(name).1 != ClassKind::Linker
}

/// Whether this is the name of a hidden class, or of its array.
pub fn has_address(name: &[u8]) -> bool {
    hidden(name.strip_suffix(b";").unwrap_or(name)).is_some()
}

/// Whether this is the name of a hidden class that may be unloaded before its loader. Those of lambdas are strong
/// (`java.lang.invoke.InnerClassLambdaMetafactory`), so they are not meant.
pub fn may_end_before_loader(name: &[u8]) -> bool {
    hidden(name).is_some() && of(name).1 != ClassKind::Lambda
}

/// The name without the address that HotSpot appends to the name of a hidden class.
pub(super) fn without_address(name: &[u8]) -> &[u8] {
    hidden(name).unwrap_or(name)
}

/// Whether the name ends with a number.
pub(super) fn is_numbered(name: &[u8]) -> bool {
    numbered(name).is_some()
}

/// `package.Class.method(descriptor)` without the address of a hidden class, which says nothing to a
/// reader and differs from run to run.
pub fn method_without_address(method: &str) -> Cow<'_, str> {
    let (path, descriptor) = method.split_at(method.find('(').unwrap_or(method.len()));
    let class_and_name = path.rsplit_once('.');
    let shown = class_and_name.and_then(|(class, name)| {
        let base = str::from_utf8(hidden(class.as_bytes())?).ok()?;
        Some(format!("{base}.{name}{descriptor}"))
    });
    shown.map_or(method.into(), Cow::from)
}

fn hidden(name: &[u8]) -> Option<&[u8]> {
    // JFR of JDK 17 adds the identity hash code of the class.
    let hash = numbered(name).and_then(|start| start.strip_suffix(b"/"));
    address(name).or_else(|| address(hash?))
}

fn address(name: &[u8]) -> Option<&[u8]> {
    let at = name.iter().rposition(|b| matches!(b, b'+' | b'.' | b'/'))?;
    let digits = name[at + 1..].strip_prefix(b"0x")?;
    let is_address = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    is_address.then_some(&name[..at])
}

/// `A$$Lambda` of `A$$Lambda$14`.
fn lambda(name: &[u8]) -> Option<&[u8]> {
    let base = numbered(name)?.strip_suffix(b"$")?;
    base.ends_with(b"$$Lambda").then_some(base)
}

fn is_accessor(name: &[u8]) -> bool {
    let inside = name.strip_prefix(b"jdk/internal/reflect/Generated");
    inside.is_some_and(|rest| numbered(rest).is_some_and(|rest| rest.ends_with(b"Accessor")))
}

fn is_proxy(name: &[u8]) -> bool {
    let simple = name.rsplit(|&b| b == b'/').next();
    simple.and_then(numbered) == Some(b"$Proxy")
}

/// The part before the number at the end.
fn numbered(name: &[u8]) -> Option<&[u8]> {
    let digits = name.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    (digits > 0).then(|| &name[..name.len() - digits])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_classes_have_addresses() {
        for name in ["a/LambdaForm$MH.0x00007f1", "a/B+0x1", "[La/B.0x1;"] {
            assert!(has_address(name.as_bytes()), "{name}");
        }
        for name in ["a/B", "a/LambdaForm$MH", "[La/B;", "[I"] {
            assert!(!has_address(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn lambdas_live_as_long_as_their_loader() {
        for name in ["a/LambdaForm$MH.0x00007f1", "a/B+0x1"] {
            assert!(may_end_before_loader(name.as_bytes()), "{name}");
        }
        for name in ["a/B", "a/B$$Lambda.0x00007f1", "a/B$$Lambda$14+0x00007f1"] {
            assert!(!may_end_before_loader(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn addresses_are_left_out_of_methods() {
        for (method, shown) in [
            (
                "a.LambdaForm$MH.0x00007f1.invoke(La.B;)V",
                "a.LambdaForm$MH.invoke(La.B;)V",
            ),
            (
                "a.LambdaForm$DMH+0x00007f1.invoke",
                "a.LambdaForm$DMH.invoke",
            ),
            ("a.B.c()V", "a.B.c()V"),
            ("no method id", "no method id"),
        ] {
            assert_eq!(method_without_address(method), shown);
        }
    }

    #[test]
    fn names_show_kinds() {
        let of = |name: &'static str| {
            let (base, kind) = of(name.as_bytes());
            (std::str::from_utf8(base).expect("ASCII"), kind)
        };
        for hidden in [
            "p/A$$Lambda+0x00007f1",
            "p/A$$Lambda.0x00007f1",
            "p/A$$Lambda/0x00007f1",
            "p/A$$Lambda+0x00007f1/1790421142",
            "p/A$$Lambda$14/0x00007f1",
        ] {
            assert_eq!(of(hidden), ("p/A$$Lambda", ClassKind::Lambda));
            assert!(is_hidden(hidden.as_bytes()));
        }
        let form = "java/lang/invoke/LambdaForm$MH";
        assert!(!is_hidden(b"java/lang/invoke/LambdaForm$MH+0x000a"));
        assert!(!is_hidden(b"p/A$$Lambda$14"));
        assert_eq!(
            of("java/lang/invoke/LambdaForm$MH+0x000a"),
            (form, ClassKind::Linker)
        );
        assert_eq!(of("p/A+0x12"), ("p/A", ClassKind::Hidden));
        let accessor = "jdk/internal/reflect/GeneratedMethodAccessor12";
        assert_eq!(of(accessor), (accessor, ClassKind::Accessor));
        for proxy in ["$Proxy4", "jdk/proxy2/$Proxy17"] {
            assert_eq!(of(proxy), (proxy, ClassKind::Proxy));
        }
        for ordinary in [
            "p/A",
            "p/0x12",
            "java/lang/invokes/A",
            "p/$Proxy",
            "p/A+0x",
            "p/A+0xg",
        ] {
            let kind = of(ordinary).1;
            // "p/0x12" looks like a hidden class `p`.
            assert!(
                kind == ClassKind::Ordinary || ordinary == "p/0x12",
                "{ordinary}"
            );
        }
    }
}
