//! What of its classes a JVM takes from a file.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether a JVM took classes from an archive, as `-Xshare` and `-XX:AOTCache` allow. An agent that
/// wants to see each class file makes the JVM do without.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassData {
    /// From none.
    Unshared,
    /// From an archive of class data sharing.
    Archive,
    /// From an AOT cache (JEP 483).
    AotCache,
}

impl fmt::Display for ClassData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClassData::Unshared => "class data sharing was off",
            ClassData::Archive => "class data sharing was on",
            ClassData::AotCache => "class data sharing was on, with an AOT cache",
        })
    }
}
