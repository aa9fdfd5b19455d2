//! The instructions of a piece of compiled code, to tell which of them no thread has visited.

use crate::unwind::instruction::{Effect, decode};

/// The offsets of the instructions of `code` that can run: without padding, and without what stands behind
/// calls that do not return (`hlt`, `ud2`, `int3`). `None` if the code does not decode as one row of
/// instructions.
pub fn offsets(code: &[u8]) -> Option<Vec<u32>> {
    let (mut found, mut at) = (vec![], 0);
    while at < code.len() {
        let rest = &code[at..code.len().min(at + 16)];
        let mut bytes = [0; 16];
        bytes[..rest.len()].copy_from_slice(rest);
        let instruction = decode(&bytes)?;
        if !is_padding(rest) && instruction.effect != Effect::Trap {
            found.push(u32::try_from(at).ok()?);
        }
        at += instruction.length;
    }
    (at == code.len()).then_some(found)
}

/// Whether `code` begins with an instruction that does nothing (`nop`, Intel SDM, volume 2).
fn is_padding(code: &[u8]) -> bool {
    let is_prefix = |byte: &&u8| matches!(**byte, 0x66 | 0x2e);
    let prefixes = code.iter().take_while(is_prefix).count();
    matches!(code[prefixes..], [0x90, ..] | [0x0f, 0x1f, ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_and_what_stands_behind_calls_is_left_out() {
        // push rbp; nop; call; hlt; data16 nop; nop [rax+rax]; pop rbp; ret
        let code = [
            0x55, 0x90, 0xe8, 0, 0, 0, 0, 0xf4, 0x66, 0x90, 0x0f, 0x1f, 0x44, 0, 0, 0x5d, 0xc3,
        ];
        assert_eq!(offsets(&code), Some(vec![0, 2, 15, 16]));
    }

    #[test]
    fn code_that_is_cut_has_no_offsets() {
        assert_eq!(offsets(&[0x55, 0xe8, 0, 0]), None);
        assert_eq!(offsets(&[]), Some(vec![]));
    }
}
