//! What the documents that propose the API say of it, and what shows that the library does it: the table in
//! `docs/reference/asgst-claims.md`.
//!
//! With `UPDATE_DOCS=1` the test writes the table. Without, the test compares the table, and holds each piece of evidence
//! against the sources: a name of the header, a test, or a text of an example or page.

use std::fs;
use std::path::{Path, PathBuf};

/// What shows a claim.
enum Evidence {
    /// A name of `profile2.h`.
    Name(&'static str),
    /// A test: its file, and its function.
    Test(&'static str, &'static str),
    /// A file with a text.
    Text(&'static str, &'static str),
}

use Evidence::{Name, Test, Text};

enum Standing {
    There(&'static [Evidence]),
    /// Why a stock JDK, or anything beside HotSpot's own code, cannot.
    Cannot(&'static str),
    /// What is missing.
    Missing(&'static str),
}

use Standing::{Cannot, Missing, There};

struct Claim {
    claim: &'static str,
    standing: Standing,
}

const fn claim(claim: &'static str, standing: Standing) -> Claim {
    Claim { claim, standing }
}

const JVM: &str = "walker/tests/jvm/main.rs";
const AARCH64: &str = "walker/tests/aarch64.rs";
const EXAMPLES: &str = "walker/tests/examples.rs";
const INTERFACE: &str = "walker/tests/interface.rs";
const C: &str = "walker/examples/profiler.c";

const JEP: &[Claim] = &[
    claim(
        "one function for a stack, with a depth and options",
        There(&[
            Name("AsyncGetStackTrace"),
            Test(
                JVM,
                "frames_at_events_are_those_of_get_stack_trace_and_signals_have_answers",
            ),
        ]),
    ),
    claim(
        "options 0 is as AsyncGetCallTrace",
        There(&[Test(
            JVM,
            "frames_at_events_are_those_of_get_stack_trace_and_signals_have_answers",
        )]),
    ),
    claim(
        "C frames above, between and below Java frames, also with a null `ucontext`",
        There(&[
            Name("ASGST_INCLUDE_C_FRAMES"),
            Test(JVM, "frames_of_c_are_between_java_frames_and_below_main"),
        ]),
    ),
    claim(
        "stacks of threads of the VM",
        There(&[
            Name("ASGST_INCLUDE_NON_JAVA_THREADS"),
            Name("ASGST_CPP_TRACE"),
        ]),
    ),
    claim(
        "the kinds of a trace: Java, C++, unknown",
        There(&[
            Name("ASGST_JAVA_TRACE"),
            Name("ASGST_CPP_TRACE"),
            Name("ASGST_UNKNOWN_TRACE"),
        ]),
    ),
    claim(
        "the kind of a Java thread during a collection",
        There(&[
            Name("ASGST_GC_TRACE"),
            Test(
                JVM,
                "a_collection_that_stops_a_thread_is_the_kind_of_its_trace",
            ),
        ]),
    ),
    claim(
        "the kind of a thread that deoptimises",
        There(&[
            Name("ASGST_DEOPT_TRACE"),
            Test(
                JVM,
                "a_stack_whose_frames_are_exchanged_has_frames_and_their_kind",
            ),
        ]),
    ),
    claim(
        "error codes below 0",
        There(&[
            Name("ASGST_NO_TOP_JAVA_FRAME"),
            Test(
                INTERFACE,
                "layouts_and_constants_are_those_of_the_released_version_and_of_rust",
            ),
        ]),
    ),
    claim(
        "frames of five types, with their compilation level, BCI and method",
        There(&[
            Name("ASGST_FRAME_JAVA_INLINED"),
            Test(
                "walker/src/api/abi.rs",
                "frames_are_as_large_as_those_of_async_get_call_trace",
            ),
            Test(
                JVM,
                "frames_at_events_are_those_of_get_stack_trace_and_signals_have_answers",
            ),
        ]),
    ),
    claim(
        "which frames are inlined",
        There(&[
            Name("ASGST_FRAME_JAVA_INLINED"),
            Test(
                JVM,
                "frames_at_events_are_those_of_get_stack_trace_and_signals_have_answers",
            ),
        ]),
    ),
    claim(
        "inlined frames on top, at instructions that HotSpot describes or that a pair of records encloses",
        There(&[
            Name("ASGST_FRAME_MAY_MISS_INLINED"),
            Name("ASGST_FRAME_LIKELY"),
            Name("ASGST_GUESS_INLINED"),
        ]),
    ),
    claim(
        "inlined frames on top, at every instruction",
        Cannot(
            "HotSpot describes calls and polls, and with `-XX:+DebugNonSafepoints` ranges of other instructions; an instruction that C2 has moved out of its range belongs to no record (`NonSafepointEmitter` in `opto/output.cpp`). Such frames have a flag ([figures](../results/walker.md#why-frames-are-only-likely))",
        ),
    ),
    claim(
        "virtual threads",
        There(&[Test(
            JVM,
            "frames_of_virtual_threads_in_the_heap_are_walked",
        )]),
    ),
    claim(
        "one implementation for AsyncGetCallTrace, JFR and this API",
        Cannot("those walkers are code of HotSpot"),
    ),
    claim(
        "another processor: aarch64, from JDK 21 on, tried under an emulator",
        There(&[
            Test(
                AARCH64,
                "frames_at_events_are_those_of_get_stack_trace_and_signals_have_answers_on_aarch64",
            ),
            Test(
                AARCH64,
                "stacks_at_signals_have_the_order_of_calls_that_the_program_has",
            ),
        ]),
    ),
    claim(
        "libasgst on other systems than Linux",
        Missing("Linux alone"),
    ),
];

const ITERATOR: &[Claim] = &[
    claim(
        "an iterator on the stack, in a handler, without a limit of depth",
        There(&[
            Name("ASGST_RunWithIterator"),
            Name("ASGST_NextFrame"),
            Test(EXAMPLES, "the_profiler_in_c_runs_as_its_comment_says"),
        ]),
    ),
    claim(
        "from a frame, with C frames, too",
        There(&[
            Name("ASGST_RunWithIteratorFromFrame"),
            Test(JVM, "frames_of_c_are_between_java_frames_and_below_main"),
        ]),
    ),
    claim(
        "rewinding, and asking for the state",
        There(&[Name("ASGST_RewindIterator"), Name("ASGST_State")]),
    ),
    claim(
        "the state of the thread: runnable, in native code, waiting, sleeping, parked, blocked by a monitor",
        There(&[
            Name("ASGST_ThreadState"),
            Test(JVM, "states_of_threads_that_wait_are_those_of_jvmti"),
        ]),
    ),
    claim(
        "whether a wait has a time limit",
        Cannot(
            "only `java.lang.Thread` says so (`threadStatus` in its `FieldHolder`), and a collector may move the object while a handler reads it; a sleep always has a limit",
        ),
    ),
    claim(
        "methods without `jmethodID`; no class has to be prepared",
        There(&[
            Name("ASGST_Method"),
            Test(
                JVM,
                "names_are_those_of_jvmti_and_those_of_unloaded_classes_are_empty",
            ),
        ]),
    ),
    claim(
        "names, descriptors and generic signatures of methods and classes",
        There(&[
            Name("ASGST_GetMethodInfo"),
            Name("ASGST_GetClassInfo"),
            Test(
                JVM,
                "names_are_those_of_jvmti_and_those_of_unloaded_classes_are_empty",
            ),
        ]),
    ),
    claim(
        "methods of unloaded classes, and of earlier versions of redefined ones, have their own names or none",
        There(&[
            Test(
                JVM,
                "a_method_of_an_unloaded_class_never_gets_the_names_of_the_class_that_has_its_address",
            ),
            Test(
                JVM,
                "a_method_of_an_earlier_version_of_a_class_never_gets_the_names_of_another_method",
            ),
        ]),
    ),
    claim(
        "saving names when a class is unloaded",
        Cannot(
            "a stock JDK calls nobody before it unloads a class: the extension event `com.sun.hotspot.events.ClassUnload` comes when the methods are gone. A profiler asks for names while the class is loaded",
        ),
    ),
    claim(
        "pc, stack pointer and frame pointer of each frame, for an unwinder of one's own",
        There(&[Text("walker/include/profile2.h", "void *sp")]),
    ),
    claim(
        "attaching without preparing",
        There(&[Test(
            EXAMPLES,
            "the_profiler_in_c_attaches_and_detaches_as_its_comment_says",
        )]),
    ),
    claim(
        "a C++ face",
        There(&[
            Text("walker/include/asgst.hpp", "class Frames"),
            Test(EXAMPLES, "headers_and_examples_compile_without_a_warning"),
        ]),
    ),
];

const QUEUE: &[Claim] = &[
    claim(
        "what this VM can do",
        There(&[Name("ASGST_Capabilities"), Name("ASGST_REGISTER_QUEUE")]),
    ),
    claim(
        "a queue of the calling thread, with a handler, options and an argument",
        There(&[Name("ASGST_RegisterQueue"), Name("ASGST_DeregisterQueue")]),
    ),
    claim(
        "a queue of the thread of another environment",
        There(&[Test(
            JVM,
            "other_threads_register_queues_and_enqueue_samples_of_threads_that_stand_still",
        )]),
    ),
    claim(
        "elements are handed over once, in order, where locks and allocation are allowed",
        There(&[Test(
            JVM,
            "enqueued_samples_are_processed_in_order_and_are_true_or_say_what_is_gone",
        )]),
    ),
    claim(
        "handlers run on the thread itself, at its safepoint",
        Cannot(
            "a stock JDK calls nobody at a safepoint: a thread of the library calls the handlers, and suspends the thread where its stack is needed",
        ),
    ),
    claim(
        "the whole stack of each sample",
        There(&[
            Test(
                JVM,
                "enqueued_samples_are_processed_in_order_and_are_true_or_say_what_is_gone",
            ),
            Test(
                "walker/src/queue/room.rs",
                "all_frames_of_an_element_are_kept_or_none",
            ),
        ]),
    ),
    claim(
        "C frames on top and between",
        There(&[Test(
            JVM,
            "enqueued_samples_have_frames_of_c_if_they_are_wanted",
        )]),
    ),
    claim(
        "`ASGST_Enqueue` in a handler, with its errors",
        There(&[
            Name("ASGST_Enqueue"),
            Name("ASGST_ENQUEUE_FULL_QUEUE"),
            Name("ASGST_ENQUEUE_NO_QUEUE"),
        ]),
    ),
    claim(
        "enqueueing for another, stopped thread",
        There(&[Test(
            JVM,
            "other_threads_register_queues_and_enqueue_samples_of_threads_that_stand_still",
        )]),
    ),
    claim(
        "looking at elements, to compress",
        There(&[
            Name("ASGST_GetQueueElement"),
            Name("ASGST_GetEnqueuableElement"),
        ]),
    ),
    claim(
        "another size later; size, capacity and attempts",
        There(&[Name("ASGST_ResizeQueue"), Name("ASGST_GetQueueSizeInfo")]),
    ),
    claim(
        "handlers before and after the elements, with an iterator",
        There(&[
            Name("ASGST_SetOnQueueProcessingStart"),
            Name("ASGST_SetOnQueueProcessingEnd"),
            Test(
                JVM,
                "enqueued_samples_are_processed_in_order_and_are_true_or_say_what_is_gone",
            ),
        ]),
    ),
    claim(
        "virtual threads",
        There(&[Test(
            JVM,
            "enqueued_samples_of_virtual_threads_have_the_frames_of_the_virtual_thread",
        )]),
    ),
    claim(
        "marked frames; incremental and concurrent walking",
        Cannot(
            "a watermark makes a return of the thread call the VM (JEP 376). The barrier is in the VM's return polls, which only the VM can arm; `ASGST_Capabilities` never has `ASGST_MARK_FRAME`",
        ),
    ),
];

const PROFILERS: &[Claim] = &[
    claim(
        "an interval, in s, ms or us",
        There(&[Text(C, "interval=10ms")]),
    ),
    claim(
        "CPU time: only threads that run",
        There(&[Text(C, "threads=running")]),
    ),
    claim(
        "a random subset of 8 threads in each round",
        There(&[Text(C, "MOST_SAMPLED 8")]),
    ),
    claim(
        "512 frames, stored before the handler; failed and total traces",
        There(&[Text(C, "MOST_DEPTH 512"), Text(C, "Failed traces")]),
    ),
    claim(
        "a table of methods, and a flame graph in one page",
        There(&[
            Text(C, "method table"),
            Test(EXAMPLES, "the_profiler_in_c_runs_as_its_comment_says"),
        ]),
    ),
    claim(
        "attach and detach",
        There(&[Test(
            EXAMPLES,
            "the_profiler_in_c_attaches_and_detaches_as_its_comment_says",
        )]),
    ),
    claim(
        "a profiler on the queue, with locks in its handler",
        There(&[
            Text("walker/examples/queue.cpp", "std::lock_guard"),
            Test(
                EXAMPLES,
                "the_profiler_on_the_queue_runs_as_its_comment_says",
            ),
        ]),
    ),
    claim(
        "tiny-profiler: a Java agent, from the start or attached, with interval, flame graph and table as options",
        There(&[
            Test(EXAMPLES, "tiny_profiler_runs_as_its_comment_says"),
            Test(EXAMPLES, "tiny_profiler_attaches_as_its_comment_says"),
        ]),
    ),
    claim(
        "tiny-profiler on any platform that has JDK 17: it has no native code",
        There(&[Text(
            "walker/examples/tiny-profiler/Profiler.java",
            "Thread.getAllStackTraces()",
        )]),
    ),
    claim(
        "tiny-profiler leaves out daemon threads, and prints its results when the JVM ends",
        There(&[
            Text("walker/examples/tiny-profiler/Profiler.java", "isDaemon()"),
            Test(EXAMPLES, "tiny_profiler_runs_as_its_comment_says"),
        ]),
    ),
    claim(
        "a timer of CPU time (`ITIMER_PROF`), and names of threads",
        There(&[
            Text(C, "ITIMER_PROF"),
            Text(C, "by=thread"),
            Test(EXAMPLES, "the_profiler_in_c_samples_cpu_time_by_thread"),
        ]),
    ),
];

const DOCUMENTS: [(&str, &[Claim]); 4] = [
    ("AsyncGetStackTrace (JEP 435)", JEP),
    ("The iterator", ITERATOR),
    ("The safepoint queue", QUEUE),
    ("Small profilers", PROFILERS),
];

const START: &str = "<!-- The tables are written by walker/tests/claims.rs. -->\n";

fn repository() -> PathBuf {
    let walker = Path::new(env!("CARGO_MANIFEST_DIR"));
    walker.parent().expect("the repository").to_owned()
}

fn read(file: &str) -> String {
    let path = repository().join(file);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The evidence as the table shows it, if it is there.
fn shown(evidence: &Evidence) -> String {
    let is_there = |file: &str, text: &str| {
        assert!(read(file).contains(text), "{file} has no {text}");
    };
    match *evidence {
        Name(name) => {
            is_there("walker/include/profile2.h", name);
            format!("`{name}`")
        }
        Test(file, test) => {
            is_there(file, &format!("#[test]\n{}fn {test}()", indent(file)));
            format!("test `{test}`")
        }
        Text(file, text) => {
            is_there(file, text);
            format!("`{file}`")
        }
    }
}

/// Tests of sources stand in a module, those of test files do not.
fn indent(file: &str) -> &'static str {
    if file.contains("/src/") { "    " } else { "" }
}

fn row(Claim { claim, standing }: &Claim) -> String {
    let all = |evidence: &[Evidence]| {
        let shown: Vec<String> = evidence.iter().map(shown).collect();
        shown.join(", ")
    };
    let (word, why) = match standing {
        There(evidence) => ("there", all(evidence)),
        Cannot(why) => ("cannot be", (*why).to_owned()),
        Missing(what) => ("missing", (*what).to_owned()),
    };
    format!("| {claim} | {word} | {why} |\n")
}

#[test]
fn each_claim_has_its_evidence() {
    let page = repository().join("docs/reference/asgst-claims.md");
    let text = fs::read_to_string(&page).expect("the page");
    let (before, found) = text.split_once(START).expect("the page has tables");
    let tables = DOCUMENTS.iter().map(|(title, claims)| {
        let rows: String = claims.iter().map(row).collect();
        format!("\n## {title}\n\n| claim | here | shown by |\n| --- | --- | --- |\n{rows}")
    });
    let expected: String = tables.collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(page, format!("{before}{START}{expected}")).expect("written");
        return;
    }
    assert_eq!(found, expected, "UPDATE_DOCS=1 writes the tables anew");
}
