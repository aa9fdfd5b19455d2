//! The contract of an architecture whose code is followed instruction by instruction.

use super::contract::{Arch, NotKnown};
use super::instruction::{Flow, Instruction, Register};
use crate::memory::Memory;
use std::fmt;
use std::ops::Range;

/// What the simulation does at a call.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Calls {
    /// The code cannot be followed behind a call.
    Stop,
    /// A call returns, and leaves the stack pointer and the frame pointer as they were.
    Return,
}

/// The state at the caller.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Exit<R> {
    /// Where the caller continues.
    pub pc: usize,
    /// The caller's stack pointer, behind the return address.
    pub sp: usize,
    /// The caller's frame pointer.
    pub fp: usize,
    /// The registers of the caller, as far as they are known.
    pub registers: R,
}

/// What code says about the frame in which it runs.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Framing<R> {
    /// The frame is removed. The state at the caller.
    Removed(Exit<R>),
    /// The frame is still there.
    There,
}

/// The code to which a simulation leads.
pub trait Landings {
    /// Whether `word` is a return address of a Java frame.
    fn is_return(&self, word: usize) -> bool;
    /// Whether `word` is behind a call of the interpreter's own, whose frame goes on there.
    fn is_behind_own_call(&self, word: usize) -> bool;
    /// Whether `word` is a return address to which a callee may jump. A return address for [`Landings::is_return`] may also be a
    /// place at which compiled code has a debug info record for another reason than a call.
    fn returns_to(&self, word: usize) -> bool;
    /// The return address of the callee whose exception the thread is about to handle, if the VM has kept the address.
    fn origin(&self) -> Option<usize>;
    /// Whether code may handle at `pc` an exception that the callee threw whose return address is `origin`.
    fn goes_on_at(&self, pc: usize, origin: usize) -> bool;
}

/// Where the simulation came to.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Settled {
    /// A place in the body, where the frame is complete.
    Body {
        /// The stack pointer there.
        sp: usize,
        /// Whether the code alone says by how much the stack pointer differs.
        is_relative: bool,
    },
    /// The return, or a jump to a stub that goes on to the caller.
    Return {
        /// The program counter, the stack pointer and the frame pointer of the caller.
        caller: [usize; 3],
        /// As for [`Settled::Body`].
        is_relative: bool,
    },
}

/// The stack at an instruction, relative to the stack at the start.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Depth {
    /// By how many bytes the stack has grown.
    pub bytes: isize,
    /// By how many bytes the stack had grown when the caller's frame pointer was saved, the saved
    /// word included. With a link register the return address was saved in the word above.
    pub saved_fp: Option<isize>,
    /// Whether the frame pointer already belongs to this code.
    pub has_own_fp: bool,
}

/// An architecture whose code this crate follows instruction by instruction: to find the caller of interrupted
/// code, and to see each call and return of a thread that steps.
///
/// HotSpot's tables describe complete frames. At a method's start and end, and where code moves the stack pointer in
/// between, only the instructions show where the frame is.
///
/// Whoever follows code looks at [`Follow::FOLLOWS`] first. Where that is [`NotKnown`], no instruction is decoded, and
/// so no other function has an answer.
pub trait Follow: Arch {
    /// Whether code of this architecture is followed.
    const FOLLOWS: Result<(), NotKnown>;

    /// The values of the general registers, as far as they are known.
    type Registers: Copy + fmt::Debug + PartialEq;

    /// The length of the longest instruction, in bytes.
    const LONGEST_INSTRUCTION: usize;
    /// The most bytes of the code by which C1 throws: it takes its own address, and calls a stub
    /// (`LIR_Assembler::throw_op`).
    const MOST_THROW: usize;
    /// The most bytes of the stub in which compiled code begins to handle an exception. It calls the code that looks for
    /// the handler (`LIR_Assembler::emit_exception_handler`).
    const MOST_HANDLER_STUB: usize;

    /// The link register, which has the return address until code saves it; `None` where calls push it.
    const LINK: Option<Register>;
    /// The stack pointer.
    const SP: Register;
    /// The frame pointer.
    const FP: Register;
    /// In Java code, the thread.
    const THREAD: Register;
    /// The register in which HotSpot passes the method to its interpreter.
    const METHOD: Register;
    /// At a call, the caller's stack pointer before the call moved it: adapters and the interpreter keep it there.
    const SENDER_SP: Register;
    /// The interpreter's pointer to the bytecode.
    const BCP: Register;
    /// The register of the first argument in C's calling convention.
    const ARGUMENT: Register;
    /// In code that handles an exception, the return address of the callee that threw
    /// (`StubRoutines::forward_exception_entry`).
    const THROWN_FROM: Register;
    /// The register that has the return address while the interpreter's entry of a method has taken it off the stack.
    const ENTRY_RETURN: Register;

