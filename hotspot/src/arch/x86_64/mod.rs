//! x86-64.
//!
//! * [`decoder`]: the length and the effect of one instruction;
//! * `prologue`, `epilogue`, `calls`, `polls`: the code that HotSpot's compilers generate around a frame;
//! * `unwind`: simulates code up to its return, or to a place where its frame is as the tables say;
//! * `interpreter`: the interpreter's frames and registers;
//! * [`copies`]: copies of instructions that run elsewhere, for steps;
//! * `kinds`: instructions by what they do to the frame, for reports;
//! * `vm_code`: code of the VM itself.

mod calls;
pub mod copies;
pub mod decoder;
mod epilogue;
mod interpreter;
mod kinds;
mod patterns;
mod polls;
mod prologue;
mod registers;
mod unwind;
mod vm_code;

pub use registers::Registers;

use super::{
    Arch, Calls, Depth, Exit, Flow, Follow, Framing, Instruction, InterpretedFrame, Landings,
    NotKnown, Register, Settled, SignalFrame,
};
use crate::memory::Memory;
use std::ops::Range;

/// x86-64, as HotSpot generates code for it since JDK 16.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum X86_64 {}

impl Arch for X86_64 {
    const NAME: &'static str = "x86-64";

    const REGISTER_NAMES: &'static [&'static str] = registers::NAMES;

    const INTERPRETED: InterpretedFrame = interpreter::FRAME;

    const ENTRY_WRAPPER: Option<isize> = None;

    // The kernel's `struct rt_sigframe` (arch/x86/include/asm/sigframe.h):
    //
    //         char *pretcode;           the handler's return address: the C library's restorer
    //         struct ucontext uc;       uc_flags, uc_link, uc_stack: 5 words; then r8 to r15, rdi, rsi, rbp, rbx, rdx, rax,
    //                                   rcx, rsp: 16 words; then rip
    //
    // and the restorer, which musl has too (`__restore_rt`):
    //
    //         mov  rax, 15              rt_sigreturn
    //         syscall
    const SIGNAL_FRAME: Result<SignalFrame, NotKnown> = Ok(SignalFrame {
        restorer: &[0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05],
        pc: 1 + 5 + 16,
    });

    // `pop rbp` may not have run yet.
    const WORDS_AT_RETURN: usize = 2;

    // The intrinsic of `String.indexOf` pushes both strings and two words
    // (`C2_MacroAssembler::string_indexof`), array copies of C1 push their five arguments, and
    // barriers of ZGC push all registers in use (`ZSaveLiveRegisters`).
    const MOST_PUSHED: usize = 44;

    const CALL_SIZE: usize = calls::SIZE;

    const CALLS_PUSH: bool = true;

    const INTERPRETER_KEEPS_ROOM: bool = false;

    const TRAMPOLINES: bool = false;

    #[inline(always)]
    fn strip(word: usize) -> usize {
        word
    }

    fn deopt_handler(entry: usize, is_called_first: bool) -> Range<usize> {
        calls::deopt_handler(entry, is_called_first)
    }

    fn is_prologue(code: &[u8]) -> bool {
        prologue::is_prologue(code)
    }

    fn is_frame_removed(code: &[u8]) -> bool {
        epilogue::is_frame_removed(code)
    }

    fn is_stack_pointer_moved(code: &[u8]) -> bool {
        epilogue::is_stack_pointer_moved(code)
    }

    fn frame_size_word(code: &[u8]) -> Option<usize> {
        epilogue::frame_size_word(code)
    }

    fn is_wrapper_frame_removed(code: &[u8]) -> bool {
        epilogue::is_wrapper_frame_removed(code)
    }

    fn is_interpreter_frame_removed(code: &[u8]) -> Result<bool, NotKnown> {
        Ok(epilogue::is_interpreter_frame_removed(code))
    }

    fn interpreter_link(
        memory: &impl Memory,
        code: Range<usize>,
    ) -> Result<Option<usize>, NotKnown> {
        Ok(prologue::interpreter_link(memory, code))
    }

    fn is_register_call(before: &[u8]) -> bool {
        calls::is_register_call(before)
    }

    fn call_target(call: &[u8], return_address: usize) -> Option<usize> {
        calls::target(call, return_address)
    }

    fn is_safe_fetch(code: &[u8]) -> Result<bool, NotKnown> {
        Ok(vm_code::is_safe_fetch(code))
    }

    fn walk_mark(code: &[u8]) -> Result<Option<u32>, NotKnown> {
        Ok(vm_code::walk_mark(code))
    }

    fn kind(code: &[u8; 16]) -> Result<&'static str, NotKnown> {
        Ok(kinds::kind(code))
    }
}

