//! The catch-alls behind a method's code, and which code they cover.

use crate::class::{Attribute, ClassFile, Member};
use crate::code::Code;
use crate::constructor;
use crate::outcome::Stop;
use crate::scan::{RETURN, Scan};
use crate::types::VType;

/// A range of code that a catch-all covers, in old BCIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Covered {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// `this` is not initialised here.
    pub(crate) uninitialized: bool,
}

/// Adds a range unless it is empty.
pub(crate) fn cover(covered: &mut Vec<Covered>, start: u32, end: u32, uninitialized: bool) {
    if start < end {
        covered.push(Covered {
            start,
            end,
            uninitialized,
        });
    }
}

/// What the catch-alls of a method cover: all of its code, with two exceptions. `typed` says that
/// the verifier holds the method against stack map frames, `frames`.
pub(crate) fn ranges<'a>(
    class: &ClassFile<'a>,
    method: &Member<'a>,
    code: &Code<'a>,
    scan: &Scan,
    (typed, frames): (bool, Option<&Attribute<'a>>),
    initial: &[VType],
    scratch: &mut constructor::Scratch,
) -> Result<Vec<Covered>, Stop> {
    let length = code.code.len() as u32;
    let mut covered = Vec::with_capacity(2);
    if typed && initial.first() == Some(&VType::UNINITIALIZED_THIS) {
        constructor::phases(class, code, frames, initial, scratch, &mut covered)?;
    } else if class.name == b"java/lang/Object" && method.name == b"<init>" {
        // Here the JVM registers finalizers, in the return itself. A handler that covers it
        // is more than HotSpot's compilers are made for: C2 of JDK 17 crashes.
        let mut start = 0;
        for bci in (0..length).filter(|&bci| scan.flags[bci as usize] & RETURN != 0) {
            cover(&mut covered, start, bci, false);
            start = bci + 1;
        }
    } else {
        cover(&mut covered, 0, length, false);
    }
    Ok(covered)
}

/// Where the catch-alls stand: one for code that runs before the initialisation of `this`, one for
/// all other code, as far as there is such code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CatchAlls {
    uninitialized: Option<u32>,
    initialized: Option<u32>,
    /// Where the last one ends.
    pub(crate) end: u32,
}

impl CatchAlls {
    /// Behind code that ends at `end`, each `length` bytes long.
    pub(crate) fn behind(end: u32, covered: &[Covered], length: u32) -> Self {
        let mut end = end;
        let mut place = |uninitialized| {
            let used = covered.iter().any(|c| c.uninitialized == uninitialized);
            used.then(|| {
                end += length;
                end - length
            })
        };
        Self {
            uninitialized: place(true),
            initialized: place(false),
            end,
        }
    }

    /// The one that covers such code. There is one for every range that it was made with.
    pub(crate) fn of(&self, covered: Covered) -> u32 {
        let at = match covered.uninitialized {
            true => self.uninitialized,
            false => self.initialized,
        };
        at.unwrap_or(self.end)
    }

    /// Each, in order, and whether `this` is not initialised there.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, bool)> {
        let uninitialized = self.uninitialized.map(|at| (at, true));
        let initialized = self.initialized.map(|at| (at, false));
        uninitialized.into_iter().chain(initialized)
    }
}
