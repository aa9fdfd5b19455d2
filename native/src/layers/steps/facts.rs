//! Facts about code and methods, kept, because the stacks of neighbouring instructions have nearly all
//! callers in common.
//!
//! Compiled code is known by its compilation too. Methods are known by their addresses alone: where classes
//! are unloaded, another method may get the address of an old one.

use crate::jvm::Jvm;
use crate::jvm::step_facts::StepFacts;
use hotspot::steps::Piece;
use hotspot::steps::truth::{Bci, Facts, Records};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

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
    records: Answers<(Piece, usize), Option<Rc<Records>>>,
    methods: Answers<Piece, Option<usize>>,
    frames: Answers<Piece, Option<usize>>,
    stubs: Answers<Piece, Option<usize>>,
    bodies: Answers<Piece, Option<usize>>,
    bcis: Answers<(usize, usize), Option<Bci>>,
    moves: Answers<usize, bool>,
}

/// Facts that are kept.
pub struct KeptFacts<'a> {
    jvm: &'a Jvm,
    facts: &'a StepFacts,
    kept: &'a Kept,
}

impl Kept {
    /// The facts of this VM; `None` if the VM does not describe its code.
    pub fn facts<'a>(&'a self, jvm: &'a Jvm) -> Option<KeptFacts<'a>> {
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

    fn is_in_stubs(&self, piece: Piece, pc: usize) -> bool {
        let find = || self.of(piece, || self.facts.stubs(piece.blob));
        let stubs = self.kept.stubs.of(piece, find);
        stubs.is_some_and(|stubs| pc >= stubs)
    }
}
