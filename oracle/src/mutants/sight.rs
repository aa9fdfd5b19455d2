use super::Answer;
use super::mounted::{Boundary, of_safepoint, of_truths};
use crate::edge::Finding;
use crate::judge::leaving::{Rest, without_leaving};
use crate::judge::{
    Edged, judge_edges, judge_mounted, judge_mounted_at_safepoint, judge_moving_edges, judge_truth,
};
use crate::trace::{Frame, HookId, Methods, Presence, Truth};
use crate::{Judgement, Verdict};
use serde::{Deserialize, Serialize};
use std::iter;

/// What a layer holds a walk against.
pub enum Sight<'a, M> {
    /// Layer `gst`: the trace stack.
    Truth(&'a Truth<'a>, &'a M),
    /// Layer `asgct-async`: the trace stack, and that of the carrier if the thread is a virtual
    /// one.
    Truths {
        /// The thread's.
        truth: &'a Truth<'a>,
        /// The carrier's.
        carrier: Option<&'a Truth<'a>>,
        /// What is known of methods.
        methods: &'a M,
        /// Where the carrier's part begins.
        boundary: Boundary<'a>,
    },
    /// Layer `asgct-safepoint`: another walk at the same instant.
    SameInstant {
        /// It, without the carrier's part.
        reference: &'a [Frame],
        /// Whether there must be such a part.
        is_carried: bool,
        /// Where it begins.
        boundary: Boundary<'a>,
    },
    /// Layer `asgct-gst`: another walk a little later, and the class files.
    Later(Edged<'a>, &'a Edges<'a>),
    /// Layer `call-edge`: the class files.
    Edges(&'a Edges<'a>),
}

/// What the class files say of a stack, top frame first, as [`edge::Judge::stack`] finds it;
/// none where they cannot tell, because a method was redefined or unloaded or none are kept.
pub type Edges<'a> = dyn Fn(&[Frame]) -> Option<Vec<Finding>> + 'a;

/// What should become of a lie.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Expected {
    /// It can be seen: this verdict is right.
    Verdict(Verdict),
    /// The truth of the layer does not reach so far.
    Unseen(Unseen),
    /// The truth admits the lie, and nothing here tells why.
    Unexplained,
}

/// Why a layer's truth does not tell a lie from an honest answer.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unseen {
    /// The trace stack is empty, and the lie names no frame that must be on it.
    NoTruth,
    /// Only unhooked frames above the newest checked one differ.
    Unhooked,
    /// Only locations that move differ: of the newest checked frame and those above it,
    /// each on the same side of its method's hooks.
    Moves,
    /// Only frames differ whose locations prove that they may, or must, be missing from
    /// the trace stack.
    HookWindow,
    /// The walk's newest hooked frame starts an exception handler: entries of frames that
    /// the exception ended may lie above its own.
    Catching,
    /// An exception leaves constructors, for which no hook runs: the lie has another number of
    /// them than the honest walk.
    Leaving,
    /// The lie or the honest walk shows a virtual thread being mounted or unmounted, where nothing
    /// is known.
    Mounting,
    /// In `asgct-safepoint`: only the carrier's part differs, which GetStackTrace leaves out.
    Carrier,
    /// The bottom is as it was; any frame above it may have moved, been called or returned
    /// until the later walk, and where class files are kept they allow it.
    RanOn,
    /// The later walk does not show the frame that the lie has at its bottom, so that the
    /// thread may have had another bottom; class files that are kept allow it.
    OtherBottom,
    /// In layer `call-edge`: only the depth of a recursion differs, that is how many equal frames
    /// lie on each other; the class files allow any.
    Recursion,
    /// In layer `call-edge`: the class files allow every edge of the lie.
    Allowed,
    /// In layer `call-edge`: they allow every edge of the lie that they tell anything of, but
    /// not of all they do.
    UnknownEdge,
    /// A method of the lie was redefined or unloaded: it is not known what it called.
    Gone,
    /// The sample stands between two debug records of compiled code, and the record before
    /// agrees with the truth.
    BetweenRecords,
    /// In `ground`: an exception out of a call of `super(...)`, which no handler can cover,
    /// leaves the constructor's entry in just this way.
    Constructor,
    /// In `ground`: the VM stops hooks in just this way with its own errors, and threw one.
    VmError,
    /// In `ground`: an exit that throws after its `pop` leaves the trace stack in just this
    /// way.
    ThrewAfterPop,
    /// In `ground`: the frame that would have noticed it had not ended when the run did.
    StillActive,
}

