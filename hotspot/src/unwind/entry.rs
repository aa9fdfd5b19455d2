//! Follows the stack pointer from a place where it is known.

use crate::memory::Memory;
use crate::unwind::Register;
use crate::unwind::instruction::{Effect, decode};

const WORD: isize = size_of::<usize>() as isize;

/// The stack at an instruction, relative to the stack at the start.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Depth {
    /// By how many bytes the stack has grown.
    pub bytes: isize,
    /// By how many bytes the stack had grown when the caller's frame pointer was saved, the saved
    /// word included.
    pub saved_fp: Option<isize>,
    /// Whether the frame pointer already belongs to this code.
    pub has_own_fp: bool,
}

/// Follows the code from `start` to `pc`, in address order, for at most `steps` instructions.
/// Behind a jump or a return the stack is taken to be as at the start, as in compiled code outside
/// of pushes and pops. `None` if `pc` is not the start of an instruction, or the stack pointer
/// cannot be followed.
pub fn follow(memory: &impl Memory, start: usize, pc: usize, steps: usize) -> Option<Depth> {
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
            | Effect::Leave => return None,
            _ => {}
        }
    }
    (at == pc).then_some(depth)
}
