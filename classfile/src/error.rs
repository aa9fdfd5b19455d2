//! The one error of this crate.

use std::fmt;

/// A class file that breaks a rule of the Java Virtual Machine Specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where in the file the rule is broken, in bytes from its start.
    pub offset: usize,
    /// The rule, with the section of the JVMS that states it.
    pub rule: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "malformed class file at byte {}: {}",
            self.offset, self.rule
        )
    }
}

impl std::error::Error for Malformed {}

/// Shorthand of the fallible functions in this crate.
pub type Result<T, E = Malformed> = std::result::Result<T, E>;
