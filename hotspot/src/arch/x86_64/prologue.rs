//! The start of a method, up to where its frame is complete.

use super::decoder::decode;
use super::patterns::{Pattern, skip_all};
use crate::arch::{Depth, Effect, Register};
use crate::memory::Memory;
use std::ops::Range;

const WORD: isize = size_of::<usize>() as isize;

/// Whether `code` is in the prologue of a compiled method.
pub(super) fn is_prologue(code: &[u8]) -> bool {
    // Both compilers begin so (`C1_MacroAssembler::build_frame`, `MacroAssembler::verified_entry`):
    //
    //         mov  [rsp - 0x14000], eax    89 84 24 …    the stack bang
    //         push rbp                     55
    //         mov  rbp, rsp                48 8b ec      with `-XX:+PreserveFramePointer`
    //         sub  rsp, N                  48 83 ec …, or 48 81 ec …
    //
    // Without a bang C2 begins with `sub rsp, N`, and stores rbp by a `mov` behind, where the size of the frame is right.
    const BEFORE: [Pattern; 3] = [
        Pattern(&[0x89, 0x84, 0x24], 4),
        Pattern(&[0x55], 0),
        Pattern(&[0x48, 0x8b, 0xec], 0),
    ];
    const SUB_RSP: [&[u8]; 2] = [&[0x48, 0x83, 0xec], &[0x48, 0x81, 0xec]];
    let rest = skip_all(&BEFORE, code);
    SUB_RSP.iter().any(|sub| rest.starts_with(sub))
}

/// The length of the instructions at the start of `code` that link a frame.
pub(super) fn link_length(code: &[u8]) -> Option<usize> {
    // `MacroAssembler::enter`: `push rbp`, `mov rbp, rsp`. HotSpot's assembler has no other form of the `mov`.
    const LINK: [u8; 4] = [0x55, 0x48, 0x8b, 0xec];
    code.starts_with(&LINK).then_some(LINK.len())
}

/// The address behind the first instructions in `code` that link a frame.
pub(super) fn interpreter_link(memory: &impl Memory, code: Range<usize>) -> Option<usize> {
    // `TemplateInterpreterGenerator::generate_fixed_frame`: `push rax` (the return address), `push rbp`, `mov rbp, rsp`.
    let mut at = code.start;
    let mut pushes = false;
    while at < code.end {
        let instruction = decode(&memory.code(at))?;
        at += instruction.length;
        match instruction.effect {
            Effect::Move(Register::RBP, Register::RSP) if pushes => return Some(at),
            effect => pushes = effect == Effect::Push(Some(Register::RBP)),
        }
    }
    None
}

/// Follows the code from `start` to `pc`: [`Follow::follow`](crate::arch::Follow::follow).
pub(super) fn follow(memory: &impl Memory, start: usize, pc: usize, steps: usize) -> Option<Depth> {
    let mut depth = Depth::default();
    let mut at = start;
    for _ in 0..steps {
        if at == pc {
            return Some(depth);
        }
        if at > pc {
            return None;
        }
        let instruction = decode(&memory.code(at))?;
        at = at.wrapping_add(instruction.length);
        match instruction.effect {
            Effect::Push(register) => {
                depth.bytes += WORD;
                if register == Some(Register::RBP) && depth.saved_fp.is_none() {
                    depth.saved_fp = Some(depth.bytes);
                }
            }
            Effect::Pop(_) => depth.bytes -= WORD,
            Effect::Add(Register::RSP, number) => depth.bytes -= number as isize,
            Effect::Lea(Register::RSP, Register::RSP, number) => depth.bytes -= number as isize,
            Effect::Store(Register::RSP, number, Register::RBP) if depth.saved_fp.is_none() => {
                depth.saved_fp = Some(depth.bytes - number as isize);
            }
            Effect::Move(Register::RBP, Register::RSP) => depth.has_own_fp = true,
            Effect::Return | Effect::Jump(_) | Effect::JumpRegister(_) | Effect::JumpMemory => {
                depth = Depth::default();
            }
            Effect::And(Register::RSP, _)
            | Effect::Lea(Register::RSP, ..)
            | Effect::Move(Register::RSP, _)
            | Effect::Load(Register::RSP, ..)
            | Effect::Write(Register::RSP)
            | Effect::WriteBoth(Register::RSP, _)
            | Effect::WriteBoth(_, Register::RSP)
            | Effect::Leave => return None,
            _ => {}
        }
    }
    (at == pc).then_some(depth)
}

#[cfg(test)]
mod tests {
    use crate::arch::{Arch, X86_64};

    #[test]
    fn a_prologue_ends_with_its_frame() {
        let code = [
            0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x20, 0x90,
        ];
        for start in [0, 7, 8] {
            assert!(X86_64::is_prologue(&code[start..]), "{start}");
        }
        assert!(!X86_64::is_prologue(&code[12..]));
        assert!(X86_64::is_prologue(&[0x48, 0x81, 0xec, 0, 1, 0, 0]));
        assert!(!X86_64::is_prologue(&[0x48, 0x89, 0xc8]));
    }
}
