//! Facts about code and methods, kept, because the stacks of neighbouring instructions have nearly all
//! callers in common.
//!
//! Compiled code is known by its compilation too. Methods are known by their addresses alone: where classes
//! are unloaded, another method may get the address of an old one.

use crate::jvm::Jvm;
use crate::jvm::step_facts::StepFacts;
use hotspot::steps::truth::{Bci, Facts, Records};
use std::cell::RefCell;
use std::collections::HashMap;

/// A compiled method: its start, and the number of the compilation.
type Compiled = (usize, i32);

/// What was read so far.
#[derive(Default)]
pub struct Kept {
    records: RefCell<HashMap<(Compiled, usize), Option<Records>>>,
    bcis: RefCell<HashMap<(usize, usize), Option<Bci>>>,
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
            facts: jvm.step_facts.as_ref()?,
            kept: self,
        })
    }
}

impl Facts for KeptFacts<'_> {
    fn records(&self, blob: usize, pc: usize) -> Option<Records> {
        let id = self.jvm.code_cache.as_ref()?.compile_id(blob)?;
        let mut kept = self.kept.records.borrow_mut();
        let records = kept.entry(((blob, id), pc));
        records
            .or_insert_with(|| self.facts.records(blob, pc))
            .clone()
    }

    fn method(&self, blob: usize) -> Option<usize> {
        self.facts.method(blob)
    }

    fn bci(&self, method: usize, bcp: usize) -> Option<Bci> {
        let mut kept = self.kept.bcis.borrow_mut();
        let bci = kept.entry((method, bcp));
        *bci.or_insert_with(|| self.facts.bci(method, bcp))
    }

    fn frame_words(&self, blob: usize) -> Option<usize> {
        self.facts.frame_words(blob)
    }

    fn is_in_stubs(&self, blob: usize, pc: usize) -> bool {
        self.facts.is_in_stubs(blob, pc)
    }
}
