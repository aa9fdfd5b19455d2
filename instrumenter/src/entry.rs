//! The locals of a method at its start.

use crate::class::{Attribute, ClassFile, Member};
use crate::descriptor::{Type, parameters};
use crate::error::{Malformed, Result};
use crate::types::{VType, vtag};

/// Fills `initial` with the locals at entry (JVMS 4.10.1.6) and returns how many slots they take.
pub(crate) fn initial_locals(
    class: &ClassFile<'_>,
    method: &Member<'_>,
    attribute: &Attribute<'_>,
    initial: &mut Vec<VType>,
) -> Result<u32> {
    const ACC_STATIC: u16 = 8;
    let bad = || Malformed {
        offset: method.start + 4,
        rule: "JVMS 4.3.3: a method descriptor is well-formed",
    };
    initial.clear();
    if method.access_flags & ACC_STATIC == 0 {
        if method.name == b"<init>" && class.name != b"java/lang/Object" {
            initial.push(VType::UNINITIALIZED_THIS);
        } else {
            initial.push(VType::object(class.this_class));
        }
    }
    let mut slots = initial.len() as u32;
    let mut all = parameters(method.descriptor).ok_or_else(bad)?;
    let mut nth = 0;
    while let Some(ty) = all.next().ok_or_else(bad)? {
        initial.push(match ty {
            Type::Int => VType::INTEGER,
            Type::Float => VType::FLOAT,
            Type::Long => VType::LONG,
            Type::Double => VType::DOUBLE,
            Type::Object(_) => VType {
                tag: vtag::PARAMETER,
                data: nth,
            },
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
    all.returns().ok_or_else(bad)?;
    Ok(slots)
}

/// The class of a method's nth parameter.
pub(crate) fn parameter_class(descriptor: &[u8], nth: u16) -> Option<&[u8]> {
    let mut all = parameters(descriptor)?;
    for _ in 0..nth {
        all.next()??;
    }
    match all.next()?? {
        Type::Object(name) => Some(name),
        _ => None,
    }
}
