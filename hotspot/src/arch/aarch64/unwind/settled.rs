//! Simulates code, from the real registers, up to a place where its frame is as its tables say: a debug info record, a
//! call with a record, or the return. A branch is taken when the simulation meets it for the second time, so loops end.

use super::machine::{Link, Machine};
use crate::arch::aarch64::Registers;
use crate::arch::aarch64::instructions::{Op, instruction};
use crate::arch::aarch64::polls::is_return_poll;
use crate::arch::aarch64::registers::address;
use crate::arch::branches::{BranchHistory, settle_on_first_ways};
use crate::arch::{Register, Settled};
use crate::memory::Memory;
use std::ops::Range;

const SP: Register = Register::STACK_POINTER;

/// As [`Follow::settle`](crate::arch::Follow::settle).
pub fn find(
    memory: &impl Memory,
    pc: usize,
    registers: &Registers,
    code: Range<usize>,
    steps: usize,
    record: impl Fn(usize) -> Option<usize>,
) -> Option<Settled> {
    settle_on_first_ways(|met| follow(memory, pc, registers, &code, steps, &record, met))
}

fn follow(
    memory: &impl Memory,
    pc: usize,
    registers: &Registers,
    code: &Range<usize>,
    steps: usize,
    record: impl Fn(usize) -> Option<usize>,
    met: &mut BranchHistory,
) -> Option<Settled> {
    let mut machine = Machine::new(memory, registers)?;
    let mut pc = pc;
    let mut next_record = record(pc);
    for _ in 0..steps {
        if !code.contains(&pc) {
            return None;
        }
        if next_record.is_some_and(|record| record < pc) {
            next_record = record(pc);
        }
        if next_record == Some(pc) && !is_return_poll(memory, pc) {
            return body(&machine);
        }
        let next = pc.wrapping_add(4);
        let op = instruction(memory, pc)?;
        pc = match op {
            Op::Return(register) => return returned(&machine, register),
            Op::Call(_) | Op::CallRegister if record(next) == Some(next) => {
                return body(&machine);
            }
            Op::JumpRegister(_) if machine.link == Link::Loaded => {
                return returned(&machine, Register::LR);
            }
            Op::Jump(target) if !code.contains(&target) => {
                // Where an exception leaves the method, its frame is removed: the simulation has seen this. Elsewhere the frame
                // is there, and the link register has the address behind an earlier call.
                return (machine.link == Link::Loaded)
                    .then(|| returned(&machine, Register::LR))
                    .flatten();
            }
            Op::Jump(target) => {
                next_record = record(target);
                target
            }
            Op::Branch(target) if met.takes(pc) => {
                next_record = record(target);
                target
            }
            Op::JumpRegister(_) | Op::Trap => return None,
            op => {
                machine.run(op, pc)?;
                next
            }
        };
    }
    None
}

/// The frame is removed, and the register has the return address.
fn returned(machine: &Machine<'_, impl Memory>, register: Register) -> Option<Settled> {
    Some(Settled::Return {
        caller: machine.caller(register)?,
        is_relative: machine.is_relative && machine.link == Link::Loaded,
    })
}

