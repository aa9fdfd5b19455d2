//! The truth of GetStackTrace at the thread's next safepoint, and of class files: a walk in a signal handler is compared
//! with the stack to which the thread has run on.

use super::classes::Edged;
use super::truth::{Edges, Input, Stack, Truth};
use super::{Compared, Expected, Judgement, Reason, Strength, Unseen, Verdict};
use crate::edge::Finding;
use crate::trace::Frame;

/// Another walk of the thread a little later, and the class files.
pub struct NextTruth<'a> {
    /// The thread's stack. Of a thread that carries a virtual one: the virtual thread's own stack, and
    /// below it the carrier's, where both are known; otherwise the carrier's.
    pub later: Edged<'a>,
    /// Whether the stack of the virtual thread is missing.
    pub lacks_virtual: bool,
    /// The class files.
    pub edges: &'a Edges<'a>,
}

impl Truth for NextTruth<'_> {
    fn judge(&self, walk: &[Frame]) -> Judgement {
        let found = (self.edges)(walk);
        let judged = judge_moving_edges(Edged::new(walk, found.as_deref()), self.later);
        match judged.verdict {
            // The frames that matter most were compared with nothing.
            Verdict::Match if self.lacks_virtual => {
                Judgement::plain(Verdict::Unverifiable, Reason::NoVirtualThread)
            }
            _ => judged,
        }
    }

    fn expected(&self, honest: &[Frame], faulty: &[Frame]) -> Expected {
        expected(honest, faulty, self.later, (self.edges)(faulty).as_deref())
    }

    fn compared(&self, walk: &[Frame]) -> Vec<Compared> {
        vec![Compared::Nothing; walk.len()]
    }

    fn stacks(&self) -> Vec<Stack<'_>> {
        vec![Stack::Walked(self.later.stack)]
    }

    fn input(&self, walk: &[Frame]) -> Input<'_> {
        Input {
            reference: Some(self.later.stack),
            reference_edges: self.later.found.map(<[_]>::to_vec),
            edges: (self.edges)(walk),
            ..Input::default()
        }
    }
}

/// Compares a walk with a later walk of the thread, at its next safepoint.
///
/// The thread has run in between, so the truth covers only the frames that did not change: from the
/// bottom up to the first frame whose method is the same and whose location differs. The frames
/// above may have changed freely. If the stacks diverge *without* such a frame, one call site has
/// two callees:
///
/// * one of the stacks ends there: the call began or returned in between;
/// * otherwise the next call of a loop cannot be distinguished from a false frame: unverifiable.
///
/// A thread's bottom frame does not change: if the walk's bottom frame is further up in the later
/// stack, the walk is truncated.
fn judge_moving(walk: &[Frame], later: &[Frame]) -> Judgement {
    if later.is_empty() {
        return Judgement::plain(Verdict::Unverifiable, Reason::NoFramesLater);
    }
    if walk.is_empty() {
        return Judgement::plain(Verdict::Unverifiable, Reason::NoFramesYet);
    }
    let same = walk
        .iter()
        .rev()
        .zip(later.iter().rev())
        .take_while(|(w, l)| w == l)
        .count();
    if same == walk.len() || same == later.len() {
        let strength = Strength::of(walk.len(), same, same);
        return Judgement::matching(Reason::SameBottom, strength);
    }
    let at = walk.len() - 1 - same;
    let (parted, other) = (walk[at], later[later.len() - 1 - same]);
    if parted.method == other.method {
        let strength = Strength::of(walk.len(), same + 1, same);
        return Judgement::matching(Reason::SameBelowMoved, strength);
    }
    if same > 0 {
        return Judgement::plain(Verdict::Unverifiable, Reason::TwoCallees);
    }
    if later[..later.len() - 1].contains(&parted) {
        Judgement::at(Verdict::Truncated, walk.len(), Reason::BottomMissing)
    } else {
        Judgement::plain(Verdict::Unverifiable, Reason::OtherBottom)
    }
}

