//! The callers of C and C++ code, by the unwind tables of its libraries (LSB Core, "Exception
//! Frames"; DWARF 5, 6.4). Nothing is allocated, and everything that is read is checked.
//!
//! * [`libraries`]: the tables for an address;
//! * `table`: the entry for an address;
//! * `rules`: the places of registers by that entry;
//! * `expression`: computed places;
//! * `reader`, `registers`: numbers in the tables, and DWARF's numbers of registers.

mod expression;
pub mod libraries;
mod reader;
mod rules;
mod table;

use hotspot::arch::NativeRegisters as Registers;
use hotspot::memory::Memory;
use libraries::Libraries;

/// A frame of C code, interrupted or at a call.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct CFrame {
    /// Where the frame continues.
    pub pc: usize,
    /// The registers, as far as they are known.
    pub registers: Registers,
    /// Whether the frame is at a call. Otherwise it was interrupted.
    pub is_at_call: bool,
}

impl CFrame {
    /// The caller; `None` if no table gives the caller.
    pub fn caller(&self, libraries: &Libraries, memory: &impl Memory) -> Option<CFrame> {
        // A call may be the last instruction of its function.
        let pc = self.pc.checked_sub(usize::from(self.is_at_call))?;
        let entry = table::find(memory, libraries.tables_of(pc)?, pc)?;
        let rules = rules::at(memory, &entry, pc)?;
        let registers = rules.caller(memory, &self.registers)?;
        let pc = rules.return_address(memory, &self.registers)?;
        Some(CFrame {
            pc,
            registers,
            is_at_call: !entry.is_signal_frame,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vm::memory::{Guard, install};

    /// Calls `then` from the depth of a few frames.
    #[inline(never)]
    fn deep(depth: usize, then: &mut dyn FnMut()) -> usize {
        if depth == 0 {
            then();
            return 0;
        }
        std::hint::black_box(deep(depth - 1, then) + 1)
    }

    #[test]
    fn finds_its_own_callers() {
        if let Err(why) = install() {
            println!("skipped: {why}");
            return;
        }
        let libraries = Libraries::find();
        let mut found = 0;
        deep(5, &mut || {
            // SAFETY: the context is our own.
            let (pc, registers) = unsafe {
                let mut context: libc::ucontext_t = std::mem::zeroed();
                assert_eq!(libc::getcontext(&mut context), 0);
                vm::registers(&context)
            };
            let guard = Guard::set();
            let memory = guard.memory();
            let mut frame = CFrame {
                pc,
                registers,
                is_at_call: true,
            };
            let start = deep as *const () as usize;
            let tables = libraries.tables_of(start).expect("it is in a library");
            let entry = table::find(&memory, tables, start).expect("it has an entry");
            for _ in 0..40 {
                found += usize::from(entry.code.contains(&frame.pc));
                match frame.caller(&libraries, &memory) {
                    Some(caller) => frame = caller,
                    None => break,
                }
            }
        });
        assert_eq!(found, 6);
    }
}
