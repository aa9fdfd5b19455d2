use super::*;
use crate::edge::Impossible;
use crate::judge::Strength;
use crate::trace::{HookId, Leaving, Location, MethodKey, Site};
use Verdict::{Match, Truncated, Unverifiable, Window, Wrong};
use proptest::prelude::*;

/// Methods 1 to 99 are hooked under their own number; their location says the presence.
/// Method 100 is a hook; others have none.
struct Toy;

/// A hooked method that the VM calls by itself.
const LOADS_CLASS: usize = 90;
/// A key that no method has.
const NOT_A_METHOD: usize = 150;

const ABSENT: i32 = 0;
const PUSHING: i32 = 1;
const BODY: i32 = 10;
const POPPING: i32 = 90;
const CATCHING: i32 = 91;
const INSIDE: i32 = 77;
/// Where the code is not that of the hooks any more.
const ALTERED: i32 = 70;
const NO_CONSTRUCTOR: u32 = 99;
const PUSH_METHOD: usize = 100;

impl Methods for Toy {
    fn hook(&self, method: MethodKey, location: Location) -> Option<(HookId, Presence)> {
        let presence = match location.0 {
            ABSENT => Presence::Absent,
            PUSHING | -3 => Presence::Pushing,
            POPPING => Presence::Popping,
            CATCHING => Presence::Catching,
            ALTERED => Presence::Unknown,
            _ => Presence::Present,
        };
        (1..100)
            .contains(&method.0)
            .then_some((HookId(method.0 as u32), presence))
    }

    fn is_hook_call(&self, method: MethodKey) -> bool {
        method.0 == PUSH_METHOD
    }

    fn is_constructor(&self, hook: HookId) -> bool {
        hook.0 != NO_CONSTRUCTOR
    }

    fn may_be_called_by_vm(&self, method: MethodKey) -> bool {
        method.0 == LOADS_CLASS
    }

    fn site(&self, method: MethodKey, location: Location) -> Site {
        match (method.0, location.0) {
            (NOT_A_METHOD, _) => Site::NotAMethod,
            (..100, -3) => Site::NotNative,
            (..100, ABSENT) => Site::Silent,
            (..100, INSIDE) => Site::NoInstruction,
            (..100, PUSHING | POPPING) => Site::Calls,
            _ => Site::Unknown,
        }
    }
}

fn frames(list: &[(usize, i32)]) -> Vec<Frame> {
    list.iter()
        .map(|&(m, l)| Frame {
            method: MethodKey(m),
            location: Location(l),
        })
        .collect()
}

/// Judges a walk, given bottom first for readability.
fn judge(walk: &[(usize, i32)], entries: &[u32], checked: &[(usize, i32)], k: usize) -> Judgement {
    judge_leaving(walk, entries, checked, k, 0)
}

/// The same while an exception is leaving the newest `leaving` entries.
fn judge_leaving(
    walk: &[(usize, i32)],
    entries: &[u32],
    checked: &[(usize, i32)],
    k: usize,
    leaving: usize,
) -> Judgement {
    let runs = newest(entries.len(), leaving);
    judge_runs(walk, entries, checked, k, &runs)
}

/// The same with any runs of constructors that may have ended.
fn judge_runs(
    walk: &[(usize, i32)],
    entries: &[u32],
    checked: &[(usize, i32)],
    k: usize,
    leaving: &[Leaving],
) -> Judgement {
    let mut walk = frames(walk);
    walk.reverse();
    let entries: Vec<_> = entries.iter().map(|&id| HookId(id)).collect();
    let checked = frames(checked);
    let truth = TraceSnapshot {
        entries: &entries,
        checked: &checked,
        checked_entries: k,
        leaving,
    };
    judge_truth(&walk, &truth, &Toy)
}

/// The newest `count` of `upto` entries may have ended.
fn newest(upto: usize, count: usize) -> Vec<Leaving> {
    let leaving = Leaving { upto, count };
    if count > 0 { vec![leaving] } else { vec![] }
}

#[test]
fn exact_stacks_match() {
    assert_eq!(
        judge(&[(1, BODY), (2, BODY)], &[1, 2], &[], 0).verdict,
        Match
    );
    let with_unhooked = [(200, 3), (1, BODY), (201, 4), (2, BODY)];
    assert_eq!(judge(&with_unhooked, &[1, 2], &[], 0).verdict, Match);
    let checked = [(200, 3), (1, BODY)];
    assert_eq!(judge(&with_unhooked, &[1, 2], &checked, 1).verdict, Match);
}