/// [`judge_moving`], made sharper by the class files: what may have changed between the two
/// walks, or cannot be told, must be possible too.
///
/// `wrong` where an edge of the walk is impossible, `truncated` where only its lowest is, at the
/// edge's lower frame, with the finding as the reason. `later` is taken for true, unless class files
/// forbid one of its edges: then only an edge of the walk alone accuses the walker.
fn judge_moving_edges(walk: Edged<'_>, later: Edged<'_>) -> Judgement {
    let judgement = judge_moving(walk.stack, later.stack);
    let is_true = later.faults().next().is_none();
    if judgement.is_mismatch() && is_true {
        return judgement;
    }
    later.forbids(walk).unwrap_or(if is_true {
        judgement
    } else {
        Judgement::plain(Verdict::Unverifiable, Reason::ReferenceMismatch)
    })
}

fn expected(
    honest: &[Frame],
    faulty: &[Frame],
    later: Edged<'_>,
    found: Option<&[Finding]>,
) -> Expected {
    let (bottom, last) = (faulty.last(), later.stack.last());
    // A bottom frame whose location changed is still the bottom.
    let keeps_bottom =
        bottom == honest.last() || bottom.map(|f| f.method) == last.map(|f| f.method);
    if !keeps_bottom && bottom.is_some_and(|bottom| later.stack.contains(bottom)) {
        return Expected::Verdict(Verdict::Truncated);
    }
    if let Some(mismatch) = later.forbids(Edged::new(faulty, found)) {
        return Expected::Verdict(mismatch.verdict);
    }
    Expected::Unseen(match last {
        None => Unseen::NoTruth,
        Some(_) if keeps_bottom => Unseen::RanOn,
        Some(_) => Unseen::OtherBottom,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::{Impossible, Possible, Unknown};
    use crate::trace::{Location, MethodKey};

    fn walk(bottom_first: &[(usize, i32)]) -> Vec<Frame> {
        bottom_first
            .iter()
            .rev()
            .map(|&(m, l)| Frame {
                method: MethodKey(m),
                location: Location(l),
            })
            .collect()
    }

    fn verdict(asgct: &[(usize, i32)], gst: &[(usize, i32)]) -> Verdict {
        judge_moving(&walk(asgct), &walk(gst)).verdict
    }

    #[test]
    fn movement_is_no_mismatch() {
        assert_eq!(
            verdict(&[(1, 1), (2, 2)], &[(1, 1), (2, 2)]),
            Verdict::Match
        );
        assert_eq!(
            verdict(&[(1, 1), (2, 2)], &[(1, 1), (2, 9), (3, 0)]),
            Verdict::Match
        );
        assert_eq!(
            verdict(&[(1, 1), (2, 2)], &[(1, 1), (2, 2), (3, 0)]),
            Verdict::Match
        );
        assert_eq!(
            verdict(&[(1, 1), (2, 2), (3, 3)], &[(1, 1), (2, 2)]),
            Verdict::Match
        );
    }

    #[test]
    fn a_missing_bottom_is_found() {
        let later = [(1, 1), (2, 2), (3, 3), (4, 4)];
        assert_eq!(verdict(&[(3, 3), (4, 4)], &later), Verdict::Truncated);
    }

    #[test]
    fn what_cannot_be_told_is_not_claimed() {
        assert_eq!(
            verdict(&[(1, 1), (5, 5)], &[(1, 1), (6, 6)]),
            Verdict::Unverifiable
        );
        assert_eq!(verdict(&[(7, 1)], &[(8, 1)]), Verdict::Unverifiable);
        assert_eq!(verdict(&[], &[(8, 1)]), Verdict::Unverifiable);
        assert_eq!(verdict(&[(8, 1)], &[]), Verdict::Unverifiable);
    }

    const YES: Finding = Finding::Possible(Possible::Static);
    const MAYBE: Finding = Finding::Unknown(Unknown::Receiver);
    const NO: Finding = Finding::Impossible(Impossible::OtherName);
    const NO_ENTRY: Finding = Finding::Impossible(Impossible::NoEntry);

    /// Top first: each method at its own number.
    fn stack(methods: &[usize]) -> Vec<Frame> {
        let frame = |&method: &usize| Frame {
            method: MethodKey(method),
            location: Location(method as i32),
        };
        methods.iter().map(frame).collect()
    }

    fn judge(
        walk: (&[usize], Option<&[Finding]>),
        later: (&[usize], Option<&[Finding]>),
    ) -> (Verdict, Option<usize>) {
        let (stack, later_stack) = (stack(walk.0), stack(later.0));
        let (walk, later) = (
            Edged::new(&stack, walk.1),
            Edged::new(&later_stack, later.1),
        );
        let judgement = judge_moving_edges(walk, later);
        (judgement.verdict, judgement.at_frame)
    }

    #[test]
    fn what_the_class_files_forbid_is_no_movement() {
        let later = (&[2, 1][..], Some(&[YES, YES, YES][..]));
        for (found, expected) in [
            ([YES, YES, YES, YES], (Verdict::Match, None)),
            ([YES, MAYBE, YES, YES], (Verdict::Match, None)),
            ([YES, NO, YES, YES], (Verdict::Wrong, Some(1))),
            ([YES, NO, YES, NO_ENTRY], (Verdict::Wrong, Some(1))),
            ([YES, YES, YES, NO_ENTRY], (Verdict::Truncated, Some(3))),
        ] {
            assert_eq!(judge((&[3, 2, 1], Some(&found)), later), expected);
        }
        // What could not be told by the stacks alone.
        let unverifiable = judge((&[4], Some(&[YES, YES])), later);
        assert_eq!(unverifiable, (Verdict::Unverifiable, None));
        let truncated = judge((&[4], Some(&[YES, NO_ENTRY])), later);
        assert_eq!(truncated, (Verdict::Truncated, Some(1)));
    }

    /// A walker that gives the lowest frame another BCI, or has a few frames of the bottom alone: what the
    /// thread may have done since is forgiven, what no thread can do is not.
    #[test]
    fn the_bci_of_the_lowest_frame_counts() {
        let later = (&[3, 2, 1][..], Some(&[YES; 4][..]));
        let moved = |found: &[Finding]| {
            let mut walk = stack(&[3, 2, 1]);
            walk[2].location = Location(9);
            let later_stack = stack(later.0);
            let (walk, later) = (
                Edged::new(&walk, Some(found)),
                Edged::new(&later_stack, later.1),
            );
            judge_moving_edges(walk, later)
        };
        let ran_on = moved(&[YES; 4]);
        assert_eq!(
            (ran_on.verdict, ran_on.strength.by_bci),
            (Verdict::Match, 0)
        );
        let wrong = moved(&[YES, YES, NO, YES]);
        assert_eq!((wrong.verdict, wrong.at_frame), (Verdict::Wrong, Some(2)));
        // The strength says that one frame of three was compared.
        assert_eq!(ran_on.strength.by_method, 1);
        let top_at_no_instruction = judge((&[2, 1], Some(&[NO, YES, YES])), later);
        assert_eq!(top_at_no_instruction, (Verdict::Wrong, Some(0)));
    }

    #[test]
    fn what_the_stacks_alone_show_stays() {
        let later = (&[4, 3, 2, 1][..], Some(&[YES; 5][..]));
        let found = Some(&[YES, NO, YES][..]);
        assert_eq!(
            judge((&[4, 3], found), later),
            (Verdict::Truncated, Some(2))
        );
    }

    /// The true stack has the same edge: the class files are wrong, not the walker.
    #[test]
    fn a_fault_of_the_judge_accuses_nobody() {
        let methods = (&[5, 3, 2, 1][..], &[4, 3, 2, 1][..]);
        let judge = |found: &[Finding], later_found: &[Finding]| {
            judge((methods.0, Some(found)), (methods.1, Some(later_found)))
        };
        for fault in [NO, NO_ENTRY] {
            let both = [YES, YES, fault, YES, fault];
            assert_eq!(judge(&both, &both), (Verdict::Unverifiable, None));
        }
        let another = judge(&[YES, NO, NO, YES, YES], &[YES, YES, NO, YES, YES]);
        assert_eq!(another, (Verdict::Wrong, Some(1)));
    }

    #[test]
    fn without_class_files_nothing_changes() {
        let (walk, later) = (&[3, 2, 1][..], &[2, 1][..]);
        let fault = Some(&[YES, NO, YES, YES][..]);
        for (found, later_found) in [(None, None), (fault, None), (None, Some(&[YES; 3][..]))] {
            assert_eq!(
                judge((walk, found), (later, later_found)),
                (Verdict::Match, None)
            );
        }
    }
}
