//! The stacks that are true at one instruction, by the calls and returns that steps have shown.

use crate::trace::{Frame, Location, MethodKey};

/// A frame of a truth by steps.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct StepFrame {
    /// The method.
    pub method: MethodKey,
    /// The location; `None` if it is not known.
    pub location: Option<Location>,
}

/// What may be at the top of a stack at one instruction.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StepTop {
    /// The frames above the callers, top first.
    pub frames: Vec<StepFrame>,
    /// Whether these frames are certain. If not, the inlined frames are those of a neighbouring debug info
    /// record.
    pub is_certain: bool,
}

/// The truth by steps: the callers are certain, and the top is one of several.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StepTruth {
    /// What may be at the top. At an instruction that builds or removes a frame, the stack with the frame
    /// and the stack without the frame are both true.
    pub tops: Vec<StepTop>,
    /// The frames below, top first.
    pub callers: Vec<StepFrame>,
}

impl StepFrame {
    /// Whether `frame` can be this one. A walker that does not know the BCI says nothing false of it.
    pub fn allows(&self, frame: &Frame) -> bool {
        let at = |location| location == frame.location || frame.location == Location::UNKNOWN;
        self.method == frame.method && self.location.is_none_or(at)
    }
}

impl StepTruth {
    /// The stacks that are true, top frame first, and whether each is certain.
    pub fn stacks(&self) -> impl Iterator<Item = (Vec<StepFrame>, bool)> {
        let stack = |top: &StepTop| ([&top.frames[..], &self.callers].concat(), top.is_certain);
        self.tops.iter().map(stack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bci_that_is_not_known_is_not_false_and_another_one_is() {
        let method = MethodKey(1);
        let truth = StepFrame {
            method,
            location: Some(Location(7)),
        };
        let allows = |method, location| truth.allows(&Frame { method, location });
        assert!(allows(method, Location(7)));
        assert!(allows(method, Location::UNKNOWN));
        assert!(!allows(method, Location(8)));
        assert!(!allows(method, Location::NATIVE));
        assert!(!allows(MethodKey(2), Location::UNKNOWN));
        // AsyncGetCallTrace has no word for a BCI that it does not know.
        for lineno in [-1, -2, -4, -5, -6] {
            let location = Location::from_asgct(lineno);
            assert!(!allows(method, location), "{lineno}");
            assert!(!location.is_unknown(), "{lineno}");
        }
    }
}
