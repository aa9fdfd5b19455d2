//! The library in JVMs: an agent in C asks the library and the JVM's own walkers for the same
//! stacks.

mod agent;

use agent::{
    Answers, Queues, ask_for_states, compare, enqueue, misuse, name, name_redefined, name_reused,
};
use classfile_testing::jdk::Jdk;
use std::time::{Duration, Instant};

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

fn on_each_jdk(judge: impl Fn(&str, &Answers)) {
    for jdk in Jdk::all() {
        for flag in FLAGS {
            let answers = compare(&jdk, &[flag], &FIXTURES);
            judge(
                &format!("JDK {}, {flag}: {}", jdk.feature, answers.text),
                &answers,
            );
        }
    }
}

#[test]
fn frames_at_events_are_those_of_get_stack_trace_and_signals_have_answers() {
    on_each_jdk(|run, answers| {
        assert!(answers.number("events") > 1_000, "{run}");
        assert_eq!(answers.number("here_differ"), 0, "{run}");
        assert_eq!(answers.number("here_failed"), 0, "{run}");
        let judged = answers.number("equal") + answers.number("differ");
        assert!(judged > 100, "{run}");
        let (ours, theirs) = (
            answers.number("asgst_unanswered"),
            answers.number("asgct_unanswered"),
        );
        assert!(ours * 5 <= theirs || ours < judged / 1_000, "{run}");
    });
}

/// Runs `fixtures` until there is a stack of this kind.
fn await_kind(jdk: &Jdk, flags: &[&str], fixtures: &[&str], kind: &str) {
    let deadline = Instant::now() + Duration::from_secs(300);
    loop {
        assert!(Instant::now() < deadline, "JDK {}: {kind}", jdk.feature);
        let answers = compare(jdk, flags, fixtures);
        let run = format!("JDK {}: {}", jdk.feature, answers.text);
        assert!(answers.number("java_traces") > 0, "{run}");
        if answers.number(kind) > 0 {
            return;
        }
    }
}

/// Epsilon never collects.
#[test]
fn a_collection_that_stops_a_thread_is_the_kind_of_its_trace() {
    for jdk in Jdk::all() {
        let collects = ["-XX:+UseSerialGC", "-Xmx48m"];
        await_kind(&jdk, &collects, &["hash-maps"], "gc_traces");
        let never = [
            "-XX:+UnlockExperimentalVMOptions",
            "-XX:+UseEpsilonGC",
            "-Xmx4g",
        ];
        let kept = compare(&jdk, &never, &["sorting"]);
        let run = format!("JDK {}: {}", jdk.feature, kept.text);
        assert!(kept.number("java_traces") > 0, "{run}");
        assert_eq!(kept.number("gc_traces"), 0, "{run}");
    }
}

/// Both fixtures exchange frames all the time.
#[test]
fn a_stack_whose_frames_are_exchanged_has_frames_and_their_kind() {
    for jdk in Jdk::all() {
        let fixtures = ["deopt-traps", "deopt-hierarchy"];
        await_kind(&jdk, &[], &fixtures, "deopt_traces");
    }
}

#[test]
fn names_are_those_of_jvmti_and_those_of_unloaded_classes_are_empty() {
    for jdk in Jdk::all() {
        let answers = name(
            &jdk,
            &["-Xmx64m"],
            &["streams", "reflection", "class-unloading"],
        );
        let run = format!("JDK {}: {}", jdk.feature, answers.text);
        for (counted, wrong) in [
            ("names", "names_differ"),
            ("class_names", "class_names_differ"),
            ("generic_names", "names_differ"),
            ("generic_class_names", "class_names_differ"),
            ("gone", "gone_with_names"),
            ("same_again", "other"),
        ] {
            assert!(answers.number(counted) > 0, "{counted}: {run}");
            assert_eq!(answers.number(wrong), 0, "{wrong}: {run}");
        }
    }
}

