//! Broken input of every command, a thousand of each kind: no command panics or hangs, and no
//! command accepts input that is not valid.
//!
//! * [`breaking`]: how input is broken;
//! * [`command`]: a command that reads the input, with a deadline;
//! * `reports`, `baselines`, `scenarios`, `stacks`, `classes`: the kinds of input. In each the fuzz body is a
//!   plain function of the broken bytes.

mod baselines;
mod breaking;
mod classes;
mod command;
mod reports;
mod scenarios;
mod stacks;
#[path = "../support/mod.rs"]
mod support;
