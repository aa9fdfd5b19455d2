//! The locals of a method at its start.

use super::vtype::VType;
use crate::access;
use crate::descriptor::{IllFormed, Type, parameters};
use crate::error::{Malformed, Result};
use crate::file::{Attribute, ClassFile, Member};

/// Fills `initial` with the locals at entry (JVMS 4.10.1.6) and returns how many slots they take.
pub fn initial_locals(
    class: &ClassFile<'_>,
    method: &Member<'_>,
    attribute: &Attribute<'_>,
    initial: &mut Vec<VType>,
) -> Result<u32> {
    let bad = |_: IllFormed| Malformed {
        offset: method.start + 4,
        rule: "JVMS 4.3.3: a method descriptor is well-formed",
    };
    initial.clear();
    if method.access_flags & access::STATIC == 0 {
        if method.name == b"<init>" && class.name != b"java/lang/Object" {
            initial.push(VType::UninitializedThis);
        } else {
            initial.push(VType::Object(class.this_class));
        }
    }
    let mut slots = initial.len() as u32;
    let mut all = parameters(method.descriptor).map_err(bad)?;
    let mut nth = 0;
    while let Some(ty) = all.next_type().map_err(bad)? {
        initial.push(match ty {
            Type::Int => VType::Integer,
            Type::Float => VType::Float,
            Type::Long => VType::Long,
            Type::Double => VType::Double,
            Type::Object(_) => VType::Parameter(nth),
        });
        nth += 1;
        slots += ty.slots();
        if slots > 255 {
            return Err(Malformed {
                offset: attribute.offset,
                rule: "JVMS 4.3.3: parameters take 255 slots at most",
            });
        }
    }
    all.returns().map_err(bad)?;
    Ok(slots)
}

/// The class of a method's nth parameter.
pub fn parameter_class(descriptor: &[u8], nth: u16) -> Option<&[u8]> {
    let mut all = parameters(descriptor).ok()?;
    for _ in 0..nth {
        all.next_type().ok()??;
    }
    match all.next_type().ok()?? {
        Type::Object(name) => Some(name),
        _ => None,
    }
}
