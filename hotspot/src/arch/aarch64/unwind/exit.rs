//! Simulates code up to its return, from the real registers.
//!
//! Along each path of generated code the stack pointer is balanced, so any path to a `ret` leads to the caller. A branch is
//! not taken when it is met first, so the simulation passes the return poll. Where this leads nowhere, the first branches
//! are taken.

use super::machine::{Link, Machine};
use crate::arch::aarch64::Registers;
use crate::arch::aarch64::instructions::{Access, Op, instruction};
use crate::arch::aarch64::interpreter;
use crate::arch::branches::{BranchHistory, with_each_choice};
use crate::arch::{Calls, Framing, Landings, Register};
use crate::memory::Memory;

/// The state at the caller.
type Exit = crate::arch::Exit<Registers>;

const FP: Register = Register::RFP;

/// As [`Follow::exit`](crate::arch::Follow::exit).
pub fn find(
    memory: &impl Memory,
    pc: usize,
    registers: &Registers,
    steps: usize,
    calls: Calls,
    landings: &impl Landings,
) -> Option<Exit> {
    with_each_choice(2, |met| {
        follow(memory, pc, registers, steps, calls, landings, met)
    })
}

/// As [`Follow::exit_writing`](crate::arch::Follow::exit_writing).
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
    with_each_choice(4, |met| {
        let exit = follow(memory, pc, &unknown, steps, Calls::Return, landings, met)?;
        exit.registers.get(register).map(|_| exit)
    })
}

/// As [`Follow::exit_without_frame`](crate::arch::Follow::exit_without_frame).
pub fn find_without_frame(
    memory: &impl Memory,
    pc: usize,
    registers: &Registers,
    steps: usize,
    landings: &impl Landings,
) -> Option<Framing<Registers>> {
    let mut machine = Machine::new(memory, registers)?;
    let mut at = pc;
    for _ in 0..steps {
        let next = at.wrapping_add(4);
        let op = instruction(memory, at)?;
        at = match op {
            _ if uses_frame(op) => return Some(Framing::There),
            Op::Return(register) => {
                let exit = exit(&machine, register)?;
                return landings
                    .is_return(exit.pc)
                    .then_some(Framing::Removed(exit));
            }
            Op::JumpRegister(_) if interpreter::keeps_frame_at_jump(memory, at) => {
                return Some(Framing::There);
            }
            Op::JumpRegister(_) | Op::Trap => return None,
            Op::Jump(target) => target,
            // Where the ways differ, both know of the frame: templates use it on each way, and a return has no others but polls.
            op => {
                machine.run(op, at)?;
                next
            }
        };
    }
    None
}

/// Whether an instruction removes a linked frame, or uses it.
fn uses_frame(op: Op) -> bool {
    match op {
        Op::Add(_, from, _) => from == FP,
        Op::Access(Access { base, .. }) => base == FP,
        _ => false,
    }
}

fn follow(
    memory: &impl Memory,
    pc: usize,
    registers: &Registers,
    steps: usize,
    calls: Calls,
    landings: &impl Landings,
    met: &mut BranchHistory,
) -> Option<Exit> {
    let mut machine = Machine::new(memory, registers)?;
    let mut at = pc;
    for _ in 0..steps {
        let next = at.wrapping_add(4);
        let op = instruction(memory, at)?;
        at = match op {
            // Behind a call of its own the code has not loaded its return address.
            Op::Return(Register::LR) if machine.link == Link::Called => return None,
            Op::Return(register) => return exit(&machine, register),
            // Other code goes on, and returns to the caller: the link register has the return address.
            Op::JumpRegister(_) if machine.link != Link::Called => {
                let exit = exit(&machine, Register::LR)?;
                return landings.is_return(exit.pc).then_some(exit);
            }
            Op::JumpRegister(_) | Op::Trap => return None,
            Op::Jump(target) => target,
            Op::Branch(target) if met.takes(at) => target,
            Op::Call(_) | Op::CallRegister if calls == Calls::Stop => return None,
            op => {
                machine.run(op, at)?;
                next
            }
        };
    }
    None
}

/// The caller, which continues at the address in `register`.
fn exit(machine: &Machine<'_, impl Memory>, register: Register) -> Option<Exit> {
    let [pc, sp, fp] = machine.caller(register)?;
    let mut registers = machine.registers;
    // The caller has its own return address in its frame.
    registers.set(Register::LR, None);
    Some(Exit {
        pc,
        sp,
        fp,
        registers,
    })
}
