use super::*;
use crate::Verdict;
use crate::edge::{Finding, Impossible, Possible, Unknown};
use crate::judge::{
    AlsoClasses, ClassesTruth, Edged, Expected, HereTruth, MountedTruth, NextTruth, TraceTruth,
    Truth, Unseen,
};
use crate::trace::{
    Frame, HookId, Leaving, Location, MethodKey, Methods, Presence, Site, TraceSnapshot,
};
use proptest::prelude::*;
use proptest::sample::Index;

/// Methods 1 to 99 are hooked under their own number, and the location gives the presence; 100 is a
/// hook; other methods are not hooked. The sibling of a method is the next method.
struct Toy;

const PUSH_METHOD: usize = 100;

/// The method of the boundary. The carrier's frames are below it.
const BOUNDARY: usize = 400;

fn boundary(walk: &[Frame]) -> Option<usize> {
    walk.iter().position(|frame| frame.method.0 == BOUNDARY)
}

impl Methods for Toy {
    fn hook(&self, method: MethodKey, location: Location) -> Option<(HookId, Presence)> {
        let presence = match location.0 {
            0 => Presence::Absent,
            1 => Presence::Pushing,
            90 => Presence::Popping,
            91 => Presence::Catching,
            92 => Presence::Unwinding,
            _ => Presence::Present,
        };
        (1..100)
            .contains(&method.0)
            .then_some((HookId(method.0 as u32), presence))
    }

    fn is_hook_call(&self, method: MethodKey) -> bool {
        method.0 == PUSH_METHOD
    }

    fn is_constructor(&self, _: HookId) -> bool {
        true
    }

    fn site(&self, _: MethodKey, _: Location) -> Site {
        Site::Unknown
    }
}

/// A thread at one instant.
#[derive(Clone, Debug)]
struct Instant {
    /// Top first.
    walk: Vec<Frame>,
    own: usize,
    entries: Vec<HookId>,
    checked: Vec<Frame>,
    checked_entries: usize,
    leaving: Vec<Leaving>,
}

impl Instant {
    fn truth(&self) -> TraceSnapshot<'_> {
        TraceSnapshot {
            entries: &self.entries,
            checked: &self.checked,
            checked_entries: self.checked_entries,
            leaving: &self.leaving,
        }
    }
}

fn frame(method: usize, location: i32) -> Frame {
    Frame {
        method: MethodKey(method),
        location: Location(location),
    }
}

fn frames() -> impl Strategy<Value = Vec<Frame>> {
    let hooked = (1..12usize, 10..60).prop_map(|(m, l)| frame(m, l));
    let unhooked = (200..205usize, 0..50).prop_map(|(m, l)| frame(m, l));
    let native = (300..303usize).prop_map(|m| frame(m, Location::NATIVE.0));
    prop::collection::vec(prop_oneof![4 => hooked, 2 => unhooked, 1 => native], 1..16)
}

/// Any thread at any instant. `top` gives the location of its newest frame, and whether the frame's
/// entry is on the trace stack there.
fn instant() -> impl Strategy<Value = Instant> {
    let top = prop_oneof![
        4 => Just(None),
        1 => Just(Some((0, false))), 1 => Just(Some((1, false))), 1 => Just(Some((1, true))),
        1 => Just(Some((90, false))), 1 => Just(Some((90, true))),
        1 => Just(Some((91, true))), 1 => Just(Some((92, false))), 1 => Just(Some((92, true))),
    ];
    let stale = prop::collection::vec((1..12u32).prop_map(HookId), 0..3);
    let left = (0..4usize, 0..4usize);
    let parts = (frames(), top, 1..12usize, stale, left, any::<Index>());
    parts.prop_map(|(below, top, m, stale, (leaving, ended), upto)| {
        let mut bottom_first = below;
        let hooked = |f: &Frame| f.method.0 < 100;
        let mut entries: Vec<_> = bottom_first
            .iter()
            .filter(|f| hooked(f))
            .map(|f| HookId(f.method.0 as u32))
            .collect();
        let newest = bottom_first[..upto.index(bottom_first.len() + 1)]
            .iter()
            .rposition(hooked);
        let mut checked = newest.map_or(vec![], |at| bottom_first[..=at].to_vec());
        let checked_entries = checked.iter().filter(|f| hooked(f)).count();
        if let Some(moved) = checked.last_mut() {
            moved.location = Location(7);
        }
        let mut own = 0;
        // An exception is leaving the newest frames, and some have ended.
        let (upto, count) = (entries.len(), leaving.min(entries.len()));
        if let Some(last) = ended.min(count).checked_sub(1) {
            let newest_first = (0..bottom_first.len()).rev();
            let mut ended = newest_first.filter(|&at| hooked(&bottom_first[at]));
            bottom_first.truncate(ended.nth(last).unwrap_or(0));
        }
        let leaving = if count > 0 {
            vec![Leaving { upto, count }]
        } else {
            vec![]
        };
        if let Some((location, is_there)) = top {
            bottom_first.push(frame(m, location));
            entries.extend(is_there.then_some(HookId(m as u32)));
            if location > 90 {
                entries.extend(stale);
            } else if location == 1 {
                own = 1;
                bottom_first.push(frame(PUSH_METHOD, Location::NATIVE.0));
            }
        }
        bottom_first.reverse();
        Instant {
            walk: bottom_first,
            own,
            entries,
            checked,
            checked_entries,
            leaving,
        }
    })
}

