//! Method and field descriptors (JVMS 4.3).

/// One type of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type<'a> {
    /// `Z B C S I`: an `int` to the verifier.
    Int,
    /// `F`.
    Float,
    /// `J`.
    Long,
    /// `D`.
    Double,
    /// A class by its internal name, an array by its descriptor: as a `CONSTANT_Class` names them.
    Object(&'a [u8]),
}

impl Type<'_> {
    /// Local variables, or operand stack slots, that a value takes.
    pub(crate) fn slots(self) -> u32 {
        match self {
            Type::Long | Type::Double => 2,
            _ => 1,
        }
    }
}

/// Splits the first type off `descriptor`; `None` if there is none.
pub(crate) fn first(descriptor: &[u8]) -> Option<(Type<'_>, &[u8])> {
    let (&tag, rest) = descriptor.split_first()?;
    let ty = match tag {
        b'Z' | b'B' | b'C' | b'S' | b'I' => Type::Int,
        b'F' => Type::Float,
        b'J' => Type::Long,
        b'D' => Type::Double,
        b'L' => {
            let n = rest.iter().position(|&b| b == b';')?;
            if n == 0 {
                return None;
            }
            return Some((Type::Object(&rest[..n]), &rest[n + 1..]));
        }
        b'[' => {
            let dimensions = descriptor
                .iter()
                .take(256)
                .take_while(|&&b| b == b'[')
                .count();
            if dimensions > 255 {
                return None;
            }
            let element = &descriptor[dimensions..];
            if element.first() == Some(&b'V') {
                return None;
            }
            let (_, after) = first(element)?;
            return Some((
                Type::Object(&descriptor[..descriptor.len() - after.len()]),
                after,
            ));
        }
        _ => return None,
    };
    Some((ty, rest))
}

/// The parameters of a method descriptor, then what it returns.
#[derive(Clone, Debug)]
pub(crate) struct Parameters<'a> {
    rest: &'a [u8],
}

/// Parameters of `descriptor`; `None` unless it opens a parameter list.
pub(crate) fn parameters(descriptor: &[u8]) -> Option<Parameters<'_>> {
    Some(Parameters {
        rest: descriptor.strip_prefix(b"(")?,
    })
}

impl<'a> Parameters<'a> {
    /// The next parameter: `Some(None)` after the last one, `None` if the descriptor is malformed.
    #[allow(clippy::option_option)]
    pub(crate) fn next(&mut self) -> Option<Option<Type<'a>>> {
        if self.rest.first() == Some(&b')') {
            return Some(None);
        }
        let (ty, rest) = first(self.rest)?;
        self.rest = rest;
        Some(Some(ty))
    }

    /// The return type, after the last parameter; `Some(None)` is `void`.
    #[allow(clippy::option_option)]
    pub(crate) fn returns(&self) -> Option<Option<Type<'a>>> {
        let rest = self.rest.strip_prefix(b")")?;
        if rest == b"V" {
            return Some(None);
        }
        match first(rest)? {
            (ty, []) => Some(Some(ty)),
            _ => None,
        }
    }
}