#[test]
fn windows_need_the_proof_of_the_location() {
    assert_eq!(
        judge(&[(1, BODY), (2, ABSENT)], &[1], &[], 0).verdict,
        Window
    );
    assert_eq!(
        judge(&[(1, BODY), (2, PUSHING)], &[1], &[], 0).verdict,
        Window
    );
    assert_eq!(
        judge(&[(1, BODY), (2, PUSHING)], &[1, 2], &[], 0).verdict,
        Match
    );
    assert_eq!(judge(&[(1, BODY), (2, BODY)], &[1], &[], 0).verdict, Wrong);
    let in_push = [(1, BODY), (2, PUSHING), (PUSH_METHOD, -3)];
    assert_eq!(judge(&in_push, &[1], &[], 0).verdict, Window);
    assert_eq!(judge(&in_push, &[1, 2], &[], 0).verdict, Match);
}

#[test]
fn a_hook_that_resolves_its_class_has_not_run() {
    let resolving = [(1, BODY), (2, PUSHING), (200, 4), (3, BODY)];
    assert_eq!(judge(&resolving, &[1, 3], &[], 0).verdict, Match);
    assert_eq!(judge(&resolving, &[1, 2, 3], &[], 0).verdict, Wrong);
}

#[test]
fn checked_frames_count_whole() {
    let checked = [(200, 3), (1, BODY), (201, 4), (2, BODY)];
    let moved = [(200, 3), (1, BODY), (201, 4), (2, BODY + 1), (3, BODY)];
    assert_eq!(judge(&moved, &[1, 2, 3], &checked, 2).verdict, Match);
    let shifted = [(200, 3), (1, BODY), (201, 5), (2, BODY), (3, BODY)];
    assert_eq!(judge(&shifted, &[1, 2, 3], &checked, 2).verdict, Wrong);
    let other = [(200, 3), (1, BODY), (202, 4), (2, BODY), (3, BODY)];
    assert_eq!(judge(&other, &[1, 2, 3], &checked, 2).verdict, Wrong);
}

#[test]
fn a_missing_bottom_is_truncated() {
    let checked = [(200, 3), (1, BODY), (201, 4), (2, BODY)];
    let judged = judge(&[(201, 4), (2, BODY), (3, BODY)], &[1, 2, 3], &checked, 2);
    assert_eq!((judged.verdict, judged.at_frame), (Truncated, Some(3)));
    assert_eq!(judge(&[(2, BODY)], &[1, 2], &[], 0).verdict, Truncated);
    // With another location it is no top part, and with no known frame nothing is shown.
    let shifted = judge(&[(201, 5), (2, BODY), (3, BODY)], &[1, 2, 3], &checked, 2);
    assert_eq!(shifted.verdict, Wrong);
    assert_eq!(judge(&[(300, 1)], &[1, 2], &[], 0).verdict, Wrong);
}

#[test]
fn a_missing_bottom_is_truncated_wherever_the_top_stands() {
    let truncated = |walk: &[(usize, i32)], entries: &[u32]| {
        assert_eq!(judge(walk, entries, &[], 0).verdict, Truncated);
    };
    // The entry of the top frame is that of its caller, and its own not there.
    truncated(&[(2, BODY), (2, POPPING)], &[1, 2]);
    truncated(&[(2, BODY), (2, PUSHING)], &[1, 2, 2]);
    // Entries of frames that an exception ended faulty above.
    truncated(&[(2, CATCHING)], &[1, 2, 8, 9]);
    // It says nothing of the stack.
    assert_eq!(judge(&[(2, ABSENT)], &[1], &[], 0).verdict, Wrong);
}