/// The VM unloads classes, and puts others of the same size at their addresses.
#[test]
fn a_method_of_an_unloaded_class_never_gets_the_names_of_the_class_that_has_its_address() {
    for jdk in Jdk::all() {
        for collector in ["-XX:+UseSerialGC", "-XX:+UseG1GC"] {
            let answers = name_reused(&jdk, &["-Xmx64m", collector], 1_000);
            let run = format!("JDK {}, {collector}: {}", jdk.feature, answers.text);
            for counted in ["reused", "gone", "class_gone", "same_again"] {
                assert!(answers.number(counted) > 100, "{counted}: {run}");
            }
            for wrong in ["names_differ", "gone_with_names", "other", "class_other"] {
                assert_eq!(answers.number(wrong), 0, "{wrong}: {run}");
            }
        }
    }
}

/// The VM frees the methods of a class's earlier versions, and makes others of the same class at their addresses.
#[test]
fn a_method_of_an_earlier_version_of_a_class_never_gets_the_names_of_another_method() {
    for jdk in Jdk::all() {
        for collector in ["-XX:+UseSerialGC", "-XX:+UseG1GC"] {
            let answers = name_redefined(&jdk, &["-Xmx64m", collector], 200);
            let run = format!("JDK {}, {collector}: {}", jdk.feature, answers.text);
            for counted in ["redefined", "reused", "same_again", "gone"] {
                assert!(answers.number(counted) > 100, "{counted}: {run}");
            }
            for wrong in ["names_differ", "gone_with_names", "other", "class_other"] {
                assert_eq!(answers.number(wrong), 0, "{wrong}: {run}");
            }
        }
    }
}

/// Each thread stays in one state. JVMTI reads what the VM writes into the `java.lang.Thread`.
#[test]
fn states_of_threads_that_wait_are_those_of_jvmti() {
    for jdk in Jdk::all() {
        let answers = ask_for_states(&jdk);
        let run = format!("JDK {}: {}", jdk.feature, answers.text);
        for name in [
            "sleep",
            "park",
            "park-timed",
            "wait",
            "wait-timed",
            "enter",
            "run",
        ] {
            assert!(answers.number(&format!("{name}-same")) > 0, "{name}: {run}");
            assert_eq!(
                answers.number(&format!("{name}-differ")),
                0,
                "{name}: {run}"
            );
        }
    }
}

/// `ASGST_NOT_READY` is -17. The JVM calls the library's handler at faults of its own, for null checks, as long as it runs.
#[test]
fn calls_without_anything_have_an_answer_and_a_closed_library_keeps_its_handler() {
    for jdk in Jdk::all() {
        let answers = misuse(&jdk, &["mutual-recursion"]);
        let run = format!("JDK {}: {}", jdk.feature, answers.text);
        for (name, expected) in [
            ("texts_before", 0),
            ("walk_before", 17),
            ("initialized", 1),
            ("texts_after", 0),
            ("without_room", 0),
            ("without_depth", 0),
            ("negative_depth", 0),
            ("closed", 1),
            ("handler_is_there", 1),
        ] {
            assert_eq!(answers.number(name), expected, "{name}: {run}");
        }
    }
}

#[test]
fn frames_of_c_are_between_java_frames_and_below_main() {
    for jdk in Jdk::all() {
        let answers = name(&jdk, &[], &["reflection", "upcalls"]);
        let run = format!("JDK {}: {}", jdk.feature, answers.text);
        let walks = answers.number("walks");
        assert!(walks > 100, "{run}");
        assert_eq!(answers.number("java_differs"), 0, "{run}");
        // With the option, from the thread's last frame and from a frame.
        assert_eq!(answers.number("with_c_below"), 2 * walks, "{run}");
        assert!(answers.number("with_c_between") > 0, "{run}");
    }
}

/// Of older VMs the walker does not know all of the layout.
///
/// Here a walker that knows nothing of frames in the heap has no answer for some 700 of 4,400 stacks, and one that
/// walks them for some 12.
#[test]
fn frames_of_virtual_threads_in_the_heap_are_walked() {
    for jdk in Jdk::all().into_iter().filter(|jdk| jdk.feature >= 25) {
        let answers = compare(&jdk, &["-XX:+UseG1GC"], &["frames-in-heap=50"]);
        let answered = answers.number("equal") + answers.number("differ");
        let unwalkable = answers.number("asgst_unwalkable");
        assert!(answered > 100, "{}", answers.text);
        assert!(unwalkable * 50 < answered, "{}", answers.text);
    }
}

