//! The debug info records around the program counters of requests.

use super::lines::Lines;
use super::names::Names;
use crate::evidence::records_at;
use crate::jvm::Jvm;
use crate::jvm::debug_info::{Around, Scope};
use hotspot::at_request::RequestLine;
use oracle::requests::{RecordedAround, RecordedScope};
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
        let Some(around) = records_at(jvm, pc) else {
            return Ok(());
        };
        let recorded = self.recorded(&around, lines)?;
        recorded.map_or(Ok(()), |recorded| {
            lines.write(&RequestLine::Records(pc, recorded))
        })
    }

    /// The records in the form of the file, once the names of their methods are there. `None` if a method has no name.
    pub fn recorded(
        &mut self,
        around: &Around,
        lines: &mut Lines<'_>,
    ) -> io::Result<Option<RecordedAround>> {
        let recorded = self.around(lines.layers.truth.jvm, around);
        for (number, name) in self.names.new_ones() {
            lines.write(&RequestLine::Name(number, name))?;
        }
        Ok(recorded)
    }

    fn around(&mut self, jvm: &Jvm, around: &Around) -> Option<RecordedAround> {
        let before = around.before.as_ref();
        let before = before.map(|scopes| self.scopes(jvm, scopes));
        Some(RecordedAround {
            is_exact: around.is_exact,
            before: before.flatten(),
            behind: self.scopes(jvm, &around.behind)?,
        })
    }

    fn scopes(&mut self, jvm: &Jvm, scopes: &[Scope]) -> Option<Vec<RecordedScope>> {
        let scope = |scope: &Scope| Some((self.names.number(jvm, scope.method)?, scope.bci));
        scopes.iter().map(scope).collect()
    }
}
