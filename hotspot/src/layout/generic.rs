//! Generic signatures of methods and classes (JVMS 4.7.9.1; `share/oops/constMethod.hpp`,
//! `share/oops/constantPool.hpp`).

use super::fields::{Fields, Missing};
use super::method::{Method, Names, Text};
use crate::memory::Memory;

const WORD: usize = size_of::<usize>();

/// The constants of JDK 20 and later, and of older ones.
const GENERIC: [&str; 2] = [
    "ConstMethodFlags::_misc_has_generic_signature",
    "ConstMethod::_has_generic_signature",
];
const ANNOTATIONS: [[&str; 2]; 4] = [
    [
        "ConstMethodFlags::_misc_has_method_annotations",
        "ConstMethod::_has_method_annotations",
    ],
    [
        "ConstMethodFlags::_misc_has_parameter_annotations",
        "ConstMethod::_has_parameter_annotations",
    ],
    [
        "ConstMethodFlags::_misc_has_type_annotations",
        "ConstMethod::_has_type_annotations",
    ],
    [
        "ConstMethodFlags::_misc_has_default_annotations",
        "ConstMethod::_has_default_annotations",
    ],
];

/// The layout of what leads to generic signatures.
#[derive(Copy, Clone, Debug)]
pub struct GenericSignatures {
    size: usize,
    flags: usize,
    generic: u32,
    annotations: [u32; 4],
    constants: usize,
    index: usize,
}

impl GenericSignatures {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<GenericSignatures, Missing> {
        let part = |field| fields.field(&["ConstMethod"], field);
        let bit = |[newer, older]: [&'static str; 2]| {
            let found = Missing::unless(fields.constant(newer), || fields.constant(older));
            found.map(i32::cast_unsigned)
        };
        let [of_method, of_parameters, of_types, of_default] = ANNOTATIONS;
        Ok(GenericSignatures {
            size: part("_constMethod_size")?,
            flags: Missing::unless(part("_flags._flags"), || part("_flags"))?,
            generic: bit(GENERIC)?,
            annotations: [
                bit(of_method)?,
                bit(of_parameters)?,
                bit(of_types)?,
                bit(of_default)?,
            ],
            constants: fields.field(&["InstanceKlass"], "_constants")?,
            index: fields.field(&["ConstantPool"], "_generic_signature_index")?,
        })
    }

    /// The generic signature of a method that has one.
    pub fn of_method(&self, names: &Names, memory: &impl Memory, method: Method) -> Option<Text> {
        let part = names.part(memory, method)?;
        // All flags that are asked for are in the lower half; before JDK 20 there is no other.
        let flags = u32::from(memory.u16(part.at(self.flags))?);
        if flags & self.generic == 0 {
            return None;
        }
        // The parts of a method that it may not have stand at its end, the last of them first in this list: a pointer
        // for each kind of annotation, then the index (`ConstMethod::last_u2_element`, `generic_signature_index_addr`).
        let size = memory.u32(part.at(self.size))? as usize * WORD;
        let pointers = self.annotations.iter().filter(|&bit| flags & bit != 0);
        let index = size.checked_sub(pointers.count() * WORD + size_of::<u16>())?;
        names.entry(memory, method, index)
    }

    /// The generic signature of the class at `klass` that has one.
    pub fn of_class(&self, names: &Names, memory: &impl Memory, klass: usize) -> Option<Text> {
        let pool = memory.word(klass.wrapping_add(self.constants))?;
        let index = memory.u16(pool.wrapping_add(self.index))?;
        if index == 0 {
            return None;
        }
        names.constant(memory, pool, index)
    }
}
