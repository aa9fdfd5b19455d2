//! What a person wants to know of a check of two builds: is the new one worse, in what and where, and how much worse may it
//! still be.

use super::{Answer, Block, Section, Tone};
use oracle::Layer;

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What the reader must know before anything else, a sentence each.
    pub warnings: Vec<String>,
    /// The answer.
    pub answer: Answer,
    /// The base and the new build: name, version and vendor.
    pub builds: [String; 2],
    /// The number of pairs of turns.
    pub pairs: usize,
    /// How long they took, in minutes.
    pub minutes: f64,
    /// What is worse, the weightiest first.
    pub findings: Vec<Finding>,
    /// Shares of false stacks, a row for each layer that was measured.
    pub falsehoods: Vec<Shares>,
    /// Shares of questions without an answer.
    pub unanswered: Vec<Shares>,
    /// The tables, which are folded.
    pub tables: Vec<Section>,
}

/// Something that is worse in the new build.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What it is, in a line.
    pub title: String,
    /// Whether it is sure; else more pairs may show that it was chance.
    pub is_sure: bool,
    /// Its meaning, where it is, an example, and the command that shows it alone.
    pub blocks: Vec<Block>,
}

impl Finding {
    /// Something that is certainly worse.
    pub fn sure(title: String, blocks: Vec<Block>) -> Finding {
        Finding {
            title,
            is_sure: true,
            blocks,
        }
    }

    /// The finding as the blocks of a document, the title first.
    pub fn into_blocks(self) -> Vec<Block> {
        let title = std::iter::once(Block::Note(self.title));
        title.chain(self.blocks).collect()
    }
}

/// How often a layer's answers were of one kind in both builds.
#[derive(Clone, Debug)]
pub struct Shares {
    /// The layer.
    pub layer: Layer,
    /// The walker and the instants at which it is asked.
    pub title: String,
    /// What was counted and all, in the base and in the new build.
    pub counts: [(u64, u64); 2],
    /// The largest share of additional ones, from 0 to 1, that the pairs do not exclude; `None` if they exclude none.
    pub at_most: Option<f64>,
    /// Bad: one of the findings is of this kind.
    pub tone: Tone,
}
