//! The walkers of a HotSpot JVM: their names, and the meaning of their error codes.

use crate::capability::Capability;
use oracle::Layer;

/// A stack walker.
#[derive(Copy, Clone, Debug)]
pub struct Walker {
    /// Its name in the table of layers ([`oracle::LayerRow::walker`]).
    pub name: &'static str,
    /// The name of its function.
    pub title: &'static str,
    /// Where the JVM has the function.
    pub api: &'static str,
    /// The source of the meanings of its error codes.
    pub source: &'static str,
    /// What of the VM it needs.
    pub needs: &'static [Capability],
    /// Whether causes explain its false stacks ([`crate::causes`]). Without their proofs they cannot be judged.
    pub is_explained: bool,
    /// Whether it is GetStackTrace or its kin, on which other layers rest: reports do not count it among the walkers on trial.
    pub is_foundation: bool,
    /// Its error codes.
    pub codes: &'static [ErrorCode],
}

/// An error code of a walker.
#[derive(Copy, Clone, Debug)]
pub struct ErrorCode {
    /// The code in reports: 0 or below.
    pub code: i32,
    /// Its name in the walker's source.
    pub name: &'static str,
    /// What it means, in a few words.
    pub meaning: &'static str,
    /// Whether it is about the stack, which the walker refuses, and not about what the VM does.
    pub is_refusal: bool,
    /// Whether it says that the stack has no Java frames.
    pub is_of_no_frames: bool,
}

const fn code(code: i32, name: &'static str, meaning: &'static str) -> ErrorCode {
    ErrorCode {
        code,
        name,
        meaning,
        is_refusal: false,
        is_of_no_frames: false,
    }
}

const fn no_frames(code: i32, name: &'static str) -> ErrorCode {
    ErrorCode {
        is_of_no_frames: true,
        ..refusal(code, name, "no Java frames")
    }
}

const fn refusal(number: i32, name: &'static str, meaning: &'static str) -> ErrorCode {
    ErrorCode {
        is_refusal: true,
        ..code(number, name, meaning)
    }
}

/// Reports count JVMTI's codes with a minus sign.
const JVMTI_CODES: &[ErrorCode] = &[
    code(-10, "JVMTI_ERROR_INVALID_THREAD", "no valid thread"),
    code(
        -15,
        "JVMTI_ERROR_THREAD_NOT_ALIVE",
        "the thread is not alive",
    ),
    code(
        -99,
        "JVMTI_ERROR_MUST_POSSESS_CAPABILITY",
        "another agent has the capability",
    ),
    code(-110, "JVMTI_ERROR_OUT_OF_MEMORY", "out of memory"),
    code(-112, "JVMTI_ERROR_WRONG_PHASE", "the VM starts or ends"),
    code(-113, "JVMTI_ERROR_INTERNAL", "an internal error of the VM"),
    code(
        -115,
        "JVMTI_ERROR_UNATTACHED_THREAD",
        "the calling thread is not attached",
    ),
];

const fn jvmti(name: &'static str, title: &'static str) -> Walker {
    Walker {
        name,
        title,
        api: "JVMTI",
        source: "the JVMTI specification, chapter \"Error Codes\"",
        needs: &[],
        is_explained: false,
        is_foundation: true,
        codes: JVMTI_CODES,
    }
}

/// The code of Stackwitness's own for a walk that has crashed. Only walks of threads that run one instruction
/// at a time survive a crash of the walker. No walker has this code.
pub const CRASHED: i32 = -126;

const CRASH: ErrorCode = code(
    CRASHED,
    "",
    "the walker crashed, where threads run one instruction at a time",
);

