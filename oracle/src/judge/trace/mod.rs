//! The truth of trace stacks: the frames of hooked code at the same instant.
//!
//! * Up to the newest checked frame every frame counts, hooked or not, methods and locations; only the newest
//!   checked frame's own location moves.
//! * Above it the hooked frames of the walk must be exactly the rest of the trace stack, and each frame must stand
//!   at an instruction, which can have called the frame above ([`sites`]).
//! * A hooked frame may be missing from the trace stack only where its location proves that its entry is not there
//!   (see [`Presence`]). Below the newest hooked frame of the walk this takes an instruction that can call, too
//!   ([`align`]).
//! * Of a method whose code somebody has changed since it got its hooks no location proves anything. Its frames may be
//!   missing from the trace stack; its entries must have their frames.
//! * Where the walker says that inlined frames may be missing above its top frame, the judgement is `unverifiable` if all
//!   other frames agree, unless the trace stack shows that none is missing ([`outer`]).
//! * Constructors that an exception may have left (see [`TraceSnapshot::leaving`]) may be there or not; but if not, all
//!   of this must hold without them ([`leaving`]).
//! * A walk that is the top part of the trace stack is `truncated`. Every other difference is `wrong`.

mod align;
mod expected;
mod leaving;
mod old;
mod outer;
mod sites;
#[cfg(test)]
mod tests;

pub(super) use expected::is_bottom;
pub use old::{Versions, old_frames};

use super::truth::{Input, Stack, Truth};
use super::{Compared, Expected, Judgement, Reason, Verdict};
use crate::trace::{Frame, Methods, Presence, TraceSnapshot};
use align::{align, compared, may_call, may_catch};
use leaving::without_leaving;
use outer::{agrees_outside, judge_unrecorded};

/// The trace stack of a thread without a carrier.
pub struct TraceTruth<'a, M> {
    trace: &'a TraceSnapshot<'a>,
    methods: &'a M,
}

impl<'a, M: Methods> TraceTruth<'a, M> {
    /// The truth of this trace stack.
    pub fn new(trace: &'a TraceSnapshot<'a>, methods: &'a M) -> TraceTruth<'a, M> {
        TraceTruth { trace, methods }
    }
}

impl<M: Methods> Truth for TraceTruth<'_, M> {
    fn judge(&self, walk: &[Frame]) -> Judgement {
        judge_truth(walk, self.trace, self.methods)
    }

    fn expected(&self, honest: &[Frame], faulty: &[Frame]) -> Expected {
        expected::of_truth(self.trace, self.methods, honest, faulty)
    }

    fn compared(&self, walk: &[Frame]) -> Vec<Compared> {
        compared(walk, self.trace, self.methods)
    }

    /// As `agrees_outside` says.
    fn has_all_of(&self, walk: &[Frame]) -> bool {
        agrees_outside(walk, self.trace, self.methods)
    }

    fn stacks(&self) -> Vec<Stack<'_>> {
        vec![Stack::Trace(self.trace)]
    }

    fn input(&self, _: &[Frame]) -> Input<'_> {
        Input {
            trace: Some(self.trace),
            ..Input::default()
        }
    }
}

fn judge_truth(walk: &[Frame], truth: &TraceSnapshot<'_>, methods: &impl Methods) -> Judgement {
    let by_entries = judge_entries(walk, truth, methods);
    let found = match by_entries.verdict {
        Verdict::Match => by_entries,
        _ => judge_unrecorded(walk, truth, methods).unwrap_or(by_entries),
    };
    if found.is_mismatch() {
        return found;
    }
    // The frames below the newest checked one were compared with frames that were judged then.
    let unchecked = walk.len() - truth.checked.len().saturating_sub(1).min(walk.len());
    sites::forbidden(walk, unchecked, methods).unwrap_or(found)
}

/// What speaks against `walk` as the bottom of a thread's stack, above which other entries may lie.
pub(super) fn judge_bottom(
    walk: &[Frame],
    truth: &TraceSnapshot<'_>,
    methods: &impl Methods,
) -> Option<Judgement> {
    let found = judge_truth(walk, truth, methods);
    if !found.is_mismatch() || !truth.leaving.is_empty() {
        return None;
    }
    let lacks_entries = |found: Judgement| found.reason == Reason::TopMissing;
    let is_known = !truth.entries.is_empty() || !truth.checked.is_empty();
    let is_bottom = is_known && align(walk, truth, methods).is_err_and(lacks_entries);
    (!is_bottom).then_some(found)
}

/// The judgement by the trace stack alone.
fn judge_entries(walk: &[Frame], truth: &TraceSnapshot<'_>, methods: &impl Methods) -> Judgement {
    let found = judge_active(walk, truth, methods);
    if !found.is_mismatch() || truth.leaving.is_empty() {
        return found;
    }
    let mut truncated = found.verdict == Verdict::Truncated;
    for rest in without_leaving(truth, methods) {
        let without = judge_active(walk, &rest.truth(), methods);
        if !without.is_mismatch() {
            return Judgement::plain(Verdict::Unverifiable, Reason::LeavingConstructor);
        }
        truncated |= without.verdict == Verdict::Truncated;
    }
    if truncated {
        Judgement::at(Verdict::Truncated, walk.len(), Reason::BottomMissing)
    } else {
        found
    }
}

