//! The truth by steps, with the keys of walkers.
//!
//! Walkers name methods by their keys, and the VM's own data by addresses: here a method is known by its name. Methods of one
//! name are one method, also in classes of one name that several class loaders have.
//!
//! Facts about code and methods are kept, because the stacks of neighbouring instructions have nearly all callers in common.
//! Compiled code is known by its compilation too. Methods are known by their addresses alone, so all facts are forgotten where
//! classes are unloaded: another method may get the address of an old one.

use crate::jvm::Jvm;
use crate::jvm::jni::Env;
use crate::jvm::step_facts::StepFacts;
use crate::truth::methods::registry::Registry;
use crate::truth::unloading::unloaded;
use hotspot::steps::shadow::{Call, Interpreted};
use hotspot::steps::truth::{Bci, Facts, Line, Records, lines, lines_of_call};
use hotspot::steps::{Piece, Place};
use oracle::trace::{Frame, Location, MethodKey};
use oracle::{StepFrame, StepTop, StepTruth};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

/// The truth at `place` with these `calls`, the oldest first; `None` if the VM's data do not show it.
pub fn truth(
    jvm: &Jvm,
    names: &mut Names,
    (place, interpreted): (&Place, Interpreted),
    calls: &[Call],
) -> Option<StepTruth> {
    let found = lines(place, interpreted, calls, &names.kept.facts(jvm)?).ok()?;
    let mut frame = |line: &Line| frame(jvm, names, line);
    let callers = found.callers.iter().map(&mut frame);
    let callers = callers.collect::<Option<Vec<_>>>()?;
    // A register that should have a method may have something else.
    let top = |top: &hotspot::steps::truth::Top| {
        let frames = top.lines.iter().map(&mut frame).collect::<Option<_>>()?;
        let is_certain = top.is_certain;
        Some(StepTop { frames, is_certain })
    };
    let tops: Vec<_> = found.tops.iter().filter_map(top).collect();
    (!tops.is_empty()).then_some(StepTruth { tops, callers })
}

/// The frames that stand for the caller of one call, innermost first; `None` if the VM's data do not show them.
pub fn frames_of_call(jvm: &Jvm, names: &mut Names, call: &Call) -> Option<Vec<StepFrame>> {
    let lines = lines_of_call(call, &names.kept.facts(jvm)?).ok()?;
    lines.iter().map(|line| frame(jvm, names, line)).collect()
}

fn frame(jvm: &Jvm, names: &mut Names, line: &Line) -> Option<StepFrame> {
    let location = match line.bci {
        Bci::At(bci) => Some(Location(bci)),
        Bci::Native => Some(Location::NATIVE),
        Bci::Any => None,
        Bci::NotGiven => Some(Location::UNKNOWN),
    };
    let method = names.method(jvm, line.method)?;
    Some(StepFrame { method, location })
}

/// The names that were looked up.
#[derive(Default)]
pub struct Names {
    /// The key that stands for all methods of the name.
    keys: HashMap<Rc<str>, MethodKey>,
    /// The key that stands for the method of a walker's key.
    of_key: HashMap<usize, MethodKey>,
    /// Facts about code and methods.
    kept: Kept,
}

impl Names {
    /// Forgets what is known by addresses.
    pub fn forget(&mut self) {
        self.kept.forget();
    }

    /// The key that stands for a walker's `key`.
    pub fn walked(&mut self, methods: &Registry, env: Env<'_>, key: MethodKey) -> MethodKey {
        if let Some(&known) = self.of_key.get(&key.0) {
            return known;
        }
        if methods.full_name(env, key).is_none() {
            return key;
        }
        let name: Rc<str> = methods.name(env, key).replace('+', ".").into();
        let stands = *self
            .keys
            .entry(name)
            .and_modify(|stands| {
                if is_made_up(*stands) {
                    *stands = key;
                }
            })
            .or_insert(key);
        self.of_key.insert(key.0, stands);
        stands
    }

    /// The frames of a walk, with the keys that stand for their methods.
    pub fn walk(&mut self, methods: &Registry, env: Env<'_>, walk: &[Frame]) -> Vec<Frame> {
        let stands = |frame: &Frame| Frame {
            method: self.walked(methods, env, frame.method),
            location: frame.location,
        };
        walk.iter().map(stands).collect()
    }

    /// The key that stands for the VM's method at `address`; `None` if there is no method. Methods that the VM itself has
    /// made have no jmethodID, and walkers give 0.
    pub fn method(&mut self, jvm: &Jvm, address: usize) -> Option<MethodKey> {
        let facts = jvm.step_facts.as_ref().ok();
        if facts.is_some_and(|facts| facts.is_linker(address)) {
            return Some(MethodKey(0));
        }
        let find = || Some(jvm.code_cache().ok()?.full_method_name(address)?.into());
        let name = self.kept.names.of(address, find)?;
        let made_up = MethodKey(address | MADE_UP);
        Some(*self.keys.entry(name).or_insert(made_up))
    }
}

