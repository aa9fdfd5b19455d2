//! Simulates code, from the real registers, up to a place where its frame is as its tables say.
//!
//! Within its body compiled code may move its stack pointer: it pushes registers before it calls a stub, or
//! copies data to the stack. There the tables do not say where the frame ends. The code itself leads back to a
//! place where they do: a debug info record, the return, or a `pop` of the stack pointer that was kept. A branch is taken when the simulation
//! meets it for the second time, so loops end. Where this leads nowhere, the first branches are taken.

use super::exit::exit;
use super::machine::Machine;
use crate::arch::branches::{BranchHistory, settle_on_first_ways};
use crate::arch::x86_64::Registers;
use crate::arch::x86_64::decoder::decode;
use crate::arch::x86_64::polls::is_return_poll;
use crate::arch::{Effect, Register, Settled};
use crate::memory::Memory;
use std::ops::Range;

/// Simulates at most `steps` instructions of `code` from `pc` on. `record` gives the first address from an address
/// on that has a debug info record. `None` if the simulation came to no record and to no return, or the stack pointer
/// cannot be followed.
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
        let bytes = memory.code(pc);
        let instruction = decode(&bytes)?;
        if next_record == Some(pc) && !is_return_poll(&bytes) {
            return body(&machine);
        }
        let next = pc.wrapping_add(instruction.length);
        pc = match instruction.effect {
            Effect::Return => return returned(&mut machine),
            // The record of a call is behind the call.
            Effect::Call if record(next) == Some(next) => {
                return body(&machine);
            }
            Effect::Jump(distance) => {
                let target = next.wrapping_add_signed(distance as isize);
                if !code.contains(&target) {
                    // The stub of C2 that throws on gets the return address of the frame that is gone.
                    return returned(&mut machine);
                }
                next_record = record(target);
                target
            }
            Effect::Branch(distance) if met.takes(pc) => {
                let target = next.wrapping_add_signed(distance as isize);
                next_record = record(target);
                target
            }
            // C2 kept the stack pointer of the body (`C2_MacroAssembler::string_indexof`).
            effect @ Effect::Pop(Some(Register::RSP)) => {
                machine.run(effect)?;
                return body(&machine);
            }
            Effect::JumpRegister(_) | Effect::JumpMemory | Effect::Trap => return None,
            effect => {
                machine.run(effect)?;
                next
            }
        };
        // Without the stack pointer nothing can be found any more.
        machine.registers.get(Register::RSP)?;
    }
    None
}

/// The frame is removed, and the return address is on top of the stack.
fn returned(machine: &mut Machine<'_, impl Memory>) -> Option<Settled> {
    let pc = machine.pop()?;
    let exit = exit(machine, pc)?;
    Some(Settled::Return {
        caller: [exit.pc, exit.sp, exit.fp],
        is_relative: machine.is_relative,
    })
}

fn body(machine: &Machine<'_, impl Memory>) -> Option<Settled> {
    Some(Settled::Body {
        sp: machine.registers.get(Register::RSP)?,
        is_relative: machine.is_relative,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::toy::{CODE, Fixed, STACK};

    const WORD: usize = size_of::<usize>();

    /// A place in the body to which the code alone leads.
    fn body(sp: usize) -> Settled {
        Settled::Body {
            sp,
            is_relative: true,
        }
    }

    /// From offset `from` of `code`, which has a record at offset `record` alone.
    fn settled(code: &[u8], from: usize, stack: &[usize], record: usize) -> Option<Settled> {
        let mut registers = Registers::UNKNOWN;
        registers.set(Register::RSP, Some(STACK));
        registers.set(Register::RBP, Some(0x7777));
        let memory = Fixed { code, stack };
        let range = CODE..CODE + code.len();
        let record = |pc| Some(CODE + record).filter(|&record| pc <= record);
        find(&memory, CODE + from, &registers, range, 32, record)
    }

    fn returned(caller: [usize; 3]) -> Settled {
        Settled::Return {
            caller,
            is_relative: true,
        }
    }

    #[test]
    fn a_record_without_a_call_settles_but_not_at_a_return_poll() {
        // push rax; pop rax; test eax, [rcx]
        let code = [0x50, 0x58, 0x85, 0x01];
        assert_eq!(settled(&code, 1, &[0], 2), Some(body(STACK + WORD)));
        // cmp rsp, [r15+0x380]; ret
        let code = [0x49, 0x3b, 0xa7, 0x80, 3, 0, 0, 0xc3];
        let caller = [0x2222, STACK + WORD, 0x7777];
        assert_eq!(settled(&code, 0, &[0x2222], 0), Some(returned(caller)));
    }

    #[test]
    fn a_jump_to_other_code_leaves_the_return_address_on_top() {
        // pop rbp; jmp
        let code = [0x5d, 0xe9, 0x13, 0x4a, 0xb7, 0xff];
        let found = settled(&code, 0, &[0x5555, 0x2222], 9);
        let caller = [0x2222, STACK + 2 * WORD, 0x5555];
        assert_eq!(found, Some(returned(caller)));
    }

    #[test]
    fn pushed_words_are_popped_before_a_call_with_a_record() {
        // push rax; push rcx; call; pop rcx; pop rax; call
        let code = [0x50, 0x51, 0xe8, 0, 0, 0, 0, 0x59, 0x58, 0xe8, 0, 0, 0, 0];
        let at = |from| settled(&code, from, &[0; 4], 14);
        assert_eq!(at(0), Some(body(STACK)));
        assert_eq!(at(1), Some(body(STACK + WORD)));
        assert_eq!(at(2), Some(body(STACK + 2 * WORD)));
        assert_eq!(at(8), Some(body(STACK + WORD)));
    }

    #[test]
    fn an_old_stack_pointer_is_loaded_from_the_stack() {
        // pop rsp; push rax
        let code = [0x5c, 0x50];
        assert_eq!(
            settled(&code, 0, &[STACK + 64], 6),
            Some(Settled::Body {
                sp: STACK + 64,
                is_relative: false
            })
        );
        // add rsp, rax: nothing is known behind.
        let code = [0x48, 0x01, 0xc4, 0xe8, 0, 0, 0, 0];
        assert_eq!(settled(&code, 0, &[0], 8), None);
    }

    #[test]
    fn the_poll_of_a_native_wrapper_branches_to_the_return() {
        // test byte [r15+0x28], 1; je R; jmp far away; R: cmp qword [r15+8], 0; jne F; ret; F: jmp far away
        let code = [
            0x41, 0xf6, 0x47, 0x28, 0x01, 0x74, 0x05, 0xe9, 0, 0, 0, 0x10, 0x49, 0x83, 0x7f, 0x08,
            0x00, 0x0f, 0x85, 1, 0, 0, 0, 0xc3, 0xe9, 0, 0, 0, 0x10,
        ];
        for from in [0, 5, 12, 17, 23] {
            let found = settled(&code, from, &[0x2222], 99);
            let caller = [0x2222, STACK + WORD, 0x7777];
            assert_eq!(found, Some(returned(caller)), "{from}");
        }
    }

    #[test]
    fn loops_end_and_returns_count() {
        // L: push rax; pop rax; jne E; jmp L; E: pop rbp; ret
        let code = [0x50, 0x58, 0x75, 0x02, 0xeb, 0xfa, 0x5d, 0xc3];
        let caller = [0x2222, STACK + 2 * WORD, 0x5555];
        let found = settled(&code, 0, &[0x5555, 0x2222], 99);
        assert_eq!(found, Some(returned(caller)));
        // L: jmp L
        assert_eq!(settled(&[0xeb, 0xfe], 0, &[0], 99), None);
    }
}
