//! Simulates code up to its return, from the real registers.
//!
//! Along each path of generated code the stack pointer is balanced, so any path to a `ret`, or to a
//! jump to the return address, leads to the caller. A branch is not taken when it is met first, so the
//! simulation passes the return poll. Where this leads nowhere, the first branches are taken.

use super::machine::Machine;
use crate::arch::branches::{BranchHistory, with_each_choice};
use crate::arch::x86_64::Registers;
use crate::arch::x86_64::decoder::{Decoded, decode};
use crate::arch::{Calls, Effect, Framing, Landings, Register};
use crate::memory::Memory;

/// The state at the caller.
type Exit = crate::arch::Exit<Registers>;

const WORD: usize = size_of::<usize>();

/// What a simulation came to.
enum Found {
    Exit(Exit),
    /// A frame that is still there.
    Frame,
}

impl Found {
    fn exit(self) -> Option<Exit> {
        match self {
            Found::Exit(exit) => Some(exit),
            Found::Frame => None,
        }
    }
}

/// What a simulation may do.
#[derive(Copy, Clone)]
struct Limits {
    steps: usize,
    calls: Calls,
    /// Whether the code may have a frame, which it removes.
    frame: bool,
}

/// Simulates at most `steps` instructions from `pc` on. An indirect jump goes to the caller, or leaves the return address
/// on the stack for other code. `None` if no return was reached.
pub fn find(
    memory: &impl Memory,
    pc: usize,
    registers: &Registers,
    steps: usize,
    calls: Calls,
    landings: &impl Landings,
) -> Option<Exit> {
    let limits = Limits {
        steps,
        calls,
        frame: true,
    };
    with_each_choice(2, |met| {
        follow(memory, pc, registers, limits, landings, met)
    })?
    .exit()
}

/// As [`find`], in code that may have removed its frame. Code that does not lead to a return has its frame.
pub fn find_without_frame(
    memory: &impl Memory,
    pc: usize,
    registers: &Registers,
    steps: usize,
    landings: &impl Landings,
) -> Framing<Registers> {
    let limits = Limits {
        steps,
        calls: Calls::Return,
        frame: false,
    };
    let found = with_each_choice(2, |met| {
        follow(memory, pc, registers, limits, landings, met)
    });
    match found.and_then(Found::exit) {
        Some(exit) => Framing::Removed(exit),
        None => Framing::There,
    }
}

/// As [`find`], on a way on which the code itself writes `register`: other ways lead to other code.
pub fn find_writing(
    memory: &impl Memory,
    pc: usize,
    registers: &Registers,
    steps: usize,
    landings: &impl Landings,
    register: Register,
) -> Option<Exit> {
    let mut unknown = *registers;
    unknown.set(register, None);
    let limits = Limits {
        steps,
        calls: Calls::Return,
        frame: true,
    };
    with_each_choice(4, |met| {
        let exit = follow(memory, pc, &unknown, limits, landings, met)?.exit()?;
        exit.registers.get(register).map(|_| exit)
    })
}

fn follow(
    memory: &impl Memory,
    pc: usize,
    registers: &Registers,
    limits: Limits,
    landings: &impl Landings,
    met: &mut BranchHistory,
) -> Option<Found> {
    let mut machine = Machine::new(memory, registers)?;
    let mut pc = pc;
    for _ in 0..limits.steps {
        let instruction = decode(&memory.code(pc))?;
        let next = pc.wrapping_add(instruction.length);
        pc = match instruction.effect {
            Effect::Return => {
                let pc = machine.pop()?;
                return exit(&machine, pc).map(Found::Exit);
            }
            effect if !limits.frame && needs_frame(effect) => return Some(Found::Frame),
            Effect::Jump(distance) => next.wrapping_add_signed(distance as isize),
            Effect::Branch(distance) if met.takes(pc) => {
                next.wrapping_add_signed(distance as isize)
            }
            Effect::JumpRegister(register) => {
                if follows_pop(memory, pc, register) {
                    machine.registers.set(Register::RDX, None);
                }
                let target = machine.registers.get(register);
                return jump(&machine, target, landings).map(Found::Exit);
            }
            // The interpreter jumps to the code of the next bytecode. A word of its frame is on top, and may have any value: a
            // monitor's first word has what an earlier frame left there.
            Effect::JumpMemory if !limits.frame && jumps_by_table(memory, pc, instruction) => {
                return Some(Found::Frame);
            }
            Effect::JumpMemory => return jump(&machine, None, landings).map(Found::Exit),
            Effect::Load(Register::RSP, Register::RSP, 0) if removes_method(memory, next) => {
                return barrier(&machine).map(Found::Exit);
            }
            Effect::Call if limits.calls == Calls::Stop => return None,
            Effect::Trap => return None,
            effect => {
                machine.run(effect)?;
                next
            }
        };
    }
    None
}

/// Whether an instruction removes a linked frame, or uses it: behind `leave` the frame pointer is the caller's.
fn needs_frame(effect: Effect) -> bool {
    matches!(
        effect,
        Effect::Leave
            | Effect::Load(_, Register::RBP, _)
            | Effect::Store(Register::RBP, ..)
            | Effect::Lea(_, Register::RBP, _)
    )
}

