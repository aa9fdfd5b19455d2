//! Instructions of compiled code by what they do to the frame.

use super::decoder::decode;
use super::polls::is_return_poll;
use crate::arch::{Effect, Flow, Register};

/// The kind of the instruction at the start of `code`, as reports have it.
pub(super) fn kind(code: &[u8; 16]) -> &'static str {
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

/// What an instruction with these first bytes does to a thread and its calls (Intel SDM, volume 2: `CALL`, `Jcc`, `JMP`,
/// `POPF`, `PUSH`, `RET`, `SYSCALL`).
pub(super) fn flow(bytes: [u8; 2]) -> Flow {
    // Up to one prefix stands before the opcode: a hint for a branch, `rep` before `ret`, or REX.
    const PREFIXES: [u8; 3] = [0x2e, 0x3e, 0xf3];
    let leads = |opcode| {
        matches!(
            opcode,
            0x70..=0x7f | 0xc2 | 0xc3 | 0xe8 | 0xe9 | 0xeb | 0xff
        )
    };
    match bytes {
        [0x50..=0x57 | 0x68 | 0x6a, _] | [0x40..=0x4f, 0x50..=0x57] => Flow::Push,
        [0xff, modrm] if modrm >> 3 & 7 == 6 => Flow::Push,
        [0xe8, _] => Flow::DirectCall,
        [0x0f, 0x05] => Flow::SystemCall,
        [0x9d, _] | [0x48, 0x9d] => Flow::LoadFlags,
        [0x0f, 0x80..=0x8f] => Flow::Leave,
        [opcode, _] if leads(opcode) => Flow::Leave,
        [prefix, opcode]
            if (PREFIXES.contains(&prefix) || (0x40..=0x4f).contains(&prefix)) && leads(opcode) =>
        {
            Flow::Leave
        }
        _ => Flow::Other,
    }
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