fn body(machine: &Machine<'_, impl Memory>) -> Option<Settled> {
    if let Some((slot, fp, link)) = machine.saved {
        // The code builds its frame: the two words are its last ones.
        return Some(Settled::Return {
            caller: [address(link), slot.wrapping_add(16), fp],
            is_relative: false,
        });
    }
    Some(Settled::Body {
        sp: machine.registers.get(SP)?,
        is_relative: machine.is_relative,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::aarch64::patterns::bytes;
    use crate::arch::toy::{CODE, Fixed, STACK};

    const WORD: usize = size_of::<usize>();
    const LINK: usize = 0x2222;

    /// From instruction `from` of `code`, which has a record at instruction `record` alone.
    fn settled(code: &[u32], from: usize, stack: &[usize], record: usize) -> Option<Settled> {
        let mut registers = Registers::UNKNOWN;
        registers.set(SP, Some(STACK));
        registers.set(Register::RFP, Some(0x7777));
        registers.set(Register::LR, Some(LINK));
        let code = bytes(code);
        let memory = Fixed { code: &code, stack };
        let range = CODE..CODE + code.len();
        let record = CODE + 4 * record;
        let find_record = |pc| Some(record).filter(|&record| pc <= record);
        find(&memory, CODE + 4 * from, &registers, range, 32, find_record)
    }

    /// `ldp x29, x30, [sp, 16]`, `add sp, sp, 32`, `ldr x8, [x28, 1096]`, `cmp sp, x8`, `b.hi +24`, `ret`.
    const EPILOGUE: [u32; 6] = [
        0xa941_7bfd,
        0x9100_83ff,
        0xf942_2788,
        0xeb28_63ff,
        0x5400_00c8,
        0xd65f_03c0,
    ];

    #[test]
    fn an_epilogue_leads_to_the_caller_from_each_instruction() {
        let stack = [0, 0, 0x5555, 0x4444];
        let caller = |at| match settled(&EPILOGUE, at, &stack, 2) {
            Some(Settled::Return { caller, .. }) => caller,
            other => panic!("{at}: {other:?}"),
        };
        assert_eq!(caller(0), [0x4444, STACK + 4 * WORD, 0x5555]);
        // The two registers have their values already.
        assert_eq!(caller(1), [LINK, STACK + 4 * WORD, 0x7777]);
        for at in 2..6 {
            assert_eq!(caller(at), [LINK, STACK, 0x7777], "{at}");
        }
    }

    #[test]
    fn a_jump_to_other_code_needs_a_frame_that_was_removed_before() {
        // ldp x29, x30, [sp], #16; b far away
        let code = [0xa8c1_7bfd, 0x1400_1000];
        let found = settled(&code, 0, &[0x5555, 0x4444], 9);
        let caller = [0x4444, STACK + 2 * WORD, 0x5555];
        assert!(matches!(found, Some(Settled::Return { caller: it, .. }) if it == caller));
        assert_eq!(
            settled(&code, 1, &[], 9),
            None,
            "the link may be an old one"
        );
    }

    #[test]
    fn a_record_settles_and_what_was_pushed_is_popped_before() {
        // stp x1, x2, [sp, #-16]!; bl; ldp x1, x2, [sp], #16; nop
        let code = [0xa9bf_0be1, 0x9400_1000, 0xa8c1_0be1, 0xd503_201f];
        let body = |sp| {
            Some(Settled::Body {
                sp,
                is_relative: true,
            })
        };
        assert_eq!(settled(&code, 0, &[0; 4], 3), body(STACK));
        assert_eq!(settled(&code, 1, &[0; 4], 3), body(STACK + 2 * WORD));
        // A call with a record.
        assert_eq!(settled(&code, 1, &[0; 4], 2), body(STACK));
        // sub sp, sp, x1, lsl #3: the stack pointer is lost.
        assert_eq!(settled(&[0xcb21_6fff, 0xd503_201f], 0, &[0], 1), None);
    }

    #[test]
    fn an_entry_in_the_middle_of_the_code_has_the_link_register() {
        // sub sp, sp, #32; stp x29, x30, [sp, #16]; nop
        let code = [0xd100_83ff, 0xa901_7bfd, 0xd503_201f];
        let caller = |at| match settled(&code, at, &[0; 4], 2) {
            Some(Settled::Return { caller, .. }) => Some(caller),
            _ => None,
        };
        assert_eq!(caller(0), Some([LINK, STACK, 0x7777]));
        assert_eq!(caller(1), Some([LINK, STACK + 4 * WORD, 0x7777]));
        assert_eq!(caller(2), None, "the frame is complete");
    }
}
