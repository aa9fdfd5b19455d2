//! One instruction, as the decoder and as iced decode it.

use hotspot::arch::x86_64::decoder::decode;
use hotspot::arch::{Effect, Register};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind,
};

/// What comparing showed.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Compared {
    /// Both decode the bytes, and agree. The length.
    Same(usize),
    /// The decoder refuses what iced decodes. The length.
    Refused(usize),
    /// For iced no instruction begins here.
    Invalid,
}

/// Compares instructions.
pub struct Comparison {
    factory: InstructionInfoFactory,
}

/// How the code goes on behind an instruction.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
enum Way {
    Next,
    /// By so many bytes from the end, where it is known.
    Jump(Option<i32>),
    Branch(i32),
    Call,
    Return,
    /// The instruction behind does not run.
    Trap,
    /// None that the decoder has a word for.
    Other,
}

impl Comparison {
    pub fn new() -> Comparison {
        Comparison {
            factory: InstructionInfoFactory::new(),
        }
    }

    /// Compares the instruction at the start of `code`. `Err` has the difference.
    pub fn of(&mut self, code: &[u8; 16]) -> Result<Compared, String> {
        let theirs = Decoder::with_ip(64, code, 0, DecoderOptions::NONE).decode();
        if theirs.is_invalid() {
            return Ok(Compared::Invalid);
        }
        let Some(ours) = decode(code) else {
            return Ok(Compared::Refused(theirs.len()));
        };
        let shown = |what: &str, expected: &dyn std::fmt::Debug| {
            let bytes = &code[..theirs.len().max(ours.length).min(16)];
            let name = (theirs.code(), theirs.op0_kind(), theirs.op0_register());
            Err(format!(
                "{bytes:02x?} {name:?}: {:?}, but {what} {expected:?}",
                ours.effect
            ))
        };
        if ours.length != theirs.len() {
            return shown("the length is", &theirs.len());
        }
        let way = way(&theirs);
        if way_of(ours.effect) != way {
            return shown("the code goes on by", &way);
        }
        let pushed = match ours.effect {
            Effect::Push(_) | Effect::Call => -8,
            Effect::Pop(_) => 8,
            Effect::Return => 8 + return_arguments(&theirs),
            _ => 0,
        };
        if theirs.stack_pointer_increment() != pushed {
            return shown(
                "the stack pointer changes by",
                &theirs.stack_pointer_increment(),
            );
        }
        if !operands_fit(ours.effect, &theirs) {
            return shown("the operands are others:", &theirs);
        }
        let written = self.written(&theirs);
        let is_covered = match ours.effect {
            Effect::Clobber => written & !CLOBBERED == 0,
            effect => written == written_by(effect),
        };
        if !is_covered {
            return shown("the registers that change are", &registers(written));
        }
        Ok(Compared::Same(ours.length))
    }

    /// A bit for each general register that the instruction may write.
    fn written(&mut self, instruction: &Instruction) -> u16 {
        let info = self.factory.info(instruction);
        let used = info.used_registers().iter();
        let written = used.filter(|used| {
            matches!(
                used.access(),
                OpAccess::Write
                    | OpAccess::ReadWrite
                    | OpAccess::CondWrite
                    | OpAccess::ReadCondWrite
            )
        });
        let general = written.map(|used| used.register().full_register());
        general
            .filter(|register| register.is_gpr64())
            .fold(0, |all, register| all | 1 << register.number())
    }
}

/// rax, rcx, rdx, rbx, rsi, rdi, r8 to r11: what [`Effect::Clobber`] may change.
const CLOBBERED: u16 = 0b1111_1100_1111;

fn bit(register: Register) -> u16 {
    1 << register.number()
}

fn written_by(effect: Effect) -> u16 {
    let (sp, fp) = (1 << 4, 1 << 5);
    match effect {
        Effect::Push(_) | Effect::Pop(None) | Effect::Call | Effect::Return => sp,
        Effect::Pop(Some(register)) => sp | bit(register),
        Effect::Leave => sp | fp,
        Effect::Add(register, _)
        | Effect::And(register, _)
        | Effect::Lea(register, ..)
        | Effect::Move(register, _)
        | Effect::Load(register, ..)
        | Effect::Write(register) => bit(register),
        Effect::WriteBoth(first, second) => bit(first) | bit(second),
        Effect::Store(..)
        | Effect::Jump(_)
        | Effect::JumpRegister(_)
        | Effect::JumpMemory
        | Effect::Branch(_)
        | Effect::Clobber
        | Effect::Nothing
        | Effect::Trap => 0,
    }
}

fn registers(bits: u16) -> Vec<u8> {
    (0..16).filter(|at| bits >> at & 1 == 1).collect()
}

