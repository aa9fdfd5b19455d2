//! The JVMTI agent of Stackwitness: it keeps the truth about each thread's stack, asks the JVM's
//! stack walkers at the same instants, and writes down how often they disagree.
//!
//! The VM loads this library with `-agentpath:LIBRARY=CONFIG`, where `CONFIG` is the path of a JSON
//! file that holds an [`oracle::record::Config`]. The library exports the agent's entry points and
//! nothing else, because a symbol with a name of the VM's symbols would be bound to the VM's
//! symbol.
//!
//! Each folder uses only those above it in this table:
//!
//! | folder | holds |
//! |---|---|
//! | `arch` | what differs between architectures: registers, traps, thunks, the thread's word |
//! | `jvm` | a safe face over JNI, JVMTI, the VM's own data and the operating system; nearly all `unsafe` |
//! | `locks` | locks that a panic does not close |
//! | `records` | counts and records of a run, which survive a crash |
//! | `truth` | trace stacks, threads, virtual threads, methods, classes as they load |
//! | `walkers` | the stack walkers that are judged: one file and one row each |
//! | `sampling` | the sampler, and its requests to threads, which answer in a signal handler |
//! | `edges` | call edges, judged by the class files that were loaded |
//! | `evidence` | the evidence of mismatches |
//! | `recorder` | real samples as files, for tests |
//! | `injection` | walkers and hooks that fail on purpose, to test the judges |
//! | `layers` | the comparisons: a file for each layer, and one path for all checks |
//! | `agent`, `hooks`, `events`, `load` | the functions that the VM and the rewritten code call |
//!
//! # A sample's way
//! The sampler chooses a thread and sends it a signal (`sampling`). The thread's handler copies the
//! trace stack (`truth`), asks the walker (`walkers`), and leaves both in memory that was made
//! before. Back on its own thread the sampler hands them to a layer, which judges the walker's
//! answer (`layers`).
//!
//! # A class's way
//! As a class loads, its methods get hooks. These call the functions of `hooks`, which keep the
//! trace stack, and now and then make a check.
//!
//! # Limits
//! Linux on x86-64 or aarch64, and HotSpot from JDK 17 on. A function for signal handlers takes a
//! token that only a handler has (`jvm::os::signal::HandlerContext`), and is async-signal-safe. A
//! panic never leaves an entry point: it makes the run invalid.

#![deny(unsafe_code)]

mod agent;
#[allow(unsafe_code)]
mod arch;
mod edges;
mod events;
mod evidence;
mod hooks;
mod injection;
#[allow(unsafe_code)]
mod jvm;
mod layers;
mod load;
mod locks;
mod recorder;
mod records;
mod sampling;
mod self_test;
#[allow(unsafe_code)]
mod truth;
#[allow(unsafe_code)]
mod walkers;

jvm::entry::on_load!(|vm, options| {
    agent::guard(1, || match load::load(vm, options) {
        Ok(()) => 0,
        Err(reason) => {
            // The VM refuses to start after this, so the program's output cannot be disturbed.
            eprintln!("stackwitness: the agent cannot start: {reason}");
            1
        }
    })
});