impl<M: Methods> Sight<'_, M> {
    /// The layer's own judgement of `walk`.
    pub fn judge(&self, walk: &[Frame]) -> Judgement {
        match self {
            Sight::Truth(truth, methods) => judge_truth(walk, truth, *methods),
            Sight::Truths {
                truth,
                carrier,
                methods,
                boundary,
            } => judge_mounted(walk, truth, *carrier, boundary(walk), *methods),
            Sight::SameInstant {
                reference,
                is_carried,
                boundary,
            } => judge_mounted_at_safepoint(walk, reference, *is_carried, boundary(walk)),
            Sight::Later(later, edges) => {
                let found = edges(walk);
                judge_moving_edges(Edged::new(walk, found.as_deref()), *later)
            }
            Sight::Edges(edges) => judge_edges(edges(walk).as_deref()),
        }
    }

    /// What should become of `lie`, told in place of `honest`, which was no mismatch.
    ///
    /// Written from what the layers promise, not from how the judges work. Of call edges there
    /// is no second opinion: what is expected there is what their judge finds, so that how many
    /// lies it catches is a measurement, and no proof.
    pub fn expect(&self, honest: &[Frame], lie: &Answer) -> Expected {
        let lie = match lie {
            Answer::Error(code) => return Expected::Verdict(Verdict::Error(*code)),
            Answer::Stack(lie) => lie,
        };
        match self {
            Sight::Truth(truth, methods) => of_truth(truth, *methods, honest, lie),
            Sight::Truths {
                truth,
                carrier,
                methods,
                boundary,
            } => of_truths(truth, *carrier, *methods, boundary, honest, lie),
            Sight::SameInstant {
                reference,
                is_carried,
                boundary,
            } => of_safepoint(reference, *is_carried, boundary, lie),
            Sight::Later(later, edges) => of_later(honest, lie, *later, edges(lie).as_deref()),
            Sight::Edges(edges) => of_edges(honest, lie, edges(lie).as_deref()),
        }
    }
}

fn of_edges(honest: &[Frame], lie: &[Frame], found: Option<&[Finding]>) -> Expected {
    let judgement = judge_edges(found);
    if judgement.is_mismatch() {
        return Expected::Verdict(judgement.verdict);
    }
    let unknown = |finding: &Finding| matches!(finding, Finding::Unknown(_));
    Expected::Unseen(match found {
        None => Unseen::Gone,
        Some(_) if without_recursion(honest).eq(without_recursion(lie)) => Unseen::Recursion,
        Some(found) if found.iter().any(unknown) => Unseen::UnknownEdge,
        Some(_) => Unseen::Allowed,
    })
}

/// The frames that differ from the one above them.
fn without_recursion(stack: &[Frame]) -> impl Iterator<Item = &Frame> {
    stack
        .chunk_by(|above, below| above == below)
        .map(|equal| &equal[0])
}

fn of_later(
    honest: &[Frame],
    lie: &[Frame],
    later: Edged<'_>,
    found: Option<&[Finding]>,
) -> Expected {
    let (bottom, last) = (lie.last(), later.stack.last());
    // A bottom frame that only moved is still the bottom.
    let keeps_bottom =
        bottom == honest.last() || bottom.map(|f| f.method) == last.map(|f| f.method);
    if !keeps_bottom && bottom.is_some_and(|bottom| later.stack.contains(bottom)) {
        return Expected::Verdict(Verdict::Truncated);
    }
    if let Some(mismatch) = later.forbids(Edged::new(lie, found)) {
        return Expected::Verdict(mismatch.verdict);
    }
    Expected::Unseen(match last {
        None => Unseen::NoTruth,
        Some(_) if keeps_bottom => Unseen::RanOn,
        Some(_) => Unseen::OtherBottom,
    })
}

