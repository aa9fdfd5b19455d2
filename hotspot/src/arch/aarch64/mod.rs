//! AArch64 (A64).
//!
//! Written after HotSpot's sources and tried with JVMs under an emulator, not on hardware.

mod calls;
mod epilogue;
mod interpreter;
mod patterns;
mod prologue;
mod registers;

pub use registers::Registers;

use super::{
    Arch, Calls, Depth, Exit, Flow, Follow, Instruction, InterpretedFrame, Landings, NotKnown,
    Register, Settled, SignalFrame,
};
use crate::memory::Memory;
use std::ops::Range;

/// AArch64, as HotSpot generates code for it since JDK 16.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Aarch64 {}

const fn not_known<T: Copy>(what: &'static str) -> Result<T, NotKnown> {
    Err(NotKnown {
        what,
        on: Aarch64::NAME,
    })
}

impl Arch for Aarch64 {
    const NAME: &'static str = "aarch64";

    const REGISTER_NAMES: &'static [&'static str] = registers::NAMES;

    const INTERPRETED: InterpretedFrame = interpreter::FRAME;

    const SIGNAL_FRAME: Result<SignalFrame, NotKnown> = not_known("the frame of a signal handler");

    // The return address is in the link register.
    const WORDS_AT_RETURN: usize = 0;

    // Barriers of ZGC save the registers in use (`ZSaveLiveRegisters`): 31 general ones of one
    // word and 32 vector ones of two.
    const MOST_PUSHED: usize = 96;

    const CALL_SIZE: usize = calls::SIZE;

    // `bl` writes the link register.
    const CALLS_PUSH: bool = false;

    // `bl` reaches 128 MiB: calls that may lead further go through a trampoline stub.
    const TRAMPOLINES: bool = true;

    fn deopt_handler(entry: usize, is_called_first: bool) -> Range<usize> {
        calls::deopt_handler(entry, is_called_first)
    }

    fn is_prologue(code: &[u8]) -> bool {
        prologue::is_prologue(code)
    }

    fn is_frame_removed(code: &[u8]) -> bool {
        epilogue::is_frame_removed(code)
    }

    /// Compilers for aarch64 move no stack pointer in the body of a method, as far as we know.
    fn is_stack_pointer_moved(_: &[u8]) -> bool {
        false
    }

    /// How code for aarch64 removes such a frame is not known here, so that nothing is proved.
    fn frame_size_word(_: &[u8]) -> Option<usize> {
        None
    }

    fn is_wrapper_frame_removed(code: &[u8]) -> bool {
        epilogue::is_wrapper_frame_removed(code)
    }

    /// How these stubs end is not known here, so that nothing is proved.
    fn is_stub_frame_removed(_: &[u8]) -> bool {
        false
    }

    fn is_interpreter_frame_removed(_: &[u8]) -> Result<bool, NotKnown> {
        not_known("where the interpreter has removed a frame")
    }

    fn interpreter_link(_: &impl Memory, _: Range<usize>) -> Result<Option<usize>, NotKnown> {
        not_known("where the interpreter links a frame")
    }

    fn is_register_call(before: &[u8]) -> bool {
        calls::is_register_call(before)
    }

    fn call_target(call: &[u8], return_address: usize) -> Option<usize> {
        calls::target(call, return_address)
    }

    fn is_safe_fetch(_: &[u8]) -> Result<bool, NotKnown> {
        not_known("the code of SafeFetch")
    }

    fn walk_mark(_: &[u8]) -> Result<Option<u32>, NotKnown> {
        not_known("how AsyncGetCallTrace marks its thread")
    }

    fn kind(_: &[u8; 16]) -> Result<&'static str, NotKnown> {
        not_known("what each instruction does to a frame")
    }
}

impl Follow for Aarch64 {
    const FOLLOWS: Result<(), NotKnown> = not_known("what each instruction does to a frame");

    type Registers = Registers;

    const LONGEST_INSTRUCTION: usize = 4;
    const MOST_THROW: usize = 32;
    const MOST_HANDLER_STUB: usize = 32;

    const SP: Register = Register::STACK_POINTER;
    const FP: Register = Register::RFP;
    const THREAD: Register = Register::RTHREAD;
    const METHOD: Register = Register::RMETHOD;
    const SENDER_SP: Register = Register::R19_SENDER_SP;
    const BCP: Register = Register::RBCP;
    const ARGUMENT: Register = Register::C_RARG0;
    const THROWN_FROM: Register = Register::R3;
    const ENTRY_RETURN: Register = Register::LR;

    // No instruction is decoded, so nothing is found: `FOLLOWS` says why.

    fn decode(_: &[u8; 16]) -> Option<Instruction> {
        None
    }

    fn is_padding(_: &[u8]) -> bool {
        false
    }

    fn flow(_: [u8; 2]) -> Flow {
        Flow::Other
    }

    fn link_length(_: &[u8]) -> Option<usize> {
        None
    }

    fn follow(_: &impl Memory, _: usize, _: usize, _: usize) -> Option<Depth> {
        None
    }

    fn exit(
        _: &impl Memory,
        _: usize,
        _: &Registers,
        _: usize,
        _: Calls,
        _: &impl Landings,
    ) -> Option<Exit<Registers>> {
        None
    }

    fn exit_without_frame(
        _: &impl Memory,
        _: usize,
        _: &Registers,
        _: usize,
        _: &impl Landings,
    ) -> Option<Exit<Registers>> {
        None
    }

    fn exit_writing(
        _: &impl Memory,
        _: usize,
        _: &Registers,
        _: usize,
        _: &impl Landings,
        _: Register,
    ) -> Option<Exit<Registers>> {
        None
    }

    fn settle(
        _: &impl Memory,
        _: usize,
        _: &Registers,
        _: Range<usize>,
        _: usize,
        _: impl Fn(usize) -> Option<usize>,
    ) -> Option<Settled> {
        None
    }

    fn poll_kept_in_thread(_: &impl Memory, _: usize, _: usize) -> Option<i32> {
        None
    }

    fn loads_bcp(_: &impl Memory, _: usize) -> bool {
        false
    }

    fn has_popped_return(_: &impl Memory, _: usize, _: usize) -> bool {
        false
    }

    fn direct_call_before(_: &impl Memory, _: usize) -> Option<usize> {
        None
    }

    fn is_behind_indirect_call(_: &impl Memory, _: usize) -> bool {
        false
    }

    fn is_static_stub(_: &impl Memory, _: usize) -> bool {
        false
    }
}
