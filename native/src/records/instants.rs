//! What walkers answered at each kind of instant.

use oracle::record::{CauseName, InstantCount, KindCount, MismatchCount};
use oracle::{Layer, Verdict};
use std::collections::{BTreeMap, HashMap};

/// The largest number of kinds of instants that a layer counts separately.
const KINDS: usize = 256;

/// How many places of one cause are counted separately at a kind of instant.
const PLACES: usize = 64;

/// The key of mismatches without their place. The cause is `None` if no cause is looked for.
pub type MismatchKind = (Layer, Verdict, Option<&'static str>);

/// What a walker answered, as far as it is counted.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Answer<'a> {
    /// An error with this code.
    Error(i32),
    /// A stack that differs from the truth, and its place.
    Differs(MismatchKind, &'a str),
    /// Any other stack.
    Other,
}

/// The answers of all layers.
#[derive(Default)]
pub struct Instants {
    layers: HashMap<Layer, HashMap<String, Answers>>,
    /// Whether an answer was counted since the last [`Instants::take_new`].
    changed: bool,
}

#[derive(Default)]
struct Answers {
    checks: u64,
    errors: BTreeMap<i32, u64>,
    mismatches: HashMap<MismatchKind, HashMap<String, u64>>,
}

impl Instants {
    /// Counts an answer at an instant of the kind `at`.
    pub fn add(&mut self, layer: Layer, at: &str, answer: Answer<'_>) {
        self.changed = true;
        let kinds = self.layers.entry(layer).or_default();
        let is_full = kinds.len() >= KINDS && !kinds.contains_key(at);
        let at = if is_full { InstantCount::OTHER } else { at };
        // Most kinds are known, and an entry would need a copy of the name each time.
        if !kinds.contains_key(at) {
            kinds.insert(at.into(), Answers::default());
        }
        let Some(answers) = kinds.get_mut(at) else {
            return;
        };
        answers.checks += 1;
        match answer {
            Answer::Error(code) => *answers.errors.entry(code).or_default() += 1,
            Answer::Differs(kind, place) => {
                let places = answers.mismatches.entry(kind).or_default();
                let is_full = places.len() >= PLACES && !places.contains_key(place);
                let place = if is_full { KindCount::OTHER } else { place };
                *places.entry(place.into()).or_default() += 1;
            }
            Answer::Other => {}
        }
    }

    /// All counts, if an answer was counted since the last call.
    pub fn take_new(&mut self) -> Option<Vec<InstantCount>> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let all = self.layers.iter().flat_map(|(&layer, kinds)| {
            kinds.iter().map(move |(at, answers)| InstantCount {
                layer,
                at: at.clone(),
                checks: answers.checks,
                errors: answers.errors.clone(),
                mismatches: answers.mismatches(),
            })
        });
        let mut all: Vec<InstantCount> = all.collect();
        all.sort_by(|a, b| (a.layer, &a.at).cmp(&(b.layer, &b.at)));
        Some(all)
    }
}

impl Answers {
    fn mismatches(&self) -> Vec<MismatchCount> {
        let all = self
            .mismatches
            .iter()
            .flat_map(|(&(_, verdict, cause), places)| {
                places.iter().map(move |(place, &count)| MismatchCount {
                    verdict,
                    cause: cause.map(CauseName::new),
                    place: place.clone(),
                    count,
                })
            });
        let mut all: Vec<MismatchCount> = all.collect();
        all.sort_by(|a, b| (&a.cause, b.count, &a.place).cmp(&(&b.cause, a.count, &b.place)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYER: Layer = Layer::AsgctAsync;

    #[test]
    fn answers_are_counted_where_they_were_given() {
        let mut instants = Instants::default();
        assert_eq!(instants.take_new(), None);
        let kind = (LAYER, Verdict::Wrong, Some("leaf-call"));
        for answer in [
            Answer::Other,
            Answer::Error(-5),
            Answer::Differs(kind, "A.b"),
            Answer::Differs(kind, "A.b"),
        ] {
            instants.add(LAYER, "in Java, Interpreter", answer);
        }
        instants.add(LAYER, "in native, libc.so.6", Answer::Other);
        let all = instants.take_new().expect("they are new");
        assert_eq!(all.len(), 2);
        let java = &all[0];
        assert_eq!((java.checks, &java.errors), (4, &BTreeMap::from([(-5, 1)])));
        let [wrong] = &java.mismatches[..] else {
            panic!("{java:?}")
        };
        assert_eq!((wrong.verdict, wrong.count), (Verdict::Wrong, 2));
        assert_eq!((all[1].checks, all[1].mismatches.len()), (1, 0));
        assert_eq!(instants.take_new(), None);
    }

    #[test]
    fn places_are_bounded_and_no_mismatch_is_lost() {
        let mut instants = Instants::default();
        let kind = (LAYER, Verdict::Wrong, None);
        for place in 0..2 * PLACES {
            instants.add(LAYER, "it", Answer::Differs(kind, &place.to_string()));
        }
        let all = instants.take_new().expect("they are new");
        let counts = all[0].mismatches.iter().map(|of| of.count);
        assert_eq!(counts.sum::<u64>(), 2 * PLACES as u64);
        assert_eq!(all[0].mismatches.len(), PLACES + 1);
    }

    #[test]
    fn kinds_are_bounded_and_no_answer_is_lost() {
        let mut instants = Instants::default();
        for kind in 0..2 * KINDS {
            instants.add(LAYER, &kind.to_string(), Answer::Other);
        }
        let all = instants.take_new().expect("they are new");
        assert_eq!(all.len(), KINDS + 1);
        assert_eq!(
            all.iter().map(|of| of.checks).sum::<u64>(),
            2 * KINDS as u64
        );
    }
}
