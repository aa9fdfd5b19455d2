//! Walks of which only the frames from some frame on are compared.

use crate::judge::Judgement;
use crate::trace::{Frame, HookId, Location, Methods, Presence, TraceSnapshot};
use std::collections::HashMap;

/// The judgement of a `walk` whose top frame is [`Location::UNRECORDED`], if the truth agrees from this frame on, as
/// far as can be told without the entries of frames above: the walk claims nothing more ([`Judgement::FLAGGED`]). At
/// least one hooked frame must be there, so that a stack without its bottom is not excused.
pub(super) fn judge_unrecorded(
    walk: &[Frame],
    truth: &TraceSnapshot<'_>,
    methods: &impl Methods,
) -> Option<Judgement> {
    let top = walk.first()?;
    let is_hooked = |frame: &Frame| methods.hook(frame.method, frame.location).is_some();
    let is_excused = top.location == Location::UNRECORDED
        && !(truth.entries.is_empty() && truth.checked.is_empty())
        && walk.iter().any(is_hooked)
        && agrees_outside(walk, truth, methods);
    is_excused.then_some(Judgement::FLAGGED)
}

/// Whether the truth agrees with `outer`, a walk whose top frame has called frames that the walk
/// does not show. The truth must have each frame of `outer`, and no other frame below the top
/// frame.
///
/// For a compiled method at an instruction without a debug info record: the walk is right from the
/// compiled method's own frame on, and the inlined frames are not judged. But compilers inline
/// recursive calls no deeper than [`Methods::most_inlined_alike`] says, so frames that a deeper recursion has left
/// are not excused.
pub(super) fn agrees_outside(
    outer: &[Frame],
    truth: &TraceSnapshot<'_>,
    methods: &impl Methods,
) -> bool {
    let Some(top) = outer.len().checked_sub(1) else {
        return false;
    };
    let from_bottom = |depth: usize| &outer[top - depth];
    let known = truth.checked.len().min(outer.len());
    let same_below = (0..known).all(|depth| {
        let (frame, expected) = (from_bottom(depth), &truth.checked[depth]);
        let moves = depth == top || depth + 1 == truth.checked.len();
        frame.method == expected.method && (moves || frame.location == expected.location)
    });
    if !same_below {
        return false;
    }
    let hook_of = |frame: &Frame| Some(methods.hook(frame.method, frame.location)?.0);
    if known == outer.len() {
        let checked = truth.checked[top..].iter().filter_map(hook_of);
        let above = truth.entries[truth.checked_entries..].iter().copied();
        return can_be_one_frame(checked.chain(above), truth, methods);
    }
    let mut expected = truth.entries[truth.checked_entries..].iter().peekable();
    for depth in known..top {
        let Some((id, presence)) = methods.presence(outer, top - depth) else {
            continue;
        };
        match (presence, expected.peek() == Some(&&id)) {
            (Presence::Present | Presence::Unknown, true) => _ = expected.next(),
            (Presence::Absent | Presence::Unknown, _) => {}
            _ => return false,
        }
    }
    // The location of the top frame is not known, and so it is not known whether its entry is
    // there. Entries of the frames that it called are above its own entry.
    let own = hook_of(from_bottom(top));
    let is_next = own.is_none_or(|own| expected.peek().is_none_or(|next| **next == own));
    is_next && can_be_one_frame(expected.copied(), truth, methods)
}

