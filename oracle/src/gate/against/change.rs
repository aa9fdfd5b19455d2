//! A cell that changed.

use crate::gate::baseline::{Cell, Platform};
use crate::numbers::count;
use std::fmt;

/// How a cell changed.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum Alarm {
    /// No run of the baseline had the cell.
    New,
    /// The cell is more frequent than in the baseline.
    Rose,
    /// The cell is rarer than in the baseline: an improvement.
    Fell,
}

impl Alarm {
    /// Whether the JVM became worse.
    pub fn is_worse(self) -> bool {
        self != Alarm::Fell
    }
}

/// A cell that changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The platform.
    pub platform: Platform,
    /// The cell.
    pub cell: Cell,
    /// How it changed.
    pub alarm: Alarm,
    /// Events and trials of the report.
    pub new: (u64, u64),
    /// Events and trials of all runs of the baseline.
    pub base: (u64, u64),
    /// How many runs of the platform the baseline has.
    pub runs: usize,
    /// The count that the baseline predicts.
    pub expected: f64,
    /// The probability of such a count, by chance and by the differences between equal runs.
    pub p: f64,
    /// The counts of the report in each program, the largest first.
    pub programs: Vec<(String, u64)>,
}

/// All changes of one kind, in several programs and places.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding<'a> {
    /// The change that is least probable.
    pub first: &'a Change,
    /// The other changes of the kind.
    pub others: Vec<&'a Change>,
}

impl Change {
    /// Whether both changes are of the same kind and in the same direction.
    pub(super) fn is_like(&self, other: &Change) -> bool {
        let cell = |of: &Change| (of.cell.layer, of.cell.what.clone());
        self.platform == other.platform
            && self.alarm.is_worse() == other.alarm.is_worse()
            && cell(self) == cell(other)
    }
}

/// How many programs and places are named. More would not help a reader.
const SHOWN: usize = 3;

/// For example `asgct-safepoint: 143 × truncated unexplained, which no run of the baseline had; c1
/// 140, tiered 3; at a.B.c`.
impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Change {
            cell,
            alarm,
            new: (n, trials),
            expected,
            ..
        } = self.first;
        let Cell { layer, what, .. } = cell;
        write!(f, "{layer}: {} × {what}", count(*n))?;
        if let Some(place) = &cell.place {
            write!(f, " at {place}")?;
        }
        match alarm {
            Alarm::New => write!(f, ", which no run of the baseline had")?,
            Alarm::Rose | Alarm::Fell => {
                let of = what.trials().map_or(String::new(), |of| of.to_string());
                let trials = count(*trials);
                write!(f, " in {trials} {of}, {expected:.1} expected")?;
            }
        }
        if cell.is_of_all_programs() && *n > 0 {
            let shown = self.first.programs.iter().take(SHOWN);
            let shown: Vec<String> = shown
                .map(|(name, n)| format!("{name} {}", count(*n)))
                .collect();
            let which = if cell.place.is_some() {
                "all of the kind"
            } else {
                "programs"
            };
            write!(f, "; {which}: {}", shown.join(", "))?;
        } else if !cell.is_of_all_programs() {
            write!(f, "; program: {}", cell.program)?;
        }
        let places: Vec<&str> = self
            .others
            .iter()
            .filter_map(|c| c.cell.place.as_deref())
            .take(SHOWN)
            .collect();
        if !places.is_empty() {
            write!(f, "; among them at {}", places.join("; "))?;
        }
        Ok(())
    }
}
