//! The constant pool (JVMS 4.4), and constants that an edit appends to it.

mod additions;
mod constants;

pub use additions::{Additions, PoolFull};
pub use constants::{ConstantPool, MemberRef, tag};
