//! Code that was interrupted at any instruction.
//!
//! # Where AsyncGetCallTrace goes wrong
//!
//! | cause in `docs/findings.md` | here |
//! | --- | --- |
//! | `called-by-vm` | passes from the call stub through the runtime stub by the anchor in the JavaCallWrapper, and by the stub's frame size |
//! | `below-stub` | a caller stands at a call: the exact record of the return address is taken, or the walk fails |
//! | `interpreter-frame` | at the method entry and behind `leave` the instructions are simulated; registers have the caller's stack pointer and the method. The BCI of the top frame comes from the register that holds the bytecode pointer |
//! | `leaf-call` | C code without an anchor is walked by its unwind tables (`.eh_frame`), up to the Java code that called it |
//! | `no-record` | the frame has flags |
//! | `extended-frame` | the word just below the saved frame pointer has the size of the frame, if the code adds this word to its stack pointer when it returns |
//! | `unwalkable-caller` | a return address that is a deoptimisation handler: the original pc is read from the frame |
//! | `frame-removed` | the code is simulated up to its `ret` |
//! | `moved-stack-pointer` | the code is simulated, from the real registers, up to a call with a record or up to its `ret`: there the stack pointer is where the tables say. If the simulation comes to neither, pushes and pops are followed from the last record on, or the walk searches for a return address behind a call of this code |
//! | `frozen-frames` | the walk goes on in the chunks of the heap and then at the frame that entered the virtual thread |
//!
//! Other places that need a rule of their own:
//!
//! | where | what misleads, and what leads on |
//! | --- | --- |
//! | the call of C, or of a stub that is called like C (`StubRoutines`, which copies arrays) | it has no record of its own, and the record at its return address may be of another method. The target of the call tells which calls these are; so does a record at an interrupted instruction that may be of the call that ends there (of the VM's code, which may not return). The frame has flags |
//! | an adapter to the interpreter | it keeps the caller's stack pointer in a register that may have any value before: the code is simulated on the way that does so. At its jump to the stub for another receiver (`ic_miss`) this register does not count |
//! | code that passes an exception on to a handler of the caller | a register, or the thread's `_exception_pc`, has the return address of the callee that threw, whose record is exact. In C1's stub the VM has written the handler over the return address, and the register has an old value. In C2's code the handler may begin behind another call |
//! | runtime stubs | they link their frames by the frame pointer: where it points into the stub's frame, the return address is above; else their code is simulated. `register_finalizer` of C1 links late; at the `ret` of a stub and the last jump of `wrong_method_blob` the frame is gone, whatever the distance of the frame pointer |
//! | entries of the interpreter that call a stub, such as `CRC32C.updateBytes` | they have no frame: they align the stack pointer, call, and set it to the caller's |
//! | the entry of an interpreted method, and its jump to the next bytecode | the return address is in a register for a while, and the stack has older ones; a word of the frame may look like a return address (a monitor's first word is not written on 25) |
//! | a method handle that leaves an interpreted frame which an adapter had made larger | the caller's stack pointer is the one that the frame has kept |

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
            Kind::Vtable => self.interrupted_vtable_stub(place, registers),
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
