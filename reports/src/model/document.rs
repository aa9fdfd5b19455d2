//! A document of sections, rendered as text, Markdown or HTML.

use super::{Flame, Stacks, Table, TwoFlames};
use oracle::outcome::Outcome;

/// A whole rendering.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// What the reader must know before anything else, a sentence each.
    pub warnings: Vec<String>,
    /// The answer, where the document gives one.
    pub answer: Option<Answer>,
    /// The sections in their order.
    pub sections: Vec<Section>,
}

/// The answer that a document gives.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The outcome, which the exit code tells too.
    pub outcome: Outcome,
    /// The outcome in a few words.
    pub verdict: String,
    /// The news in one line, where there is a baseline to compare with.
    pub headline: Option<String>,
    /// What speaks against a better outcome, a sentence each.
    pub reasons: Vec<String>,
}

impl Answer {
    /// The reasons that the headline does not give.
    pub fn further_reasons(&self) -> impl Iterator<Item = &String> {
        let is_new = |reason: &&String| Some(*reason) != self.headline.as_ref();
        self.reasons.iter().filter(is_new)
    }
}

/// The smallest kind of page that has room for a section.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum Room {
    /// A terminal or a log.
    Terminal,
    /// The summary of a CI system.
    Summary,
    /// A page of its own in a browser.
    Page,
}

/// A part of a document under one heading.
#[derive(Clone, Debug)]
pub struct Section {
    /// The name by which links and tests find the section.
    pub id: &'static str,
    /// The heading.
    pub title: &'static str,
    /// Who shows the section.
    pub room: Room,
    /// What the section holds.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub enum Block {
    /// A sentence or two.
    Note(String),
    /// A text that leads to a page, whose address follows.
    Link(String, String),
    /// The command that shows what the blocks before are about, alone.
    Alone(String),
    /// A command or other text that a reader may copy; shown where there is room for details.
    Code(String),
    /// A table.
    Table(Table),
    /// Foldable groups.
    Groups(Groups),
    /// Both stacks of a mismatch.
    Stacks(Stacks),
    /// Both stacks of a mismatch that everybody should see.
    Example(Stacks),
    /// A flame graph; shown only in a browser.
    Flame(Flame),
    /// Two flame graphs side by side; shown only in a browser.
    TwoFlames(TwoFlames),
}

/// Groups, one below the other.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The groups, the most important first.
    pub groups: Vec<Group>,
    /// Whether a renderer may show the first groups only. It then says how many it left out.
    pub cut: bool,
}

/// Blocks under a line that folds them.
#[derive(Clone, Debug)]
pub struct Group {
    /// How many things the group stands for, where it counts any.
    pub count: Option<u64>,
    /// The line.
    pub title: String,
    /// Whether the group is unfolded at first.
    pub open: bool,
    /// What is folded.
    pub blocks: Vec<Block>,
}
