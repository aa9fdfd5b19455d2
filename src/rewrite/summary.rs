//! The counts of a rewriting.

use std::collections::BTreeMap;
use std::fmt;

/// The counts of a rewriting.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// Classes read.
    pub(super) classes: u64,
    /// Classes that were written back as they are: all classes with `--identity`.
    pub(super) unchanged: u64,
    /// Classes and entries of jars that were copied as they are, because they are malformed.
    pub(super) malformed: u64,
    /// Files that are no classes. They were copied.
    pub(super) others: u64,
    /// Files, links and entries of jars that are not in the output.
    pub(super) left_out: u64,
    /// Methods hooked.
    pub(super) hooked: u64,
    /// Methods that the patterns did not choose.
    pub(super) not_chosen: u64,
    /// Methods that were chosen but not hooked, by reason.
    pub(super) left: BTreeMap<String, u64>,
    /// Attributes of unknown kinds in hooked methods. They may hold code offsets.
    pub(super) unknown_attributes: u64,
}

impl Summary {
    /// Whether all classes were read and nothing was left out.
    pub(super) fn is_complete(&self) -> bool {
        self.malformed == 0 && self.left_out == 0
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary {
            classes,
            unchanged,
            malformed,
            others,
            left_out,
            hooked,
            not_chosen,
            left,
            unknown_attributes,
        } = self;
        write!(
            f,
            "classes: {classes}, unchanged: {unchanged}, malformed: {malformed}; other files: {others}"
        )?;
        if *left_out > 0 {
            write!(f, "; left out: {left_out}")?;
        }
        let all_left: u64 = left.values().sum();
        write!(
            f,
            "\nmethods hooked: {hooked}, not chosen: {not_chosen}, left: {all_left}"
        )?;
        for (reason, n) in left {
            write!(f, "\n  {reason}: {n}")?;
        }
        if *unknown_attributes > 0 {
            write!(
                f,
                "\nunknown attributes in hooked code, kept as they are: {unknown_attributes}"
            )?;
        }
        Ok(())
    }
}
