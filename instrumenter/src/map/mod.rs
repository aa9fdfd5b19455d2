//! From rewritten to original code, and where the hooks are.

mod bci;
mod code_map;
mod segment;
mod window;

pub use bci::{OriginalBci, RewrittenBci};
pub use code_map::CodeMap;
pub(crate) use segment::{Segment, SegmentKind};
pub use window::{HookKind, HookWindow};
