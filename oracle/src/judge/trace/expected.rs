//! The expected end of a fault if the trace stack is the truth.

use super::leaving::{Rest, without_leaving};
use crate::judge::{Expected, Unseen, Verdict};
use crate::trace::{Frame, HookId, Methods, Presence, Site, TraceSnapshot};
use std::iter;

pub(super) fn of_truth(
    truth: &TraceSnapshot<'_>,
    methods: &impl Methods,
    honest: &[Frame],
    faulty: &[Frame],
) -> Expected {
    let needs = needs(faulty, methods);
    let rests = match truth.leaving {
        [] => vec![],
        _ => without_leaving(truth, methods),
    };
    let without = rests.iter().map(Rest::truth);
    let truths: Vec<_> = iter::once(*truth).chain(without).collect();
    if !truths
        .iter()
        .any(|truth| admits(truth, faulty, &needs, true))
    {
        return Expected::Verdict(
            match truths.iter().flat_map(top_parts).any(|part| {
                // A walk without a frame of the truth is not a part of the truth.
                let shown = !part.checked.is_empty();
                admits(&part, faulty, &needs, shown)
            }) {
                true => Verdict::Truncated,
                false => Verdict::Wrong,
            },
        );
    }
    let unchecked = faulty.len() - truth.checked.len().saturating_sub(1).min(faulty.len());
    if stands_nowhere(&faulty[..unchecked], methods) {
        return Expected::Verdict(Verdict::Wrong);
    }
    if truth.entries.is_empty() && truth.checked.is_empty() {
        return Expected::Unseen(Unseen::NoTruth);
    }
    let honest_needs = self::needs(honest, methods);
    // If both walks agree with the truth without the exception, the exception is no excuse.
    let has_lost = |walk, needs: &[_]| {
        let mut admitted = truths.iter().map(|truth| admits(truth, walk, needs, true));
        admitted.next() == Some(false) && admitted.any(|admitted| admitted)
    };
    if has_lost(faulty, &needs) || has_lost(honest, &honest_needs) {
        return Expected::Unseen(Unseen::Leaving);
    }
    let checked = truth.checked.len();
    let alike =
        |of: View| of.show(honest, &honest_needs, checked) == of.show(faulty, &needs, checked);
    let any = |is: fn(Need) -> bool| {
        let mut both = needs.iter().chain(&honest_needs).flatten();
        both.any(|&(_, need)| is(need))
    };
    Expected::Unseen(if alike(View::Hooked) {
        Unseen::Unhooked
    } else if alike(View::Sides) {
        Unseen::Moves
    } else if any(Need::catches) {
        Unseen::Catching
    } else if any(Need::may_be_missing) {
        // The frames whose entries must be there are those of the trace stack in both walks.
        Unseen::HookWindow
    } else {
        return Expected::Unexplained;
    })
}

/// How much of a walk is compared. Each view ignores what the view before ignores, and more.
#[derive(Copy, Clone, Debug)]
enum View {
    /// Ignores unhooked frames above the newest checked frame.
    Hooked,
    /// Ignores locations there that move, but not the side of the hooks on which they are.
    Sides,
}

/// A frame in a view: a certain frame, or a frame above the newest checked frame.
#[derive(Debug, PartialEq)]
enum Shown {
    Exactly(Frame),
    Hooked(Frame, HookId, Need),
    Side(HookId, Need),
}

impl View {
    fn show(self, walk: &[Frame], needs: &[Option<(HookId, Need)>], checked: usize) -> Vec<Shown> {
        // The newest checked frame and the frames above it.
        let moving = walk.len() - checked.saturating_sub(1).min(walk.len());
        let mut shown = vec![];
        for (&frame, &need) in walk.iter().zip(needs).take(moving) {
            let Some((id, need)) = need else { continue };
            match self {
                View::Hooked => shown.push(Shown::Hooked(frame, id, need)),
                View::Sides => shown.push(Shown::Side(id, need)),
            }
        }
        shown.extend(walk[moving..].iter().copied().map(Shown::Exactly));
        shown
    }
}

/// Whether a frame's entry is on the trace stack.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
enum Need {
    Never,
    /// The frame is not possible: frames are above it, and its location calls nothing.
    Nowhere,
    May,
    Must,
    /// The entry is there, and stale entries may be above it.
    Catching,
    /// The entry may be there, and stale entries may be above it.
    MayCatching,
}

impl Need {
    fn may_be_missing(self) -> bool {
        !matches!(self, Need::Must | Need::Catching | Need::Nowhere)
    }

    fn may_be_stored(self) -> bool {
        !matches!(self, Need::Never | Need::Nowhere)
    }

    fn catches(self) -> bool {
        matches!(self, Need::Catching | Need::MayCatching)
    }
}

