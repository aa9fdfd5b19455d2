//! Instructions of compiled code by what they do to the frame.

use crate::unwind::Register;
use crate::unwind::instruction::{Effect, decode};

/// The kind of the instruction at the start of `code`, as reports have it.
pub fn kind(code: &[u8; 16]) -> &'static str {
    let Some(instruction) = decode(code) else {
        return "unknown";
    };
    if is_return_poll(code) {
        return "return poll";
    }
    match instruction.effect {
        Effect::Push(Some(Register::RBP)) => "push rbp",
        Effect::Push(_) => "push",
        Effect::Pop(Some(Register::RBP)) => "pop rbp",
        Effect::Pop(_) => "pop",
        Effect::Add(Register::RSP, ..0) => "sub rsp",
        Effect::Add(Register::RSP, _) => "add rsp",
        Effect::Leave => "leave",
        Effect::Return => "ret",
        Effect::Call => "call",
        Effect::Jump(_) | Effect::JumpRegister(_) | Effect::JumpMemory => "jump",
        Effect::Branch(_) => "branch",
        _ => "other",
    }
}

/// Whether `code` begins with the poll before a return, `cmp rsp, [r15+x]`
/// (`MacroAssembler::safepoint_poll`).
fn is_return_poll(code: &[u8; 16]) -> bool {
    matches!(code[..3], [0x49, 0x3b, 0xa7 | 0x67])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_of_a_prologue_and_an_epilogue_have_kinds_of_their_own() {
        for (bytes, expected) in [
            (&[0x55][..], "push rbp"),
            (&[0x41, 0x52], "push"),
            (&[0x48, 0x83, 0xec, 0x20], "sub rsp"),
            (&[0x48, 0x83, 0xc4, 0x20], "add rsp"),
            (&[0x5d], "pop rbp"),
            (&[0x58], "pop"),
            (&[0x49, 0x3b, 0xa7, 0x88, 4, 0, 0], "return poll"),
            (&[0x0f, 0x87, 1, 0, 0, 0], "branch"),
            (&[0xc3], "ret"),
            (&[0xe8, 0, 0, 0, 0], "call"),
            (&[0xeb, 1], "jump"),
            (&[0x89, 0xc8], "other"),
            (&[0x06], "unknown"),
        ] {
            let mut code = [0x90; 16];
            code[..bytes.len()].copy_from_slice(bytes);
            assert_eq!(kind(&code), expected, "{bytes:x?}");
        }
    }
}
