//! AArch64 (A64).
//!
//! * `instructions`: where an instruction leads, and what it does to registers;
//! * `prologue`, `epilogue`, `calls`, `polls`: the code that HotSpot's compilers generate around a frame;
//! * `unwind`: simulates code up to its return, or to a place where its frame is as the tables say;
//! * `interpreter`: the interpreter's frames and registers;
//! * `patterns`: instructions by which code is recognised.
//!
//! Written after HotSpot's sources and tried with JVMs under an emulator, not on hardware.

mod calls;
mod epilogue;
mod instructions;
mod interpreter;
mod patterns;
mod polls;
mod prologue;
mod registers;
mod unwind;

pub use registers::Registers;

use super::{
    Arch, Calls, Depth, Effect, Exit, Flow, Follow, Framing, Instruction, InterpretedFrame,
    Landings, NotKnown, Register, Settled, SignalFrame,
};
use crate::memory::Memory;
use instructions::{Access, Op};
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

    // `frame_aarch64.hpp`. The code of the stub shows it, too.
    const ENTRY_WRAPPER: Option<isize> = Some(-8);

    const SIGNAL_FRAME: Result<SignalFrame, NotKnown> = not_known("the frame of a signal handler");

    // The return address is in the link register.
    const WORDS_AT_RETURN: usize = 0;

    // Barriers of ZGC save the registers in use (`ZSaveLiveRegisters`): 31 general ones of one
    // word and 32 vector ones of two.
    const MOST_PUSHED: usize = 96;

    const CALL_SIZE: usize = calls::SIZE;

    // `bl` writes the link register.
    const CALLS_PUSH: bool = false;

    // The stack pointer stays below the largest expression stack, whose top is in x20 (`esp`).
    const INTERPRETER_KEEPS_ROOM: bool = true;

    // `bl` reaches 128 MiB: calls that may lead further go through a trampoline stub.
    const TRAMPOLINES: bool = true;

    #[inline(always)]
    fn strip(word: usize) -> usize {
        registers::address(word)
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

    fn is_interpreter_frame_removed(_: &[u8]) -> Result<bool, NotKnown> {
        not_known("where the interpreter has removed a frame")
    }

    fn interpreter_link(
        memory: &impl Memory,
        code: Range<usize>,
    ) -> Result<Option<usize>, NotKnown> {
        Ok(interpreter::link(memory, code))
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
    const FOLLOWS: Result<(), NotKnown> = Ok(());

    type Registers = Registers;

    const LONGEST_INSTRUCTION: usize = 4;
    const MOST_THROW: usize = 32;
    const MOST_HANDLER_STUB: usize = 32;

    const LINK: Option<Register> = Some(Register::LR);
    const SP: Register = Register::STACK_POINTER;
    const FP: Register = Register::RFP;
    const THREAD: Register = Register::RTHREAD;
    const METHOD: Register = Register::RMETHOD;
    const SENDER_SP: Register = Register::R19_SENDER_SP;
    const BCP: Register = Register::RBCP;
    const ARGUMENT: Register = Register::C_RARG0;
    const THROWN_FROM: Register = Register::R3;
    const ENTRY_RETURN: Register = Register::LR;

    fn decode(code: &[u8; 16]) -> Option<Instruction> {
        let [a, b, c, d, ..] = *code;
        let op = instructions::decode(u32::from_le_bytes([a, b, c, d]), 0)?;
        Some(Instruction {
            length: 4,
            effect: effect(op),
        })
    }

    fn is_padding(code: &[u8]) -> bool {
        patterns::starts_with(&patterns::words(code), &[patterns::NOP])
    }

    // Nothing steps through code of this architecture.
    fn flow(_: [u8; 2]) -> Flow {
        Flow::Other
    }

    fn link_length(code: &[u8]) -> Option<usize> {
        prologue::link_length(code)
    }

    fn follow(memory: &impl Memory, start: usize, pc: usize, steps: usize) -> Option<Depth> {
        prologue::follow(memory, start, pc, steps)
    }

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

    fn exit_without_frame(
        memory: &impl Memory,
        pc: usize,
        registers: &Registers,
        steps: usize,
        landings: &impl Landings,
    ) -> Option<Framing<Registers>> {
        unwind::exit::find_without_frame(memory, pc, registers, steps, landings)
    }

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

    fn poll_kept_in_thread(memory: &impl Memory, code: usize, pc: usize) -> Option<i32> {
        polls::kept_in_thread(memory, code, pc)
    }

    fn loads_bcp(memory: &impl Memory, pc: usize) -> bool {
        interpreter::loads_bcp(memory, pc)
    }

    // The return address is not on the stack.
    fn has_popped_return(_: &impl Memory, _: usize, _: usize) -> bool {
        false
    }

    fn direct_call_before(memory: &impl Memory, address: usize) -> Option<usize> {
        calls::direct_before(memory, address)
    }

    fn direct_jump(memory: &impl Memory, pc: usize) -> Option<usize> {
        calls::direct_jump(memory, pc)
    }

    fn is_behind_indirect_call(memory: &impl Memory, address: usize) -> bool {
        calls::is_behind_indirect(memory, address)
    }

    fn is_static_stub(memory: &impl Memory, pc: usize) -> bool {
        calls::is_static_stub(memory, pc)
    }
}

/// The effect of an instruction at address 0, in the words that all architectures share.
fn effect(op: Op) -> Effect {
    let from_end = |target: usize| target.cast_signed().wrapping_sub(4) as i32;
    match op {
        Op::Add(to, from, 0) => Effect::Move(to, from),
        Op::Add(to, from, number) if to == from => Effect::Add(to, number as i32),
        Op::Add(to, from, number) => Effect::Lea(to, from, number as i32),
        Op::Align(to, _) | Op::Set(to, _) | Op::Insert(to, ..) => Effect::Write(to),
        Op::Access(Access {
            loads,
            registers: [Some(register), None],
            is_words: true,
            base,
            offset,
            moves: 0,
            ..
        }) => {
            let distance = offset as i32;
            if loads {
                Effect::Load(register, base, distance)
            } else {
                Effect::Store(base, distance, register)
            }
        }
        Op::Access(access) => {
            let loaded = access
                .registers
                .map(|register| register.filter(|_| access.loads));
            let base = Some(access.base).filter(|_| access.moves != 0);
            written([loaded[0], loaded[1], base])
        }
        Op::Write(registers) => written(registers),
        Op::Nothing => Effect::Nothing,
        Op::Call(_) | Op::CallRegister => Effect::Call,
        Op::Return(_) => Effect::Return,
        Op::Jump(target) => Effect::Jump(from_end(target)),
        Op::JumpRegister(register) => Effect::JumpRegister(register),
        Op::Branch(target) => Effect::Branch(from_end(target)),
        Op::Trap => Effect::Trap,
    }
}

/// The effect of an instruction that writes these registers.
fn written(registers: [Option<Register>; 3]) -> Effect {
    let mut registers = registers.into_iter().flatten();
    match (registers.next(), registers.next(), registers.next()) {
        (Some(_), Some(_), Some(_)) => Effect::Clobber,
        (Some(first), Some(second), None) => Effect::WriteBoth(first, second),
        (Some(first), ..) => Effect::Write(first),
        (None, ..) => Effect::Nothing,
    }
}
