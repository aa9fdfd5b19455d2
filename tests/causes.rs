//! Each known cause appears in its program, and each of its mismatches has the evidence for it.

mod support;

use hotspot::causes::{CAUSES, Cause};
use hotspot::scenario;
use oracle::Verdict;
use oracle::record::{CauseName, Mismatch};
use scenarios::jdk::Jdk;
use std::path::Path;
use std::thread;
use support::{Deadline, on_each_jdk};

/// The mismatches of `cause` in the first run that has any. The compiled code of a program differs
/// from run to run, so the programs of the cause run in turns until one of them shows it.
fn shown(jdk: &Path, cause: &Cause) -> Vec<Mismatch> {
    let deadline = Deadline::new(format!("{jdk:?}: waiting for {}", cause.name));
    let mut programs = cause.programs().iter().cycle();
    loop {
        deadline.check();
        let program = programs
            .next()
            .expect("the caller checked that there are programs");
        // The last lines are those of the one program.
        let text = scenario::of(cause, program) + "baseline = false\n";
        let ran = support::run_scenario(jdk, &text, 1, &[]);
        let mut found = ran.report.mismatches;
        found.retain(|mismatch| mismatch.cause == Some(cause.into()));
        if !found.is_empty() {
            return found;
        }
    }
}

#[test]
fn each_cause_appears_in_its_program() {
    if support::cannot_step() {
        return;
    }
    // Two programs for each JDK at a time: most of them leave a core free.
    let (some, others) = CAUSES.split_at(CAUSES.len() / 2);
    on_each_jdk(|jdk| {
        thread::scope(|scope| {
            for causes in [some, others] {
                scope.spawn(|| causes.iter().for_each(|cause| appears(jdk, cause)));
            }
        });
    });
}

fn appears(jdk: &Path, cause: &Cause) {
    if cause.programs().is_empty() {
        return;
    }
    let (name, home) = (cause.name, jdk.display());
    let feature = Jdk::at(jdk, "JAVA_HOME").unwrap().feature().unwrap();
    if feature < cause.since {
        println!(
            "skipped: {home}: {name} is of JDK {} and later",
            cause.since
        );
        return;
    }
    let found = shown(jdk, cause);
    println!("{home}: {name}: {}", found.len());
    found.iter().for_each(check);
}

fn check(mismatch: &Mismatch) {
    // Stacks of these causes are imprecise, and no mismatches.
    let cause = mismatch.cause.as_ref().map(CauseName::as_str);
    let is_without_record = matches!(cause, Some("no-record" | "own-hook"));
    assert_eq!(
        mismatch.verdict == Verdict::Imprecise,
        is_without_record,
        "{mismatch:#?}"
    );
    assert!(
        is_without_record || matches!(mismatch.verdict, Verdict::Wrong | Verdict::Truncated),
        "{mismatch:#?}"
    );
    let (by_size, found) = match &mismatch.cause {
        Some(cause) if cause.as_str() == "moved-stack-pointer" => (
            &mismatch.evidence.return_address_by_frame_size,
            &mismatch.evidence.return_address,
        ),
        _ => return,
    };
    let words = by_size.as_ref().zip(found.as_ref());
    let is_beyond = words.is_some_and(|(by_size, found)| found.index > by_size.index);
    assert!(is_beyond, "{mismatch:#?}");
}