#[test]
fn a_frame_behind_its_hooks_does_not_show_that_the_top_is_missing() {
    // As a virtual thread whose callers are still in the heap.
    let nothing = Judgement::at(Wrong, 2, Reason::NothingOfTruth);
    assert_eq!(judge(&[(200, 3), (2, POPPING)], &[1, 1], &[], 0), nothing);
    let checked = [(200, 3), (1, BODY)];
    assert_eq!(judge(&[(201, 3), (2, POPPING)], &[1], &checked, 1), nothing);
    // A frame of the truth is there, so what lies above it is missing.
    let top = Judgement::at(Wrong, 0, Reason::TopMissing);
    assert_eq!(judge(&[(1, BODY), (2, POPPING)], &[1, 3], &[], 0), top);
    assert_eq!(judge(&[(1, POPPING)], &[1, 3], &[], 0), top);
    // So it does where the bottom is that of the truth.
    let below = Judgement::at(Wrong, 0, Reason::OtherMethodBelowChecked);
    assert_eq!(judge(&[(200, 3), (2, POPPING)], &[1], &checked, 1), below);
}

#[test]
fn a_checked_frame_moves_only_within_its_hooks() {
    let checked = [(200, 3), (1, BODY)];
    let at = |location| judge(&[(200, 3), (1, location)], &[1], &checked, 1).verdict;
    assert_eq!(at(BODY + 1), Match);
    assert_eq!(at(POPPING), Match);
    assert_eq!(at(ABSENT), Wrong);
}

#[test]
fn a_window_excuses_only_its_own_frame() {
    let walk = [(1, BODY), (2, ABSENT)];
    assert_eq!(judge(&walk, &[], &[], 0).verdict, Wrong);
}

#[test]
fn without_truth_nothing_is_claimed() {
    assert_eq!(judge(&[(200, 1)], &[], &[], 0).verdict, Unverifiable);
    assert_eq!(judge(&[(1, BODY)], &[], &[], 0).verdict, Wrong);
    assert_eq!(judge(&[(1, ABSENT)], &[], &[], 0).verdict, Window);
}

/// Walkers that fail in ways that a look at entries alone lets pass. Each is caught at its frame.
mod leniencies {
    use super::*;

    fn wrong_at(walk: &[(usize, i32)], entries: &[u32], at: usize, reason: Reason) {
        let judged = judge(walk, entries, &[], 0);
        assert_eq!(judged, Judgement::at(Wrong, at, reason), "{walk:?}");
    }

    #[test]
    fn a_frame_at_bci_0_inserted_in_the_middle() {
        let walk = [(1, BODY), (5, ABSENT), (2, BODY)];
        wrong_at(&walk, &[1, 2], 1, Reason::NotThere);
        // Above it lie frames without hooks alone.
        let walk = [(1, BODY), (5, ABSENT), (200, 3)];
        wrong_at(&walk, &[1], 1, Reason::Edge(Impossible::NoCall));
    }

    /// Compiled code that HotSpot is about to leave stands at BCI 0 while the VM loads a class.
    #[test]
    fn a_frame_at_bci_0_below_a_method_that_the_vm_calls() {
        let called = LOADS_CLASS as u32;
        let walk = [(1, BODY), (5, ABSENT), (LOADS_CLASS, BODY)];
        let judged = judge(&walk, &[1, called], &[], 0);
        let unknown = Judgement::plain(Unverifiable, Reason::DeepOutsideHooks);
        assert_eq!(judged, unknown);
    }

    #[test]
    fn a_native_frame_of_java_code() {
        let walk = [(1, BODY), (5, -3), (2, BODY)];
        wrong_at(&walk, &[1, 2], 1, Reason::NotThere);
        let walk = [(1, BODY), (5, -3)];
        wrong_at(&walk, &[1], 0, Reason::Edge(Impossible::NotNative));
    }

    #[test]
    fn a_frame_of_no_method() {
        for walk in [
            vec![(1, BODY), (NOT_A_METHOD, 3)],
            vec![(1, BODY), (NOT_A_METHOD, 3), (200, 3)],
        ] {
            let at = walk.len() - 2;
            wrong_at(&walk, &[1], at, Reason::Edge(Impossible::NotAMethod));
        }
    }

    #[test]
    fn a_bci_inside_an_instruction_or_past_the_end() {
        let walk = [(1, BODY), (2, INSIDE), (200, 3)];
        wrong_at(&walk, &[1, 2], 1, Reason::Edge(Impossible::NoInstruction));
        let walk = [(1, BODY), (2, INSIDE)];
        wrong_at(&walk, &[1, 2], 0, Reason::Edge(Impossible::NoInstruction));
    }

