//! Whether the frame of the interpreted method that runs is whole.

use crate::jvm::Jvm;
use hotspot::arch::{Native, Registers};
use hotspot::layout::interpreter;
use hotspot::proofs::InterpreterFrame;
use vm::memory::kernel::peek_bytes;

/// The interpreter's frame as the code shows it that runs with these registers; intact also where it is not the interpreter's.
pub(super) fn interpreter_frame(jvm: &Jvm, registers: &Registers) -> InterpreterFrame {
    let found = jvm.interpreter().ok();
    let codelet = found.and_then(|found| found.codelet(registers.pc));
    let frame = codelet.map(|codelet| {
        codelet.frame::<Native>(registers, &peek_bytes(registers.pc, interpreter::CODE))
    });
    // Where the architecture does not show it, there is no proof that the frame is not intact.
    frame.map_or(InterpreterFrame::Intact, |frame| {
        frame.unwrap_or(InterpreterFrame::Intact)
    })
}
