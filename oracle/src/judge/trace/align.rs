//! The alignment of a walk with a trace stack, from the bottom up.
//!
//! 1. [`compare_checked`]: up to the newest checked frame all frames are known.
//! 2. [`Alignment::place`]: each hooked frame above takes the next entry of the trace stack, or its location shows why it
//!    has none. The trace stack and the code are read at one instant, so only a frame whose hook is running, or
//!    whose code runs the VM, may lack an entry.
//! 3. [`Alignment::explain_left_over`]: entries that no frame took must be those of frames that an exception has ended.
//! 4. The greatest [`Doubt`] decides between `match`, `window` and `unverifiable`.
//!
//! The first step that finds no explanation makes the walk `wrong`.

use crate::judge::{Compared, Judgement, Reason, Strength, Verdict};
use crate::trace::{Frame, HookId, Methods, Presence, Site, TraceSnapshot};
use std::cmp::Ordering;

/// What is not certain of a walk that fits the trace stack.
///
/// The order is the rule. A `window` claims that all frames but one are certain, so that every greater doubt takes the
/// claim away. Entries that nobody removed say most: then the hooks themselves have failed, and the
/// other explanations rest on hooks that have not.
#[derive(Copy, Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Doubt {
    /// Each frame and each entry is accounted for.
    None,
    /// The newest hooked frame, which has this index, has no entry: a hook of it is yet to run, or has run.
    HookPending(usize),
    /// The newest hooked frame, which has this index, starts an exception handler. The entries above its own
    /// are of constructors that the exception ended.
    EndedConstructors(usize),
    /// A frame below the newest has no entry, at an instruction that may run other code.
    DeepOutsideHooks,
    /// The code of a frame is not that of its hooks any more, so that its location proves nothing.
    OtherCode,
    /// Entries are left of methods that do not end without a hook.
    StaleEntries,
}

/// Aligns the walk with a trace stack each of whose entries belongs to an active frame: the judgement of a walk that fits, or
/// the first difference.
pub(super) fn align(
    walk: &[Frame],
    trace: &TraceSnapshot<'_>,
    methods: &impl Methods,
) -> Result<Judgement, Judgement> {
    compare_checked(walk, trace, methods)?;
    let above_checked = walk.len() - trace.checked.len();
    let is_hooked = |frame: &Frame| methods.hook(frame.method, frame.location).is_some();
    let mut alignment = Alignment {
        walk,
        methods,
        newest: walk.iter().position(is_hooked),
        left: &trace.entries[trace.checked_entries..],
    };
    let mut doubt = Doubt::None;
    for at in (0..above_checked).rev() {
        doubt = doubt.max(alignment.place(at)?);
    }
    // The newest frame whose entry is there. The newest checked frame has one.
    let newest = alignment.newest.filter(|&at| at < above_checked);
    let newest = newest.or((!trace.checked.is_empty()).then_some(above_checked));
    doubt = doubt.max(alignment.explain_left_over(newest)?);
    Ok(match doubt {
        Doubt::None => {
            let strength = Strength::of_frames(&compared(walk, trace, methods));
            Judgement::matching(Reason::SameFrames, strength)
        }
        Doubt::HookPending(at) => Judgement::at(Verdict::Window, at, Reason::HookPending),
        Doubt::EndedConstructors(at) => {
            Judgement::at(Verdict::Window, at, Reason::EndedConstructors)
        }
        Doubt::DeepOutsideHooks => unverifiable(Reason::DeepOutsideHooks),
        Doubt::OtherCode => unverifiable(Reason::OtherCode),
        Doubt::StaleEntries => unverifiable(Reason::StaleEntries),
    })
}

fn unverifiable(reason: Reason) -> Judgement {
    Judgement::plain(Verdict::Unverifiable, reason)
}

fn wrong(at: usize, reason: Reason) -> Judgement {
    Judgement::at(Verdict::Wrong, at, reason)
}

/// Compares the frames that GetStackTrace showed when the newest checked frame was checked.
fn compare_checked(
    walk: &[Frame],
    trace: &TraceSnapshot<'_>,
    methods: &impl Methods,
) -> Result<(), Judgement> {
    let newest = trace.checked.len().wrapping_sub(1);
    for (depth, expected) in trace.checked.iter().enumerate() {
        let Some(at) = walk.len().checked_sub(depth + 1) else {
            return Err(wrong(0, Reason::TopMissing));
        };
        if walk[at].method != expected.method {
            return Err(wrong(at, Reason::OtherMethodBelowChecked));
        }
        // All but the newest are in a call, which has not returned since: they cannot have moved.
        if depth != newest && walk[at].location != expected.location {
            return Err(wrong(at, Reason::OtherLocationBelowChecked));
        }
        // The newest moves, but not out of its hooks: its entry is there.
        let presence = || methods.presence(walk, at);
        if depth == newest && matches!(presence(), Some((_, Presence::Absent))) {
            return Err(wrong(at, Reason::CheckedOutsideHooks));
        }
    }
    Ok(())
}

