use super::classes::mismatch;
use super::{Judgement, Reason, Verdict, judge_moving};
use crate::edge::Finding;
use crate::trace::{Frame, MethodKey};

/// A stack, top frame first, with what the class files say of it.
#[derive(Copy, Clone, Debug)]
pub struct Edged<'a> {
    /// The stack.
    pub stack: &'a [Frame],
    /// The findings on it, as [`crate::edge::Judge::stack`] makes them; none where class files are not
    /// kept, or a method of it was redefined or unloaded.
    pub found: Option<&'a [Finding]>,
}

impl<'a> Edged<'a> {
    /// A stack and the findings on it.
    pub fn new(stack: &'a [Frame], found: Option<&'a [Finding]>) -> Edged<'a> {
        Edged { stack, found }
    }

    /// What the class files forbid: the number of each such finding, and the finding.
    pub(super) fn faults(self) -> impl Iterator<Item = (usize, Finding)> + 'a {
        let findings = self.found.unwrap_or_default().iter().copied().enumerate();
        findings.filter(|(_, finding)| finding.is_impossible())
    }

    /// Whether the class files forbid `edge` here.
    fn has_fault(self, edge: Edge) -> bool {
        self.faults().any(|(at, _)| edge_at(self.stack, at) == edge)
    }

    /// Why the class files forbid `walk`, where this is a stack of the same thread that is true.
    ///
    /// An edge that they forbid here too speaks against them, and accuses nobody. Where they
    /// tell nothing of one of the two stacks, they forbid nothing.
    pub fn forbids(self, walk: Edged<'_>) -> Option<Judgement> {
        self.found?;
        walk.forbidden(&[self])
    }

    /// The uppermost edge of this stack that class files forbid, and that no reference has.
    pub(super) fn forbidden(self, references: &[Edged<'_>]) -> Option<Judgement> {
        let excused = |edge| references.iter().any(|reference| reference.has_fault(edge));
        let mut faults = self.faults();
        let (at, finding) = faults.find(|&(at, _)| !excused(edge_at(self.stack, at)))?;
        mismatch(at, finding)
    }
}

/// What a finding is on: a method, and the frame that the method's frame lies on. The top has nothing
/// above, the lowest frame nothing below.
type Edge = (Option<MethodKey>, Option<Frame>);

fn edge_at(stack: &[Frame], at: usize) -> Edge {
    let above = at.checked_sub(1).and_then(|above| stack.get(above));
    (above.map(|frame| frame.method), stack.get(at).copied())
}

/// [`judge_moving`], made sharper by the class files: what may have changed between the two
/// walks, or cannot be told, must be possible too.
///
/// `wrong` where an edge of the walk is impossible, `truncated` where only its lowest is, at the
/// edge's lower frame, with the finding as the reason. `later` is taken for true, unless class files
/// forbid one of its edges: then only an edge of the walk alone accuses the walker.
pub fn judge_moving_edges(walk: Edged<'_>, later: Edged<'_>) -> Judgement {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::{Impossible, Possible, Unknown};
    use crate::trace::Location;

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