impl Follow for X86_64 {
    const FOLLOWS: Result<(), NotKnown> = Ok(());

    type Registers = Registers;

    // Intel SDM, volume 2, 2.3.11.
    const LONGEST_INSTRUCTION: usize = 15;
    // lea rdx, [rip]; call stub; nop, and moves of the exception before (`cpu/x86/c1_LIRAssembler_x86.cpp`).
    const MOST_THROW: usize = 32;
    // call stub, and code that stops the VM behind it (`exception_handler_size`).
    const MOST_HANDLER_STUB: usize = 32;

    const LINK: Option<Register> = None;
    const SP: Register = Register::RSP;
    const FP: Register = Register::RBP;
    // `r15_thread` (`cpu/x86/register_x86.hpp`).
    const THREAD: Register = Register::R15;
    const METHOD: Register = Register::RBX;
    const SENDER_SP: Register = Register::R13;
    const BCP: Register = Register::R13;
    const ARGUMENT: Register = Register::RDI;
    const THROWN_FROM: Register = Register::RDX;
    const ENTRY_RETURN: Register = Register::RAX;

    #[inline]
    fn decode(code: &[u8; 16]) -> Option<Instruction> {
        decoder::decode(code).map(Instruction::from)
    }

    fn is_padding(code: &[u8]) -> bool {
        decoder::is_padding(code)
    }

    #[inline]
    fn link_length(code: &[u8]) -> Option<usize> {
        prologue::link_length(code)
    }

    #[inline]
    fn follow(memory: &impl Memory, start: usize, pc: usize, steps: usize) -> Option<Depth> {
        prologue::follow(memory, start, pc, steps)
    }

    #[inline]
    fn exit(
        memory: &impl Memory,
        pc: usize,
        registers: &Registers,
        steps: usize,
        calls: Calls,
        landings: &impl Landings,
    ) -> Option<Exit<Registers>> {
        unwind::exit::find(memory, pc, registers, steps, calls, landings)
    }

    #[inline]
    fn exit_without_frame(
        memory: &impl Memory,
        pc: usize,
        registers: &Registers,
        steps: usize,
        landings: &impl Landings,
    ) -> Option<Framing<Registers>> {
        Some(unwind::exit::find_without_frame(
            memory, pc, registers, steps, landings,
        ))
    }

    #[inline]
    fn exit_writing(
        memory: &impl Memory,
        pc: usize,
        registers: &Registers,
        steps: usize,
        landings: &impl Landings,
        register: Register,
    ) -> Option<Exit<Registers>> {
        unwind::exit::find_writing(memory, pc, registers, steps, landings, register)
    }

    #[inline]
    fn settle(
        memory: &impl Memory,
        pc: usize,
        registers: &Registers,
        code: Range<usize>,
        steps: usize,
        record: impl Fn(usize) -> Option<usize>,
    ) -> Option<Settled> {
        unwind::settled::find(memory, pc, registers, code, steps, record)
    }

    #[inline]
    fn poll_kept_in_thread(memory: &impl Memory, code: usize, pc: usize) -> Option<i32> {
        polls::kept_in_thread(memory, code, pc)
    }

    #[inline]
    fn loads_bcp(memory: &impl Memory, pc: usize) -> bool {
        interpreter::loads_bcp(memory, pc)
    }

    #[inline]
    fn has_popped_return(memory: &impl Memory, start: usize, pc: usize) -> bool {
        interpreter::has_popped_return(memory, start, pc)
    }

    #[inline]
    fn direct_call_before(memory: &impl Memory, address: usize) -> Option<usize> {
        calls::direct_before(memory, address)
    }

    fn direct_jump(memory: &impl Memory, pc: usize) -> Option<usize> {
        calls::direct_jump(memory, pc)
    }

    #[inline]
    fn is_behind_indirect_call(memory: &impl Memory, address: usize) -> bool {
        calls::is_behind_indirect(memory, address)
    }

    #[inline]
    fn is_static_stub(memory: &impl Memory, pc: usize) -> bool {
        calls::is_static_stub(memory, pc)
    }

    #[inline]
    fn flow(bytes: [u8; 2]) -> Flow {
        kinds::flow(bytes)
    }
}
