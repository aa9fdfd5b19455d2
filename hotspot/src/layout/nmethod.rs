//! Compiled methods: their Java methods, and the addresses of their tables
//! (`share/code/nmethod.hpp`).

use super::fields::{Fields, Missing};
use crate::arch::{Arch, Native};
use crate::memory::Memory;
use std::ops::Range;

/// A compiled method or a native wrapper: the address of its blob.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Nmethod(pub usize);

/// Which compilation a compiled method is of: the VM numbers them. (Its native wrappers have numbers of their own.)
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Compilation {
    /// The VM's address of the method that was compiled.
    pub method: usize,
    /// The number.
    pub id: u32,
}

/// The layout of a compiled method.
pub struct Layout {
    method: usize,
    compile_id: usize,
    entry_bci: usize,
    level: usize,
    orig_pc: usize,
    handlers: Handlers,
    stubs: usize,
    places: Places,
    /// Whether code may extend its frames for the fields of value objects.
    extends_frames: bool,
}

/// The deoptimisation handlers of a compiled method: code that calls the code which deoptimises. Where a frame is to be
/// deoptimised, it continues in a handler instead of behind its call.
enum Handlers {
    /// Up to JDK 25: one handler, and one more for frames that call method handles. A frame continues at the start.
    Started([usize; 2]),
    /// From JDK 26 on: one handler. A frame continues behind the call of the handler, where a jump leads back to the call.
    Entered(usize),
}

/// The places of the tables, in two forms.
enum Places {
    /// In the blob itself, up to JDK 22.
    Inside {
        code: usize,
        pcs: usize,
        pcs_end: usize,
        scopes: usize,
        metadata: usize,
    },
    /// Outside of the blob, from JDK 24 on. All places are distances.
    Outside {
        code: usize,
        immutable: usize,
        pcs: usize,
        scopes: usize,
        mutable: usize,
        relocation_size: usize,
    },
}

/// The addresses of a compiled method's debug info.
#[derive(Copy, Clone, Debug)]
pub struct DebugTables {
    /// The start of the code. The program counters of records are relative to this address.
    pub code: usize,
    /// The start of the records, which are sorted by program counter.
    pub pcs: usize,
    /// The end of the records.
    pub pcs_end: usize,
    /// The scopes, to which records point.
    pub scopes: usize,
    /// The methods, which scopes name by index.
    pub metadata: usize,
}

impl Layout {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<Layout, Missing> {
        // Up to JDK 22 `nmethod` was derived from `CompiledMethod`, which had a part of the fields.
        let field = |field| fields.field(&["nmethod", "CompiledMethod"], field);
        let blob = |field| fields.field(&["CodeBlob"], field);
        let outside = || {
            Ok(Places::Outside {
                code: blob("_code_offset")?,
                immutable: field("_immutable_data")?,
                pcs: field("_scopes_pcs_offset")?,
                scopes: field("_scopes_data_offset")?,
                mutable: blob("_mutable_data")?,
                relocation_size: blob("_relocation_size")?,
            })
        };
        let inside = || {
            Ok(Places::Inside {
                code: blob("_code_begin")?,
                pcs: field("_scopes_pcs_offset")?,
                pcs_end: field("_dependencies_offset")?,
                scopes: field("_scopes_data_begin")?,
                metadata: field("_metadata_offset")?,
            })
        };
        let places = Missing::unless(outside(), inside)?;
        let started =
            |[one, other]: [&'static str; 2]| Ok(Handlers::Started([field(one)?, field(other)?]));
        let handlers = match places {
            Places::Inside { .. } => started(["_deopt_handler_begin", "_deopt_mh_handler_begin"])?,
            Places::Outside { .. } => {
                let entered = field("_deopt_handler_entry_offset").map(Handlers::Entered);
                let older = || started(["_deopt_handler_offset", "_deopt_mh_handler_offset"]);
                Missing::unless(entered, older)?
            }
        };
        Ok(Layout {
            method: field("_method")?,
            compile_id: field("_compile_id")?,
            entry_bci: field("_entry_bci")?,
            level: field("_comp_level")?,
            orig_pc: field("_orig_pc_offset")?,
            handlers,
            stubs: field("_stub_offset")?,
            places,
            // Only a VM with value classes has a description of them (JEP 401).
            extends_frames: fields.find_size("ValueKlass").is_some(),
        })
    }
}

impl Layout {
    /// Whether compiled code of this VM may extend its frames for the fields of value objects.
    #[inline]
    pub fn extends_frames(&self) -> bool {
        self.extends_frames
    }
}

impl Nmethod {
    /// The VM's address of the method that was compiled.
    pub fn method(self, layout: &Layout, memory: &impl Memory) -> Option<usize> {
        memory.word(self.0.wrapping_add(layout.method))
    }

    /// Which compilation it is of.
    #[inline]
    pub fn compilation(self, layout: &Layout, memory: &impl Memory) -> Option<Compilation> {
        Some(Compilation {
            method: self.method(layout, memory)?,
            id: memory.u32(self.0.wrapping_add(layout.compile_id))?,
        })
    }

    /// The BCI at which its code is entered: 0, or that of a loop, if the code replaces the frame of the interpreter in
    /// the loop (OSR).
    pub fn entry_bci(self, layout: &Layout, memory: &impl Memory) -> Option<u16> {
        /// `InvocationEntryBci`.
        const INVOCATION: i32 = -1;
        match memory.i32(self.0.wrapping_add(layout.entry_bci))? {
            INVOCATION => Some(0),
            bci => u16::try_from(bci).ok(),
        }
    }

