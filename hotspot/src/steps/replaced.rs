//! The interpreter frames that have taken the place of a compiled frame (`Deoptimization::unpack_frames`).
//!
//! The VM pushes the frames of the compiled method and of the methods that are inlined there, and continues in
//! the interpreter. Each frame has its method, its bytecode pointer, and the place of its caller's frame. The
//! frame of the compiled method itself returns to the caller of the compiled frame, perhaps at another place.

use super::call::Call;
use super::{Code, Place, Stack, WORD};
use crate::arch::{Arch, InterpretedFrame, Native};

/// Where an interpreted frame has its parts.
const FRAME: InterpretedFrame = Native::INTERPRETED;

/// More frames than one compiled frame stands for.
const MOST: usize = 256;

/// A compiled frame that was removed.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub(super) struct Replaced {
    /// The return address of the frame, as it lay on the stack: the VM may have changed it.
    pub(super) ret: usize,
}

impl Replaced {
    /// How many frames there are above the frame that returns to `caller`, where the thread goes on in the newest
    /// frame at `after`. `None` if the stack does not show it.
    pub(super) fn depth(&self, caller: &Call, after: &Place, stack: &impl Stack) -> Option<usize> {
        if after.code != Code::Interpreter {
            return None;
        }
        let mut fp = after.fp;
        for depth in 0..MOST {
            let (ret, above) = (stack.word(fp.wrapping_add(WORD)), stack.word(fp));
            // Of an interpreted caller the frame tells one call from another.
            let is_of_caller = caller.code != Code::Interpreter || above == caller.fp;
            if is_of_caller && (ret == caller.ret || ret == self.ret) {
                return Some(depth);
            }
            if above <= fp || !stack.is_invoke_return(ret) {
                return None;
            }
            fp = above;
        }
        None
    }

    fn fp(level: usize, after: &Place, stack: &impl Stack) -> usize {
        (0..level).fold(after.fp, |fp, _| stack.word(fp))
    }

    /// Where the return address of the frame lies that is `level` frames below the newest.
    pub(super) fn slot(&self, level: usize, after: &Place, stack: &impl Stack) -> usize {
        Self::fp(level, after, stack).wrapping_add(WORD)
    }

    /// The call of the frame that is `level` frames below the newest, by the frame below that.
    pub(super) fn call(&self, level: usize, after: &Place, stack: &impl Stack) -> Call {
        let slot = self.slot(level, after, stack);
        let fp = Self::fp(level + 1, after, stack);
        Call {
            slot,
            ret: stack.word(slot),
            fp,
            code: Code::Interpreter,
            piece: after.piece,
            is_invoke: true,
            method: stack.word(fp.wrapping_sub(FRAME.method)),
            bcp: stack.word(fp.wrapping_sub(FRAME.bcp)),
            ..Call::default()
        }
    }
}
