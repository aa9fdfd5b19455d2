//! Whose profile is compared with the true one.

use crate::Layer;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whose profile is compared with the true one. In JSON a layer's name, or `safepoint`.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Sampler {
    /// The walker of a layer, at the layer's instants.
    Walker(Layer),
    /// GetStackTrace of a running thread. The thread goes on to its next safepoint and is walked there, as with every
    /// profiler that asks for another thread's stack.
    Safepoint,
}

/// The name of [`Sampler::Safepoint`].
const SAFEPOINT: &str = "safepoint";

impl Sampler {
    /// The name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Sampler::Walker(layer) => layer.name(),
            Sampler::Safepoint => SAFEPOINT,
        }
    }
}

impl Sampler {
    /// Whether it chooses its instants itself: the JVM's own samplers, and profilers.
    pub fn has_own_timer(self) -> bool {
        matches!(self, Sampler::Walker(layer) if layer.is_recorded())
    }
}

impl fmt::Display for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<Sampler> for String {
    fn from(sampler: Sampler) -> String {
        sampler.name().into()
    }
}

impl TryFrom<String> for Sampler {
    type Error = String;

    fn try_from(name: String) -> Result<Sampler, String> {
        match name.as_str() {
            SAFEPOINT => Ok(Sampler::Safepoint),
            name => name.parse().map(Sampler::Walker),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        let walkers = Layer::ALL.map(Sampler::Walker);
        for sampler in walkers.into_iter().chain([Sampler::Safepoint]) {
            let name = String::from(sampler);
            assert_eq!(Sampler::try_from(name), Ok(sampler));
        }
        assert!(Sampler::try_from("nobody".to_owned()).is_err());
    }
}