/// Nothing that was enqueued is lost, in the wrong order or false, and some stacks are whole.
fn judge_queue(run: &str, answers: &Answers) {
    let number = |name| answers.number(name);
    assert!(number("enqueued") > 100, "{run}");
    let refused = number("full") + number("busy") + number("failed");
    assert_eq!(number("attempts"), number("enqueued") + refused, "{run}");
    assert_eq!(number("processed"), number("enqueued"), "{run}");
    let judged = number("whole") + number("gone");
    assert_eq!(
        (judged, number("differ")),
        (number("processed"), 0),
        "{run}"
    );
    // There is room for 64 frames an element, so that few lack their callers: those of deep stacks.
    assert!(number("gone") * 10 <= number("processed"), "{run}");
    assert_eq!(
        (number("out_of_order"), number("sizes_wrong")),
        (0, 0),
        "{run}"
    );
    assert!(number("started") > 0, "{run}");
    assert_eq!(number("ended"), number("started"), "{run}");
}

#[test]
fn enqueued_samples_are_processed_in_order_and_are_true_or_say_what_is_gone() {
    for jdk in Jdk::all() {
        for (flag, capacity) in FLAGS.into_iter().zip([16, 16, 2]) {
            let answers = enqueue(&jdk, &[flag], &FIXTURES, capacity, Queues::Plain);
            let run = format!("JDK {}, {flag}: {}", jdk.feature, answers.text);
            judge_queue(&run, &answers);
            let offered = answers.number("with_iterator");
            assert_eq!(offered, answers.number("started"), "{run}");
            assert_eq!(answers.number("whole_virtual"), 0, "{run}");
            assert_eq!(answers.number("unmounted"), 0, "{run}");
        }
    }
}

/// Threads are suspended for elements alone that lack frames: queues of one element have no room for the deep stacks of recursion.
#[test]
fn elements_that_lack_frames_get_them_from_a_suspended_thread() {
    for jdk in Jdk::all() {
        for (fixtures, capacity) in [(&FIXTURES[..], 16), (&["mutual-recursion"], 1)] {
            let answers = enqueue(&jdk, &[], fixtures, capacity, Queues::WithoutIterator);
            let run = format!("JDK {}, {capacity}: {}", jdk.feature, answers.text);
            judge_queue(&run, &answers);
            assert_eq!(answers.number("with_iterator"), 0, "{run}");
            assert_eq!(answers.number("not_suspended"), 0, "{run}");
        }
    }
}

#[test]
fn other_threads_register_queues_and_enqueue_samples_of_threads_that_stand_still() {
    for jdk in Jdk::all() {
        let answers = enqueue(&jdk, &[], &FIXTURES, 16, Queues::Elsewhere);
        judge_queue(&format!("JDK {}: {}", jdk.feature, answers.text), &answers);
    }
}

#[test]
fn enqueued_samples_have_frames_of_c_if_they_are_wanted() {
    for jdk in Jdk::all() {
        for with_c in [false, true] {
            let queues = if with_c { Queues::WithC } else { Queues::Plain };
            let answers = enqueue(&jdk, &[], &["upcalls", "text-format"], 16, queues);
            let run = format!("JDK {}: {}", jdk.feature, answers.text);
            judge_queue(&run, &answers);
            for place in ["c_on_top", "c_between"] {
                assert_eq!(answers.number(place) > 0, with_c, "{place}: {run}");
            }
        }
    }
}

#[test]
fn enqueued_samples_of_virtual_threads_have_the_frames_of_the_virtual_thread() {
    for jdk in Jdk::all().into_iter().filter(|jdk| jdk.feature >= 21) {
        for flag in FLAGS {
            let answers = enqueue(&jdk, &[flag], &["virtual-threads-10000"], 16, Queues::Plain);
            let run = format!("JDK {}, {flag}: {}", jdk.feature, answers.text);
            judge_queue(&run, &answers);
            assert!(answers.number("whole_virtual") > 0, "{run}");
        }
    }
}

#[test]
fn nothing_is_lost_with_a_thousand_threads() {
    for jdk in Jdk::all() {
        let answers = enqueue(&jdk, &[], &["threads-1000-live"], 16, Queues::Plain);
        judge_queue(&format!("JDK {}: {}", jdk.feature, answers.text), &answers);
    }
}