    #[test]
    fn an_empty_trace_stack_excuses_the_top_hooked_frame_alone() {
        let walk = [(2, ABSENT), (1, ABSENT)];
        wrong_at(&walk, &[], 1, Reason::NeverPushed);
    }

    #[test]
    fn entries_that_no_constructor_left_are_no_window() {
        let judged = judge(&[(1, BODY), (2, CATCHING)], &[1, 2, NO_CONSTRUCTOR], &[], 0);
        assert_eq!(judged, Judgement::plain(Unverifiable, Reason::StaleEntries));
        let judged = judge(&[(1, BODY), (2, CATCHING)], &[1, 2, 3], &[], 0);
        assert_eq!(judged.verdict, Window);
    }

    /// Of a method whose code another agent has changed only the frame's place is doubtful.
    #[test]
    fn a_method_with_other_code_excuses_its_own_frames_alone() {
        let verdict = |walk: &[(usize, i32)], entries: &[u32]| judge(walk, entries, &[], 0).verdict;
        let walk = [(1, BODY), (2, ALTERED), (3, BODY)];
        assert_eq!(verdict(&walk, &[1, 2, 3]), Match);
        let doubtful = Judgement::plain(Unverifiable, Reason::OtherCode);
        assert_eq!(judge(&walk, &[1, 3], &[], 0), doubtful);
        assert_eq!(judge(&[(2, ALTERED)], &[], &[], 0), doubtful);
        // An entry needs its frame, and every other frame its entry.
        assert_eq!(verdict(&[(1, BODY), (3, BODY)], &[1, 2, 3]), Wrong);
        assert_eq!(verdict(&walk, &[1, 2]), Wrong);
        assert_eq!(verdict(&walk, &[1, 2, 4]), Wrong);
        assert_eq!(verdict(&[(2, ALTERED), (3, BODY)], &[1, 2, 3]), Truncated);
        let top = [(1, BODY), (2, ALTERED)];
        assert_eq!(verdict(&top, &[1, 2, NO_CONSTRUCTOR]), Wrong);
        assert_eq!(judge(&top, &[1, 2, 3], &[], 0), doubtful);
    }

    /// Two of eighty frames are no whole stack: the strength says so.
    #[test]
    fn unhooked_frames_do_not_count_as_compared() {
        let mut walk = vec![(200, 3); 78];
        walk.extend([(1, BODY), (2, BODY)]);
        let strength = judge(&walk, &[1, 2], &[], 0).strength;
        assert_eq!(strength, Strength::of(80, 2, 0));
        let checked = [(200, 3), (1, BODY)];
        let walk = [(200, 3), (1, BODY), (200, 4), (2, BODY)];
        let strength = judge(&walk, &[1, 2], &checked, 1).strength;
        assert_eq!(strength, Strength::of(4, 3, 1));
    }
}

/// Three hooked frames, each above one without hooks, bottom first.
const CHECKED: [(usize, i32); 6] = [
    (200, 3),
    (1, BODY),
    (201, 4),
    (2, BODY),
    (202, 5),
    (3, BODY),
];

#[test]
fn constructors_that_an_exception_leaves_may_be_there_or_not() {
    for (known, k) in [(0, 0), (2, 1), (4, 2), (6, 3)] {
        let judge = |walk: &[(usize, i32)], leaving| {
            judge_leaving(walk, &[1, 2, 3], &CHECKED[..known], k, leaving).verdict
        };
        let (whole, without_3, without_both) = (&CHECKED[..], &CHECKED[..4], &CHECKED[..2]);
        assert_eq!(judge(whole, 1), Match);
        assert_eq!(judge(without_3, 0), Wrong);
        assert_eq!(judge(without_3, 1), Unverifiable);
        assert_eq!(judge(&CHECKED[..5], 1), Unverifiable, "unhooked");
        assert_eq!(judge(without_both, 1), Wrong);
        assert_eq!(judge(without_both, 2), Unverifiable);
        // The frame below may have come to its handler by now, which proves it.
        let at_handler = [(200, 3), (1, BODY), (201, 4), (2, CATCHING)];
        let proven = if k < 3 { Window } else { Unverifiable };
        assert_eq!(judge(&at_handler, 1), proven);
    }
}

