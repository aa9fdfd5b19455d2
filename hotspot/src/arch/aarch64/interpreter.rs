//! The interpreter: its frames.

use crate::arch::InterpretedFrame;

const WORD: usize = size_of::<usize>();

/// The places in an interpreted frame (`frame_aarch64.hpp`). There is one word more than on x86-64 before the local
/// variables: padding on JDK 17, later the extended stack pointer.
pub(super) const FRAME: InterpretedFrame = InterpretedFrame {
    sender_sp: WORD,
    method: 3 * WORD,
    locals: 8 * WORD,
    bcp: 9 * WORD,
    fixed: 10 * WORD,
};
