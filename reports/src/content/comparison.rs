//! A comparison of two reports.

use crate::model::Kind::{Numbers, Words};
use crate::model::{Block, Cell, Document, Room, Section, Table, Tone};
use oracle::compare::{Change, Trend};

/// A row for each layer.
pub fn comparison(changes: &[Change]) -> Document {
    let mut table = Table::new([
        ("layer", Words),
        ("old mismatches", Numbers),
        ("old checks", Numbers),
        ("new mismatches", Numbers),
        ("new checks", Numbers),
        ("p", Numbers),
        ("trend", Words),
    ]);
    for change in changes {
        let (tone, trend) = match change.trend {
            Trend::Better => (Tone::Good, "better"),
            Trend::Worse => (Tone::Bad, "worse"),
            Trend::NoEvidence => (Tone::Plain, "no evidence of a change"),
            Trend::NoData => (Tone::Plain, "no data"),
        };
        let cells = [
            Cell::text(change.layer),
            Cell::Count(change.base.0),
            Cell::Count(change.base.1),
            Cell::Count(change.new.0),
            Cell::Count(change.new.1),
            Cell::Rate(change.p),
            Cell::text(trend),
        ];
        table.push(tone, cells);
    }
    let section = Section {
        id: "comparison",
        title: "",
        room: Room::Terminal,
        blocks: vec![Block::Table(table)],
    };
    Document {
        answer: None,
        sections: vec![section],
    }
}
