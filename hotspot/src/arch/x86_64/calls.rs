//! Calls, seen from their return addresses.

use super::decoder::decode;
use crate::arch::Effect;
use crate::memory::Memory;
use std::ops::Range;

/// The size of `call rel32`.
pub(super) const SIZE: usize = 5;

/// `call rel32`.
const CALL: u8 = 0xe8;

/// Whether the bytes `before` an address end with a call through a register.
pub(super) fn is_register_call(before: &[u8]) -> bool {
    matches!(before, [.., 0xff, 0xd0..=0xd7])
}

/// The target of the direct call with the bytes `call`, behind which `return_address` is.
pub(super) fn target(call: &[u8], return_address: usize) -> Option<usize> {
    // `NativeCall`: the last four bytes are the distance.
    let (&CALL, distance) = call.split_first()? else {
        return None;
    };
    let distance = i32::from_le_bytes(distance.try_into().ok()?);
    Some(return_address.wrapping_add_signed(distance as isize))
}

/// The target of the direct call that ends at `address`.
#[inline]
pub(super) fn direct_before(memory: &impl Memory, address: usize) -> Option<usize> {
    let call = address.wrapping_sub(SIZE);
    if memory.u8(call)? != CALL {
        return None;
    }
    let distance = memory.i32(call.wrapping_add(1))?;
    Some(address.wrapping_add_signed(distance as isize))
}

/// The target of the direct jump at `pc`.
pub(super) fn direct_jump(memory: &impl Memory, pc: usize) -> Option<usize> {
    let jump = decode(&memory.code(pc))?;
    let Effect::Jump(distance) = jump.effect else {
        return None;
    };
    let behind = pc.wrapping_add(jump.length);
    Some(behind.wrapping_add_signed(distance as isize))
}

/// Whether a call through a register or memory may end at `address`, and a direct call may not.
pub(super) fn is_behind_indirect(memory: &impl Memory, address: usize) -> bool {
    // `ff /2`: the opcode, and the ModRM byte whose middle bits are 2. Behind it may be a byte of SIB, and a displacement of
    // one byte or four; before it may be a prefix. So the opcode is 2, 3, 4, 6 or 7 bytes before the end.
    let byte = |back: usize| memory.u8(address.wrapping_sub(back));
    let is_call = |back: usize| {
        byte(back) == Some(0xff) && byte(back - 1).is_some_and(|modrm| (modrm >> 3) & 7 == 2)
    };
    direct_before(memory, address).is_none() && [2, 3, 4, 6, 7].into_iter().any(is_call)
}

/// Whether `pc` is in the stub of a static call.
#[inline]
pub(super) fn is_static_stub(memory: &impl Memory, pc: usize) -> bool {
    // `CompiledDirectCall::emit_to_interp_stub`, which the VM patches when it links the call:
    //
    //         mov  rbx, method     48 bb, and eight bytes
    //         jmp  entry           e9 …
    const LENGTH: usize = 10;
    let begins = |at: usize| {
        let code = memory.code(at);
        code.starts_with(&[0x48, 0xbb]) && code[LENGTH] == 0xe9
    };
    begins(pc) || begins(pc.wrapping_sub(LENGTH))
}

/// The code of the deoptimisation handler that is entered at `entry`.
#[inline]
pub(super) fn deopt_handler(entry: usize, is_called_first: bool) -> Range<usize> {
    // `HandlerImpl::emit_deopt_handler` (`cpu/x86/x86.ad`) up to JDK 25, 32 bytes at most:
    //
    //         entry: call next; next: subq [rsp], 5; jmp unpack        (or: push entry; jmp unpack)
    //
    // and from JDK 26 on:
    //
    //         start: call unpack; entry: jmp start
    const MOST: usize = 32;
    let before = if is_called_first { SIZE } else { 0 };
    entry.wrapping_sub(before)..entry.wrapping_add(MOST)
}

#[cfg(test)]
mod tests {
    use crate::arch::{Arch, X86_64};

    #[test]
    fn the_deoptimisation_handler_of_new_releases_begins_before_its_entry() {
        assert_eq!(X86_64::deopt_handler(0x1000, false), 0x1000..0x1020);
        assert_eq!(X86_64::deopt_handler(0x1000, true), 0x0ffb..0x1020);
    }

    #[test]
    fn calls_through_registers_are_recognised_from_their_ends() {
        assert!(X86_64::is_register_call(&[1, 2, 3, 0xff, 0xd0]));
        assert!(X86_64::is_register_call(&[1, 2, 0x41, 0xff, 0xd2]));
        assert!(!X86_64::is_register_call(&[0xe8, 1, 2, 3, 4]));
    }

    #[test]
    fn a_direct_call_shows_its_target() {
        let call = [0xe8, 0xfb, 0xff, 0xff, 0xff];
        assert_eq!(X86_64::call_target(&call, 0x1005), Some(0x1000));
        assert_eq!(X86_64::call_target(&[0xff, 0xd0, 0, 0, 0], 0x1005), None);
        assert_eq!(X86_64::call_target(&call[..3], 0x1005), None);
    }
}
