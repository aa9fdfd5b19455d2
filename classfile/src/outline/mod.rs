//! What a class file says about calls: its methods, where their instructions start, and what each
//! instruction may call or make the VM call. The outline does not keep the bytes of the code.

mod bcis;
mod model;
mod read;

pub use bcis::Bcis;
pub use model::{CodeOutline, Heading, MethodOutline, Outline, Refers, Site};
