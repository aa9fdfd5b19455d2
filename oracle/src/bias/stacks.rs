//! Whole stacks: how often each ran, and how often a walker showed it.

use super::claim::Claim;
use crate::trace::{self, HookId, Methods, Presence};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// The largest number of frames in memory, where stacks with equal callers share the frames of these: some 64 MiB.
const MOST_FRAMES: usize = 1 << 20;

/// The depth to which stacks are told apart, from below.
const DEEPEST: usize = 512;

/// The largest number of frames in a report. A frame that is called from two places counts twice.
const MOST_SHOWN: usize = 2000;

/// How often something ran, and how often a walker showed it.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Instants at which it ran.
    #[serde(rename = "true")]
    pub truth: u64,
    /// Instants at which the walker showed it.
    pub claimed: u64,
}

impl Seen {
    fn add(&mut self, other: Seen) {
        self.truth += other.truth;
        self.claimed += other.claimed;
    }
}

/// A frame with its callers, as a path from the bottom of a stack.
#[derive(Debug)]
struct Frame {
    /// Index of the frame's caller; 0, the place below all stacks, at the bottom.
    caller: u32,
    method: HookId,
    /// How often a stack ended here.
    seen: Seen,
}

/// The stacks of one walker, counted. Each stack is its hooked methods, the lowest frame first.
#[derive(Debug)]
pub struct StackCounts {
    /// The first is no frame, but the place below all stacks: a stack without frames ends there.
    frames: Vec<Frame>,
    /// The frame of a method by its caller.
    callees: HashMap<(u32, HookId), u32>,
    /// Stacks that came when the memory was full.
    other: Seen,
    all: Seen,
    same: u64,
}

impl Default for StackCounts {
    fn default() -> StackCounts {
        StackCounts {
            frames: vec![Frame {
                caller: 0,
                method: HookId(0),
                seen: Seen::default(),
            }],
            callees: HashMap::new(),
            other: Seen::default(),
            all: Seen::default(),
            same: 0,
        }
    }
}

impl StackCounts {
    /// Counts an instant at which `truth` ran, and what the walker showed.
    pub fn add(&mut self, truth: &[HookId], claim: Claim<&[HookId]>) {
        let (once, again) = (
            Seen {
                truth: 1,
                claimed: 0,
            },
            Seen {
                truth: 0,
                claimed: 1,
            },
        );
        let claimed = match claim {
            Claim::Silent | Claim::Unsure | Claim::Unjudged => return self.count(truth, once),
            Claim::Same | Claim::InWindow => truth,
            Claim::Named(claimed) => claimed,
        };
        self.same += u64::from(claimed == truth);
        self.count(truth, once);
        self.count(claimed, again);
    }

    fn count(&mut self, stack: &[HookId], seen: Seen) {
        self.all.add(seen);
        let kept = &stack[..stack.len().min(DEEPEST)];
        match self.place(kept) {
            Some(at) => self.frames[at as usize].seen.add(seen),
            None => self.other.add(seen),
        }
    }

    /// Index of the top frame of `stack`, which is added if it is new. `None` if the memory is full.
    fn place(&mut self, stack: &[HookId]) -> Option<u32> {
        let StackCounts {
            frames, callees, ..
        } = self;
        let (mut top, mut known) = (0, 0);
        while let Some(&callee) = stack
            .get(known)
            .and_then(|&method| callees.get(&(top, method)))
        {
            (top, known) = (callee, known + 1);
        }
        // All frames of the stack, or none: half a stack would be another stack.
        let new = &stack[known..];
        if !new.is_empty() && frames.len() + new.len() > MOST_FRAMES {
            return None;
        }
        for &method in new {
            let callee = frames.len() as u32;
            callees.insert((top, method), callee);
            frames.push(Frame {
                caller: top,
                method,
                seen: Seen::default(),
            });
            top = callee;
        }
        Some(top)
    }

    /// All stacks with their counts, the lowest method first.
    fn stacks(&self) -> impl Iterator<Item = (Vec<HookId>, Seen)> {
        let ends = self.frames.iter().enumerate();
        let ends = ends.filter(|(_, frame)| frame.seen != Seen::default());
        ends.map(|(mut at, end)| {
            let mut stack = vec![];
            while at != 0 {
                stack.push(self.frames[at].method);
                at = self.frames[at].caller as usize;
            }
            stack.reverse();
            (stack, end.seen)
        })
    }

