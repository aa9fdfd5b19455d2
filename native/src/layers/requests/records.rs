//! The debug info records around the program counters of requests, and the names of the methods in them, which the file
//! knows by a number, because the VM's own tables name them by their addresses.

use super::lines::Lines;
use crate::evidence::records_at;
use crate::jvm::Jvm;
use crate::jvm::debug_info::{Around, Scope};
use crate::truth::unloading::unloaded;
use hotspot::at_request::RequestLine;
use oracle::requests::{MethodName, RecordedAround, RecordedScope};
use std::collections::{HashMap, HashSet};
use std::io;

/// The largest number of program counters whose records are written.
const MOST: usize = 1 << 17;

/// What was written so far.
#[derive(Default)]
pub struct Records {
    /// The names of methods.
    pub names: Names,
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

/// The method below whose frame those of a carrier begin.
const ENTER_SPECIAL: (&str, &str) = ("jdk/internal/vm/Continuation", "enterSpecial");

/// The numbers of methods by their addresses; `None` where there is no method.
#[derive(Default)]
pub struct Names {
    numbers: HashMap<usize, Option<u32>>,
    /// The next number.
    next: u32,
    /// [`unloaded`], when the numbers were forgotten last.
    unloaded: u64,
    /// Names that are not written yet.
    new: Vec<(u32, MethodName)>,
    /// The number of `Continuation.enterSpecial`, once it was seen.
    enter_special: Option<u32>,
}

impl Names {
    /// The number of the VM's method at the address `method`; `None` if there is no method.
    pub fn number(&mut self, jvm: &Jvm, method: usize) -> Option<u32> {
        let Names {
            numbers,
            next,
            unloaded: last,
            new,
            enter_special,
        } = self;
        let now = unloaded();
        if now != std::mem::replace(last, now) {
            // Another method may have the address.
            numbers.clear();
        }
        *numbers.entry(method).or_insert_with(|| {
            let name = jvm.code_cache().ok()?.name_of_method(method)?;
            let number = *next;
            *next += 1;
            if (&*name.class, &*name.name) == ENTER_SPECIAL {
                *enter_special = Some(number);
            }
            new.push((number, name));
            Some(number)
        })
    }

    /// The names that are new since the last call, with their numbers.
    pub fn new_ones(&mut self) -> impl Iterator<Item = (u32, MethodName)> + '_ {
        self.new.drain(..)
    }

    /// The number of `Continuation.enterSpecial`, once it was seen.
    pub fn enter_special(&self) -> Option<u32> {
        self.enter_special
    }
}