/// Whether one compiled frame can stand for the frames of these entries.
fn can_be_one_frame(
    entries: impl Iterator<Item = HookId>,
    truth: &TraceSnapshot<'_>,
    methods: &impl Methods,
) -> bool {
    // Constructors may have ended without their hooks.
    if !truth.leaving.is_empty() {
        return true;
    }
    let mut counts = HashMap::<HookId, usize>::new();
    for entry in entries {
        *counts.entry(entry).or_default() += 1;
    }
    let fits = |(hook, count)| {
        let most = || methods.most_inlined_alike(hook);
        count == 1 || most().is_none_or(|most| count <= most)
    };
    counts.into_iter().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::toy::InOwnCode;
    use crate::trace::{HookId, Location, MethodKey, Site};

    /// Methods with even keys have hooks.
    const EVEN: InOwnCode = InOwnCode(|method| method.is_multiple_of(2));

    fn walk(methods: &[usize]) -> Vec<Frame> {
        let frame = |&method: &usize| Frame {
            method: MethodKey(method),
            location: Location(method as i32),
        };
        methods.iter().map(frame).collect()
    }

    fn agrees(outer: &[usize], entries: &[u32], checked: &[usize]) -> bool {
        agrees_with(&EVEN, outer, entries, checked)
    }

    fn agrees_with(
        methods: &impl Methods,
        outer: &[usize],
        entries: &[u32],
        checked: &[usize],
    ) -> bool {
        let entries: Vec<_> = entries.iter().copied().map(HookId).collect();
        let checked = walk(checked);
        let truth = TraceSnapshot {
            entries: &entries,
            checked: &checked,
            checked_entries: checked
                .iter()
                .filter(|f| f.method.0.is_multiple_of(2))
                .count(),
            leaving: &[],
        };
        agrees_outside(&walk(outer), &truth, methods)
    }

    #[test]
    fn what_the_top_frame_called_is_open() {
        assert!(agrees(&[6, 3, 4, 2], &[2, 4, 6], &[]));
        assert!(agrees(&[6, 3, 4, 2], &[2, 4, 6, 8, 10], &[]));
        assert!(
            agrees(&[6, 3, 4, 2], &[2, 4], &[]),
            "it has popped, or not pushed"
        );
        assert!(agrees(&[5, 4, 2], &[2, 4, 8], &[]));
    }

    #[test]
    fn a_compiler_inlines_recursive_calls_to_a_limit() {
        assert!(agrees(&[6, 4, 2], &[2, 4, 6, 6], &[]));
        assert!(agrees(&[6, 4, 2], &[2, 4, 6, 8, 6, 8], &[]));
        assert!(
            !agrees(&[6, 4, 2], &[2, 4, 6, 6, 6], &[]),
            "a collapsed recursion"
        );
        assert!(!agrees(&[5, 4, 2], &[2, 4, 6, 8, 6, 8, 6, 8], &[]));
        assert!(agrees(&[6, 4, 2], &[2, 4, 6, 6], &[2, 4, 6]));
        assert!(!agrees(&[6, 4, 2], &[2, 4, 6, 6, 6], &[2, 4, 6, 6]));
    }

    /// As [`EVEN`]. Frames of method 4 stand at their push, and a compiler inlines method 6 again and again.
    struct Special;

    impl Methods for Special {
        fn hook(&self, method: MethodKey, location: Location) -> Option<(HookId, Presence)> {
            let (id, presence) = EVEN.hook(method, location)?;
            match method {
                MethodKey(4) => Some((id, Presence::Pushing)),
                _ => Some((id, presence)),
            }
        }

        fn is_hook_call(&self, method: MethodKey) -> bool {
            EVEN.is_hook_call(method)
        }

        fn is_constructor(&self, hook: HookId) -> bool {
            EVEN.is_constructor(hook)
        }

        fn site(&self, method: MethodKey, location: Location) -> Site {
            EVEN.site(method, location)
        }

        fn most_inlined_alike(&self, HookId(hook): HookId) -> Option<usize> {
            (hook != 6).then_some(2)
        }
    }

    #[test]
    fn some_methods_are_inlined_without_a_limit() {
        let agrees = |entries: &[u32]| agrees_with(&Special, &[10, 2], entries, &[]);
        assert!(agrees(&[2, 10, 6, 8, 6, 8, 6, 6]));
        assert!(!agrees(&[2, 10, 6, 8, 6, 8, 6, 8]));
    }

    #[test]
    fn a_hook_that_loads_a_class_has_not_run_yet() {
        let agrees = |entries: &[u32]| agrees_with(&Special, &[8, 6, 4, 2], entries, &[]);
        assert!(agrees(&[2, 6, 8]), "the hook of 4 has called 6");
        assert!(!agrees(&[2, 8]));
    }

    #[test]
    fn a_walker_may_say_what_may_be_missing() {
        let judge = |methods: &[usize], entries: &[u32]| {
            let mut walk = walk(methods);
            walk[0].location = Location::UNRECORDED;
            let entries: Vec<_> = entries.iter().copied().map(HookId).collect();
            let truth = TraceSnapshot {
                entries: &entries,
                ..TraceSnapshot::default()
            };
            judge_unrecorded(&walk, &truth, &EVEN)
        };
        let flagged = Some(Judgement::FLAGGED);
        assert_eq!(judge(&[6, 3, 4, 2], &[2, 4, 6]), flagged);
        assert_eq!(judge(&[6, 3, 4, 2], &[2, 4, 6, 8]), flagged);
        assert_eq!(judge(&[6, 3, 4], &[2, 4, 6]), None, "the bottom is missing");
        assert_eq!(judge(&[6, 4, 2], &[2, 8, 6]), None);
        assert_eq!(judge(&[5, 3], &[2, 4]), None, "no hooked frame");
        assert_eq!(judge(&[6, 4], &[]), None, "no truth");
    }

    #[test]
    fn what_lies_below_it_is_not() {
        assert!(!agrees(&[6, 4, 2], &[2, 6], &[]));
        assert!(!agrees(&[6, 2], &[2, 4, 6], &[]));
        assert!(!agrees(&[6, 4, 2], &[2, 8, 6], &[]));
        assert!(
            !agrees(&[6, 4, 2], &[2, 4, 8], &[]),
            "its own entry is below"
        );
        assert!(!agrees(&[], &[2], &[]));
    }

    #[test]
    fn checked_frames_count_whole() {
        assert!(agrees(&[6, 3, 4, 2], &[2, 4, 6, 8], &[2, 4]));
        assert!(agrees(&[6, 3, 4, 2], &[2, 4, 6, 8], &[2, 4, 3, 6, 8]));
        assert!(!agrees(&[6, 5, 4, 2], &[2, 4, 6, 8], &[2, 4, 3, 6, 8]));
        assert!(!agrees(&[6, 4, 2], &[2, 4, 6, 8], &[2, 4, 3, 6, 8]));
    }
}