    /// The stacks so far, with the names that `name` gives to methods.
    pub fn profiles(&self, mut name: impl FnMut(HookId) -> String) -> StackProfiles {
        let (mut names, mut places) = (vec![], HashMap::new());
        let mut by_name: HashMap<String, u32> = HashMap::new();
        let mut sums: BTreeMap<Vec<u32>, Seen> = BTreeMap::new();
        for (stack, seen) in self.stacks() {
            // Methods of classes that were loaded twice share a name.
            let place = |hook: &HookId| {
                *places.entry(*hook).or_insert_with(|| {
                    *by_name.entry(name(*hook)).or_insert_with_key(|name| {
                        names.push(name.clone());
                        names.len() as u32 - 1
                    })
                })
            };
            let stack = stack.iter().map(place).collect();
            sums.entry(stack).or_default().add(seen);
        }
        let answered = self.all.claimed;
        let share = |n: u64, of: u64| n as f64 / of.max(1) as f64;
        let common =
            |of: &Seen| share(of.truth, self.all.truth).min(share(of.claimed, self.all.claimed));
        let each = sums.values().chain([&self.other]);
        let overlap = (answered > 0).then(|| each.map(common).sum());
        let most = sums.values().max_by_key(|of| (of.truth, of.claimed));
        let most = most.filter(|of| of.claimed > 0);
        let above = |of: &Seen| {
            let others = sums.values();
            others.filter(|other| other.claimed > of.claimed).count()
        };
        StackProfiles {
            instants: self.all.truth,
            answered,
            same: self.same,
            overlap,
            rank: most.map(|of| above(of) + 1),
            other: self.other,
            tree: Tree::new(&sums, &names, MOST_SHOWN),
        }
    }
}

/// The hooked methods of a walk, the lowest frame first. Frames whose location proves that they have no entry do not
/// count, as in [`newest`](super::newest).
pub fn hooked(walk: &[trace::Frame], methods: &impl Methods) -> Vec<HookId> {
    let entry = |frame: &trace::Frame| {
        let hook = methods.hook(frame.method, frame.location);
        let has_entry = hook.filter(|(_, presence)| *presence != Presence::Absent);
        has_entry.map(|(hook, _)| hook)
    };
    walk.iter().rev().filter_map(entry).collect()
}

/// The profiles of whole stacks: the true one and a walker's. In `report.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StackProfiles {
    /// Instants with a truth.
    pub instants: u64,
    /// Of these, the instants at which the walker answered.
    pub answered: u64,
    /// Of these, the instants at which the walker showed the stack that ran, in all its hooked methods.
    pub same: u64,
    /// The part of the two profiles that is common to both, from 0 to 1; absent without answers. The stacks in `other`
    /// count as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<f64>,
    /// The place of the truly most frequent stack among the walker's, from 1; absent if the walker never shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Stacks that were not told apart, because there were too many.
    #[serde(default)]
    pub other: Seen,
    /// The most frequent frames of all stacks, with their callers.
    #[serde(flatten)]
    pub tree: Tree,
}

impl StackProfiles {
    /// The two profiles differ by this much, from 0 to 1.
    pub fn total_variation(&self) -> Option<f64> {
        self.overlap.map(|overlap| 1.0 - overlap)
    }
}

/// Frames and their callees: each frame comes before its callees.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// The methods' names, each once.
    pub methods: Vec<String>,
    /// The frames.
    pub frames: Vec<TreeFrame>,
}

/// A frame of a tree. Its text is `DEPTH METHOD TRUE CLAIMED`.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct TreeFrame {
    /// The number of its callers.
    pub depth: usize,
    /// An index into [`Tree::methods`].
    pub method: u32,
    /// How often it was on a stack at this place.
    pub seen: Seen,
}

