//! The places of code in which the walker returned errors.

use oracle::Layer;
use oracle::record::ErrorCount;
use std::collections::HashMap;

/// The largest number of kinds of code that are counted separately.
const KINDS: usize = 256;

/// The name of all other kinds of code.
const OTHER: &str = "other";

/// What tells errors apart, besides the place.
#[derive(Copy, Clone, Debug, Eq, Hash, PartialEq)]
pub struct ErrorKey {
    /// The layer.
    pub layer: Layer,
    /// The walker's code.
    pub code: i32,
    /// The VM's name for the thread's state.
    pub state: &'static str,
    /// Whether the walk begins with an intact frame.
    pub intact: bool,
}

/// Errors, counted by their keys and by the kind of code that ran.
#[derive(Default)]
pub struct ErrorCodes {
    counts: HashMap<ErrorKey, HashMap<String, u64>>,
    kinds: usize,
    /// Whether an error was counted since the last [`ErrorCodes::take_new`].
    changed: bool,
}

impl ErrorCodes {
    /// Counts an error in the kind of code that is called `place`.
    pub fn add(&mut self, key: ErrorKey, place: &str) {
        self.changed = true;
        let of_key = self.counts.entry(key).or_default();
        if let Some(count) = of_key.get_mut(place) {
            *count += 1;
            return;
        }
        // Codes and states are few, so only the number of kinds of code is bounded.
        let place = if self.kinds < KINDS { place } else { OTHER };
        self.kinds += 1;
        *of_key.entry(place.into()).or_default() += 1;
    }

    /// All counts, the highest first, if an error was counted since the last call.
    pub fn take_new(&mut self) -> Option<Vec<ErrorCount>> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let mut all: Vec<ErrorCount> = Vec::new();
        for (key, places) in &self.counts {
            all.extend(places.iter().map(|(place, &count)| ErrorCount {
                layer: key.layer,
                code: key.code,
                state: key.state.into(),
                place: place.clone(),
                intact: key.intact,
                count,
            }));
        }
        let name = |e: &ErrorCount| (e.layer, -e.code, e.state.clone(), e.place.clone(), e.intact);
        all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| name(a).cmp(&name(b))));
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN_JAVA: ErrorKey = ErrorKey {
        layer: Layer::AsgctAsync,
        code: -5,
        state: "in Java",
        intact: false,
    };

    #[test]
    fn equal_errors_are_counted_together() {
        let mut codes = ErrorCodes::default();
        assert_eq!(codes.take_new(), None);
        codes.add(IN_JAVA, "Interpreter");
        codes.add(IN_JAVA, "nmethod tier 4");
        let in_vm = ErrorKey {
            code: -3,
            state: "in the VM",
            ..IN_JAVA
        };
        codes.add(in_vm, "libjvm.so");
        codes.add(IN_JAVA, "nmethod tier 4");
        let all = codes.take_new().expect("they are new");
        let shown: Vec<_> = all
            .iter()
            .map(|e| (e.code, e.place.as_str(), e.count))
            .collect();
        assert_eq!(
            shown,
            [
                (-5, "nmethod tier 4", 2),
                (-3, "libjvm.so", 1),
                (-5, "Interpreter", 1)
            ]
        );
        assert_eq!(codes.take_new(), None);
    }

    #[test]
    fn kinds_are_bounded() {
        let mut codes = ErrorCodes::default();
        for kind in 0..2 * KINDS {
            codes.add(IN_JAVA, &kind.to_string());
        }
        let all = codes.take_new().expect("they are new");
        assert_eq!(all.len(), KINDS + 1);
        assert_eq!((all[0].place.as_str(), all[0].count), (OTHER, KINDS as u64));
        codes.add(IN_JAVA, "0");
        assert_eq!(codes.take_new().map(|all| all.len()), Some(KINDS + 1));
    }
}
