//! Tests of the command line: what it accepts, prints and writes, and how it ends.

#[path = "../support/mod.rs"]
mod support;

mod crash;
mod errors;
mod first;
mod folder;
mod html;
mod interrupt;
mod output;
mod process;
mod program;
mod report;
mod rewrite;
mod run;
mod suite;
