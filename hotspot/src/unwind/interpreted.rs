//! The places in an interpreted frame, in bytes from its frame pointer (`frame_x86.hpp`).

const WORD: usize = size_of::<usize>();

/// Above the frame pointer: the return address.
pub const RETURN_ADDRESS: usize = WORD;
/// Below the frame pointer: the stack pointer of the caller.
pub const SENDER_SP: usize = WORD;
/// Below the frame pointer: the method.
pub const METHOD: usize = 3 * WORD;
/// Below the frame pointer: the local variables.
pub const LOCALS: usize = 7 * WORD;
/// Below the frame pointer: the bytecode pointer.
pub const BCP: usize = 8 * WORD;
