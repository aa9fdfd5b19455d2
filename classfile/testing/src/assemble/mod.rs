//! A small assembler of class files. It shares no code with the crate under test.

mod class;
mod code;
mod finish;
mod pool;

pub use class::Class;
pub use code::{Code, Label, V};
pub use pool::Pool;