impl Tree {
    /// The `most` most frequent frames of `stacks`. A frame is never more frequent than its caller, so a frame's caller
    /// is in the tree, too.
    fn new(stacks: &BTreeMap<Vec<u32>, Seen>, names: &[String], most: usize) -> Tree {
        let mut all: Vec<TreeFrame> = vec![];
        let mut open: Vec<usize> = vec![];
        // Stacks with equal callers are neighbours.
        for (stack, &seen) in stacks {
            let is_same = |(&at, &method): (&usize, &u32)| all[at].method == method;
            let shared = open.iter().zip(stack).take_while(|&pair| is_same(pair));
            open.truncate(shared.count());
            for (depth, &method) in stack.iter().enumerate().skip(open.len()) {
                open.push(all.len());
                all.push(TreeFrame {
                    depth,
                    method,
                    seen: Seen::default(),
                });
            }
            open.iter().for_each(|&at| all[at].seen.add(seen));
        }
        let mut order: Vec<usize> = (0..all.len()).collect();
        let frequency = |at: usize| all[at].seen.truth + all[at].seen.claimed;
        order.sort_by_key(|&at| (Reverse(frequency(at)), at));
        order.truncate(most);
        order.sort();
        let mut tree = Tree::default();
        let mut places: HashMap<u32, u32> = HashMap::new();
        for at in order {
            let frame = all[at];
            let method = *places.entry(frame.method).or_insert_with(|| {
                let name = names.get(frame.method as usize);
                tree.methods.push(name.cloned().unwrap_or_default());
                tree.methods.len() as u32 - 1
            });
            tree.frames.push(TreeFrame { method, ..frame });
        }
        tree
    }

    /// Passes each frame to `see`: the names of its callers and its own, the lowest first, and its counts.
    pub fn for_each<'a>(&'a self, mut see: impl FnMut(&[&'a str], Seen)) {
        let mut names: Vec<&str> = vec![];
        for frame in &self.frames {
            names.truncate(frame.depth);
            let name = self.methods.get(frame.method as usize);
            names.push(name.map_or("?", String::as_str));
            see(&names, frame.seen);
        }
    }
}

impl From<TreeFrame> for String {
    fn from(frame: TreeFrame) -> String {
        let mut text = format!("{} {}", frame.depth, frame.method);
        let Seen { truth, claimed } = frame.seen;
        let _ = write!(text, " {truth} {claimed}");
        text
    }
}

impl TryFrom<String> for TreeFrame {
    type Error = String;