/// All walkers.
pub static WALKERS: &[Walker] = &[
    jvmti("gst", "GetStackTrace"),
    jvmti("gst-list", "GetThreadListStackTraces"),
    jvmti("gst-all", "GetAllStackTraces"),
    java("java", "Thread.getStackTrace", "java.lang.Thread"),
    java("java-all", "Thread.getAllStackTraces", "java.lang.Thread"),
    java(
        "mxbean",
        "ThreadMXBean.getThreadInfo",
        "java.lang.management",
    ),
    java(
        "mxbean-all",
        "ThreadMXBean.dumpAllThreads",
        "java.lang.management",
    ),
    java(
        "thread-print",
        "Thread.print",
        "the diagnostic commands of HotSpot",
    ),
    Walker {
        name: "asgct",
        title: "AsyncGetCallTrace",
        api: "a function of libjvm",
        source: "share/prims/forte.cpp",
        needs: &[Capability::AsyncGetCallTrace],
        is_explained: true,
        is_foundation: false,
        codes: &[
            no_frames(0, "ticks_no_Java_frame"),
            code(-1, "ticks_no_class_load", "class loading events are off"),
            code(-2, "ticks_GC_active", "garbage collection"),
            refusal(-3, "ticks_unknown_not_Java", "not in Java, unknown"),
            refusal(
                -4,
                "ticks_not_walkable_not_Java",
                "not in Java, not walkable",
            ),
            refusal(-5, "ticks_unknown_Java", "in Java, unknown"),
            refusal(-6, "ticks_not_walkable_Java", "in Java, not walkable"),
            code(-7, "ticks_unknown_state", "unknown thread state"),
            code(-8, "ticks_thread_exit", "the thread ends"),
            code(-9, "ticks_deopt", "deoptimization"),
            code(-10, "ticks_safepoint", "safepoint"),
            // The source ends at -10. Profilers use lower codes for errors of their own.
            CRASH,
        ],
    },
    Walker {
        name: "asgst",
        title: "AsyncGetStackTrace",
        api: "a function of libasgst, on stock JDKs",
        source: "walker/include/profile2.h",
        needs: &[Capability::OwnWalker, Capability::FramesInHeap],
        is_explained: true,
        is_foundation: false,
        codes: &[
            code(-1, "ASGST_NO_THREAD", "no Java thread"),
            code(-2, "ASGST_THREAD_EXIT", "the thread ends"),
            code(-3, "ASGST_UNSAFE_STATE", "the thread begins"),
            no_frames(-4, "ASGST_NO_TOP_JAVA_FRAME"),
            code(-17, "ASGST_NOT_READY", "not prepared"),
            refusal(-18, "ASGST_UNWALKABLE_TOP", "the top is not walkable"),
            refusal(-19, "ASGST_UNWALKABLE_CALLER", "a caller is not walkable"),
            refusal(-20, "ASGST_TORN_STACK", "what was read makes no sense"),
            code(-21, "ASGST_DEOPTIMIZING", "frames are being exchanged"),
            CRASH,
        ],
    },
    Walker {
        name: "asgst-queue",
        title: "the safepoint queue of AsyncGetStackTrace",
        api: "functions of libasgst, on stock JDKs",
        source: "walker/include/profile2.h",
        needs: &[Capability::OwnWalker, Capability::FramesInHeap],
        is_explained: true,
        is_foundation: false,
        codes: &[
            code(-1, "ASGST_NO_THREAD", "no Java thread"),
            code(-2, "ASGST_THREAD_EXIT", "the thread ends"),
            code(-3, "ASGST_UNSAFE_STATE", "the thread begins"),
            no_frames(-4, "ASGST_NO_TOP_JAVA_FRAME"),
            code(-5, "ASGST_ENQUEUE_NO_QUEUE", "the thread has no queue"),
            code(-6, "ASGST_ENQUEUE_FULL_QUEUE", "the queue is full"),
            code(
                -7,
                "ASGST_ENQUEUE_OTHER_ERROR",
                "another element is being enqueued",
            ),
            code(-17, "ASGST_NOT_READY", "not prepared"),
            refusal(-18, "ASGST_UNWALKABLE_TOP", "the top is not walkable"),
            refusal(-19, "ASGST_UNWALKABLE_CALLER", "a caller is not walkable"),
            refusal(-20, "ASGST_TORN_STACK", "what was read makes no sense"),
            code(-21, "ASGST_DEOPTIMIZING", "frames are being exchanged"),
            refusal(-22, "ASGST_QUEUE_LEFT", "the thread has left the frames"),
            refusal(
                -23,
                "ASGST_QUEUE_UNMOUNTED",
                "the virtual thread has left its carrier",
            ),
            code(
                -24,
                "ASGST_QUEUE_NOT_SUSPENDED",
                "the thread could not be suspended",
            ),
        ],
    },
    jfr("jfr", "JFR's execution samples"),
    jfr("jfr-cpu", "JFR's CPU-time samples"),
    Walker {
        name: "profiler",
        title: "the given profiler",
        api: "a library that samples by signals",
        source: "the profiler's own",
        needs: &[],
        is_explained: false,
        is_foundation: false,
        codes: PROFILER_CODES,
    },
];

