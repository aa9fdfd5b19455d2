//! From rewritten to original code, and where the hooks are.

mod code_map;
mod window;

pub use code_map::CodeMap;
pub use window::{HookKind, HookWindow, OriginalBci, RewrittenBci};
pub(crate) use window::{Segment, SegmentKind};