#[test]
fn what_lies_below_constructors_that_an_exception_leaves_counts_whole() {
    let judge = |walk: &[(usize, i32)]| judge_leaving(walk, &[1, 2, 3], &CHECKED, 3, 1).verdict;
    assert_eq!(judge(&[(200, 4), (1, BODY), (201, 4), (2, BODY)]), Wrong);
    assert_eq!(
        judge(&[(200, 3), (1, BODY + 1), (201, 4), (2, BODY)]),
        Wrong
    );
    assert_eq!(judge(&[(200, 3), (1, BODY), (2, BODY)]), Wrong);
    assert_eq!(judge(&[(200, 3), (1, BODY), (201, 4), (4, BODY)]), Wrong);
    assert_eq!(
        judge(&[(200, 3), (1, BODY), (201, 4), (2, BODY), (4, BODY)]),
        Wrong
    );
    assert_eq!(
        judge(&[(200, 3), (1, BODY), (201, 4), (2, BODY), (2, BODY)]),
        Wrong
    );
    assert_eq!(judge(&[(1, BODY), (201, 4), (2, BODY)]), Truncated);
    // The last entry is certain.
    assert_eq!(judge_leaving(&[(200, 3)], &[1], &[], 0, 0).verdict, Wrong);
}

#[test]
fn constructors_that_an_exception_has_left_may_lie_below_others() {
    let entries = [1, 2, 3, 4, 5].map(HookId);
    let leaving = [Leaving { upto: 2, count: 1 }, Leaving { upto: 4, count: 1 }];
    let verdict = |walk: &[usize]| {
        let bottom_first: Vec<_> = walk.iter().map(|&m| (m, BODY)).collect();
        let mut walk = frames(&bottom_first);
        walk.reverse();
        let truth = TraceSnapshot {
            entries: &entries,
            leaving: &leaving,
            ..TraceSnapshot::default()
        };
        judge_truth(&walk, &truth, &Toy).verdict
    };
    assert_eq!(verdict(&[1, 2, 3, 4, 5]), Match);
    for walk in [&[1, 200, 3, 4, 5][..], &[1, 2, 3, 200, 5], &[1, 3, 5]] {
        assert_eq!(verdict(walk), Unverifiable, "{walk:?}");
    }
    for walk in [&[1, 2, 4, 5][..], &[1, 2, 3], &[1, 3, 5, 4], &[1, 5]] {
        assert_eq!(verdict(walk), Wrong, "{walk:?}");
    }
    assert_eq!(verdict(&[3, 5]), Truncated);
}

/// A stack of hooked and unhooked frames, and how many of them were checked.
fn stack() -> impl Strategy<Value = (Vec<(usize, i32)>, usize)> {
    let frame = prop_oneof![(1..20usize).prop_map(|m| (m, BODY)), (200..210usize, 0..50)];
    prop::collection::vec(frame, 1..30).prop_flat_map(|frames| {
        let n = frames.len();
        (Just(frames), 0..=n)
    })
}

/// The truth of a stack, checked at or below the depth `upto`.
fn truth_of(stack: &[(usize, i32)], upto: usize) -> (Vec<u32>, Vec<(usize, i32)>, usize) {
    let hooked = |f: &&(usize, i32)| f.0 < 100;
    let entries = stack.iter().filter(hooked).map(|f| f.0 as u32).collect();
    let checked = match stack[..upto].iter().rposition(|f| f.0 < 100) {
        Some(top) => stack[..=top].to_vec(),
        None => vec![],
    };
    let k = checked.iter().filter(hooked).count();
    (entries, checked, k)
}