/// Set in keys of methods that no walk has shown. No address has this bit.
const MADE_UP: usize = 1 << 63;

fn is_made_up(key: MethodKey) -> bool {
    key.0 & MADE_UP != 0
}

/// Answers to one question, by what was asked about.
struct Answers<Q, A>(RefCell<HashMap<Q, A>>);

impl<Q, A> Default for Answers<Q, A> {
    fn default() -> Answers<Q, A> {
        Answers(RefCell::default())
    }
}

impl<Q: Eq + Hash, A: Clone> Answers<Q, A> {
    /// The answer to `question`, which `find` finds if nobody has asked before.
    fn of(&self, question: Q, find: impl FnOnce() -> A) -> A {
        let mut kept = self.0.borrow_mut();
        kept.entry(question).or_insert_with(find).clone()
    }
}

/// What was read so far.
#[derive(Default)]
pub struct Kept {
    /// [`unloaded`], when all was forgotten last.
    unloaded: u64,
    names: Answers<usize, Option<Rc<str>>>,
    records: Answers<(Piece, usize), Option<Rc<Records>>>,
    methods: Answers<Piece, Option<usize>>,
    frames: Answers<Piece, Option<usize>>,
    stubs: Answers<Piece, Option<usize>>,
    bodies: Answers<Piece, Option<usize>>,
    bcis: Answers<(usize, usize), Option<Bci>>,
    moves: Answers<usize, bool>,
    calls_nothing: Answers<usize, bool>,
}

/// Facts that are kept.
pub struct KeptFacts<'a> {
    jvm: &'a Jvm,
    facts: &'a StepFacts,
    kept: &'a Kept,
}

impl Kept {
    fn refresh(&mut self) {
        if unloaded() != self.unloaded {
            self.forget();
        }
    }

    fn forget(&mut self) {
        *self = Kept {
            unloaded: unloaded(),
            ..Kept::default()
        };
    }

    /// The facts of this VM; `None` if the VM does not describe its code. Forgets all if classes were unloaded since the last call.
    pub fn facts<'a>(&'a mut self, jvm: &'a Jvm) -> Option<KeptFacts<'a>> {
        self.refresh();
        Some(KeptFacts {
            jvm,
            facts: jvm.step_facts.as_ref().ok()?,
            kept: self,
        })
    }
}

impl KeptFacts<'_> {
    /// What `find` finds of `piece`, if that is still there afterwards.
    fn of<A>(&self, piece: Piece, find: impl FnOnce() -> Option<A>) -> Option<A> {
        let found = find()?;
        let cache = self.jvm.code_cache().ok()?;
        let is_there = piece.id == 0 || cache.compile_id(piece.blob) == Some(piece.id);
        is_there.then_some(found)
    }
}

impl Facts for KeptFacts<'_> {
    fn records(&self, piece: Piece, pc: usize) -> Option<Rc<Records>> {
        let find = || self.of(piece, || self.facts.records(piece, pc));
        self.kept.records.of((piece, pc), find)
    }

    fn method(&self, piece: Piece) -> Option<usize> {
        let find = || self.of(piece, || self.facts.method(piece));
        self.kept.methods.of(piece, find)
    }

    fn bci(&self, method: usize, bcp: usize) -> Option<Bci> {
        let find = || self.facts.bci(method, bcp);
        self.kept.bcis.of((method, bcp), find)
    }

    fn frame_words(&self, piece: Piece) -> Option<usize> {
        let find = || self.of(piece, || self.facts.frame_words(piece));
        self.kept.frames.of(piece, find)
    }

    fn is_at_beginning(&self, piece: Piece, pc: usize) -> bool {
        let find = || self.of(piece, || self.facts.body(piece.blob));
        let body = self.kept.bodies.of(piece, find);
        body.is_some_and(|body| pc < body)
    }

    fn moves_frames(&self, method: usize) -> bool {
        let find = || self.facts.moves_frames(method);
        self.kept.moves.of(method, find)
    }

    fn calls_nothing(&self, method: usize) -> bool {
        let find = || self.facts.calls_nothing(method);
        self.kept.calls_nothing.of(method, find)
    }

    fn is_in_stubs(&self, piece: Piece, pc: usize) -> bool {
        let find = || self.of(piece, || self.facts.stubs(piece.blob));
        let stubs = self.kept.stubs.of(piece, find);
        stubs.is_some_and(|stubs| pc >= stubs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::unloading::Unloading;

    #[test]
    fn an_address_may_have_another_method_once_a_class_was_unloaded() {
        let mut kept = Kept::default();
        let ask = |kept: &mut Kept, now: &str| {
            kept.refresh();
            kept.names.of(8, || Some(now.into())).expect("there is one")
        };
        assert_eq!(&*ask(&mut kept, "old"), "old");
        Unloading::default().note(1);
        assert_eq!(&*ask(&mut kept, "new"), "new");
    }
}
