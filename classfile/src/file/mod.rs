//! The class file (JVMS 4.1), its members (4.5, 4.6), attributes (4.7) and code (4.7.3).

mod attribute;
mod class;
mod code;
mod member;
mod offsets;

pub use attribute::Attribute;
pub use class::ClassFile;
pub use code::{Code, ExceptionEntry};
pub use member::Member;
pub use offsets::{CodeTable, Holds, OffsetField};
