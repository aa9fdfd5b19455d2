//! The library in JVMs: an agent in C asks the library and the JVM's own walkers for the same
//! stacks.

mod agent;
mod stability;

use agent::{Answers, compare, enqueue};
use classfile_testing::jdk::Jdk;
use stability::{Left, Trial};
use std::path::Path;

/// Compilers and interpreters.
const FLAGS: [&str; 3] = ["-Xint", "-XX:TieredStopAtLevel=1", "-XX:+TieredCompilation"];

/// Fixtures that call in many ways, allocate and throw.
const FIXTURES: [&str; 6] = [
    "mutual-recursion",
    "exceptions-up",
    "streams",
    "method-handles",
    "reflection",
    "deopt-hierarchy",
];

fn on_each_jdk(wild: u32, judge: impl Fn(&str, &Answers)) {
    for jdk in Jdk::all() {
        for flag in FLAGS {
            let answers = compare(&jdk, &[flag], &FIXTURES, wild);
            judge(
                &format!("JDK {}, {flag}: {}", jdk.feature, answers.text),
                &answers,
            );
        }
    }
}

#[test]
fn at_events_of_the_vm_all_frames_are_those_of_get_stack_trace() {
    on_each_jdk(0, |run, answers| {
        assert!(answers.number("events") > 1_000, "{run}");
        assert_eq!(answers.number("here_differ"), 0, "{run}");
        assert_eq!(answers.number("here_failed"), 0, "{run}");
    });
}

#[test]
fn at_signals_it_has_an_answer_where_async_get_call_trace_has_none() {
    on_each_jdk(0, |run, answers| {
        let judged = answers.number("equal") + answers.number("differ");
        assert!(judged > 100, "{run}");
        let (ours, theirs) = (
            answers.number("asgst_unanswered"),
            answers.number("asgct_unanswered"),
        );
        assert!(ours * 5 <= theirs || ours < judged / 1_000, "{run}");
    });
}

#[test]
fn altered_contexts_and_stacks_never_crash_it() {
    on_each_jdk(40, |run, answers| {
        assert!(answers.number("wild_walks") > 5_000, "{run}");
        assert!(answers.number("wild_answers") > 100, "{run}");
    });
}

#[test]
fn enqueued_samples_are_processed_in_order_and_are_true_or_say_what_is_gone() {
    for jdk in Jdk::all() {
        for (flag, capacity) in FLAGS.into_iter().zip([16, 16, 2]) {
            let answers = enqueue(&jdk, &[flag], &FIXTURES, capacity);
            let run = format!("JDK {}, {flag}: {}", jdk.feature, answers.text);
            let number = |name| answers.number(name);
            assert!(number("enqueued") > 100, "{run}");
            let refused = number("full") + number("busy") + number("failed");
            assert_eq!(number("attempts"), number("enqueued") + refused, "{run}");
            // Nothing is lost, nothing is false, and some stacks are whole.
            assert_eq!(number("processed"), number("enqueued"), "{run}");
            let judged = number("whole") + number("gone");
            assert_eq!(
                (judged, number("differ")),
                (number("processed"), 0),
                "{run}"
            );
            assert!(number("whole") > 0, "{run}");
            assert_eq!(
                (number("out_of_order"), number("sizes_wrong")),
                (0, 0),
                "{run}"
            );
            assert!(number("started") > 0, "{run}");
            assert_eq!(number("ended"), number("started"), "{run}");
            assert_eq!(number("with_iterator"), number("started"), "{run}");
        }
    }
}

const BRIEFLY: Trial<'_> = Trial {
    walker: "asgst",
    flags: &[],
    interval: 500,
    seed: 1,
    with_stack: true,
    millis: 200,
};

