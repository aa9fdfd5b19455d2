//! Tables with typed cells: each renderer formats a kind of cell in one place.

use super::tone::Tone;
use crate::numbers::{count, exact, share};

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// The columns; the first one names the row.
    pub columns: Vec<Column>,
    /// The rows, each with a cell for each column.
    pub rows: Vec<Row>,
    /// Whether a renderer may show the first rows only. It then says how many it left out.
    pub cut: bool,
}

/// A column.
#[derive(Copy, Clone, Debug)]
pub struct Column {
    /// The heading.
    pub name: &'static str,
    /// The kind of its cells.
    pub kind: Kind,
}

/// The kind of a column's cells.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Words, aligned to the left.
    Words,
    /// Numbers, aligned to the right.
    Numbers,
    /// Drawings, which only a browser shows.
    Drawings,
}

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Good or bad news.
    pub tone: Tone,
    /// The cells, one for each column.
    pub cells: Vec<Cell>,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A name in a program or a machine.
    Code(String),
    /// A number of things.
    Count(u64),
    /// A rate from 0 to 1; `None` means that there is no data.
    Rate(Option<f64>),
    /// A measured number with this many decimals; `None` means that there is no data.
    Number(Option<f64>, usize),
    /// The highest rate that is allowed, from 0 to 1, as the scenario gives it.
    Budget(f64),
    /// A rate that is coloured by its size, with a longer text for its tooltip.
    Heat(Option<f64>, String),
    /// A bar as long as this share of the longest, from 0 to 1.
    Bar(f64),
    /// A line through these points, the highest of which is the top.
    Line(Vec<f64>),
    /// The cell is empty.
    Absent,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new<const N: usize>(columns: [(&'static str, Kind); N]) -> Table {
        Table {
            columns: columns.map(|(name, kind)| Column { name, kind }).into(),
            rows: vec![],
            cut: false,
        }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, tone: Tone, cells: impl Into<Vec<Cell>>) {
        let cells = cells.into();
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(Row { tone, cells });
    }
}

impl Cell {
    /// A cell with the name of something.
    pub(crate) fn text(text: impl ToString) -> Cell {
        Cell::Text(text.to_string())
    }

    /// The cell as plain text; renderers escape that text.
    pub fn plain(&self) -> String {
        match self {
            Cell::Text(text) | Cell::Code(text) => text.clone(),
            Cell::Count(n) => count(*n),
            Cell::Rate(rate) | Cell::Heat(rate, _) => match rate {
                None => NO_DATA.into(),
                Some(rate) => share(*rate),
            },
            Cell::Number(None, _) => NO_DATA.into(),
            Cell::Number(Some(number), digits) => format!("{number:.digits$}"),
            Cell::Budget(limit) => exact(*limit),
            Cell::Bar(_) | Cell::Line(_) | Cell::Absent => String::new(),
        }
    }
}

const NO_DATA: &str = "no data";
