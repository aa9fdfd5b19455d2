//! Method and field descriptors (JVMS 4.3).

/// One type of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type<'a> {
    /// `Z B C S I`: an `int` to the verifier.
    Int,
    /// `F`.
    Float,
    /// `J`.
    Long,
    /// `D`.
    Double,
    /// A class by its internal name, or an array by its descriptor, as in a `CONSTANT_Class`.
    Object(&'a [u8]),
}

impl Type<'_> {
    /// Local variables, or operand stack slots, that a value takes.
    pub fn slots(self) -> u32 {
        match self {
            Type::Long | Type::Double => 2,
            _ => 1,
        }
    }
}

/// Splits the first type off `descriptor`; `None` if there is none.
pub fn first(descriptor: &[u8]) -> Option<(Type<'_>, &[u8])> {
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

/// The type of a field descriptor.
pub fn whole(descriptor: &[u8]) -> Option<Type<'_>> {
    match first(descriptor)? {
        (ty, []) => Some(ty),
        _ => None,
    }
}

/// The parameters of a method descriptor, and then its return type.
#[derive(Clone, Debug)]
pub struct Parameters<'a> {
    rest: &'a [u8],
}

/// A descriptor breaks a rule of JVMS 4.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IllFormed;

/// The parameters of a method descriptor.
///
/// # Errors
/// If the descriptor does not start with a list of parameters.
pub fn parameters(descriptor: &[u8]) -> Result<Parameters<'_>, IllFormed> {
    match descriptor.strip_prefix(b"(") {
        Some(rest) => Ok(Parameters { rest }),
        None => Err(IllFormed),
    }
}

impl<'a> Parameters<'a> {
    /// The next parameter; `None` after the last parameter.
    ///
    /// # Errors
    ///
    /// If the descriptor is malformed.
    pub fn next_type(&mut self) -> Result<Option<Type<'a>>, IllFormed> {
        if self.rest.first() == Some(&b')') {
            return Ok(None);
        }
        let (ty, rest) = first(self.rest).ok_or(IllFormed)?;
        self.rest = rest;
        Ok(Some(ty))
    }

    /// The return type, after the last parameter; `None` for `void`.
    ///
    /// # Errors
    /// If the descriptor is malformed.
    pub fn returns(&self) -> Result<Option<Type<'a>>, IllFormed> {
        match self.rest.strip_prefix(b")").ok_or(IllFormed)? {
            b"V" => Ok(None),
            rest => whole(rest).map(Some).ok_or(IllFormed),
        }
    }
}