    /// The tier of the compilation: 1 to 3 for C1, 4 for C2.
    pub fn level(self, layout: &Layout, memory: &impl Memory) -> Option<i8> {
        // A byte since JDK 21, an int before. The lowest byte has the tier.
        Some(memory.u8(self.0.wrapping_add(layout.level))?.cast_signed())
    }

    /// Where the stubs of the method begin, behind its code: handlers of exceptions and of deoptimisation, and stubs of
    /// calls. None of them removes the method's frame.
    pub fn stubs(self, layout: &Layout, memory: &impl Memory) -> Option<usize> {
        self.at_distance(memory, layout.stubs)
    }

    /// Whether `pc` is in the stubs of the method.
    pub fn is_in_stubs(self, layout: &Layout, memory: &impl Memory, pc: usize) -> bool {
        self.stubs(layout, memory).is_some_and(|stubs| pc >= stubs)
    }

    /// The address whose distance from the blob is in `field`.
    fn at_distance(self, memory: &impl Memory, field: usize) -> Option<usize> {
        let distance = memory.i32(self.0.wrapping_add(field))?;
        Some(self.0.wrapping_add_signed(distance as isize))
    }

    /// Whether `pc` is a deoptimisation handler of this method: a frame that will be deoptimised
    /// continues there instead of behind its call.
    pub fn is_deopt_handler(self, layout: &Layout, memory: &impl Memory, pc: usize) -> bool {
        let mut handlers = self.deopt_handlers(layout, memory);
        handlers.any(|handler| handler == pc)
    }

    /// Where frames of this method continue that are to be deoptimised.
    fn deopt_handlers(self, layout: &Layout, memory: &impl Memory) -> impl Iterator<Item = usize> {
        let fields = match layout.handlers {
            Handlers::Started(both) => both,
            Handlers::Entered(one) => [one, one],
        };
        fields.into_iter().filter_map(move |field| {
            let place = self.0.wrapping_add(field);
            match layout.places {
                Places::Inside { .. } => memory.word(place),
                // Without a handler of its own, the distance is negative.
                Places::Outside { .. } => {
                    let distance = usize::try_from(memory.i32(place)?).ok()?;
                    Some(self.0.wrapping_add(distance))
                }
            }
        })
    }

    /// The deoptimisation handler that `pc` is in: its code.
    pub fn deopt_handler_at(
        self,
        layout: &Layout,
        memory: &impl Memory,
        pc: usize,
    ) -> Option<Range<usize>> {
        let is_called_first = match layout.handlers {
            Handlers::Started(_) => false,
            Handlers::Entered(_) => true,
        };
        self.deopt_handlers(layout, memory)
            .map(|entry| Native::deopt_handler(entry, is_called_first))
            .find(|handler| handler.contains(&pc))
    }

    /// The program counter at which the frame at `sp` would have continued, if it did not continue
    /// at `pc` to be deoptimised.
    pub fn original_pc(
        self,
        layout: &Layout,
        memory: &impl Memory,
        pc: usize,
        sp: usize,
    ) -> Option<usize> {
        if !self.is_deopt_handler(layout, memory, pc) {
            return Some(pc);
        }
        let slot = memory.i32(self.0.wrapping_add(layout.orig_pc))?;
        memory.word(sp.wrapping_add_signed(slot as isize))
    }

    /// The addresses of its debug info.
    pub fn debug_tables(self, layout: &Layout, memory: &impl Memory) -> Option<DebugTables> {
        let Nmethod(start) = self;
        let word = |at: usize| memory.word(start.wrapping_add(at));
        let distance = |base: usize, at: usize| {
            let distance = memory.i32(start.wrapping_add(at))?;
            Some(base.wrapping_add_signed(distance as isize))
        };
        match layout.places {
            Places::Inside {
                code,
                pcs,
                pcs_end,
                scopes,
                metadata,
            } => Some(DebugTables {
                code: word(code)?,
                pcs: distance(start, pcs)?,
                pcs_end: distance(start, pcs_end)?,
                scopes: word(scopes)?,
                metadata: distance(start, metadata)?,
            }),
            Places::Outside {
                code,
                immutable,
                pcs,
                scopes,
                mutable,
                relocation_size,
            } => {
                let data = word(immutable)?;
                Some(DebugTables {
                    code: distance(start, code)?,
                    pcs: distance(data, pcs)?,
                    pcs_end: distance(data, scopes)?,
                    scopes: distance(data, scopes)?,
                    metadata: distance(word(mutable)?, relocation_size)?,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::toy::Words;
    use std::collections::HashMap;

    #[test]
    fn code_that_replaces_a_frame_of_the_interpreter_is_entered_in_a_loop() {
        const ENTRY_BCI: usize = 0x40;
        let layout = Layout {
            method: 0,
            compile_id: 0,
            entry_bci: ENTRY_BCI,
            level: 0,
            orig_pc: 0,
            handlers: Handlers::Started([0; 2]),
            stubs: 0,
            places: Places::Inside {
                code: 0,
                pcs: 0,
                pcs_end: 0,
                scopes: 0,
                metadata: 0,
            },
            extends_frames: false,
        };
        for (kept, bci) in [(-1, Some(0)), (0, Some(0)), (37, Some(37)), (-2, None)] {
            let kept: i32 = kept;
            let word = kept.cast_unsigned() as usize;
            let memory = Words(HashMap::from([(0x1000 + ENTRY_BCI, word)]));
            assert_eq!(Nmethod(0x1000).entry_bci(&layout, &memory), bci);
        }
    }
}
