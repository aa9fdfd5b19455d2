//! Safepoint polls: before returns, and in loops.

use super::instructions::{Access, Op, instruction};
use super::patterns::CMP_SP;
use crate::arch::Register;
use crate::memory::Memory;

/// Whether the poll before a return begins at `pc`. The poll has a debug info record, although the frame is removed.
pub(super) fn is_return_poll(memory: &impl Memory, pc: usize) -> bool {
    // `MacroAssembler::safepoint_poll`:
    //
    //         ldr  x8, [x28, #poll]
    //         cmp  sp, x8
    let is_load = matches!(
        instruction(memory, pc),
        Some(Op::Access(Access {
            loads: true,
            base: Register::RTHREAD,
            ..
        }))
    );
    let compares = memory.u32(pc.wrapping_add(4));
    is_load && compares.is_some_and(|word| CMP_SP.fits(word))
}

/// Where the thread has the program counter of a poll in a loop that has faulted, up to the instruction at `pc` of the stub
/// that begins at `code`.
pub(super) fn kept_in_thread(memory: &impl Memory, code: usize, pc: usize) -> Option<i32> {
    // The VM's signal handler keeps the pc in the thread, and lets the stub begin there
    // (`SharedRuntime::generate_handler_blob`):
    //
    //         stp  x29, x30, [sp, #-16]!     the link register is not the poll
    //         mov  x29, sp
    //         …                              other registers are pushed
    //         ldr  x20, [x28, #saved]        `JavaThread::_saved_exception_pc`
    //         str  x20, [x29, #8]            from here on the frame has it
    //         …
    //         blr  …
    //
    // The stub of return polls has no such copy before its call.
    const STEPS: usize = 256;
    const RETURN_ADDRESS: i64 = size_of::<usize>() as i64;
    let mut loaded = None;
    for at in (code..).step_by(4).take(STEPS) {
        match instruction(memory, at)? {
            Op::Access(Access {
                loads: true,
                base: Register::RTHREAD,
                registers: [Some(to), None],
                offset,
                ..
            }) => loaded = Some((to, offset)),
            Op::Access(Access {
                loads: false,
                base: Register::RFP,
                registers: [Some(from), None],
                offset: RETURN_ADDRESS,
                ..
            }) => {
                let (_, distance) = loaded.filter(|&(loaded, _)| loaded == from)?;
                let is_before = (code..=at).contains(&pc);
                return is_before.then(|| i32::try_from(distance).ok()).flatten();
            }
            Op::Call(_) | Op::CallRegister | Op::Return(_) | Op::Jump(_) => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::aarch64::patterns::bytes;
    use crate::arch::toy::{CODE, Fixed};

    #[test]
    fn the_thread_has_the_poll_until_the_frame_has_it() {
        // stp x29, x30, [sp, #-16]!; mov x29, sp; stp x0, x1, [sp, #-16]!; ldr x20, [x28, #856]; str x20, [x29, #8]; blr x8
        let code = bytes(&[
            0xa9bf_7bfd,
            0x9100_03fd,
            0xa9bf_07e0,
            0xf941_af94,
            0xf900_07b4,
            0xd63f_0100,
        ]);
        let kept = |at: usize| {
            let memory = Fixed {
                code: &code,
                stack: &[],
            };
            kept_in_thread(&memory, CODE, CODE + 4 * at)
        };
        for at in 0..=4 {
            assert_eq!(kept(at), Some(0x358), "{at}");
        }
        assert_eq!(kept(5), None);
    }

    #[test]
    fn the_poll_before_a_return_compares_the_stack_pointer() {
        let code = bytes(&[0xf942_2788, 0xeb28_63ff, 0xf942_2788, 0xd503_201f]);
        let memory = Fixed {
            code: &code,
            stack: &[],
        };
        assert!(is_return_poll(&memory, CODE));
        assert!(!is_return_poll(&memory, CODE + 8));
    }
}
