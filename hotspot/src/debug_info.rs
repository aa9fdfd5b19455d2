//! Debug info records of compiled code (`PcDesc`), and the rule for samples between two of them.
//!
//! HotSpot records the inlined frames at calls, polls and implicit checks only. For a thread
//! between two records the walker reports the frames of the record behind the program counter
//! (`is_decipherable_compiled_frame` in `share/prims/forte.cpp`). The thread came from the record
//! before the program counter, unless it jumped. Where the truth agrees with the record before, the
//! sample is `imprecise`: the physical frames are right, and the inlined frames are those of a
//! neighbouring record.
//!
//! Compilers inline much code without a record of its own: there both records show frames
//! that are not there. Where the truth agrees from the compiled method's own frame on, the sample
//! is `imprecise` too, and its reason says so. The same holds behind the last record, in the slow
//! paths at the code's end, where the walker reports the method at BCI 0.

use oracle::judge::{TraceTruth, Truth};
use oracle::trace::{Frame, HookId, Location, MethodKey, Methods, Presence, TraceSnapshot};
use oracle::{Judgement, Reason, Verdict};

/// One frame of a record.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Scope {
    /// The VM's address of the method.
    pub method: usize,
    /// The hook in the method's bytecode, if the method has a hook.
    pub hook: Option<HookId>,
    /// The BCI; negative where the record has none.
    pub bci: i32,
}

/// The records on both sides of a program counter, innermost frames first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Around {
    /// The last record at or before the program counter, if there is one: where the thread came
    /// from, unless the thread jumped.
    pub before: Option<Vec<Scope>>,
    /// The first record behind the program counter, which AsyncGetCallTrace reports; empty if there
    /// is none.
    pub behind: Vec<Scope>,
}

/// Judges a mismatch again, if the top of the `walk` is compiled Java code with the records
/// `around`. First, `judge` judges the walk with the frames of the record before the program
/// counter. Then the inlined frames are left open, and the frames below are compared with the
/// `truth` of the whole walk.
///
/// `key_of` gives the walkers' key of a hook's method, if a walk has shown the method. The result is
/// `None` if the records explain nothing.
pub fn judge_between(
    around: &Around,
    methods: &impl Methods,
    key_of: impl Fn(HookId) -> Option<MethodKey>,
    mismatch: Judgement,
    walk: &[Frame],
    truth: Option<&TraceSnapshot<'_>>,
    judge: impl Fn(&[Frame]) -> Judgement,
) -> Option<Judgement> {
    if around.behind.is_empty() {
        // Without a record HotSpot fills the frame in as the frame of a native method, with BCI 0
        // (`vframeStreamCommon::fill_from_compiled_frame`).
        let explained =
            walk.first()?.location.0 == 0 && TraceTruth::new(truth?, methods).has_all_of(walk);
        return explained.then_some(Judgement::at(Verdict::Imprecise, 0, Reason::StartOfMethod));
    }
    // If the walker has not reported the record behind, the tables were misread.
    let (inlined, below) = walk.split_at_checked(around.behind.len())?;
    let hook_at = |frame: &Frame| Some(methods.hook(frame.method, frame.location)?.0);
    let agrees = |(scope, frame): (&Scope, &Frame)| {
        scope.bci == frame.location.0 && scope.hook == hook_at(frame)
    };
    if !around.behind.iter().zip(inlined).all(agrees) {
        return None;
    }
    if let Some(before) = &around.before {
        let key = |scope: &Scope| {
            let mut known = around.behind.iter().zip(inlined);
            match known.find(|(behind, _)| behind.method == scope.method) {
                Some((_, frame)) => Some(frame.method),
                None => key_of(scope.hook?),
            }
        };
        let mut other: Vec<Frame> = before
            .iter()
            .map(|scope| Frame {
                // A method without a hook that is not in the walk has no entry on the trace stack.
                method: key(scope).unwrap_or(MethodKey(0)),
                location: Location(scope.bci),
            })
            .collect();
        if let Some(top) = other.first_mut() {
            *top = after_call(methods, *top);
        }
        other.extend_from_slice(below);
        if matches!(judge(&other).verdict, Verdict::Match | Verdict::Window) {
            return Some(Judgement::at(Verdict::Imprecise, 0, Reason::BetweenRecords));
        }
    }
    // The compiled method's own frame and all frames below.
    let outer = &walk[inlined.len().checked_sub(1)?..];
    let is_right_below = TraceTruth::new(truth?, methods).has_all_of(outer);
    is_right_below.then_some(Judgement {
        verdict: Verdict::Imprecise,
        reason: Reason::NextRecord,
        ..mismatch
    })
}

/// The frame behind the call of its record: if the call is a hook, the hook has run.
fn after_call(methods: &impl Methods, frame: Frame) -> Frame {
    const INVOKESTATIC: i32 = 3;
    match methods.hook(frame.method, frame.location) {
        Some((_, Presence::Pushing | Presence::Popping | Presence::Unwinding)) => Frame {
            location: Location(frame.location.0 + INVOKESTATIC),
            ..frame
        },
        _ => frame,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::trace::Site;

    /// No method has a hook.
    struct Unhooked;

    impl Methods for Unhooked {
        fn hook(&self, _: MethodKey, _: Location) -> Option<(HookId, Presence)> {
            None
        }

        fn is_hook_call(&self, _: MethodKey) -> bool {
            false
        }

        fn is_constructor(&self, _: HookId) -> bool {
            false
        }

        fn site(&self, _: MethodKey, _: Location) -> Site {
            Site::Unknown
        }
    }

    const WRONG: Judgement = Judgement::at(Verdict::Wrong, 0, Reason::NotThere);

    /// The verdict on a walk that shows the record behind, where the truth gives `verdict` to the record
    /// before.
    fn between(verdict: Verdict, shown: i32) -> Option<Verdict> {
        let scope = |bci| Scope {
            method: 1,
            hook: None,
            bci,
        };
        let around = Around {
            before: Some(vec![scope(3)]),
            behind: vec![scope(9)],
        };
        let walk = [Frame {
            method: MethodKey(1),
            location: Location(shown),
        }];
        let judge = |other: &[Frame]| match other[0].location.0 {
            3 => Judgement::at(verdict, 0, Reason::HookPending),
            _ => WRONG,
        };
        let found = judge_between(&around, &Unhooked, |_| None, WRONG, &walk, None, judge);
        found.map(|found| found.verdict)
    }

    /// A walker that takes another debug info record than that of the frame.
    #[test]
    fn inlined_frames_of_a_neighbouring_record_are_imprecise() {
        for verdict in [Verdict::Match, Verdict::Window] {
            assert_eq!(between(verdict, 9), Some(Verdict::Imprecise));
        }
        assert_eq!(between(Verdict::Wrong, 9), None);
        // Neither of the two records.
        assert_eq!(between(Verdict::Match, 4), None);
    }
}
