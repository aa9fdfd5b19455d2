//! The renderers: each turns the model into one format, and knows nothing of what it shows.

mod annotations;
mod answer;
mod brief;
mod escape;
mod html;
mod junit;
mod limits;
mod markdown;
mod screen;
mod text;
mod wrap;

pub use annotations::annotations;
pub use answer::answer;
pub use brief::{brief, verdict};
pub(crate) use escape::{fenced, markdown as markdown_line, visible};
pub use html::{checked, html};
pub use junit::junit;
pub use markdown::markdown;
pub(crate) use text::stacks;
pub use text::{Style, screen, text};
