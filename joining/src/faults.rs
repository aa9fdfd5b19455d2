//! Faults in place of the stacks of joined events, to test the judge.

use crate::instant::Instant;
use crate::judging::{OwnedWalk, judge};
use crate::methods::NamedMethods;
use oracle::mutants::{Detection, FaultKind, Material, Strangers, WalkerAnswer, expected, inject};
use oracle::random::mix;
use oracle::record::FaultCount;
use oracle::trace::{Frame, Location, MethodKey, Methods, Site};
use oracle::{Layer, Verdict};

/// Keys that no method of a recording has.
const STRANGERS: Strangers = Strangers {
    none: MethodKey(usize::MAX),
    unknown: MethodKey(usize::MAX - 1),
};

/// Injects faults, and counts how they end.
pub struct Injector<'k> {
    kinds: &'k [FaultKind],
    random: u64,
    earlier: Vec<Frame>,
    /// How each fault ended.
    pub counts: Vec<FaultCount>,
}

impl<'k> Injector<'k> {
    /// An injector of faults of these kinds.
    pub fn new(kinds: &'k [FaultKind], seed: u64) -> Injector<'k> {
        Injector {
            kinds,
            random: seed,
            earlier: vec![],
            counts: vec![],
        }
    }

    /// Injects one fault of each kind in place of `walk`, which must be no mismatch.
    pub fn inject(
        &mut self,
        layer: Layer,
        walk: &OwnedWalk,
        instant: &Instant<'_>,
        methods: &NamedMethods,
    ) {
        let is_own = |frame: &&Frame| methods.is_hook_call(frame.method);
        let own = walk.frames.iter().take_while(is_own).count();
        for &kind in self.kinds {
            self.random = mix(self.random);
            let random = self.random;
            let earlier = std::mem::take(&mut self.earlier);
            let sibling = |key| methods.sibling(key, (random >> 16) as usize);
            let inside = |frame| inside(methods, frame);
            let material = Material {
                previous: Some(&earlier)
                    .filter(|earlier| !earlier.is_empty())
                    .map(Vec::as_slice),
                other: None,
                sibling: &sibling,
                inside: &inside,
                strangers: Some(STRANGERS),
                code_of_other_state: None,
            };
            let answer = inject(kind, &walk.frames, own, &material, random);
            self.earlier = earlier;
            if let Some(WalkerAnswer::Stack(faulty)) = answer {
                self.judge(layer, kind, walk, faulty, instant, methods);
            }
        }
        self.earlier.clone_from(&walk.frames);
    }

    fn judge(
        &mut self,
        layer: Layer,
        kind: FaultKind,
        walk: &OwnedWalk,
        frames: Vec<Frame>,
        instant: &Instant<'_>,
        methods: &NamedMethods,
    ) {
        let answer = WalkerAnswer::Stack(frames.clone());
        let expected = instant.see(methods, |truth| expected(truth, &walk.frames, &answer));
        let faulty = OwnedWalk {
            // The lines are those of other frames: only the frames are at fault here.
            lines: vec![None; frames.len()],
            frames,
            truncated: false,
            marked: false,
            unnamed: vec![],
            end: None,
        };
        let given = judge(&faulty, instant, methods).verdict;
        self.note(layer, kind.name(), given, Detection::of(expected, given));
    }

    /// Gives a frame of `walk` the line next to its own, where the line is known, and the walk can be judged.
    pub fn shift_line(
        &mut self,
        layer: Layer,
        walk: &OwnedWalk,
        instant: &Instant<'_>,
        methods: &NamedMethods,
    ) {
        let judged = instant.see(methods, |truth| truth.judge(&walk.frames));
        if judged.verdict == Verdict::Unverifiable {
            return;
        }
        self.random = mix(self.random);
        let known = |&at: &usize| {
            let Frame { method, location } = walk.frames[at];
            let line = location.bci().and_then(|bci| methods.line(method, bci));
            walk.lines[at].is_some() && line.is_some()
        };
        let places: Vec<usize> = (0..walk.frames.len()).filter(known).collect();
        let Some(at) = (self.random as usize).checked_rem(places.len()) else {
            return;
        };
        let mut faulty = walk.clone();
        if let Some(line) = &mut faulty.lines[places[at]] {
            *line += 1;
        }
        let given = judge(&faulty, instant, methods).verdict;
        let outcome = match given {
            Verdict::Wrong => Detection::Caught,
            _ => Detection::Missed,
        };
        self.note(layer, "other-line", given, outcome);
    }

    fn note(&mut self, layer: Layer, kind: &str, verdict: Verdict, outcome: Detection) {
        let is_it = |known: &&mut FaultCount| {
            (known.layer, &*known.kind, known.verdict, known.outcome)
                == (layer, kind, verdict, outcome)
        };
        match self.counts.iter_mut().find(is_it) {
            Some(known) => known.count += 1,
            None => self.counts.push(FaultCount {
                layer,
                kind: kind.into(),
                verdict,
                outcome,
                count: 1,
            }),
        }
    }
}

/// The next location inside an instruction of the frame's method.
fn inside(methods: &NamedMethods, frame: Frame) -> Option<Location> {
    let within = Location(frame.location.0 + 1);
    let is_inside = methods.site(frame.method, within) == Site::NoInstruction;
    is_inside.then_some(within)
}
