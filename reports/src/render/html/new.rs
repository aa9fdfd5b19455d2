//! What is new since the baseline.

use super::blocks::{Level, blocks};
use crate::model::Section;
use maud::{Markup, html};

/// Sections of a comparison with a baseline.
pub(super) const IDS: [&str; 4] = ["base", "new", "better", "power"];

/// The section of what is worse.
const WORSE: &str = IDS[1];

pub(super) fn sections(of: &[&Section]) -> Markup {
    html! {
        @for section in of {
            div id=(section.id) { @if !section.title.is_empty() { h3 { (section.title) } } (blocks(&section.blocks, Level::TOP)) }
        }
        @if !of.iter().any(|section| section.id == WORSE) { p { "Nothing is new." } }
    }
}