/// The code is Stackwitness's own: these functions have no codes.
const JAVA_CODES: &[ErrorCode] = &[code(
    0,
    "",
    "no answer, or nothing about the thread in the answer",
)];

const fn java(name: &'static str, title: &'static str, api: &'static str) -> Walker {
    Walker {
        name,
        title,
        api,
        source: "share/services/threadService.cpp, share/runtime/vmOperations.cpp",
        needs: &[],
        is_explained: false,
        is_foundation: false,
        codes: JAVA_CODES,
    }
}

/// The codes are Stackwitness's own: JFR writes no codes.
const JFR_CODES: &[ErrorCode] = &[
    code(0, "", "no event for a request"),
    code(-1, "failed", "an event that says that its walk failed"),
];

/// The codes are Stackwitness's own: profilers name their errors in frames.
const PROFILER_CODES: &[ErrorCode] = &[
    code(0, "", "no event for a request"),
    code(
        -1,
        "",
        "an event without a Java frame, and with the profiler's own mark of an error",
    ),
];

const fn jfr(name: &'static str, title: &'static str) -> Walker {
    Walker {
        name,
        title,
        api: "the samplers of JDK Flight Recorder",
        source: "share/jfr/periodic/sampling",
        needs: &[],
        is_explained: false,
        is_foundation: false,
        codes: JFR_CODES,
    }
}

impl Walker {
    /// The walker of a layer, if the layer has one that this version knows.
    pub fn of(layer: Layer) -> Option<&'static Walker> {
        let name = layer.row().walker?;
        WALKERS.iter().find(|walker| walker.name == name)
    }

    /// Whether an error code is about the stack, which the walker refuses.
    pub fn refuses(&self, code: i32) -> bool {
        self.known(code).is_some_and(|known| known.is_refusal)
    }

    /// Whether an error code says that the stack has no Java frames.
    pub fn says_no_frames(&self, code: i32) -> bool {
        self.known(code).is_some_and(|known| known.is_of_no_frames)
    }

    fn known(&self, code: i32) -> Option<&ErrorCode> {
        self.codes.iter().find(|known| known.code == code)
    }

    /// What an error code means; empty if the walker's source has no such code.
    pub fn meaning(&self, code: i32) -> &'static str {
        self.known(code).map_or("", |known| known.meaning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::LAYERS;
    use oracle::tally::LOWEST_ERROR;

    #[test]
    fn every_layer_has_a_walker_that_is_known() {
        for row in &LAYERS {
            let known = Walker::of(row.layer).map(|walker| walker.name);
            assert_eq!(known, row.walker, "{}", row.name);
        }
    }

    #[test]
    fn the_same_code_of_two_walkers_means_two_things() {
        let of = |layer| Walker::of(layer).expect("it has a walker");
        assert_eq!(of(Layer::Gst).meaning(-10), "no valid thread");
        assert_eq!(of(Layer::AsgctAsync).meaning(-10), "safepoint");
        assert_eq!(of(Layer::Gst).meaning(-5), "");
        let refusals = (LOWEST_ERROR..=0)
            .rev()
            .filter(|&code| of(Layer::AsgctAsync).refuses(code));
        assert_eq!(refusals.collect::<Vec<_>>(), [0, -3, -4, -5, -6]);
        assert!(!of(Layer::Gst).refuses(-10));
        for (layer, none) in [(Layer::AsgctStep, 0), (Layer::AsgstStep, -4)] {
            let says = (LOWEST_ERROR..=0).filter(|&code| of(layer).says_no_frames(code));
            assert_eq!(says.collect::<Vec<_>>(), [none]);
        }
        for walker in WALKERS {
            let codes: Vec<_> = walker.codes.iter().map(|code| code.code).collect();
            assert!(codes.is_sorted_by(|a, b| a > b), "{}", walker.name);
            let counted = |code: &i32| (LOWEST_ERROR..=0).contains(code);
            assert!(codes.iter().all(counted), "{}", walker.name);
        }
    }
}
