//! Code that was interrupted at any instruction.

mod compiled;
mod continuation;
mod deoptimization;
mod inlining;
mod interpreter;
mod jumping;
mod own_stubs;
mod stub;

use crate::layout::code_cache::Kind;
use crate::walk::frame::Failure;
use crate::walk::return_address::{is_behind_call, is_return};
use crate::walk::{Place, Step, Walk};
use hotspot::arch::NativeRegisters as Registers;
use hotspot::arch::{Calls, Follow, Landings, Native};
use hotspot::layout::interpreter::Role;
use hotspot::memory::Memory;

/// The state at the caller.
type Exit = hotspot::arch::Exit<Registers>;

/// Where a frame stands at its program counter.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
enum Stands {
    /// At the instruction, which runs next.
    At,
    /// Behind a call that is under way.
    Behind,
}

impl Walk<'_> {
    /// The frame that was interrupted at `pc`.
    pub(super) fn interrupted(&self, pc: usize, registers: &Registers) -> Result<Step, Failure> {
        self.at_any_instruction(pc, registers, Stands::At)
    }

    /// The frame that has made a call, which returns to `pc`.
    pub(super) fn called(&self, pc: usize, registers: &Registers) -> Result<Step, Failure> {
        self.at_any_instruction(pc, registers, Stands::Behind)
    }

    /// The frame that continues at `pc`.
    fn at_any_instruction(
        &self,
        pc: usize,
        registers: &Registers,
        stands: Stands,
    ) -> Result<Step, Failure> {
        let sp = registers.get(Native::SP).ok_or(Failure::Top)?;
        let place = Place {
            pc,
            sp,
            fp: registers.get(Native::FP).unwrap_or(0),
        };
        if !self.is_on_stack(sp) {
            return Err(Failure::Top);
        }
        if self.vm.interpreter.contains(pc) {
            // SAFETY: the VM never gives back memory of the code cache that had code once.
            unsafe { self.memory.trust(self.vm.interpreter.code()) };
            return self.interrupted_interpreter(place, registers);
        }
        let Some(blob) = self.vm.code_cache.blob(&self.memory, pc) else {
            return Err(Failure::Top);
        };
        match blob.kind {
            Kind::Interpreter => self.interrupted_interpreter(place, registers),
            Kind::Compiled(nmethod) => {
                self.interrupted_compiled(nmethod, &blob, place, registers, stands)
            }
            Kind::NativeWrapper(nmethod) => {
                self.interrupted_wrapper(nmethod, &blob, place, registers)
            }
            Kind::Deoptimization => self.interrupted_deoptimization(&blob, place, registers),
            Kind::Vtable => self.interrupted_vtable_stub(place),
            Kind::Upcall
            | Kind::Continuation
            | Kind::Adapter
            | Kind::Safepoint
            | Kind::Routine
            | Kind::Stub => self.interrupted_stub(&blob, place, registers),
        }
    }

    fn word(&self, address: usize) -> Option<usize> {
        self.memory.word(address)
    }

    fn exit(
        &self,
        place: Place,
        registers: &Registers,
        steps: usize,
        calls: Calls,
    ) -> Option<Exit> {
        Native::exit(&self.memory, place.pc, registers, steps, calls, self)
    }
}

impl Landings for Walk<'_> {
    fn is_return(&self, word: usize) -> bool {
        is_return(self.vm, &self.memory, word)
    }

    fn is_behind_own_call(&self, word: usize) -> bool {
        self.vm.interpreter.codelet(word).is_some() && is_behind_call(&self.memory, word)
    }

    fn returns_to(&self, word: usize) -> bool {
        if !self.is_return(word) {
            return false;
        }
        let blob = self.vm.code_cache.blob(&self.memory, word);
        match blob.map(|blob| blob.kind) {
            // A handler of exceptions may begin at an instruction with a record of its own.
            Some(Kind::Compiled(nmethod)) => {
                is_behind_call(&self.memory, word)
                    || nmethod.is_deopt_handler(self.vm.code_cache.nmethods(), &self.memory, word)
            }
            _ => true,
        }
    }

    fn origin(&self) -> Option<usize> {
        self.thrown_at
    }

    fn goes_on_at(&self, pc: usize, origin: usize) -> bool {
        // A stub may have thrown that a template of the interpreter has called.
        if !self.is_return(origin) && !self.is_behind_own_call(origin) {
            return false;
        }
        let blobs = [pc, origin].map(|pc| self.vm.code_cache.blob(&self.memory, pc));
        let [Some(at), Some(of)] = blobs else {
            return false;
        };
        let is_body = match at.kind {
            Kind::Interpreter => {
                let codelet = self.vm.interpreter.codelet(pc);
                codelet.is_some_and(|codelet| codelet.role == Role::Body)
            }
            _ => at.frame_complete.is_none_or(|complete| pc >= complete),
        };
        // A frame that is to be deoptimized goes on in the blob that does this.
        at.start == of.start && is_body || at.kind == Kind::Deoptimization
    }
}
