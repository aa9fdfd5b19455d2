//! A function that a run asks in place of a walker of the VM.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// What a function takes and gives.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Signature {
    /// That of AsyncGetCallTrace: `ASGCT_CallTrace *`, the depth, the `ucontext_t *` (HotSpot's `share/prims/forte.cpp`).
    Asgct,
    /// That of AsyncGetStackTrace: `ASGST_CallTrace *`, the depth, the `ucontext_t *`, options (JEP 435).
    Asgst,
}

impl Signature {
    /// All signatures.
    pub const ALL: [Signature; 2] = [Signature::Asgct, Signature::Asgst];

    /// The walker of this signature ([`crate::LayerRow::walker`]).
    pub const fn walker(self) -> &'static str {
        match self {
            Signature::Asgct => "asgct",
            Signature::Asgst => "asgst",
        }
    }
}

/// A function that all layers of a walker ask.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct WalkerFunction {
    /// What it takes and gives.
    pub signature: Signature,
    /// The shared library that exports it; `None`: the VM's own.
    pub library: Option<PathBuf>,
    /// Its name.
    pub symbol: String,
}

impl fmt::Display for WalkerFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.library {
            Some(library) => write!(f, "{} of {}", self.symbol, library.display()),
            None => write!(f, "{} of the JVM", self.symbol),
        }
    }
}