/// Compares the walk with a truth each of whose entries belongs to an active frame.
fn judge_active(walk: &[Frame], truth: &TraceSnapshot<'_>, methods: &impl Methods) -> Judgement {
    if truth.entries.is_empty() && truth.checked.is_empty() {
        return judge_empty_truth(walk, methods);
    }
    let found = align(walk, truth, methods);
    match found {
        Err(_) if is_top_part(walk, truth, methods) => {
            Judgement::at(Verdict::Truncated, walk.len(), Reason::BottomMissing)
        }
        // What is left of the top may be right; nothing shows it.
        Err(_) if !shows_entry(walk, truth, methods) => {
            Judgement::at(Verdict::Wrong, walk.len(), Reason::NothingOfTruth)
        }
        Err(difference) => difference,
        Ok(verdict) => verdict,
    }
}

/// Whether the walk shows a frame of the truth. Its newest hooked frame shows none before or behind its hooks, or while its own
/// hook runs, unless its entry is the newest.
fn shows_entry(walk: &[Frame], truth: &TraceSnapshot<'_>, methods: &impl Methods) -> bool {
    let mut hooked = (0..walk.len()).filter_map(|at| methods.presence(walk, at));
    let Some((id, presence)) = hooked.next() else {
        return false;
    };
    let is_open = matches!(
        presence,
        Presence::Absent | Presence::Pushing | Presence::Popping
    );
    let has_entry = truth.entries.contains(&id);
    let bottoms = walk.last().zip(truth.checked.first());
    let is_bottom = bottoms.is_some_and(|(walked, known)| walked.method == known.method);
    !is_open || has_entry || is_bottom || hooked.next().is_some()
}

/// With an empty trace stack a walk has truth only where it claims hooked frames.
fn judge_empty_truth(walk: &[Frame], methods: &impl Methods) -> Judgement {
    let (mut window, mut other_code) = (None, false);
    for at in 0..walk.len() {
        match methods.presence(walk, at) {
            Some((_, Presence::Present | Presence::Catching)) => {
                return Judgement::at(Verdict::Wrong, at, Reason::NeverPushed);
            }
            Some((_, Presence::Unknown)) => other_code = true,
            Some(_) if window.is_some() && !may_call(walk, at, methods) => {
                return Judgement::at(Verdict::Wrong, at, Reason::NeverPushed);
            }
            Some(_) => window = window.or(Some(at)),
            None => {}
        }
    }
    match window {
        _ if other_code => Judgement::plain(Verdict::Unverifiable, Reason::OtherCode),
        Some(at) => Judgement::at(Verdict::Window, at, Reason::HookPending),
        None => Judgement::plain(Verdict::Unverifiable, Reason::NoHookedFrame),
    }
}

/// Whether the walk is the top part of the truth: all its hooked frames are the newest
/// entries in order, at least one of them, and what it shows of the checked frames agrees.
fn is_top_part(walk: &[Frame], truth: &TraceSnapshot<'_>, methods: &impl Methods) -> bool {
    let hooked = |at| Some((at, methods.presence(walk, at)?));
    let Some((newest, (id, presence))) = (0..walk.len()).find_map(hooked) else {
        return false;
    };
    // How many entries lie at or below the newest hooked frame. Only its own entry can be in
    // doubt, and only above it can there be stale ones.
    let all = truth.entries.len();
    let least = match presence {
        presence if may_catch(presence) => truth.checked_entries,
        _ => all,
    };
    (least..=all).any(|left| {
        let stored = presence != Presence::Absent && left > 0 && truth.entries[left - 1] == id;
        let missing = !matches!(presence, Presence::Present | Presence::Catching);
        (stored && is_top_part_from(walk, newest, left, truth, methods))
            || (missing && is_top_part_from(walk, newest + 1, left, truth, methods))
    })
}

/// Whether the walk is the top part of the truth, for the frames from `from` on and the lowest `newest` entries, where no entry is
/// in doubt.
fn is_top_part_from(
    walk: &[Frame],
    from: usize,
    newest: usize,
    truth: &TraceSnapshot<'_>,
    methods: &impl Methods,
) -> bool {
    let mut left = newest;
    for at in from..walk.len() {
        let Some((id, presence)) = methods.presence(walk, at) else {
            continue;
        };
        if presence == Presence::Absent {
            if may_call(walk, at, methods) {
                continue;
            } else {
                return false;
            }
        }
        if left == 0 || truth.entries[left - 1] != id {
            match presence {
                Presence::Unknown => continue,
                _ => return false,
            }
        }
        left -= 1;
        // Entry `checked_entries - 1` is the newest checked frame: from there on every
        // frame of the walk is known.
        if left + 1 == truth.checked_entries {
            let below = &walk[at + 1..];
            let known = truth.checked.iter().rev().skip(1);
            return below.len() + 1 < truth.checked.len()
                && below.iter().zip(known).all(|(w, k)| w == k);
        }
    }
    left > 0 && left < newest
}
