//! The contract of an architecture.

use crate::memory::Memory;
use std::fmt;
use std::ops::Range;

/// Nobody has written down yet how this is on the architecture. It is no answer: a caller says that it could not
/// find out, and never takes it for "no".
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct NotKnown {
    /// What is not known: "which instructions follow …".
    pub what: &'static str,
    /// The architecture.
    pub on: &'static str,
}

impl fmt::Display for NotKnown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not known on {}", self.what, self.on)
    }
}

impl std::error::Error for NotKnown {}

/// Where an interpreted frame has its parts, in bytes below its frame pointer (`frame_x86.hpp`,
/// `frame_aarch64.hpp`).
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct InterpretedFrame {
    /// The stack pointer of the caller.
    pub sender_sp: usize,
    /// The method.
    pub method: usize,
    /// The local variables.
    pub locals: usize,
    /// The bytecode pointer.
    pub bcp: usize,
    /// The end of the part that all methods have.
    pub fixed: usize,
}

/// What the kernel leaves on the stack of a thread that runs the handler of a signal.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct SignalFrame {
    /// The code that the handler returns to.
    pub restorer: &'static [u8],
    /// How far above the handler's return address the interrupted program counter is, in words.
    pub pc: usize,
}

/// The distance of a linked frame's return address above its frame pointer, in bytes.
pub const RETURN_ADDRESS: usize = size_of::<usize>();

/// How HotSpot's generated code looks on an architecture.
///
/// On both architectures the last word of a compiled frame is the return address, and the word below
/// is the caller's frame pointer. The frame pointer register is free for other uses between
/// (unless `-XX:+PreserveFramePointer`).
pub trait Arch: Copy + fmt::Debug + 'static {
    /// The architecture's name.
    const NAME: &'static str;

    /// The names of the registers that a signal's context has, in the order in which the agent numbers them.
    const REGISTER_NAMES: &'static [&'static str];

    /// Where an interpreted frame has its parts.
    const INTERPRETED: InterpretedFrame;

    /// Where the frame of the stub that calls Java methods has its wrapper, in words from its frame pointer, if the VM does
    /// not publish it (`frame::entry_frame_call_wrapper_offset`).
    const ENTRY_WRAPPER: Option<isize>;

    /// What the kernel leaves on the stack of a thread that runs the handler of a signal.
    const SIGNAL_FRAME: Result<SignalFrame, NotKnown>;

    /// How many words from the stack pointer on may be the return address between the removal of
    /// the frame and `ret`.
    const WORDS_AT_RETURN: usize;

    /// The most words by which compiled code moves its stack pointer within its body.
    const MOST_PUSHED: usize;

    /// The size of a direct call in bytes.
    const CALL_SIZE: usize;

    /// Whether a call pushes its return address. Otherwise the link register has it.
    const CALLS_PUSH: bool;

    /// Whether the interpreter keeps room for a method's largest expression stack below its stack pointer for
    /// expressions: the frame of a method that it calls begins above the stack pointer.
    const INTERPRETER_KEEPS_ROOM: bool;

    /// Whether a direct call may lead to another place of the caller's own code, which jumps on to
    /// the method that is called (a trampoline stub).
    const TRAMPOLINES: bool;

    /// The address in `word`, a return address that may be signed.
    fn strip(word: usize) -> usize;

    /// Whether `code`, the bytes at the program counter in compiled code, is in the prologue: the
    /// frame is not complete yet.
    fn is_prologue(code: &[u8]) -> bool;

    /// Whether `code`, the bytes at the program counter in compiled code, is behind the removal of
    /// the frame: in an epilogue, or in the exit to the exception handler of the caller.
    fn is_frame_removed(code: &[u8]) -> bool;

    /// Whether `code`, the bytes at the program counter in compiled code, takes words from the stack that the code itself has
    /// put there. Then the stack pointer is not where the size of the frame says.
    fn is_stack_pointer_moved(code: &[u8]) -> bool;

    /// Of `code`, a whole compiled method: how far from the stack pointer its frame has its own size, in bytes, if the method may
    /// extend its frame for the fields of value objects.
    fn frame_size_word(code: &[u8]) -> Option<usize>;

    /// Whether `code`, the bytes at the program counter in a native wrapper, is behind the removal
    /// of the wrapper's frame.
    fn is_wrapper_frame_removed(code: &[u8]) -> bool;

    /// Whether `code`, the bytes at the program counter in the interpreter, is behind the removal
    /// of the frame of a method that returns.
    fn is_interpreter_frame_removed(code: &[u8]) -> Result<bool, NotKnown>;

    /// The address behind the instructions in `code` with which the interpreter links the frame of a method that it
    /// enters. `None` if the code links no frame.
    fn interpreter_link(
        memory: &impl Memory,
        code: Range<usize>,
    ) -> Result<Option<usize>, NotKnown>;

    /// The code of the deoptimisation handler that is entered at `entry`, or more. `is_called_first` says whether the
    /// handler begins before its entry, as it does from JDK 26 on.
    fn deopt_handler(entry: usize, is_called_first: bool) -> Range<usize>;

    /// Whether the [`Arch::CALL_SIZE`] bytes `before` an address end with a call through a register.
    fn is_register_call(before: &[u8]) -> bool;

    /// The target of the direct call with the bytes `call`. `return_address` is the address behind
    /// the call. `None` if the bytes are no direct call.
    fn call_target(call: &[u8], return_address: usize) -> Option<usize>;

    /// Whether the instruction at the start of `code` is the one by which the VM reads memory that may be absent
    /// (`SafeFetch`). A fault there is no mistake: the VM's signal handler goes on behind the read.
    fn is_safe_fetch(code: &[u8]) -> Result<bool, NotKnown>;

    /// The offset in the VM's `Thread` of the mark that the thread walks, by the code of AsyncGetCallTrace
    /// (`Thread::_in_asgct`, `ThreadInAsgct` in `share/prims/forte.cpp`). `None` if the code does not show one place.
    fn walk_mark(code: &[u8]) -> Result<Option<u32>, NotKnown>;

    /// The kind of the instruction at the start of `code` by what it does to the frame, as reports have it.
    fn kind(code: &[u8; 16]) -> Result<&'static str, NotKnown>;
}

/// The registers from which a walk starts.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Registers {
    /// Program counter.
    pub pc: usize,
    /// Stack pointer.
    pub sp: usize,
    /// Frame pointer.
    pub fp: usize,
    /// Link register, on architectures that have one.
    pub link: Option<usize>,
}
