//! What a class file tells about calls: which methods there are, where their instructions start,
//! and what each instruction may call or have the VM call. Bytes of code are not kept.

mod bcis;
mod model;
mod read;

pub use bcis::Bcis;
pub use model::{CodeOutline, MethodOutline, Outline, Refers, Site};