fn kind() -> impl Strategy<Value = FaultKind> {
    prop::sample::select(FaultKind::ALL.as_slice())
}

fn top_first(mut frames: Vec<Frame>) -> Vec<Frame> {
    frames.reverse();
    frames
}

/// The faulty answer of `kind` for `walk`, with `other` as the stack of another time or thread.
fn faulty(
    kind: FaultKind,
    walk: &[Frame],
    own: usize,
    other: &[Frame],
    random: u64,
) -> Option<WalkerAnswer> {
    let material = Material {
        previous: Some(other),
        other: Some(other),
        sibling: &|method| Some(MethodKey(method.0 + 1)),
        inside: &|frame| Some(Location(frame.location.0 + 1)),
        strangers: Some(Strangers {
            none: MethodKey(0),
            unknown: MethodKey(500),
        }),
        code_of_other_state: Some(-5),
    };
    inject(kind, walk, own, &material, random)
}

fn same_instant(reference: &[Frame]) -> HereTruth<'_, Toy> {
    HereTruth {
        reference,
        carrier: None,
        methods: &Toy,
        boundary: &|_| None,
    }
}

fn given(truth: &dyn Truth, answer: &WalkerAnswer) -> Verdict {
    match answer {
        WalkerAnswer::Stack(faulty) => truth.judge(faulty).verdict,
        WalkerAnswer::Error(code) => Verdict::Error(*code),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn a_fault_changes_what_it_says(walk in frames(), other in frames(), kind in kind(), random: u64) {
        let Some(WalkerAnswer::Stack(faulty)) = faulty(kind, &walk, 0, &other, random) else {
            return Ok(());
        };
        prop_assert_ne!(&faulty, &walk);
        prop_assert!(!faulty.is_empty());
        let differing = || faulty.iter().zip(&walk).filter(|(a, b)| a != b).count();
        match kind {
            FaultKind::DropTop | FaultKind::DropNativeTop => {
                prop_assert_eq!(&faulty[..], &walk[1..]);
            }
            FaultKind::DropBottom | FaultKind::CutAtDepth | FaultKind::CutAtNative => {
                prop_assert!(walk.starts_with(&faulty));
            }
            FaultKind::TopOnly => prop_assert_eq!(&faulty[..], &walk[..1]),
            FaultKind::DropMiddle => {
                prop_assert_eq!(faulty.len(), walk.len() - 1);
                prop_assert_eq!((faulty.first(), faulty.last()), (walk.first(), walk.last()));
            }
            FaultKind::Repeat | FaultKind::InsertAtStart => {
                prop_assert_eq!(faulty.len(), walk.len() + 1);
            }
            FaultKind::EveryBci => {
                let java = walk.iter().filter(|frame| frame.location.bci().is_some()).count();
                prop_assert_eq!((faulty.len(), differing()), (walk.len(), java));
            }
            FaultKind::PhantomTop => prop_assert_eq!(&faulty[1..], &walk[..]),
            FaultKind::Swap | FaultKind::SwapNeighbours => {
                prop_assert_eq!((faulty.len(), differing()), (walk.len(), 2));
            }
            FaultKind::Sibling
            | FaultKind::NoMethod
            | FaultKind::UnknownMethod
            | FaultKind::ShiftBci
            | FaultKind::InsideInstruction
            | FaultKind::PastEnd
            | FaultKind::NativeLocation => {
                prop_assert_eq!((faulty.len(), differing()), (walk.len(), 1));
            }
            FaultKind::PreviousTrace | FaultKind::OtherThread => prop_assert_eq!(&faulty, &other),
            FaultKind::Error | FaultKind::CodeOfOtherState => unreachable!("it is no stack"),
            FaultKind::StartDepth | FaultKind::FrameCount | FaultKind::AnyDepth => {
                unreachable!("it is a fault of a part of a stack")
            }
        }
    }

    #[test]
    fn our_own_frames_stay((instant, other, kind, random) in (instant(), frames(), kind(), any::<u64>())) {
        let whole = matches!(
            kind,
            FaultKind::PreviousTrace | FaultKind::OtherThread | FaultKind::DropNativeTop
        );
        if let Some(WalkerAnswer::Stack(faulty)) = faulty(kind, &instant.walk, instant.own, &other, random) && !whole {
            prop_assert_eq!(&faulty[..instant.own], &instant.walk[..instant.own]);
        }
    }

    /// The most important property: the judge of the trace stack catches every fault under the
    /// right verdict, or there is a reason why the fault cannot be seen.
    #[test]
    fn the_trace_stack_catches_or_explains(
        instant in instant(), other in frames(), kind in kind(), random: u64
    ) {
        let truth = instant.truth();
        let sight = TraceTruth::new(&truth, &Toy);
        prop_assume!(!sight.judge(&instant.walk).is_mismatch());
        if let Some(answer) = faulty(kind, &instant.walk, instant.own, &top_first(other), random) {
            let (expected, given) = (expected(&sight, &instant.walk, &answer), given(&sight, &answer));
            let outcome = Detection::of(expected, given);
            let good = matches!(outcome, Detection::Caught | Detection::Explained(_));
            prop_assert!(good, "{:?}: expected {:?}, given {:?}: {:?}", kind, expected, given, answer);
        }
    }

    /// Class files show faults that the trace stack cannot show, if they forbid an edge.
    #[test]
    fn class_files_catch_what_the_trace_stack_does_not(
        instant in instant(), other in frames(), kind in kind(), random: u64
    ) {
        let truth = instant.truth();
        let by_trace = TraceTruth::new(&truth, &Toy);
        let edges = |stack: &[Frame]| Some(toy_edges(stack, &instant.walk));
        let sight = AlsoClasses { truth: &by_trace, edges: &edges };
        prop_assume!(!sight.judge(&instant.walk).is_mismatch());
        if let Some(answer) = faulty(kind, &instant.walk, instant.own, &top_first(other), random) {
            let outcome = Detection::of(expected(&sight, &instant.walk, &answer), given(&sight, &answer));
            let good = matches!(outcome, Detection::Caught | Detection::Explained(_));
            prop_assert!(good, "{:?} {:?}: {:?}", outcome, kind, answer);
            if let WalkerAnswer::Stack(faulty) = &answer {
                let forbidden = toy_edges(faulty, &instant.walk).iter().any(|f| f.is_impossible());
                prop_assert!(!forbidden || outcome == Detection::Caught, "{:?}", answer);
            }
        }
    }

    /// If every frame is known, only moving locations can hide a fault.
    #[test]
    fn nothing_hides_below_the_newest_checked_frame(
        walk in frames(), other in frames(), kind in kind(), random: u64
    ) {
        let newest = walk.iter().rposition(|f| f.method.0 < 100);
        prop_assume!(newest.is_some());
        let bottom_first = walk[..=newest.unwrap_or(0)].to_vec();
        let entries: Vec<_> = bottom_first.iter().filter(|f| f.method.0 < 100)
            .map(|f| HookId(f.method.0 as u32)).collect();
        let truth = TraceSnapshot { entries: &entries, checked: &bottom_first, checked_entries: entries.len(), leaving: &[] };
        let (walk, sight) = (top_first(bottom_first.clone()), TraceTruth::new(&truth, &Toy));
        if let Some(answer) = faulty(kind, &walk, 0, &top_first(other), random) {
            match (expected(&sight, &walk, &answer), &answer) {
                (Expected::Verdict(right), _) => prop_assert_eq!(right, given(&sight, &answer)),
                (Expected::Unseen(_), WalkerAnswer::Stack(faulty)) => {
                    let at = (faulty.len() + 1).checked_sub(walk.len());
                    prop_assert!(at.is_some_and(|at| faulty[at..] == walk[1..]));
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }

    #[test]
    fn the_same_instant_hides_nothing(walk in frames(), other in frames(), kind in kind(), random: u64) {
        let sight = same_instant(&walk);
        if let Some(answer) = faulty(kind, &walk, 0, &other, random) {
            let outcome = Detection::of(expected(&sight, &walk, &answer), given(&sight, &answer));
            prop_assert_eq!(outcome, Detection::Caught);
            let cuts = [FaultKind::DropBottom, FaultKind::CutAtDepth, FaultKind::CutAtNative, FaultKind::TopOnly];
            if cuts.contains(&kind) {
                prop_assert_eq!(given(&sight, &answer), Verdict::Truncated);
            }
        }
    }

    /// A virtual thread's frames, the boundary, and its carrier's: each part has its truth.
    #[test]
    fn what_a_virtual_thread_and_its_carrier_say_is_caught_or_explained(
        thread in instant(), carrier in instant(), other in frames(), kind in kind(), random: u64
    ) {
        let (truth, below) = (thread.truth(), carrier.truth());
        prop_assume!(!TraceTruth::new(&truth, &Toy).judge(&thread.walk).is_mismatch());
        // A carrier is at no hook meanwhile.
        prop_assume!(carrier.own == 0 && !carrier.walk.is_empty());
        prop_assume!(!TraceTruth::new(&below, &Toy).judge(&carrier.walk).is_mismatch());
        let walk = [&thread.walk[..], &[frame(BOUNDARY, Location::NATIVE.0)], &carrier.walk[..]].concat();
        let at_safepoint = HereTruth {
            reference: &thread.walk, carrier: Some(&below), methods: &Toy, boundary: &boundary
        };
        let of_trace_stacks = MountedTruth {
            trace: &truth, carrier: Some(&below), methods: &Toy, boundary: &boundary
        };
        let unmounted = MountedTruth {
            trace: &truth, carrier: None, methods: &Toy, boundary: &boundary
        };
        let sights: [(&dyn Truth, _); 3] =
            [(&at_safepoint, &walk), (&of_trace_stacks, &walk), (&unmounted, &thread.walk)];
        for (sight, walk) in sights {
            prop_assert!(!sight.judge(walk).is_mismatch());
            for other in [&walk[..], &top_first(other.clone())] {
                let Some(answer) = faulty(kind, walk, thread.own, other, random) else { continue };
                let (expected, given) = (expected(sight, walk, &answer), given(sight, &answer));
                let outcome = Detection::of(expected, given);
                let good = matches!(outcome, Detection::Caught | Detection::Explained(_));
                prop_assert!(good, "{:?}: expected {:?}, given {:?}: {:?}", kind, expected, given, answer);
            }
        }
    }

    #[test]
    fn a_later_walk_sees_the_bottom(
        walk in frames(), above in frames(), other in frames(), kind in kind(), random: u64
    ) {
        let later = [top_first(above), walk.clone()].concat();
        let sight = NextTruth { later: Edged::new(&later, None), lacks_virtual: false, edges: &|_| None };
        if let Some(answer) = faulty(kind, &walk, 0, &other, random) {
            let outcome = Detection::of(expected(&sight, &walk, &answer), given(&sight, &answer));
            let good = matches!(outcome, Detection::Caught | Detection::Explained(_));
            prop_assert!(good, "{:?} {:?}: {:?}", outcome, kind, answer);
        }
    }

    /// Also with class files that forbid everything that the later walk does not show.
    #[test]
    fn a_later_walk_and_class_files_see_more(
        walk in frames(), above in frames(), other in frames(), kind in kind(), random: u64,
        ended: bool
    ) {
        let later = if ended { vec![] } else { [top_first(above), walk.clone()].concat() };
        let edges = |stack: &[Frame]| Some(toy_edges(stack, &later));
        let found = edges(&later);
        let sight = NextTruth { later: Edged::new(&later, found.as_deref()), lacks_virtual: false, edges: &edges };
        if let Some(answer) = faulty(kind, &walk, 0, &other, random) {
            let outcome = Detection::of(expected(&sight, &walk, &answer), given(&sight, &answer));
            let good = matches!(outcome, Detection::Caught | Detection::Explained(_));
            prop_assert!(good, "{:?} {:?}: {:?}", outcome, kind, answer);
            if let WalkerAnswer::Stack(faulty) = &answer {
                let forbidden = toy_edges(faulty, &later).iter().any(|f| f.is_impossible());
                prop_assert!(!forbidden || outcome == Detection::Caught, "{:?}", answer);
            }
        }
    }
}

/// The findings on `stack` if only the edges of `later` are possible.
fn toy_edges(stack: &[Frame], later: &[Frame]) -> Vec<Finding> {
    let finding = |possible| {
        if possible {
            Finding::Possible(Possible::Static)
        } else {
            Finding::Impossible(Impossible::NoCall)
        }
    };
    let edge = |pair: &[Frame]| {
        let shown = |other: &[Frame]| (other[0].method, other[1]) == (pair[0].method, pair[1]);
        finding(later.windows(2).any(shown))
    };
    let Some(last) = stack.last() else {
        return vec![];
    };
    let lowest = Some(last.method) == later.last().map(|f| f.method);
    let edges: Vec<_> = stack.windows(2).map(edge).collect();
    [vec![finding(true)], edges, vec![finding(lowest)]].concat()
}

/// The end of a faulty stack with these findings.
fn by_edges(found: Option<&[Finding]>) -> Detection {
    let edges = |_: &[Frame]| found.map(<[_]>::to_vec);
    let (sight, faulty) = (ClassesTruth(&edges), WalkerAnswer::Stack(vec![frame(1, 1)]));
    Detection::of(
        expected(&sight, &[frame(2, 1)], &faulty),
        given(&sight, &faulty),
    )
}

#[test]
fn the_class_files_catch_or_explain() {
    let yes = Finding::Possible(Possible::Static);
    let maybe = Finding::Unknown(Unknown::Receiver);
    let no = Finding::Impossible(Impossible::OtherName);
    let none = Finding::Impossible(Impossible::NoEntry);
    for (found, outcome) in [
        (Some(&[yes, maybe, no][..]), Detection::Caught),
        (Some(&[yes, yes, none]), Detection::Caught),
        (Some(&[yes, yes]), Detection::Explained(Unseen::Allowed)),
        (
            Some(&[yes, maybe]),
            Detection::Explained(Unseen::UnknownEdge),
        ),
        (
            Some(&[maybe, maybe]),
            Detection::Explained(Unseen::UnknownEdge),
        ),
        (None, Detection::Explained(Unseen::Gone)),
    ] {
        assert_eq!(by_edges(found), outcome, "{found:?}");
    }
}

#[test]
fn a_shallower_recursion_is_told_from_a_missing_frame() {
    let frames = |methods: &[usize]| methods.iter().map(|&m| frame(m, 1)).collect::<Vec<_>>();
    let edges = |stack: &[Frame]| Some(vec![Finding::Possible(Possible::Static); stack.len() + 1]);
    let sight = ClassesTruth(&edges);
    let expect = |honest: &[usize], faulty: &[usize]| {
        expected(
            &sight,
            &frames(honest),
            &WalkerAnswer::Stack(frames(faulty)),
        )
    };
    let (recursion, allowed) = (Unseen::Recursion, Unseen::Allowed);
    assert_eq!(
        expect(&[3, 2, 2, 1], &[3, 2, 1]),
        Expected::Unseen(recursion)
    );
    assert_eq!(
        expect(&[3, 2, 1], &[3, 2, 2, 1]),
        Expected::Unseen(recursion)
    );
    assert_eq!(
        expect(&[3, 2, 3, 2, 1], &[3, 3, 2, 1]),
        Expected::Unseen(allowed)
    );
    assert_eq!(expect(&[3, 2, 1], &[3, 1]), Expected::Unseen(allowed));
}

#[test]
fn names_come_back() {
    for kind in FaultKind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
        assert_eq!(serde_json::to_value(kind).expect("plain data"), kind.name());
    }
    assert!("nonsense".parse::<FaultKind>().is_err());
}
