//! What the verifier knows of locals and operand stack: stack map frames (JVMS 4.7.4), and the types
//! that follow from instructions (JVMS 4.10.1).

mod entry;
mod frames;
mod simulate;
mod vtype;
mod writer;

pub use entry::{initial_locals, parameter_class};
pub use frames::{RawFrame, RawFrames, RawTypes, next_bci};
pub use simulate::{AnyClass, Classes, Lost, State};
pub use vtype::VType;
pub use writer::FrameWriter;
