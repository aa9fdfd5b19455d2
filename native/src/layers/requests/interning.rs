//! Truths and methods by number, so that each is written once.

use crate::truth::read_stack::ReadStack;
use oracle::recorded::RecordedTruth;
use oracle::trace::{Frame, MethodKey};
use std::collections::{HashMap, HashSet};

/// The largest number of truths that are remembered. Behind it they are written once more.
const MOST: usize = 1 << 17;

/// The truths and methods that have a number.
#[derive(Default)]
pub struct Interned {
    methods: HashMap<MethodKey, u32>,
    /// Truths, as words.
    truths: HashMap<Box<[u32]>, u32>,
    next: u32,
    /// Program counters.
    codes: HashSet<usize>,
}

impl Interned {
    /// The number of a method.
    pub fn method(&mut self, key: MethodKey) -> u32 {
        let next = self.methods.len() as u32;
        *self.methods.entry(key).or_insert(next)
    }

    /// All methods so far.
    pub fn methods(&self) -> impl Iterator<Item = (MethodKey, u32)> {
        self.methods.iter().map(|(&key, &number)| (key, number))
    }

    /// Whether the code at a program counter is to be written: it was not written before, and not too much was.
    pub fn is_new_code(&mut self, pc: usize) -> bool {
        self.codes.len() < MOST && self.codes.insert(pc)
    }

    /// The number of the truth of a copied trace stack, and the truth if it is new.
    pub fn truth(&mut self, stack: &ReadStack<'_>) -> (u32, Option<RecordedTruth>) {
        let truth = stack.truth();
        let mut words = vec![truth.entries.len() as u32, truth.checked_entries as u32];
        words.extend(truth.entries.iter().map(|hook| hook.0));
        let mut checked = Vec::with_capacity(truth.checked.len());
        for &Frame { method, location } in truth.checked {
            let number = self.method(method) + 1;
            words.extend([number, location.0 as u32]);
            checked.push((number, location.0));
        }
        let leaving = truth.leaving.iter();
        let leaving: Vec<_> = leaving.map(|left| (left.upto, left.count)).collect();
        for &(upto, count) in &leaving {
            words.extend([upto as u32, count as u32]);
        }
        if let Some(&number) = self.truths.get(&words[..]) {
            return (number, None);
        }
        if self.truths.len() >= MOST {
            self.truths.clear();
        }
        let number = self.next;
        self.next += 1;
        self.truths.insert(words.into(), number);
        let recorded = RecordedTruth {
            entries: truth.entries.iter().map(|hook| hook.0).collect(),
            checked,
            checked_entries: truth.checked_entries,
            leaving,
        };
        (number, Some(recorded))
    }
}
