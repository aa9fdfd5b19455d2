//! Safepoint polls: before returns, and in loops.

use super::decoder::decode;
use crate::arch::{Effect, Register};
use crate::memory::Memory;

/// Whether `code` begins with the poll before a return. The poll has a debug info record, although the frame is removed.
pub(super) fn is_return_poll(code: &[u8; 16]) -> bool {
    // `cmp rsp, [r15 + x]`, with a displacement of four bytes or of one (`MacroAssembler::safepoint_poll`). The thread's word is
    // below each stack unless a safepoint is wanted.
    matches!(code[..3], [0x49, 0x3b, 0xa7 | 0x67])
}

/// Where the thread has the program counter of a poll in a loop that has faulted, up to the instruction at `pc` of the stub
/// that begins at `code`.
pub(super) fn kept_in_thread(memory: &impl Memory, code: usize, pc: usize) -> Option<i32> {
    // A poll in a loop, `test eax, [r10]`, faults. The VM's signal handler keeps the pc in the thread, and lets the stub begin
    // there as if it had been called, without a return address (`SharedRuntime::generate_handler_blob`):
    //
    //         push rbx                   room for the return address
    //         push rbp
    //         mov  rbp, rsp
    //         …                          other registers are pushed
    //         mov  rbx, [r15 + saved]    `JavaThread::_saved_exception_pc`
    //         mov  [rbp + 8], rbx        from here on the frame has it
    //         mov  rdi, r15
    //         call …
    //
    // The stub of return polls is called, and has no such copy before its call.
    /// More instructions than the stub has up to its call.
    const STEPS: usize = 256;
    const RETURN_ADDRESS: i32 = size_of::<usize>() as i32;
    let mut at = code;
    let mut loaded = None;
    for _ in 0..STEPS {
        let instruction = decode(&memory.code(at))?;
        match instruction.effect {
            Effect::Load(register, Register::R15, distance) => loaded = Some((register, distance)),
            Effect::Store(Register::RBP, RETURN_ADDRESS, register) => {
                let (_, distance) = loaded.filter(|&(loaded, _)| loaded == register)?;
                return (code..=at).contains(&pc).then_some(distance);
            }
            Effect::Call | Effect::Return | Effect::Jump(_) => return None,
            _ => {}
        }
        at = at.wrapping_add(instruction.length);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::toy::{CODE, Fixed};

    /// push rbx; push rbp; mov rbp, rsp; mov rbx, [r15+0x358]; mov [rbp+8], rbx; mov rdi, r15; call
    const POLL: &[u8] = &[
        0x53, 0x55, 0x48, 0x8b, 0xec, 0x49, 0x8b, 0x9f, 0x58, 3, 0, 0, 0x48, 0x89, 0x5d, 8, 0x49,
        0x8b, 0xff, 0xe8, 0, 0, 0, 0,
    ];

    #[test]
    fn the_thread_has_the_poll_until_the_frame_has_it() {
        let kept = |code, at| kept_in_thread(&Fixed { code, stack: &[] }, CODE, CODE + at);
        for at in [0, 1, 2, 5, 12] {
            assert_eq!(kept(POLL, at), Some(0x358), "at {at}");
        }
        assert_eq!(kept(POLL, 16), None);
        // The stub of return polls: push rbp; mov rbp, rsp; mov rdi, r15; call
        let of_return = &[0x55, 0x48, 0x8b, 0xec, 0x49, 0x8b, 0xff, 0xe8, 0, 0, 0, 0];
        assert_eq!(kept(of_return, 0), None);
    }
}