/// Whether the instruction before `pc` pops `register`. Where C1's stub passes an exception to a handler in its caller, the VM
/// has written the handler over the stub's return address, and rdx has an old value
/// (`Runtime1::generate_handle_exception`, `handle_exception_from_callee_id`).
fn follows_pop(memory: &impl Memory, pc: usize, register: Register) -> bool {
    // The registers from r8 on have a prefix.
    (1..=2).any(|length| {
        let before = pc.wrapping_sub(length);
        let pop = decode(&memory.code(before));
        pop.is_some_and(|it| it.length == length && it.effect == Effect::Pop(Some(register)))
    })
}

/// The caller, which continues at `pc`.
pub(super) fn exit(machine: &Machine<'_, impl Memory>, pc: usize) -> Option<Exit> {
    Some(Exit {
        pc,
        sp: machine.registers.get(Register::RSP)?,
        fp: machine.registers.get(Register::RBP)?,
        registers: machine.registers,
    })
}

/// Whether the stub of an entry barrier, which loads the stack pointer before `next`, removes the frame of a method that may
/// not begin (`StubGenerator::generate_method_entry_barrier`).
fn removes_method(memory: &impl Memory, next: usize) -> bool {
    // mov rsp, [rsp]; jmp [rsp - 8]
    decode(&memory.code(next)).is_some_and(|jump| jump.effect == Effect::JumpMemory)
}

/// The method that has called the stub of its entry barrier, whose frame is still there.
fn barrier(machine: &Machine<'_, impl Memory>) -> Option<Exit> {
    // The stub has pushed a word, in which it keeps the stack pointer of the method's caller: the return address follows.
    let slot = machine.registers.get(Register::RSP)?.wrapping_add(WORD);
    let mut exit = exit(machine, machine.load(slot)?)?;
    exit.sp = slot.wrapping_add(WORD);
    exit.registers.set(Register::RSP, Some(exit.sp));
    Some(exit)
}

/// Whether a jump to an address in memory takes the address from a table of addresses, by an index
/// (`InterpreterMacroAssembler::dispatch_base`).
fn jumps_by_table(memory: &impl Memory, pc: usize, jump: Decoded) -> bool {
    let code = memory.code(pc);
    let byte = |at: usize| code.get(at).copied().unwrap_or(0);
    let has_index = |modrm: usize| byte(modrm) & 7 == 4 && byte(modrm + 1) >> 6 == 3;
    jump.modrm.is_some_and(has_index)
}

/// An indirect jump: to the caller, or to other code that returns to the caller.
fn jump(
    machine: &Machine<'_, impl Memory>,
    target: Option<usize>,
    landings: &impl Landings,
) -> Option<Exit> {
    if let Some(exit) = jump_to_caller(machine, target, landings) {
        return Some(exit);
    }
    let returns = |word| landings.is_return(word) || landings.is_behind_own_call(word);
    let sp = machine.registers.get(Register::RSP)?;
    let top = machine.load(sp).filter(|&top| returns(top));
    let (pc, behind) = match (machine.popped.find(returns), top) {
        // What was popped was pushed again: below it, with the caller's arguments between in another order, or above it, where
        // an interpreted method leaves a frame that an adapter had made larger.
        (Some((popped, behind)), Some(top)) if popped == top => {
            (top, behind.max(sp.wrapping_add(WORD)))
        }
        // The return address was popped to find the target of the jump.
        (Some((popped, _)), _) => (popped, sp),
        (None, top) => (top?, sp.wrapping_add(WORD)),
    };
    let mut exit = exit(machine, pc)?;
    exit.sp = behind;
    exit.registers.set(Register::RSP, Some(behind));
    Some(exit)
}

/// An indirect jump whose target is known, to the caller.
fn jump_to_caller(
    machine: &Machine<'_, impl Memory>,
    target: Option<usize>,
    landings: &impl Landings,
) -> Option<Exit> {
    let is_return = |word| landings.is_return(word);
    let target = target?;
    // The handler of an exception that came from the address that was popped.
    let comes_from = |word| word != target && is_return(word) && landings.goes_on_at(target, word);
    if let Some((origin, _)) = machine.popped.find(comes_from) {
        return exit(machine, origin);
    }
    // Handlers are told in rdx where the exception came from. Until then the VM has this address.
    let (told, kept) = (machine.registers.get(Register::RDX), landings.origin());
    // A handler behind another call looks like a return address.
    let both = told.filter(|_| told == kept);
    if let Some(origin) = both.filter(|&origin| landings.goes_on_at(target, origin)) {
        return exit(machine, origin);
    }
    if landings.returns_to(target) {
        return exit(machine, target);
    }
    let mut origins = [told, kept].into_iter().flatten();
    let origin = origins.find(|&origin| landings.goes_on_at(target, origin));
    exit(machine, origin?)
}

#[cfg(test)]
mod tests;
