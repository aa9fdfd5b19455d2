//! Which code of a method the catch-alls cover.

use super::constructor;
use super::covered::{Covered, cover};
use crate::layout::Scan;
use crate::reason::Stop;
use classfile::file::{Attribute, ClassFile, Code, Member};
use classfile::types::VType;

/// The code that the catch-alls of a method can cover.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    ranges: Vec<Covered>,
    /// Whether an exception may leave the method without a hook, apart from errors of the VM.
    pub(crate) leaks: bool,
}

impl Coverage {
    /// The code that catch-alls can cover: all code except a constructor's call of another
    /// constructor. `typed` says whether the verifier compares the method with stack map frames,
    /// `frames`.
    pub(crate) fn of<'a>(
        class: &ClassFile<'a>,
        code: &Code<'a>,
        (typed, frames): (bool, Option<&Attribute<'a>>),
        initial: &[VType],
        scratch: &mut constructor::Scratch,
    ) -> Result<Self, Stop> {
        let mut coverage = Coverage::default();
        let Coverage { ranges, leaks } = &mut coverage;
        if typed && initial.first() == Some(&VType::UninitializedThis) {
            *leaks = constructor::phases(class, code, frames, initial, scratch, ranges)?;
        } else {
            cover(ranges, 0, code.code.len() as u32, false);
        }
        Ok(coverage)
    }

    /// All this code, for a method with a token.
    pub(crate) fn whole(
        self,
        class: &ClassFile<'_>,
        method: &Member<'_>,
        scan: &Scan,
    ) -> Vec<Covered> {
        if class.name == b"java/lang/Object" && method.name == b"<init>" {
            // In this method the JVM registers finalizers in the return itself. C2 of JDK 17
            // crashes if a handler covers this return.
            return self.without_exits(scan);
        }
        self.ranges
    }

    /// For a method without a token: all code except the returns and the exit hooks before them.
    /// There the method's entry may be popped already.
    pub(crate) fn without_exits(self, scan: &Scan) -> Vec<Covered> {
        let mut covered = Vec::with_capacity(self.ranges.len() + 1);
        let mut returns = scan.returns().peekable();
        for range in self.ranges {
            let mut start = range.start;
            while let Some(exit) = returns.next_if(|&exit| exit < range.end) {
                cover(&mut covered, start, exit, range.uninitialized);
                start = exit + 1;
            }
            cover(&mut covered, start, range.end, range.uninitialized);
        }
        covered
    }
}
