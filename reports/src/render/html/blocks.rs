//! The blocks of a document.

use super::super::limits::left_out;
use super::{cells, flame, stacks};
use crate::model::{Block, Groups, Section};
use maud::{Markup, html};

/// Largest number of groups where there may be many, of examples of each, and of runs.
const GROUPS: usize = 8;
const EXAMPLES: usize = 1;
const MOST_GROUPS: usize = 60;

/// All sections, folded.
pub(super) fn folded(sections: &[&Section]) -> Markup {
    html! {
        @for section in sections {
            @let title = if section.title.is_empty() { "JDK" } else { section.title };
            details id=(section.id) {
                summary { (title) }
                (blocks(&section.blocks, Level::TOP))
            }
        }
    }
}

/// Where blocks stand.
#[derive(Copy, Clone)]
pub(super) struct Level {
    /// In how many groups.
    depth: usize,
    /// Whether there is room for examples.
    has_examples: bool,
}

impl Level {
    /// Outside of all groups.
    pub(super) const TOP: Level = Level {
        depth: 0,
        has_examples: true,
    };

    /// In a group, of which the first one alone has an example.
    fn group(self, at: usize) -> Level {
        Level {
            depth: self.depth + 1,
            has_examples: self.has_examples && (self.depth == 0 || at == 0),
        }
    }
}

pub(super) fn blocks(blocks: &[Block], level: Level) -> Markup {
    let mut examples = 0;
    html! {
        @for block in blocks {
            @match block {
                Block::Note(text) => p { (text) },
                Block::Link(text, page) => p { a href=(page) { (text) } },
                Block::Alone(command) => p { "alone: " code { (command) } },
                Block::Code(text) => p { code { (text) } },
                Block::Table(table) => (cells::table(table)),
                Block::Groups(all) => (groups(all, level)),
                Block::Example(one) => (stacks::pair(one)),
                Block::Stacks(one) => {
                    @if { examples += 1; examples <= EXAMPLES && level.has_examples } { (stacks::pair(one)) }
                }
                Block::Flame(one) => (flame::one(one)),
                // The page draws one of them, in a section of its own.
                Block::TwoFlames(_) => {}
            }
        }
    }
}

fn groups(all: &Groups, level: Level) -> Markup {
    let shown = if all.cut { GROUPS } else { MOST_GROUPS };
    html! {
        @for (at, group) in all.groups.iter().take(shown).enumerate() {
            details.kind[level.depth > 0] open[group.open] {
                summary { @if let Some(n) = group.count { strong { (crate::numbers::count(n)) } " " } (group.title) }
                (blocks(&group.blocks, level.group(at)))
            }
        }
        @if all.groups.len() > shown { p { (left_out(all.groups.len() - shown, "kinds")) } }
    }
}
