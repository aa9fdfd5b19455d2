//! The walkers of a HotSpot JVM: their names, and the meaning of their error codes.

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

/// Reports count JVMTI's codes with a minus sign, and those above 15 as 15.
const JVMTI_CODES: &[ErrorCode] = &[
    code(-10, "JVMTI_ERROR_INVALID_THREAD", "no valid thread"),
    code(
        -15,
        "JVMTI_ERROR_THREAD_NOT_ALIVE",
        "the thread is not alive, or a code above 15",
    ),
];

const fn jvmti(name: &'static str, title: &'static str) -> Walker {
    Walker {
        name,
        title,
        api: "JVMTI",
        source: "the JVMTI specification, chapter \"Error Codes\"",
        codes: JVMTI_CODES,
    }
}

/// The code of Stackwitness's own for a walk that has crashed. Only walks of threads that run one instruction
/// at a time survive a crash of the walker.
pub const CRASHED: i32 = -14;

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
            code(-11, "", "no code of the JVM"),
            code(-12, "", "no code of the JVM"),
            code(-13, "", "no code of the JVM"),
            code(
                CRASHED,
                "",
                "the walker crashed, where threads run one instruction at a time",
            ),
            code(-15, "", "no code of the JVM, or one below -15"),
        ],
    },
    Walker {
        name: "asgst",
        title: "AsyncGetStackTrace",
        api: "a function of libasgst, on stock JDKs",
        source: "walker/include/profile2.h, where -11 to -15 are -17 to -21",
        codes: &[
            code(-1, "ASGST_NO_THREAD", "no Java thread"),
            code(-2, "ASGST_THREAD_EXIT", "the thread ends"),
            code(-3, "ASGST_UNSAFE_STATE", "the thread begins"),
            no_frames(-4, "ASGST_NO_TOP_JAVA_FRAME"),
            code(-11, "ASGST_NOT_READY", "not prepared"),
            refusal(-12, "ASGST_UNWALKABLE_TOP", "the top is not walkable"),
            refusal(-13, "ASGST_UNWALKABLE_CALLER", "a caller is not walkable"),
            refusal(-14, "ASGST_TORN_STACK", "what was read makes no sense"),
            code(-15, "ASGST_DEOPTIMIZING", "frames are being exchanged"),
        ],
    },
    Walker {
        name: "asgst-queue",
        title: "the safepoint queue of AsyncGetStackTrace",
        api: "functions of libasgst, on stock JDKs",
        source: "walker/include/profile2.h, where -8 to -10 are -22 to -24, and -11 to -15 are -17 to -21",
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
                "the queue is being processed",
            ),
            refusal(-8, "ASGST_QUEUE_LEFT", "the thread has left the frames"),
            refusal(
                -9,
                "ASGST_QUEUE_UNMOUNTED",
                "the virtual thread has left its carrier",
            ),
            code(
                -10,
                "ASGST_QUEUE_NOT_SUSPENDED",
                "the thread could not be suspended",
            ),
            code(-11, "ASGST_NOT_READY", "not prepared"),
            refusal(-12, "ASGST_UNWALKABLE_TOP", "the top is not walkable"),
            refusal(-13, "ASGST_UNWALKABLE_CALLER", "a caller is not walkable"),
            refusal(-14, "ASGST_TORN_STACK", "what was read makes no sense"),
            code(-15, "ASGST_DEOPTIMIZING", "frames are being exchanged"),
        ],
    },
    jfr("jfr", "JFR's execution samples"),
    jfr("jfr-cpu", "JFR's CPU-time samples"),
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
        codes: JAVA_CODES,
    }
}

/// The codes are Stackwitness's own: JFR writes no codes.
const JFR_CODES: &[ErrorCode] = &[
    code(0, "", "no event for a request"),
    code(-1, "failed", "an event that says that its walk failed"),
];

const fn jfr(name: &'static str, title: &'static str) -> Walker {
    Walker {
        name,
        title,
        api: "the samplers of JDK Flight Recorder",
        source: "share/jfr/periodic/sampling",
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
        let refusals = (-15..=0)
            .rev()
            .filter(|&code| of(Layer::AsgctAsync).refuses(code));
        assert_eq!(refusals.collect::<Vec<_>>(), [0, -3, -4, -5, -6]);
        assert!(!of(Layer::Gst).refuses(-10));
        for (layer, none) in [(Layer::AsgctStep, 0), (Layer::AsgstStep, -4)] {
            let says = (-15..=0).filter(|&code| of(layer).says_no_frames(code));
            assert_eq!(says.collect::<Vec<_>>(), [none]);
        }
        for walker in WALKERS {
            let codes: Vec<_> = walker.codes.iter().map(|code| code.code).collect();
            assert!(codes.is_sorted_by(|a, b| a > b), "{}", walker.name);
        }
    }
}
