//! What a report shows, independent of the format: a [`Document`] of sections, made once and
//! rendered as text, Markdown or HTML; and [`Suite`]s of test cases, rendered as JUnit XML.

mod align;
mod aligned;
mod cases;
mod checked;
mod document;
mod flame;
mod flames;
mod stacks;
mod summary;
mod table;
mod tone;

pub use aligned::{Aligned, AlignedRow, RowKind};
pub use cases::{Case, Suite, Verdict};
pub use checked::{Checked, Finding, Shares};
pub use document::{Answer, Block, Document, Group, Groups, Room, Section};
pub use flame::{Flame, Node};
pub use flames::{Both, TwoFlames};
pub use stacks::{Frame, Stacks};
pub use summary::{
    About, Advice, Biased, CauseCount, Cost, Example, Point, Profile, Rate, Summary,
};
pub use table::{Cell, Column, Kind, Row, Table};
pub use tone::Tone;
