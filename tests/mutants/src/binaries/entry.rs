//! The instructions at a function's entry that a jump overwrites, and that run elsewhere instead.

use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind};

/// The length of `jmp rel32`.
const JUMP: usize = 5;

/// More bytes than the instructions under a jump can have.
pub const ENOUGH: usize = JUMP - 1 + 15;

/// The whole instructions at a function's entry that a jump overwrites.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// Their length in bytes.
    pub length: usize,
    /// The position of a displacement that is relative to the program counter, in the last of them.
    pub displacement: Option<usize>,
}

impl Entry {
    /// Decodes `code`. An error says why the instructions can't run elsewhere.
    pub fn of(code: &[u8]) -> Result<Self, String> {
        let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
        let mut entry = Self {
            length: 0,
            displacement: None,
        };
        while entry.length < JUMP {
            let start = entry.length;
            let instruction = decoder.decode();
            if instruction.is_invalid() {
                return Err("an instruction that the decoder does not know".into());
            }
            if entry.displacement.is_some() {
                return Err(
                    "an instruction after one that is relative to the program counter".into(),
                );
            }
            if is_branch(&instruction) {
                return Err("a branch".into());
            }
            if instruction.is_ip_rel_memory_operand() {
                let offsets = decoder.get_constant_offsets(&instruction);
                // An immediate operand after the displacement would do no harm: the displacement counts from the
                // instruction's end either way.
                entry.displacement = Some(start + offsets.displacement_offset());
            }
            entry.length = decoder.position();
        }
        Ok(entry)
    }
}

fn is_branch(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|operand| {
        matches!(
            instruction.op_kind(operand),
            OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// endbr64
    const LANDING: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

    fn entry(rest: &[u8]) -> Result<Entry, String> {
        Entry::of(&[&LANDING, rest, &[0x90; ENOUGH]].concat())
    }

    #[test]
    fn whole_instructions_are_moved() {
        // push rbp; mov rbp, rsp
        let moved = |length, displacement| {
            Ok(Entry {
                length,
                displacement,
            })
        };
        assert_eq!(entry(&[0x55, 0x48, 0x89, 0xe5]), moved(5, None));
        // cmp qword ptr [rsi + 0x480], 0
        let compare = [0x48, 0x83, 0xbe, 0x80, 0x04, 0, 0, 0];
        assert_eq!(entry(&compare), moved(12, None));
        // lea rax, [rip + 0xdb1f75]
        let address = [0x48, 0x8d, 0x05, 0x75, 0x1f, 0xdb, 0];
        assert_eq!(entry(&address), moved(11, Some(7)));
    }

    #[test]
    fn what_cannot_run_elsewhere_is_refused() {
        // je
        assert!(entry(&[0x74, 0x10]).is_err());
        // call
        assert!(entry(&[0xe8, 0, 0, 0, 0]).is_err());
        // lea rax, [rip] as the first of two instructions.
        assert!(Entry::of(&[0x90; ENOUGH]).is_ok());
        // Not an instruction in 64-bit mode.
        assert!(entry(&[0x06]).is_err());
    }
}
