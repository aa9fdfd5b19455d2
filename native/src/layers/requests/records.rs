//! The debug info records around the program counters of requests.

use super::lines::Lines;
use super::names::Names;
use crate::evidence::records_at;
use crate::jvm::Jvm;
use hotspot::debug_info::{Around, Scope};
use oracle::requests::{RecordedAround, RecordedScope, RequestLine};
use std::collections::HashSet;
use std::io;

/// The largest number of program counters whose records are written.
const MOST: usize = 1 << 17;

/// What was written so far.
#[derive(Default)]
pub struct Records {
    names: Names,
    known: HashSet<usize>,
}

impl Records {
    /// Writes the records around `pc`, if they are new. Code that is not compiled has none.
    pub fn write(&mut self, pc: usize, lines: &mut Lines<'_>) -> io::Result<()> {
        if self.known.len() >= MOST || !self.known.insert(pc) {
            return Ok(());
        }
        let jvm = lines.layers.truth.jvm;
        let found = records_at(jvm, pc);
        let Some(around) = found.and_then(|around| self.around(jvm, &around)) else {
            return Ok(());
        };
        for (number, name) in self.names.new_ones() {
            lines.write(&RequestLine::Name(number, name))?;
        }
        lines.write(&RequestLine::Records(pc, around))
    }

    fn around(&mut self, jvm: &Jvm, around: &Around) -> Option<RecordedAround> {
        let before = around.before.as_ref();
        let before = before.map(|scopes| self.scopes(jvm, scopes));
        Some(RecordedAround {
            before: before.flatten(),
            behind: self.scopes(jvm, &around.behind)?,
        })
    }

    fn scopes(&mut self, jvm: &Jvm, scopes: &[Scope]) -> Option<Vec<RecordedScope>> {
        let scope = |scope: &Scope| Some((self.names.number(jvm, scope.method)?, scope.bci));
        scopes.iter().map(scope).collect()
    }
}