/// All walks but the one that is under way have ended in an answer or in an error, and something was altered for each.
fn adds_up(run: &str, left: &Left) {
    let wild = &left.wild;
    let errors: u64 = wild.errors.values().sum();
    assert!(wild.walks > 0, "{run}");
    assert_eq!(wild.walks, wild.answers + errors, "{run}");
    assert!(wild.alterations.iter().sum::<u64>() >= wild.walks, "{run}");
    assert_eq!(wild.under_way, left.crash.is_some(), "{run}");
}

#[test]
fn the_tester_of_stability_counts_what_it_alters() {
    let dir = tempfile::tempdir().expect("a folder");
    for jdk in Jdk::all() {
        let left = stability::test(&jdk, &BRIEFLY, dir.path());
        let run = format!("JDK {}", jdk.feature);
        assert_eq!((left.code, &left.crash), (Some(0), &None), "{run}");
        adds_up(&run, &left);
        assert!(left.wild.answers > 0, "{run}");
        assert!(left.wild.alterations.iter().all(|&n| n > 0), "{run}");
    }
}

#[test]
fn a_crash_leaves_its_report_and_what_was_altered() {
    let dir = tempfile::tempdir().expect("a folder");
    for jdk in Jdk::all() {
        let trial = Trial {
            walker: "naive",
            millis: 5_000,
            ..BRIEFLY
        };
        let left = stability::test(&jdk, &trial, dir.path());
        let run = format!("JDK {}", jdk.feature);
        assert_ne!(left.code, Some(0), "{run}");
        assert!(left.crashed_in().is_some(), "{run}");
        let wild = &left.wild;
        // The naive walker may crash in the very first walk.
        assert!(wild.under_way && !wild.changes.is_empty(), "{run}");
        for (at, change) in wild.changes.iter().enumerate() {
            let later = &wild.changes[at + 1..];
            let is_kept = later.iter().all(|it| it.place != change.place);
            if change.place < stability::STACK && is_kept {
                let register = usize::try_from(change.place).expect("it is small");
                assert_eq!(wild.registers[register], change.after, "{run}: {change:?}");
            }
        }
    }
}

/// Prints the table of docs/stability.md, and keeps the files of the runs that crashed.
#[test]
#[ignore = "it runs for an hour: cargo test -p walker --test jvm table_of -- --ignored --nocapture"]
fn table_of_crashes() {
    const SEEDS: u64 = 6;
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stability");
    println!(
        "| walker | altered | JDK | flags | interval | crashes | calls | longest (µs) | crashed in |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let flags: [&[&str]; 4] = [
        &[],
        &["-Xint"],
        &["-XX:TieredStopAtLevel=1"],
        &["-XX:+UseZGC"],
    ];
    let asked = [("asgct", true), ("asgct", false), ("asgst", true)];
    for (walker, with_stack) in asked {
        let altered = match with_stack {
            true => "registers and stack",
            false => "registers",
        };
        for jdk in Jdk::all() {
            for (flags, interval) in flags.into_iter().flat_map(|f| [(f, 200), (f, 2_000)]) {
                let (mut crashes, mut calls, mut longest, mut frames) = (0, 0, 0, vec![]);
                for seed in 1..=SEEDS {
                    let name = format!(
                        "{walker}-{with_stack}-{}{}-{interval}-{seed}",
                        jdk.feature,
                        flags.concat()
                    );
                    let trial = Trial {
                        walker,
                        flags,
                        interval,
                        seed,
                        with_stack,
                        millis: 700,
                    };
                    let left = stability::test(&jdk, &trial, &kept.join(name));
                    crashes += u32::from(left.crash.is_some());
                    calls += left.wild.walks;
                    longest = longest.max(left.wild.longest_nanos / 1_000);
                    frames.extend(left.crashed_in().map(str::to_owned));
                }
                frames.sort();
                frames.dedup();
                println!(
                    "| {walker} | {altered} | {} | `{}` | {interval} µs | {crashes} of {SEEDS} | {calls} | {longest} | {} |",
                    jdk.feature,
                    flags.concat(),
                    frames.join("; ")
                );
            }
        }
    }
}
