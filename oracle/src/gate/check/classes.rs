//! False and missing answers of each layer in all pairs, whatever their cause or code, and the bounds that follow.

use super::bound::{Both, Class, Counted, NotWorse, Paired};
use super::noisy::{OfCause, without_noise};
use super::strata::alike_sum;
use crate::Layer;
use crate::gate::baseline::{Cell, Family, Set, What};
use std::collections::{BTreeMap, BTreeSet};

/// The counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    /// The names of the programs that had a turn. The number of a program is its place.
    programs: Vec<String>,
    /// By layer and class.
    all: BTreeMap<(Layer, Class), OfClass>,
    /// Of the false stacks, those of each known cause.
    causes: BTreeMap<(Layer, String), OfCause>,
}

/// The answers of a class.
#[derive(Clone, Debug, Default)]
struct OfClass {
    /// As if both turns of a pair had asked at the same kinds of instants.
    pairs: Vec<Paired>,
    /// Of all pairs, as they were counted.
    counted: Counted,
}

impl OfClass {
    fn add(&mut self, program: usize, counted: Counted, alike: Option<Both>) {
        let sum = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
        self.counted = Counted {
            base: sum(self.counted.base, counted.base),
            new: sum(self.counted.new, counted.new),
        };
        let plain = |(events, trials): (u64, u64)| (events as f64, trials as f64);
        let both = alike.unwrap_or(Both {
            base: plain(counted.base),
            new: plain(counted.new),
        });
        self.pairs.push(Paired { program, both });
    }
}

impl Classes {
    /// Adds a pair. Returns the layers of which both builds had checks.
    pub fn add(&mut self, base: &Set, new: &Set) -> Vec<Layer> {
        let mut measured = vec![];
        let program = self.number_of(new);
        for layer in Layer::ALL {
            let checks = (trials(base, layer), trials(new, layer));
            if checks == (0, 0) {
                continue;
            }
            if checks.0 > 0 && checks.1 > 0 {
                measured.push(layer);
            }
            for class in Class::ALL {
                let of_class = self.all.entry((layer, class)).or_default();
                let counted = Counted {
                    base: (events(base, layer, class), checks.0),
                    new: (events(new, layer, class), checks.1),
                };
                let cells = cells_of((base, new), layer, |what| is_of_class(what, class));
                let alike = alike_sum(&cells, base, new);
                of_class.add(
                    program,
                    counted,
                    alike.map(|(base, new)| Both { base, new }),
                );
                if class == Class::False {
                    let (pair, is_told) = (of_class.pairs.len() - 1, alike.is_some());
                    self.count_causes((layer, pair), is_told, base, new);
                }
            }
        }
        measured
    }

    /// The number of the program of a turn.
    fn number_of(&mut self, turn: &Set) -> usize {
        let name = turn.programs.keys().next();
        let name = name.map_or("", String::as_str);
        let known = self.programs.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.programs.push(name.into());
            self.programs.len() - 1
        })
    }

    /// Counts the false stacks of each known cause in the pair of this number of a layer. `is_told`: as if both turns had
    /// asked at the same kinds of instants.
    fn count_causes(
        &mut self,
        (layer, pair): (Layer, usize),
        is_told: bool,
        base: &Set,
        new: &Set,
    ) {
        let known = cells_of((base, new), layer, What::is_explained);
        let causes: BTreeSet<String> = known
            .iter()
            .filter_map(|cell| cell.what.cause().map(String::from))
            .collect();
        for cause in causes {
            let is_of = |what: &What| what.known_cause() == Some(&cause);
            let told = || {
                let cells = cells_of((base, new), layer, is_of);
                let (base, new) = alike_sum(&cells, base, new)?;
                Some(Both { base, new })
            };
            let plain = |set: &Set| (total(set, layer, is_of) as f64, trials(set, layer) as f64);
            let both = is_told.then(told).flatten().unwrap_or_else(|| Both {
                base: plain(base),
                new: plain(new),
            });
            self.causes
                .entry((layer, cause))
                .or_default()
                .0
                .push((pair, both));
        }
    }

    /// How much worse the new build may still be, by layer and class.
    pub fn not_worse(&self) -> Vec<NotWorse> {
        let all = self.all.iter();
        all.map(|(&(layer, class), of)| NotWorse::new(layer, class, &of.pairs, of.counted))
            .collect()
    }

    /// The bound without the noisiest causes, which must not be above `limit`.
    pub fn without_noise(&self, bound: &NotWorse, limit: f64) -> Option<NotWorse> {
        let of_class = self.all.get(&(bound.layer, bound.class))?;
        let causes = self
            .causes
            .iter()
            .filter(|((layer, _), _)| *layer == bound.layer);
        let causes = causes.map(|((_, cause), of)| (cause.as_str(), of));
        let (at_most, left_out) = without_noise(&of_class.pairs, causes, limit)?;
        Some(NotWorse {
            at_most: Some(at_most),
            left_out,
            ..bound.clone()
        })
    }
}

/// The trials of a layer's classes: its checks, or the different instructions at which its walker was asked.
fn trials(set: &Set, layer: Layer) -> u64 {
    let steps = Layer::of_steps().any(|of| of == layer);
    total(set, layer, |what| match what {
        What::Instructions(_) => steps,
        What::Checks => !steps,
        _ => false,
    })
}

/// How many answers of a layer are of a class.
fn events(set: &Set, layer: Layer, class: Class) -> u64 {
    total(set, layer, |what| is_of_class(what, class))
}

/// The cells of a layer in two turns that `is_meant` chooses.
fn cells_of(
    (base, new): (&Set, &Set),
    layer: Layer,
    is_meant: impl Fn(&What) -> bool,
) -> Vec<Cell> {
    let kinds = [base, new].into_iter().flat_map(|set| whole(set, layer));
    let kinds: BTreeSet<&Cell> = kinds
        .map(|(cell, _)| cell)
        .filter(|cell| is_meant(&cell.what))
        .collect();
    kinds.into_iter().cloned().collect()
}

fn is_of_class(what: &What, class: Class) -> bool {
    let family = match class {
        Class::False => Family::Truth,
        Class::NoAnswer => Family::Answers,
    };
    what.family() == family && *what != What::Imprecise
}

/// The sum of a layer's counts of what `is_meant` chooses, over all programs and places.
fn total(set: &Set, layer: Layer, is_meant: impl Fn(&What) -> bool) -> u64 {
    let cells = whole(set, layer).filter(|(cell, _)| is_meant(&cell.what));
    cells.map(|(_, counts)| counts.iter().sum::<u64>()).sum()
}

/// A layer's counts over all programs and places.
fn whole(set: &Set, layer: Layer) -> impl Iterator<Item = (&Cell, &Vec<u64>)> {
    let is_whole =
        move |cell: &Cell| cell.layer == layer && cell.is_of_all_programs() && cell.place.is_none();
    set.counts.iter().filter(move |(cell, _)| is_whole(cell))
}