proptest! {
    #[test]
    fn honest_walks_match((stack, upto) in stack()) {
        let (entries, checked, k) = truth_of(&stack, upto);
        prop_assume!(!entries.is_empty());
        let judged = judge(&stack, &entries, &checked, k);
        prop_assert_eq!(judged.verdict, Match);
    }

    #[test]
    fn a_lost_hooked_frame_is_a_mismatch((stack, upto) in stack(), which in any::<prop::sample::Index>()) {
        let (entries, checked, k) = truth_of(&stack, upto);
        let hooked: Vec<usize> = (0..stack.len()).filter(|&i| stack[i].0 < 100).collect();
        prop_assume!(!hooked.is_empty());
        let mut faulty = stack.clone();
        faulty.remove(hooked[which.index(hooked.len())]);
        prop_assert!(judge(&faulty, &entries, &checked, k).is_mismatch());
    }

    #[test]
    fn an_added_hooked_frame_is_a_mismatch((stack, upto) in stack(), at in any::<prop::sample::Index>(), m in 1..20usize) {
        let (entries, checked, k) = truth_of(&stack, upto);
        let mut faulty = stack.clone();
        faulty.insert(at.index(stack.len() + 1), (m, BODY));
        prop_assert!(judge(&faulty, &entries, &checked, k).is_mismatch());
    }

    #[test]
    fn a_change_below_the_checked_frame_is_a_mismatch((stack, upto) in stack(), which in any::<prop::sample::Index>(), by in 1..9i32) {
        let (entries, checked, k) = truth_of(&stack, upto);
        prop_assume!(checked.len() > 1);
        let mut faulty = stack.clone();
        faulty[which.index(checked.len() - 1)].1 += by + 100;
        prop_assert!(judge(&faulty, &entries, &checked, k).is_mismatch());
    }

    /// Without its newest constructors the same stack, and nothing but that.
    #[test]
    fn what_an_exception_leaves_is_the_only_doubt(
        (stack, upto) in stack(), leaving in 0..4usize, gone in 0..4usize, lost in any::<prop::sample::Index>()
    ) {
        let (entries, checked, k) = truth_of(&stack, upto);
        let leaving = leaving.min(entries.len());
        let hooked: Vec<usize> = (0..stack.len()).filter(|&i| stack[i].0 < 100).collect();
        let gone = gone.min(hooked.len());
        prop_assume!(gone > 0);
        let left = &stack[..hooked[hooked.len() - gone]];
        let judged = judge_leaving(left, &entries, &checked, k, leaving);
        if gone <= leaving { prop_assert_eq!(judged.verdict, Unverifiable) } else { prop_assert!(judged.is_mismatch()) }
        // One more that is lost below them is noticed all the same.
        let certain = &hooked[..hooked.len() - gone];
        if gone == leaving && !certain.is_empty() {
            let mut faulty = left.to_vec();
            faulty.remove(certain[lost.index(certain.len())]);
            prop_assert!(judge_leaving(&faulty, &entries, &checked, k, leaving).is_mismatch());
        }
    }

    #[test]
    fn judging_never_panics(walk in prop::collection::vec((0..220usize, 0..100), 0..30),
                            entries in prop::collection::vec(1..20u32, 0..30), upto in 0..30usize, (stack, _) in stack(),
                            left in prop::collection::vec((1..30usize, 1..6usize), 0..4)) {
        let checked = &stack[..upto.min(stack.len())];
        let k = checked.iter().filter(|f| f.0 < 100).count().min(entries.len());
        judge(&walk, &entries, checked, k);
        judge_leaving(&walk, &entries, checked, k, entries.len());
        // Runs that share constructors, too.
        let run = |&(upto, count): &(usize, usize)| Leaving { upto, count: count.min(upto) };
        let mut leaving: Vec<_> = left.iter().map(run).filter(|run| run.upto <= entries.len()).collect();
        leaving.sort_by_key(|run| run.upto);
        judge_runs(&walk, &entries, checked, k, &leaving);
    }
}

#[test]
fn an_answer_that_lacks_nothing_is_no_less_true_for_saying_that_it_may() {
    let verdict = |entries: &[u32]| {
        let entries: Vec<_> = entries.iter().copied().map(HookId).collect();
        let truth = TraceSnapshot {
            entries: &entries,
            ..TraceSnapshot::default()
        };
        let frame = |(method, location)| Frame {
            method: MethodKey(method),
            location,
        };
        let walk = [
            (3, Location::UNRECORDED),
            (2, Location(7)),
            (1, Location(7)),
        ]
        .map(frame);
        judge_truth(&walk, &truth, &crate::model::toy::InOwnCode(|_| true)).verdict
    };
    assert_eq!(verdict(&[1, 2, 3]), Match);
    assert_eq!(verdict(&[1, 2, 3, 4]), Unverifiable, "4 is missing");
    assert_eq!(verdict(&[1, 2]), Unverifiable, "3 has popped");
    assert_eq!(verdict(&[1, 4, 3]), Wrong);
}