    fn try_from(text: String) -> Result<TreeFrame, String> {
        let numbers: Result<Vec<u64>, _> = text.split(' ').map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[depth, method, truth, claimed]) => Ok(TreeFrame {
                depth: depth as usize,
                method: method as u32,
                seen: Seen { truth, claimed },
            }),
            _ => Err(format!("`{text}` is no frame of a tree")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stack(methods: &[u32]) -> Vec<HookId> {
        methods.iter().copied().map(HookId).collect()
    }

    /// Hooks 1 and 11 have one name.
    fn name(hook: HookId) -> String {
        format!("m{}", hook.0 % 10)
    }

    fn seen(profiles: &StackProfiles) -> Vec<(String, u64, u64)> {
        let mut all = vec![];
        profiles.tree.for_each(|stack, seen| {
            all.push((stack.join(">"), seen.truth, seen.claimed));
        });
        all
    }

    #[test]
    fn true_and_claimed_stacks_are_counted() {
        let mut counts = StackCounts::default();
        for _ in 0..6 {
            counts.add(&stack(&[0, 1]), Claim::Same);
        }
        counts.add(&stack(&[0, 11]), Claim::InWindow);
        counts.add(&stack(&[0, 1]), Claim::Named(&stack(&[0])));
        counts.add(&stack(&[0, 2]), Claim::Silent);
        counts.add(&stack(&[0, 2]), Claim::Named(&stack(&[0, 2])));
        let profiles = counts.profiles(name);
        assert_eq!(
            (profiles.instants, profiles.answered, profiles.same),
            (10, 9, 8)
        );
        // True: 8 of 10 and 2 of 10. Claimed: 7 of 9, 1 of 9 and 1 of 9.
        let overlap = profiles.overlap.expect("it answered");
        assert!((overlap - (7.0 / 9.0 + 1.0 / 9.0)).abs() < 1e-12);
        assert_eq!(profiles.rank, Some(1));
        let mut frames = seen(&profiles);
        frames.sort();
        let of = |name: &str, truth, claimed| (name.to_owned(), truth, claimed);
        let expected = [of("m0", 10, 9), of("m0>m1", 8, 7), of("m0>m2", 2, 1)];
        assert_eq!(frames, expected);
        let text = serde_json::to_string(&profiles).expect("plain data");
        let read: StackProfiles = serde_json::from_str(&text).expect("just written");
        assert_eq!(read, profiles, "{text}");
        let none = StackCounts::default().profiles(name);
        assert_eq!((none.overlap, none.rank), (None, None));
    }

    #[test]
    fn memory_is_bounded_and_no_instant_is_lost() {
        let mut flat = StackCounts::default();
        for number in 0..MOST_FRAMES as u32 + 1000 {
            flat.add(&stack(&[number]), Claim::Same);
        }
        let mut deep = StackCounts::default();
        for number in 0..2 * (MOST_FRAMES / DEEPEST) as u32 {
            let frames: Vec<u32> = (0..600).collect();
            deep.add(&stack(&[&[number], &frames[..]].concat()), Claim::Silent);
        }
        assert_eq!(flat.other.truth, 1001, "one place is that below all stacks");
        assert!(deep.other.truth > 0);
        for counts in [&flat, &deep] {
            assert!(counts.frames.len() <= MOST_FRAMES);
            let kept: u64 = counts.stacks().map(|(_, of)| of.truth).sum();
            assert_eq!(kept + counts.other.truth, counts.all.truth);
        }
        let profiles = deep.profiles(|hook| hook.0.to_string());
        let bottom = profiles.tree.frames.iter().filter(|of| of.depth == 0);
        let shown: u64 = bottom.map(|of| of.seen.truth).sum();
        assert!(shown + profiles.other.truth <= profiles.instants);
        assert_eq!(profiles.tree.frames.len(), MOST_SHOWN);
        // A stack that is known is counted still.
        let (known, new) = (stack(&[7]), stack(&[u32::MAX]));
        flat.add(&known, Claim::Same);
        flat.add(&new, Claim::Same);
        assert_eq!(flat.other.truth, 1002);
    }

    proptest! {
        #[test]
        fn each_stack_has_its_count(
            all in prop::collection::vec(prop::collection::vec(0u32..5, 0..7), 0..60),
        ) {
            let (mut counts, mut expected) = (StackCounts::default(), BTreeMap::<_, u64>::new());
            for methods in &all {
                counts.add(&stack(methods), Claim::Silent);
                *expected.entry(stack(methods)).or_default() += 1;
            }
            let counted: BTreeMap<_, u64> = counts.stacks().map(|(stack, of)| (stack, of.truth)).collect();
            prop_assert_eq!(counted, expected);
            prop_assert_eq!(counts.other, Seen::default());
        }
    }

    proptest! {
        #[test]
        fn a_tree_has_the_callers_of_each_frame(
            stacks in prop::collection::vec((prop::collection::vec(0u32..4, 0..6), 0u64..9, 0u64..9), 0..40), most in 0usize..30,
        ) {
            let names: Vec<String> = (0..4).map(|n| format!("m{n}")).collect();
            let mut sums: BTreeMap<Vec<u32>, Seen> = BTreeMap::new();
            for (stack, truth, claimed) in stacks {
                sums.entry(stack).or_default().add(Seen { truth, claimed });
            }
            let tree = Tree::new(&sums, &names, most);
            prop_assert!(tree.frames.len() <= most);
            let mut before = None;
            for frame in &tree.frames {
                // The frame before is its caller, or at least as deep.
                prop_assert!(frame.depth <= before.map_or(0, |depth| depth + 1));
                before = Some(frame.depth);
            }
            tree.for_each(|stack, seen| {
                let below = sums.iter().filter(|(known, _)| {
                    let known: Vec<&str> = known.iter().map(|&m| names[m as usize].as_str()).collect();
                    known.starts_with(stack)
                });
                let mut sum = Seen::default();
                below.for_each(|(_, &of)| sum.add(of));
                assert_eq!(sum, seen, "{stack:?}");
            });
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for wrong in ["", "5", "1 2 3", "1 2 3 x", "1 2 3 4 5"] {
            assert!(TreeFrame::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
        let odd = Tree {
            methods: vec![],
            frames: vec![TreeFrame {
                depth: 7,
                method: 3,
                seen: Seen::default(),
            }],
        };
        odd.for_each(|stack, _| assert_eq!(stack, ["?"]));
    }
}
