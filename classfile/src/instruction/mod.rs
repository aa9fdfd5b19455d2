//! Instructions of the `code` array (JVMS 4.9, 6.5), decoded and written.

mod decode;
mod fingerprint;
mod length;
mod model;

pub use decode::{Instructions, decode};
pub use fingerprint::{fingerprint, shape};
pub use length::{branch_target, measure, padding};
pub use model::{Instruction, Operands};
