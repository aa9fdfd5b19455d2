//! The stub to which a poll in a loop leads, when the poll has faulted (`SharedRuntime::generate_handler_blob`).

use crate::memory::Memory;
use crate::unwind::Register;
use crate::unwind::instruction::{Effect, decode};

/// More instructions than the stub has up to its call.
const STEPS: usize = 256;

/// The distance of the frame's return address from the frame pointer.
const RETURN_ADDRESS: i32 = size_of::<usize>() as i32;

/// The place in the thread where the VM keeps the poll's program counter, as a distance from the thread (r15), while the
/// stub's own frame does not have it: up to the instruction at `pc`, the stub that begins at `code` has not copied it to its
/// return address. `None` for code that does not do so, such as the stub of return polls, which has a return address.
pub fn kept_in_thread(memory: &impl Memory, code: usize, pc: usize) -> Option<i32> {
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
    use crate::unwind::toy::{CODE, Fixed};

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
