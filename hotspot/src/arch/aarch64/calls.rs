//! Calls, seen from their return addresses.

use super::instructions::{Op, instruction};
use super::patterns::{BL, BLR, starts_with, words};
use crate::arch::Register;
use crate::memory::Memory;
use std::ops::Range;

/// The size of `bl`.
pub(super) const SIZE: usize = 4;

/// Whether the bytes `before` an address are a call through a register.
pub(super) fn is_register_call(before: &[u8]) -> bool {
    starts_with(&words(before), &[BLR])
}

/// The target of the direct call with the bytes `call`, behind which `return_address` is.
pub(super) fn target(call: &[u8], return_address: usize) -> Option<usize> {
    let &[word] = words(call).as_slice() else {
        return None;
    };
    // The low 26 bits count instructions, signed, from the call itself.
    let distance = (word.cast_signed() << 6 >> 6) as isize * 4;
    let target = (return_address - SIZE).wrapping_add_signed(distance);
    BL.fits(word).then_some(target)
}

/// The target of the call with a fixed target that ends at `address`.
pub(super) fn direct_before(memory: &impl Memory, address: usize) -> Option<usize> {
    match instruction(memory, address.wrapping_sub(SIZE))? {
        Op::Call(target) => Some(behind_trampoline(memory, target)),
        Op::CallRegister => {
            let register = (memory.u32(address.wrapping_sub(SIZE))? >> 5 & 31) as u8;
            computed(memory, address.wrapping_sub(SIZE), Register::new(register))
        }
        _ => None,
    }
}

/// The target of the jump at `pc`, if the code shows it.
pub(super) fn direct_jump(memory: &impl Memory, pc: usize) -> Option<usize> {
    match instruction(memory, pc)? {
        Op::Jump(target) => Some(target),
        Op::JumpRegister(register) => computed(memory, pc, register),
        _ => None,
    }
}

/// Whether a call through a register ends at `address` whose target the code before does not show.
pub(super) fn is_behind_indirect(memory: &impl Memory, address: usize) -> bool {
    instruction(memory, address.wrapping_sub(SIZE)) == Some(Op::CallRegister)
        && direct_before(memory, address).is_none()
}

/// Where code leads that is called at `target`.
fn behind_trampoline(memory: &impl Memory, target: usize) -> usize {
    // `MacroAssembler::emit_trampoline_stub`: `ldr x8, #8`, `br x8`, and the address.
    let code = [0, 4].map(|at| memory.u32(target.wrapping_add(at)));
    let is_trampoline = code == [Some(0x5800_0048), Some(0xd61f_0100)];
    let address = || memory.word(target.wrapping_add(8));
    if is_trampoline {
        address().unwrap_or(target)
    } else {
        target
    }
}

/// The address that the instructions before a call or jump put into `register`.
fn computed(memory: &impl Memory, call: usize, register: Register) -> Option<usize> {
    // `MacroAssembler::far_call` and `lea`:
    //
    //         adrp x8, …                 movz x8, …
    //         add  x8, x8, …             movk x8, …, lsl #16
    //         blr  x8                    movk x8, …, lsl #32
    //                                    blr  x8
    let at = |back: usize| instruction(memory, call.wrapping_sub(back * SIZE));
    match (at(3), at(2), at(1)?) {
        (_, Some(Op::Set(page, address)), Op::Add(to, from, distance))
            if [page, to, from] == [register; 3] =>
        {
            Some(address.wrapping_add_signed(distance as isize))
        }
        (
            Some(Op::Set(first, low)),
            Some(Op::Insert(second, middle, 16)),
            Op::Insert(third, high, 32),
        ) if [first, second, third] == [register; 3] => {
            Some(low & 0xffff | usize::from(middle) << 16 | usize::from(high) << 32)
        }
        _ => None,
    }
}

/// Whether `pc` is in the stub of a static call.
pub(super) fn is_static_stub(memory: &impl Memory, pc: usize) -> bool {
    // `MacroAssembler::emit_static_call_stub`:
    //
    //         isb                      not in all releases
    //         movz x12, method         and two of `movk`
    //         movz x8, entry           and two of `movk`
    //         br   x8
    const METHOD: Register = Register::RMETHOD;
    const ENTRY: Register = Register::new(8);
    const LENGTH: usize = 7;
    let begins = |start: usize| {
        let at = |number: usize| instruction(memory, start.wrapping_add(number * SIZE));
        let sets = |number, register| {
            matches!(at(number), Some(Op::Set(to, _)) if to == register)
                && [1, 2].into_iter().all(
                    |more| matches!(at(number + more), Some(Op::Insert(to, ..)) if to == register),
                )
        };
        sets(0, METHOD) && sets(3, ENTRY) && at(6) == Some(Op::JumpRegister(ENTRY))
    };
    let is_barrier = memory.u32(pc) == Some(0xd503_3fdf);
    is_barrier && begins(pc.wrapping_add(SIZE))
        || (0..LENGTH).any(|back| begins(pc.wrapping_sub(back * SIZE)))
}

/// The code of the deoptimisation handler that is entered at `entry`.
pub(super) fn deopt_handler(entry: usize, is_called_first: bool) -> Range<usize> {
    // `HandlerImpl::emit_deopt_handler` (`cpu/aarch64/aarch64.ad`) up to JDK 25:
    //
    //         entry: adr lr, entry; far_jump unpack
    //
    // and from JDK 26 on:
    //
    //         start: far_call unpack; entry: b start
    //
    // A far call or jump has one instruction or three (`MacroAssembler::far_codestub_branch_size`).
    const MOST: usize = 16;
    let before = if is_called_first { 3 * SIZE } else { 0 };
    entry.wrapping_sub(before)..entry.wrapping_add(MOST)
}

#[cfg(test)]
mod tests {
    use crate::arch::aarch64::patterns::bytes;
    use crate::arch::toy::{CODE, Fixed};
    use crate::arch::{Aarch64, Arch, Follow};

    #[test]
    fn a_direct_call_shows_its_target() {
        // `bl -4` and `bl +16`, at 0x1000.
        let target = |word| Aarch64::call_target(&bytes(&[word]), 0x1004);
        assert_eq!(target(0x97ff_ffff), Some(0xffc));
        assert_eq!(target(0x9400_0004), Some(0x1010));
        assert_eq!(target(0x1400_0004), None, "`b` does not return");
        assert_eq!(Aarch64::call_target(&[0, 0], 0x1004), None);
    }

    #[test]
    fn a_call_through_a_register_shows_its_target_where_the_code_computes_it() {
        let target = |code: &[u32]| {
            let bytes = bytes(code);
            let memory = Fixed {
                code: &bytes,
                stack: &[],
            };
            let end = CODE + bytes.len();
            (
                Aarch64::direct_call_before(&memory, end),
                Aarch64::is_behind_indirect_call(&memory, end),
            )
        };
        // adrp x8, +1 page; add x8, x8, #0x30; blr x8
        let far = [0xb000_0008, 0x9100_c108, 0xd63f_0100];
        assert_eq!(target(&far), (Some(CODE + 0x1030), false));
        // movz x8, #0x5678; movk x8, #0x1234, lsl #16; movk x8, #0x7f, lsl #32; blr x8
        let address = [0xd28a_cf08, 0xf2a2_4688, 0xf2c0_0fe8, 0xd63f_0100];
        assert_eq!(target(&address), (Some(0x7f_1234_5678), false));
        // The address is in another register.
        assert_eq!(
            target(&[0xb000_0009, 0x9100_c108, 0xd63f_0100]),
            (None, true)
        );
        assert_eq!(target(&[0x1400_0004]), (None, false));
    }
}
