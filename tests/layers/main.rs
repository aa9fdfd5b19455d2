//! Layers whose programs or walkers need tests of their own.

#[path = "../support/mod.rs"]
mod support;

mod epilogues;
mod hooks;
mod proofs;
mod queue;

mod steps;
mod stubs;
mod values;
