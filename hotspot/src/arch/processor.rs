//! The trait of a processor.

/// How HotSpot's generated code looks on a processor.
///
/// On both processors the last word of a compiled frame is the return address, and the word below
/// is the caller's frame pointer. The frame pointer register is free for other uses between
/// (unless `-XX:+PreserveFramePointer`).
pub trait Arch {
    /// How many words from the stack pointer on may be the return address between the removal of
    /// the frame and `ret`.
    const WORDS_AT_RETURN: usize;

    /// The most words by which compiled code moves its stack pointer within its body.
    const MOST_PUSHED: usize;

    /// The size of a direct call in bytes.
    const CALL_SIZE: usize;

    /// Whether a direct call may lead to another place of the caller's own code, which jumps on to
    /// the method that is called (a trampoline stub).
    const TRAMPOLINES: bool;

    /// Whether `code`, the bytes at the program counter in compiled code, is in the prologue: the
    /// frame is not complete yet.
    fn is_prologue(code: &[u8]) -> bool;

    /// Whether `code`, the bytes at the program counter in compiled code, is behind the removal of
    /// the frame: in an epilogue, or in the exit to the exception handler of the caller.
    fn is_frame_removed(code: &[u8]) -> bool;

    /// Whether `code`, the bytes at the program counter in a native wrapper, is behind the removal
    /// of the wrapper's frame.
    fn is_wrapper_frame_removed(code: &[u8]) -> bool;

    /// Whether `code`, the bytes at the program counter in the interpreter, is behind the removal
    /// of the frame of a method that returns.
    fn is_interpreter_frame_removed(code: &[u8]) -> bool;

    /// Whether the [`Arch::CALL_SIZE`] bytes `before` an address end with a call through a register.
    fn is_register_call(before: &[u8]) -> bool;

    /// The target of the direct call with the bytes `call`. `return_address` is the address behind
    /// the call. `None` if the bytes are no direct call.
    fn call_target(call: &[u8], return_address: usize) -> Option<usize>;
}

/// The registers from which a walk starts.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Registers {
    /// Program counter.
    pub pc: usize,
    /// Stack pointer.
    pub sp: usize,
    /// Frame pointer: `rbp`, `x29`.
    pub fp: usize,
    /// Link register: `x30`. x86-64 has none.
    pub link: Option<usize>,
}