/// The frames above the checked ones, and the entries that none of them has taken so far.
struct Alignment<'a, M> {
    walk: &'a [Frame],
    methods: &'a M,
    /// The newest hooked frame of the walk.
    newest: Option<usize>,
    /// Bottom first.
    left: &'a [HookId],
}

impl<M: Methods> Alignment<'_, M> {
    /// Gives the frame at `at` the next entry, or finds out why it has none.
    fn place(&mut self, at: usize) -> Result<Doubt, Judgement> {
        let (walk, methods) = (self.walk, self.methods);
        let Some((id, presence)) = methods.presence(walk, at) else {
            return Ok(Doubt::None);
        };
        if presence != Presence::Absent && self.left.first() == Some(&id) {
            self.left = &self.left[1..];
            return Ok(Doubt::None);
        }
        let is_newest = self.newest == Some(at);
        match presence {
            // Before its entry hook, or behind its exit hook.
            Presence::Absent if is_newest => Ok(Doubt::HookPending(at)),
            // The first call of a hook loads a class, which runs the frames above.
            Presence::Absent if is_at_push(walk[at], methods) => Ok(Doubt::None),
            Presence::Absent if may_call(walk, at, methods) => Ok(Doubt::DeepOutsideHooks),
            Presence::Unknown => Ok(Doubt::OtherCode),
            // In the hook, which stores or removes the entry somewhere within.
            Presence::Pushing | Presence::Popping | Presence::Unwinding if is_newest => {
                Ok(Doubt::HookPending(at))
            }
            _ => Err(wrong(at, Reason::NotThere)),
        }
    }

    /// Finds out why entries are left that no frame has, where `newest` is the newest frame that has one.
    ///
    /// An exception ends frames up to the frame with its handler, whose first hook removes their entries. So only
    /// at the start of a handler entries may lie above the newest frame's own. And exit hooks run for exceptions
    /// too, except in constructors: no handler may cover the call of `super(...)` (JVMS 4.10.1.4).
    fn explain_left_over(&self, newest: Option<usize>) -> Result<Doubt, Judgement> {
        if self.left.is_empty() {
            return Ok(Doubt::None);
        }
        let presence = |at| Some((at, self.methods.presence(self.walk, at)?.1));
        let newest = newest.and_then(presence);
        let Some((at, presence)) = newest.filter(|&(_, presence)| may_catch(presence)) else {
            return Err(wrong(0, Reason::TopMissing));
        };
        let are_constructors = self
            .left
            .iter()
            .all(|&hook| self.methods.is_constructor(hook));
        match (are_constructors, presence) {
            (true, Presence::Unknown) => Ok(Doubt::OtherCode),
            (true, _) => Ok(Doubt::EndedConstructors(at)),
            (false, Presence::Unknown) => Err(wrong(0, Reason::TopMissing)),
            (false, _) => Ok(Doubt::StaleEntries),
        }
    }
}

/// How the trace stack compares each frame of a walk that matches, top frame first: the method of each
/// hooked frame, all of the frames below the newest checked one.
pub(super) fn compared(
    walk: &[Frame],
    truth: &TraceSnapshot<'_>,
    methods: &impl Methods,
) -> Vec<Compared> {
    let compared = |at: usize| match (walk.len() - at).cmp(&truth.checked.len()) {
        Ordering::Less => Compared::Bci,
        Ordering::Equal => Compared::Method,
        Ordering::Greater => match methods.presence(walk, at) {
            None | Some((_, Presence::Absent)) => Compared::Nothing,
            Some(_) => Compared::Method,
        },
    };
    (0..walk.len()).map(compared).collect()
}

/// Whether the frame is at the start of an exception handler, or may be.
pub(super) fn may_catch(presence: Presence) -> bool {
    matches!(
        presence,
        Presence::Catching | Presence::Unwinding | Presence::Unknown
    )
}

/// Whether the frame at `at`, which has no entry, may have called the frame above.
pub(super) fn may_call(walk: &[Frame], at: usize, methods: &impl Methods) -> bool {
    let frame = walk[at];
    let above = at.checked_sub(1).map(|above| walk[above].method);
    is_at_push(frame, methods)
        || methods.site(frame.method, frame.location) == Site::Calls
        || above.is_some_and(|above| methods.may_be_called_by_vm(above))
}

/// Whether a frame stands at the call of its `push`, which may have had to load a class.
fn is_at_push(frame: Frame, methods: &impl Methods) -> bool {
    let presence = methods.hook(frame.method, frame.location);
    frame.location.bci().is_some() && matches!(presence, Some((_, Presence::Pushing)))
}