pub(super) fn of_truth(
    truth: &Truth<'_>,
    methods: &impl Methods,
    honest: &[Frame],
    lie: &[Frame],
) -> Expected {
    let needs = needs(lie, methods);
    let rests = match truth.leaving {
        [] => vec![],
        _ => without_leaving(truth, methods),
    };
    let without = rests.iter().map(Rest::truth);
    let truths: Vec<_> = iter::once(*truth).chain(without).collect();
    if !truths.iter().any(|truth| admits(truth, lie, &needs, true)) {
        return Expected::Verdict(
            match truths.iter().flat_map(top_parts).any(|part| {
                // A walk that shows no frame of the truth is no part of it.
                let shown = !part.checked.is_empty();
                admits(&part, lie, &needs, shown)
            }) {
                true => Verdict::Truncated,
                false => Verdict::Wrong,
            },
        );
    }
    if truth.entries.is_empty() && truth.checked.is_empty() {
        return Expected::Unseen(Unseen::NoTruth);
    }
    let honest_needs = self::needs(honest, methods);
    // Where both agree with the truth as it stands, the exception is no excuse.
    let has_lost = |walk, needs: &[_]| {
        let mut admitted = truths.iter().map(|truth| admits(truth, walk, needs, true));
        admitted.next() == Some(false) && admitted.any(|admitted| admitted)
    };
    if has_lost(lie, &needs) || has_lost(honest, &honest_needs) {
        return Expected::Unseen(Unseen::Leaving);
    }
    let checked = truth.checked.len();
    let alike = |of: View| of.show(honest, &honest_needs, checked) == of.show(lie, &needs, checked);
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
        // Frames whose entries must be there are those of the trace stack in both walks.
        Unseen::HookWindow
    } else {
        return Expected::Unexplained;
    })
}

/// How much of a walk is looked at; each forgets what the one before does, and more.
#[derive(Copy, Clone, Debug)]
enum View {
    /// Forgets unhooked frames above the newest checked one.
    Hooked,
    /// Forgets locations there that move, but not on which side of the hooks they are.
    Sides,
}

/// A frame as a view shows it: a certain one, or one above the newest checked frame.
#[derive(Debug, PartialEq)]
enum Shown {
    Exactly(Frame),
    Hooked(Frame, HookId, Need),
    Side(HookId, Need),
}

impl View {
    fn show(self, walk: &[Frame], needs: &[Option<(HookId, Need)>], checked: usize) -> Vec<Shown> {
        // The newest checked frame and those above it.
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
    May,
    Must,
    /// It is, and stale ones may lie above it.
    Catching,
    /// It may be, and stale ones may lie above it.
    MayCatching,
}

impl Need {
    fn may_be_missing(self) -> bool {
        !matches!(self, Need::Must | Need::Catching)
    }

    fn may_be_stored(self) -> bool {
        self != Need::Never
    }

    fn catches(self) -> bool {
        matches!(self, Need::Catching | Need::MayCatching)
    }
}

/// What each hooked frame says of its entry. One that called anything but a hook has not
/// come to the hook at whose call it stands, or has left it behind.
fn needs(walk: &[Frame], methods: &impl Methods) -> Vec<Option<(HookId, Need)>> {
    let mut calls = false;
    let need = |frame: &Frame| {
        let called = calls;
        calls |= !methods.is_hook_call(frame.method);
        let (id, presence) = methods.hook(frame.method, frame.location)?;
        let need = match (presence, called) {
            (Presence::Absent, _) | (Presence::Pushing, true) => Need::Never,
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

/// Whether `walk` can be the whole stack where `truth` is the trace stack, and `shown` or
/// one of its frames has its entry there.
fn admits(
    truth: &Truth<'_>,
    walk: &[Frame],
    needs: &[Option<(HookId, Need)>],
    shown: bool,
) -> bool {
    let Some(above) = walk.len().checked_sub(truth.checked.len()) else {
        return false;
    };
    let mut pairs = walk[above..].iter().zip(truth.checked.iter().rev());
    // The newest checked frame moves, within its hooks.
    let newest_need = needs.get(above).copied().flatten().map(|(_, need)| need);
    let newest_fits = pairs.next().is_none_or(|(w, c)| w.method == c.method);
    let checked_fit = newest_fits && pairs.all(|(w, c)| w == c);
    if !checked_fit || (!truth.checked.is_empty() && newest_need == Some(Need::Never)) {
        return false;
    }
    let left = &truth.entries[truth.checked_entries..];
    let catching = newest_need.is_some_and(Need::catches);
    let is_newest = needs[..above].iter().all(Option::is_none);
    fits(&needs[..above], left, shown) || (catching && is_newest)
}

/// Whether frames with these needs, top first, can have left these entries, bottom first,
/// and `shown` or one of them has.
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

/// What the truth of a stack would be if frames of its bottom were missing.
fn top_parts<'a>(truth: &'a Truth<'a>) -> impl Iterator<Item = Truth<'a>> {
    let within_checked = (1..truth.checked.len()).map(|missing| Truth {
        checked: &truth.checked[missing..],
        ..*truth
    });
    let above_checked = (truth.checked_entries.max(1)..truth.entries.len()).map(|missing| Truth {
        entries: &truth.entries[missing..],
        checked: &[],
        checked_entries: 0,
        leaving: &[],
    });
    within_checked.chain(above_checked)
}
