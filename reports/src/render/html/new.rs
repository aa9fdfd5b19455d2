//! What is new since the baseline.

use super::blocks::{Level, blocks};
use crate::model::Section;
use maud::{Markup, html};

/// Sections of a comparison with a baseline.
pub(super) const IDS: [&str; 3] = ["new", "better", "power"];

pub(super) fn sections(of: &[&Section]) -> Markup {
    html! {
        @for section in of {
            div id=(section.id) { h3 { (section.title) } (blocks(&section.blocks, Level::TOP)) }
        }
        @if !of.iter().any(|section| section.id == IDS[0]) { p { "Nothing is new." } }
    }
}
