//! The library in JVMs: an agent in C asks the library and the JVM's own walkers for the same
//! stacks.

mod agent;

use agent::{Answers, compare};
use classfile_testing::jdk::Jdk;

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