    /// The instruction at the start of `code`; `None` if no instruction begins there, or the instruction is not known.
    fn decode(code: &[u8; 16]) -> Option<Instruction>;

    /// Whether `code` begins with an instruction that does nothing.
    fn is_padding(code: &[u8]) -> bool;

    /// What an instruction with these first bytes does to the calls of a thread.
    fn flow(bytes: [u8; 2]) -> Flow;

    /// The length of the instructions at the start of `code` that link a frame to its caller's: save the frame pointer,
    /// and set it anew. `None` if other instructions are there.
    fn link_length(code: &[u8]) -> Option<usize>;

    /// Follows the code from `start` to `pc`, in address order, for at most `steps` instructions.
    /// Behind a jump or a return the stack is taken to be as at the start, as in compiled code outside
    /// of pushes and pops. `None` if `pc` is not the start of an instruction, or the stack pointer
    /// cannot be followed.
    fn follow(memory: &impl Memory, start: usize, pc: usize, steps: usize) -> Option<Depth>;

    /// Simulates at most `steps` instructions from `pc` on. An indirect jump goes to the caller, or leaves the return
    /// address on the stack for other code. `None` if no return was reached.
    fn exit(
        memory: &impl Memory,
        pc: usize,
        registers: &Self::Registers,
        steps: usize,
        calls: Calls,
        landings: &impl Landings,
    ) -> Option<Exit<Self::Registers>>;

    /// As [`Follow::exit`], in code that may have removed its frame: the frame is still there if the code removes or uses
    /// one. `None` if the code shows neither.
    fn exit_without_frame(
        memory: &impl Memory,
        pc: usize,
        registers: &Self::Registers,
        steps: usize,
        landings: &impl Landings,
    ) -> Option<Framing<Self::Registers>>;

    /// As [`Follow::exit`], on a way on which the code itself writes `register`: other ways lead to other code.
    fn exit_writing(
        memory: &impl Memory,
        pc: usize,
        registers: &Self::Registers,
        steps: usize,
        landings: &impl Landings,
        register: Register,
    ) -> Option<Exit<Self::Registers>>;

    /// Simulates at most `steps` instructions of `code` from `pc` on, up to a place where its frame is as its tables
    /// say. `record` gives the first address from an address on that has a debug info record. `None` if the simulation
    /// came to no record and to no return, or the stack pointer cannot be followed.
    fn settle(
        memory: &impl Memory,
        pc: usize,
        registers: &Self::Registers,
        code: Range<usize>,
        steps: usize,
        record: impl Fn(usize) -> Option<usize>,
    ) -> Option<Settled>;

    /// The place in the thread where the VM keeps the program counter of a poll, as a distance from the thread, while
    /// the frame of the poll's stub does not have it: up to the instruction at `pc`, the stub that begins at `code` has
    /// not copied it to its return address. `None` for code that does not do so, such as the stub of return polls,
    /// which has a return address.
    fn poll_kept_in_thread(memory: &impl Memory, code: usize, pc: usize) -> Option<i32>;

    /// Whether the interpreter at `pc` is about to load its bytecode pointer from the frame. Until then the register may
    /// have anything.
    fn loads_bcp(memory: &impl Memory, pc: usize) -> bool;

    /// Whether code that enters a method, from `start` on, has taken the return address off the stack before `pc`, and
    /// has not put it back ([`Follow::ENTRY_RETURN`]).
    fn has_popped_return(memory: &impl Memory, start: usize, pc: usize) -> bool;

    /// The target of the direct call that ends at `address`.
    fn direct_call_before(memory: &impl Memory, address: usize) -> Option<usize>;

    /// The target of the jump at `pc`, if the code shows it.
    fn direct_jump(memory: &impl Memory, pc: usize) -> Option<usize>;

    /// Whether a call through a register or memory may end at `address`, and a direct call may not.
    fn is_behind_indirect_call(memory: &impl Memory, address: usize) -> bool;

    /// Whether `pc` is in the stub of a static call, which loads the method and jumps on
    /// (`CompiledDirectCall::emit_to_interp_stub`).
    fn is_static_stub(memory: &impl Memory, pc: usize) -> bool;
}