/// What each hooked frame proves about its entry. A frame that called any method but a hook has not
/// come to the hook at its location, or has left the hook behind.
fn needs(walk: &[Frame], methods: &impl Methods) -> Vec<Option<(HookId, Need)>> {
    let (mut calls, mut seen, mut above) = (false, false, None);
    let need = |frame: &Frame| {
        let callee = above.replace(frame.method);
        let by_vm = callee.is_some_and(|callee| methods.may_be_called_by_vm(callee));
        let called = calls;
        calls |= !methods.is_hook_call(frame.method);
        let (id, presence) = methods.hook(frame.method, frame.location)?;
        let is_newest = !std::mem::replace(&mut seen, true);
        let need = match (presence, called) {
            (Presence::Pushing, true) if frame.location.bci().is_some() => Need::Never,
            (Presence::Absent | Presence::Pushing, true) => {
                match methods.site(frame.method, frame.location) {
                    Site::Calls => Need::Never,
                    _ if is_newest || by_vm => Need::Never,
                    _ => Need::Nowhere,
                }
            }
            (Presence::Unknown, _) => Need::MayCatching,
            (Presence::Absent, false) => Need::Never,
            (Presence::Pushing | Presence::Popping, false) => Need::May,
            (Presence::Unwinding, false) => Need::MayCatching,
            (Presence::Catching, false) => Need::Catching,
            (Presence::Present, _) => Need::Must,
            (Presence::Popping | Presence::Unwinding | Presence::Catching, true) => Need::Must,
        };
        Some((id, need))
    };
    walk.iter().map(need).collect()
}

/// Whether a frame of `top`, the top part of a walk, has a location that no frame of its method can
/// have, or a location above which no frame can be.
fn stands_nowhere(top: &[Frame], methods: &impl Methods) -> bool {
    (0..top.len()).any(|at| match methods.site(top[at].method, top[at].location) {
        Site::NoInstruction | Site::NotAMethod | Site::NotNative | Site::IsNative => true,
        Site::Silent => at > 0 && !methods.may_be_called_by_vm(top[at - 1].method),
        _ => false,
    })
}

/// Whether `walk` can be the bottom of the stack if `truth` is the trace stack. Entries may be
/// above.
pub(in crate::judge) fn is_bottom(
    truth: &TraceSnapshot<'_>,
    walk: &[Frame],
    methods: &impl Methods,
) -> bool {
    let top = walk.len() - truth.checked.len().saturating_sub(1).min(walk.len());
    if stands_nowhere(&walk[..top], methods) {
        return false;
    }
    if walk.len() < truth.checked.len() {
        return walk.iter().rev().eq(&truth.checked[..walk.len()]);
    }
    let needs = needs(walk, methods);
    (truth.checked_entries..=truth.entries.len()).any(|upto| {
        let lower = TraceSnapshot {
            entries: &truth.entries[..upto],
            ..*truth
        };
        admits(&lower, walk, &needs, true)
    })
}

/// Whether `walk` can be the whole stack if `truth` is the trace stack, and whether `shown` is set
/// or one of its frames has its entry there.
fn admits(
    truth: &TraceSnapshot<'_>,
    walk: &[Frame],
    needs: &[Option<(HookId, Need)>],
    shown: bool,
) -> bool {
    let Some(above) = walk.len().checked_sub(truth.checked.len()) else {
        return false;
    };
    let mut pairs = walk[above..].iter().zip(truth.checked.iter().rev());
    // The location of the newest checked frame changes, within its hooks.
    let newest_need = needs.get(above).copied().flatten().map(|(_, need)| need);
    let newest_fits = pairs.next().is_none_or(|(w, c)| w.method == c.method);
    let checked_fit = newest_fits && pairs.all(|(w, c)| w == c);
    if !checked_fit
        || (!truth.checked.is_empty() && newest_need.is_some_and(|need| !need.may_be_stored()))
    {
        return false;
    }
    let left = &truth.entries[truth.checked_entries..];
    let catching = newest_need.is_some_and(Need::catches);
    let is_newest = needs[..above].iter().all(Option::is_none);
    fits(&needs[..above], left, shown) || (catching && is_newest)
}

/// Whether frames with these needs, top first, can have these entries, bottom first, and whether
/// `shown` is set or one of the frames has an entry.
fn fits(mut needs: &[Option<(HookId, Need)>], mut entries: &[HookId], mut shown: bool) -> bool {
    while let Some((last, above)) = needs.split_last() {
        needs = above;
        let &Some((id, need)) = last else { continue };
        let stale_may_follow = need.catches() && above.iter().all(Option::is_none);
        let stored = need.may_be_stored() && entries.first() == Some(&id);
        if stale_may_follow && (stored || (shown && need.may_be_missing())) {
            return true;
        }
        match (stored, need.may_be_missing()) {
            (true, true) if fits(above, entries, shown) => return true,
            (true, _) => (entries, shown) = (&entries[1..], true),
            (false, true) => {}
            (false, false) => return false,
        }
    }
    shown && entries.is_empty()
}

/// The truths of the stack if frames of its bottom were missing.
fn top_parts<'a>(truth: &'a TraceSnapshot<'a>) -> impl Iterator<Item = TraceSnapshot<'a>> {
    let within_checked = (1..truth.checked.len()).map(|missing| TraceSnapshot {
        checked: &truth.checked[missing..],
        ..*truth
    });
    let above_checked =
        (truth.checked_entries.max(1)..truth.entries.len()).map(|missing| TraceSnapshot {
            entries: &truth.entries[missing..],
            checked: &[],
            checked_entries: 0,
            leaving: &[],
        });
    within_checked.chain(above_checked)
}
