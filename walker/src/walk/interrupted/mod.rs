//! Code that was interrupted at any instruction.

mod compiled;
mod interpreter;
mod stub;

use crate::vm::code_cache::Kind;
use crate::walk::frame::Failure;
use crate::walk::return_address::is_return;
use crate::walk::{Place, Step, Walk};
use hotspot::memory::Memory;
use hotspot::unwind::exit::{self, Calls, Exit};
use hotspot::unwind::{Register, Registers};

impl Walk<'_> {
    /// The frame that was interrupted at `pc`.
    pub(super) fn interrupted(&self, pc: usize, registers: &Registers) -> Result<Step, Failure> {
        let sp = registers.get(Register::RSP).ok_or(Failure::Top)?;
        let place = Place {
            pc,
            sp,
            fp: registers.get(Register::RBP).unwrap_or(0),
        };
        if !self.is_on_stack(sp) {
            return Err(Failure::Top);
        }
        let Some(blob) = self.vm.code_cache.blob(&self.memory, pc) else {
            return Err(Failure::Top);
        };
        match blob.kind {
            Kind::Interpreter => self.interrupted_interpreter(place, registers),
            Kind::Compiled(nmethod) => self.interrupted_compiled(nmethod, &blob, place, registers),
            Kind::NativeWrapper(nmethod) => {
                self.interrupted_wrapper(nmethod, &blob, place, registers)
            }
            Kind::Deoptimization => Err(Failure::Deoptimizing),
            Kind::Vtable => self.interrupted_vtable_stub(place),
            Kind::Upcall | Kind::Continuation | Kind::Adapter | Kind::Safepoint | Kind::Stub => {
                self.interrupted_stub(&blob, place, registers)
            }
        }
    }

    fn word(&self, address: usize) -> Option<usize> {
        self.memory.word(address)
    }

    fn is_return(&self, word: usize) -> bool {
        is_return(self.vm, &self.memory, word)
    }

    fn exit(
        &self,
        place: Place,
        registers: &Registers,
        steps: usize,
        calls: Calls,
    ) -> Option<Exit> {
        let is_return = |word| self.is_return(word);
        exit::find(&self.memory, place.pc, registers, steps, calls, is_return)
    }
}