fn way_of(effect: Effect) -> Way {
    match effect {
        Effect::Jump(distance) => Way::Jump(Some(distance)),
        Effect::JumpRegister(_) | Effect::JumpMemory => Way::Jump(None),
        Effect::Branch(distance) => Way::Branch(distance),
        Effect::Call => Way::Call,
        Effect::Return => Way::Return,
        Effect::Trap => Way::Trap,
        _ => Way::Next,
    }
}

fn way(instruction: &Instruction) -> Way {
    let distance = || {
        let target = instruction.near_branch_target().cast_signed();
        i32::try_from(target - instruction.len() as i64).expect("a distance of 32 bits")
    };
    match instruction.mnemonic() {
        // The kernel returns behind the instruction.
        Mnemonic::Syscall => return Way::Next,
        // A program that runs these does not go on.
        Mnemonic::Int3 | Mnemonic::Hlt => return Way::Trap,
        Mnemonic::Int1 => return Way::Other,
        _ => {}
    }
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::Interrupt => Way::Next,
        FlowControl::UnconditionalBranch if instruction.op0_kind() == OpKind::NearBranch64 => {
            Way::Jump(Some(distance()))
        }
        FlowControl::ConditionalBranch if instruction.op0_kind() == OpKind::NearBranch64 => {
            Way::Branch(distance())
        }
        FlowControl::IndirectBranch => Way::Jump(None),
        FlowControl::Call | FlowControl::IndirectCall => Way::Call,
        FlowControl::Return => Way::Return,
        FlowControl::Exception => Way::Trap,
        _ => Way::Other,
    }
}

fn return_arguments(instruction: &Instruction) -> i32 {
    match instruction.op_count() {
        0 => 0,
        _ => i32::from(instruction.immediate16()),
    }
}

fn is(register: Register, theirs: iced_x86::Register) -> bool {
    theirs.is_gpr64() && usize::from(register.number()) == theirs.number()
}

/// Whether the memory operand is at `base` plus `distance`.
fn is_at(instruction: &Instruction, base: Register, distance: i32) -> bool {
    use iced_x86::Register::{CS, DS, ES, SS};
    is(base, instruction.memory_base())
        && instruction.memory_index() == iced_x86::Register::None
        && instruction.memory_displacement64().cast_signed() == i64::from(distance)
        && (instruction.mnemonic() == Mnemonic::Lea
            || matches!(instruction.memory_segment(), CS | DS | ES | SS))
}

/// Whether the operands of `theirs` are those that the effect names.
fn operands_fit(effect: Effect, theirs: &Instruction) -> bool {
    let (first, second) = (theirs.op0_register(), theirs.op1_register());
    let is_memory = |operand: u32| theirs.op_kind(operand) == OpKind::Memory;
    let mnemonic = theirs.mnemonic();
    match effect {
        Effect::Push(Some(register)) => mnemonic == Mnemonic::Push && is(register, first),
        Effect::Pop(Some(register)) => mnemonic == Mnemonic::Pop && is(register, first),
        Effect::Push(None) | Effect::Pop(None) => !first.is_gpr(),
        Effect::Add(register, number) => {
            let by = match mnemonic {
                Mnemonic::Inc => 1,
                Mnemonic::Dec => -1,
                Mnemonic::Add => theirs.immediate(1).cast_signed(),
                Mnemonic::Sub => -theirs.immediate(1).cast_signed(),
                _ => return false,
            };
            is(register, first) && by == i64::from(number)
        }
        Effect::And(register, number) => {
            mnemonic == Mnemonic::And
                && is(register, first)
                && theirs.immediate(1).cast_signed() == i64::from(number)
        }
        Effect::Lea(to, base, distance) => {
            mnemonic == Mnemonic::Lea && is(to, first) && is_at(theirs, base, distance)
        }
        Effect::Move(to, from) => mnemonic == Mnemonic::Mov && is(to, first) && is(from, second),
        Effect::Load(to, base, distance) => {
            mnemonic == Mnemonic::Mov
                && is(to, first)
                && is_memory(1)
                && is_at(theirs, base, distance)
        }
        Effect::Store(base, distance, from) => {
            mnemonic == Mnemonic::Mov
                && is(from, second)
                && is_memory(0)
                && is_at(theirs, base, distance)
        }
        Effect::JumpRegister(register) => is(register, first),
        Effect::JumpMemory => is_memory(0),
        Effect::Leave => mnemonic == Mnemonic::Leave,
        _ => true,
    }
}

/// iced's name for the instruction at the start of `code`.
pub fn name(code: &[u8; 16]) -> String {
    let instruction = Decoder::with_ip(64, code, 0, DecoderOptions::NONE).decode();
    format!("{:?}", instruction.code())
}
