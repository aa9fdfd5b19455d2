//! Objects: how fields refer to objects, and how headers refer to classes (`share/oops/compressedOops.hpp`,
//! `share/oops/compressedKlass.hpp`).

use super::fields::{Fields, Missing};
use crate::memory::Memory;

/// The places of what leads to objects and classes.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The variables with the base and the shift of narrow references.
    pub oops: Result<[usize; 2], Missing>,
    /// The variables with the base and the shift of narrow references to classes.
    pub classes: [usize; 2],
    /// The lowest bit of the class in the mark word, where object headers are compact; not all VMs can have such headers.
    pub compact_class_shift: Result<u32, Missing>,
    /// The field of a class with the size of its instances.
    pub layout_helper: usize,
    /// The field of the entry of a continuation with the continuation.
    pub continuation_of_entry: usize,
}

/// The constant with the lowest bit of the class in a compact header.
pub const COMPACT_CLASS_SHIFT: &str = "markWord::klass_shift";

fn compact_class_shift(fields: &impl Fields) -> Result<u32, Missing> {
    let shift = u32::try_from(fields.number(COMPACT_CLASS_SHIFT)?).ok();
    let shift = shift.filter(|&shift| shift < u64::BITS);
    shift.ok_or(Missing::Contradicted(COMPACT_CLASS_SHIFT))
}

fn continuation_of_entry(fields: &impl Fields) -> usize {
    const WORD: usize = size_of::<usize>();
    // It follows the pointer to the parent, which JDK 27 publishes. Before, a number, as wide as a word with what fills it
    // up, comes first, and then the parent. In a VM with other entries the class of what is taken for a chunk is wrong.
    let parent = fields.field(&["ContinuationEntry"], "_parent");
    parent.unwrap_or(WORD).wrapping_add(WORD)
}

/// Where a `java.lang.Class` has the VM's address of its class.
#[derive(Copy, Clone, Debug)]
pub struct Mirrors {
    /// The variable with the offset.
    offset: usize,
}

impl Mirrors {
    /// Finds the variable.
    pub fn find(fields: &impl Fields) -> Result<Mirrors, Missing> {
        let offset = fields.field(&["java_lang_Class"], "_klass_offset")?;
        Ok(Mirrors { offset })
    }

    /// The VM's address of the class whose `java.lang.Class` is at `mirror`.
    pub fn class(&self, memory: &impl Memory, mirror: usize) -> Option<usize> {
        let offset = memory.u32(self.offset)? as usize;
        memory.word(mirror.wrapping_add(offset))
    }
}

impl Layout {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<Layout, Missing> {
        // Before JDK 22 base and shift were fields of a structure.
        const OOPS: &[&str] = &["CompressedOops"];
        const CLASSES: &[&str] = &["CompressedKlassPointers"];
        let place = |owner, newer, older| {
            let older = || fields.field(owner, older);
            Missing::unless(fields.field(owner, newer), older)
        };
        let oops = || {
            Ok([
                place(OOPS, "_base", "_narrow_oop._base")?,
                place(OOPS, "_shift", "_narrow_oop._shift")?,
            ])
        };
        Ok(Layout {
            oops: oops(),
            classes: [
                place(CLASSES, "_base", "_narrow_klass._base")?,
                place(CLASSES, "_shift", "_narrow_klass._shift")?,
            ],
            compact_class_shift: compact_class_shift(fields),
            layout_helper: fields.field(&["Klass"], "_layout_helper")?,
            continuation_of_entry: continuation_of_entry(fields),
        })
    }
}
