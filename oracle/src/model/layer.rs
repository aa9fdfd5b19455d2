use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One comparison, resting on the layer below it.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The trace stack with itself: pushes and pops balance, previous-frame indices hold.
    Ground,
    /// JVMTI GetStackTrace at a `check` with the trace stack.
    Gst,
    /// AsyncGetCallTrace inside a `check` with GetStackTrace at the same place.
    AsgctSafepoint,
    /// AsyncGetCallTrace in a signal handler with the trace stack copied there.
    AsgctAsync,
    /// AsyncGetCallTrace in a signal handler with GetStackTrace at the next safepoint.
    AsgctGst,
    /// AsyncGetCallTrace in a signal handler with the class files: can each frame have called
    /// the one above it?
    CallEdge,
}

impl Layer {
    /// All layers, lowest first.
    pub const ALL: [Layer; 6] = [
        Layer::Ground,
        Layer::Gst,
        Layer::AsgctSafepoint,
        Layer::AsgctAsync,
        Layer::AsgctGst,
        Layer::CallEdge,
    ];

    /// The layer's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Ground => "ground",
            Layer::Gst => "gst",
            Layer::AsgctSafepoint => "asgct-safepoint",
            Layer::AsgctAsync => "asgct-async",
            Layer::AsgctGst => "asgct-gst",
            Layer::CallEdge => "call-edge",
        }
    }

    /// The layer's place in [`Layer::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Layer {
    type Err = String;

    fn from_str(name: &str) -> Result<Layer, String> {
        Layer::ALL
            .into_iter()
            .find(|layer| layer.name() == name)
            .ok_or_else(|| {
                let known: Vec<_> = Layer::ALL.iter().map(|l| l.name()).collect();
                format!("unknown layer `{name}`; known: {}", known.join(", "))
            })
    }
}
