//! Tests of the command line: arguments, output, files and exit codes.

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
mod reduce;
mod report;
mod rewrite;
mod run;
mod suite;
