//! Layer `asgst-queue`: samples that are enqueued in the signal handler and walked while the thread is suspended.

use crate::support::{self, jdks, seeds};
use oracle::Layer;
use oracle::tally::Tally;
use std::path::Path;

/// Runs fixtures whose samples go through queues.
fn run(jdk: &Path, seed: u64, names: &[&str]) -> Tally {
    let scenario = format!(
        "name = \"queue\"\nlayers = [\"ground\", \"gst\", \"asgst-queue\"]\n\
         [budget]\nasgst-queue = 1\n[imprecise_budget]\nasgst-queue = 1\n\
         [[program]]\nname = \"program\"\nbaseline = false\n\
         fixtures = {{ names = {names:?}, seconds = 4 }}\n"
    );
    let ran = support::run_well(jdk, &scenario, seed, &[]);
    let counts = ran.report.layer(Layer::AsgstQueue);
    let tally = counts.map(|counts| counts.tally()).unwrap_or_default();
    // A mismatch may be rare: its evidence is part of the failure.
    for mismatch in &ran.report.mismatches {
        println!("{jdk:?}: {}", serde_json::to_string(mismatch).unwrap());
    }
    tally
}

/// `ASGST_ENQUEUE_FULL_QUEUE`: one sample of a thread is under way at a time, so the queue always has room.
const FULL: i32 = -6;

#[test]
fn enqueued_samples_are_true_and_the_queue_has_room() {
    for jdk in jdks() {
        let mut sum = Tally::default();
        for seed in seeds(&format!("{jdk:?}: waiting for checks")) {
            sum += &run(
                &jdk,
                seed,
                &["mutual-recursion", "exceptions-up", "live-threads"],
            );
            if sum.matches >= 500 {
                break;
            }
        }
        println!("{jdk:?}: {sum:?}");
        assert_eq!(sum.mismatches(), 0, "{jdk:?}: {sum:?}");
        assert_eq!(sum.error.get(&FULL), None, "{jdk:?}: {sum:?}");
    }
}
