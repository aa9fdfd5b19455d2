//! The table of layers: every comparison that Stackwitness makes is one row.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Declares [`Layer`] and [`LAYERS`]: one row for each layer, lowest first.
macro_rules! layers {
    ($($(#[$doc:meta])* $layer:ident = $name:literal {
        walker: $walker:expr, truths: $truths:expr, when: $when:ident, program: $program:ident, usual: $usual:literal,
        budget: $budget:literal, imprecise: [$exact:literal, $light:literal], unexplained: $unexplained:expr,
        compares: $compares:literal,
    })*) => {
        /// A comparison, which rests on the layers before it. Its facts are a row of [`LAYERS`].
        #[derive(
            Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize,
        )]
        pub enum Layer {
            $($(#[$doc])* #[serde(rename = $name)] $layer,)*
        }

        /// All layers, lowest first.
        pub static LAYERS: [LayerRow; Layer::ALL.len()] = [
            $(LayerRow {
                layer: Layer::$layer,
                name: $name,
                walker: $walker,
                truths: &$truths,
                when: When::$when,
                program: ProgramKind::$program,
                usual: $usual,
                budget: $budget,
                imprecise: $exact,
                imprecise_light: $light,
                unexplained: $unexplained,
                compares: $compares,
            },)*
        ];

        impl Layer {
            /// All layers, lowest first.
            pub const ALL: [Layer; [$($name),*].len()] = [$(Layer::$layer),*];
        }
    };
}

use TruthKind::{Classes, Here, Next, Steps, Trace};

layers! {
    /// The trace stack with itself: pushes and pops balance, previous-frame indices hold.
    Ground = "ground" {
        walker: None, truths: [Trace], when: Hook, program: Hooked, usual: true,
        budget: 0.0, imprecise: [0.0, 0.0], unexplained: None,
        compares: "the recorded calls with themselves: do they balance?",
    }
    /// JVMTI GetStackTrace at a `check` with the trace stack, and everywhere with the class files. Checks and events now and
    /// then ask for a part of the stack, too, which is compared with the whole stack.
    Gst = "gst" {
        walker: Some("gst"), truths: [Trace, Classes], when: Check, program: Either, usual: true,
        budget: 0.0, imprecise: [0.0, 0.0], unexplained: None,
        compares: "GetStackTrace with the recorded calls, and with the class files; and its answers for parts of a stack, from a random depth, with the whole stack at the same place",
    }
    /// JVMTI GetStackTrace of another thread, which is suspended, with that thread's trace stack.
    GstOther = "gst-other" {
        walker: Some("gst"), truths: [Trace, Classes], when: Suspend, program: Hooked, usual: true,
        budget: 0.0, imprecise: [0.0, 0.0], unexplained: None,
        compares: "GetStackTrace of another thread, which is suspended, with the recorded calls",
    }
    /// JVMTI GetThreadListStackTraces of a suspended thread with that thread's trace stack.
    GstList = "gst-list" {
        walker: Some("gst-list"), truths: [Trace, Classes], when: Suspend, program: Hooked, usual: true,
        budget: 0.0, imprecise: [0.0, 0.0], unexplained: None,
        compares: "GetThreadListStackTraces of another thread, which is suspended, with the recorded calls",
    }
    /// JVMTI GetAllStackTraces while a thread is suspended with that thread's trace stack.
    GstAll = "gst-all" {
        walker: Some("gst-all"), truths: [Trace, Classes], when: Suspend, program: Hooked, usual: true,
        budget: 0.0, imprecise: [0.0, 0.0], unexplained: None,
        compares: "GetAllStackTraces, of a suspended thread's part, with the recorded calls",
    }
    /// `Thread.getStackTrace` of a suspended thread, with that thread's trace stack.
    JavaThread = "java" {
        walker: Some("java"), truths: [Trace, Classes], when: Suspend, program: Hooked, usual: false,
        budget: 0.0, imprecise: [0.0, 0.0], unexplained: None,
        compares: "Thread.getStackTrace of another thread, which is suspended, with the recorded calls, by class, method and line",
    }
    /// `Thread.getAllStackTraces` while a thread is suspended, with that thread's trace stack.
    JavaAll = "java-all" {
        walker: Some("java-all"), truths: [Trace, Classes], when: Suspend, program: Hooked, usual: false,
        budget: 0.0, imprecise: [0.0, 0.0], unexplained: None,
        compares: "Thread.getAllStackTraces, of a suspended thread's part, with the recorded calls, by class, method and line",
    }
    /// `ThreadMXBean.getThreadInfo` of a suspended thread, with that thread's trace stack.
    Mxbean = "mxbean" {
        walker: Some("mxbean"), truths: [Trace, Classes], when: Suspend, program: Hooked, usual: false,
        budget: 0.0, imprecise: [0.0, 0.0], unexplained: None,
        compares: "ThreadMXBean.getThreadInfo of another thread, which is suspended, with the recorded calls, by class, method and line",
    }
    /// `ThreadMXBean.dumpAllThreads` while a thread is suspended, with that thread's trace stack.
    MxbeanAll = "mxbean-all" {
        walker: Some("mxbean-all"), truths: [Trace, Classes], when: Suspend, program: Hooked, usual: false,
        budget: 0.0, imprecise: [0.0, 0.0], unexplained: None,
        compares: "ThreadMXBean.dumpAllThreads, of a suspended thread's part, with the recorded calls, by class, method and line",
    }
    /// The text of the diagnostic command Thread.print while a thread is suspended, with that thread's trace stack.
    ThreadPrint = "thread-print" {
        walker: Some("thread-print"), truths: [Trace, Classes], when: Suspend, program: Hooked, usual: false,
        budget: 0.0, imprecise: [0.0, 0.0], unexplained: None,
        compares: "the text of a thread dump, as `jcmd PID Thread.print` prints it, of a suspended thread's part, with the recorded calls, by class, method and line",
    }
    /// AsyncGetCallTrace inside a `check` with GetStackTrace at the same place.
    AsgctSafepoint = "asgct-safepoint" {
        walker: Some("asgct"), truths: [Here], when: Check, program: Hooked, usual: true,
        budget: 0.005, imprecise: [0.0, 0.0], unexplained: Some(0.0002),
        compares: "AsyncGetCallTrace with GetStackTrace at the same place",
    }
    /// AsyncGetCallTrace inside an event of JVMTI with GetStackTrace at the same place.
    AsgctEvent = "asgct-event" {
        walker: Some("asgct"), truths: [Here], when: Event, program: Unmodified, usual: true,
        budget: 0.005, imprecise: [0.0, 0.0], unexplained: Some(0.0002),
        compares: "AsyncGetCallTrace with GetStackTrace at the same place, in runs without hooks: where objects are allocated, threads wait for monitors, classes are loaded, and native methods are called",
    }
    /// GetStackTrace at the safepoints of a thread that runs one instruction at a time, with the calls and
    /// returns that the steps show: a check of the truth by steps itself.
    GstStep = "gst-step" {
        walker: Some("gst"), truths: [Steps], when: Step, program: Unmodified, usual: false,
        budget: 0.0, imprecise: [0.0, 0.0], unexplained: None,
        compares: "GetStackTrace with the calls and returns that a thread's steps show, in scenarios with `steps`",
    }
    /// AsyncGetCallTrace at each instruction of a thread that runs one instruction at a time, with the calls
    /// and returns that the steps show.
    AsgctStep = "asgct-step" {
        walker: Some("asgct"), truths: [Steps], when: Step, program: Unmodified, usual: false,
        budget: 0.2, imprecise: [0.5, 0.5], unexplained: None,
        compares: "AsyncGetCallTrace at each instruction with the calls and returns that a thread's steps show, in scenarios with `steps`",
    }
    /// AsyncGetCallTrace in a signal handler with the trace stack copied there.
    AsgctAsync = "asgct-async" {
        walker: Some("asgct"), truths: [Trace, Classes], when: Signal, program: Hooked, usual: true,
        budget: 0.02, imprecise: [0.05, 0.4], unexplained: Some(0.01),
        compares: "AsyncGetCallTrace in a signal handler, at any instant, with the recorded calls, and with the class files",
    }
    /// AsyncGetCallTrace in a signal handler with GetStackTrace at the next safepoint.
    AsgctGst = "asgct-gst" {
        walker: Some("asgct"), truths: [Next, Classes], when: Signal, program: Either, usual: true,
        budget: 0.01, imprecise: [0.0, 0.0], unexplained: Some(0.005),
        compares: "AsyncGetCallTrace in a signal handler with GetStackTrace at the next safepoint",
    }
    /// AsyncGetCallTrace in a signal handler with the class files: can each frame have called
    /// the one above it?
    CallEdge = "call-edge" {
        walker: Some("asgct"), truths: [Classes], when: Signal, program: Unmodified, usual: true,
        budget: 0.05, imprecise: [0.0, 0.0], unexplained: Some(0.01),
        compares: "AsyncGetCallTrace in a signal handler with the class files, in runs without hooks: can each frame have called the one above it?",
    }
    /// AsyncGetStackTrace inside a `check` with GetStackTrace at the same place.
    AsgstSafepoint = "asgst-safepoint" {
        walker: Some("asgst"), truths: [Here], when: Check, program: Hooked, usual: false,
        budget: 0.0, imprecise: [0.0, 0.0], unexplained: None,
        compares: "AsyncGetStackTrace, the library's, with GetStackTrace at the same place",
    }
    /// AsyncGetStackTrace inside an event of JVMTI with GetStackTrace at the same place.
    AsgstEvent = "asgst-event" {
        walker: Some("asgst"), truths: [Here], when: Event, program: Unmodified, usual: false,
        budget: 0.0, imprecise: [0.0, 0.0], unexplained: None,
        compares: "AsyncGetStackTrace with GetStackTrace at the same place, in runs without hooks: as `asgct-event`",
    }
    /// AsyncGetStackTrace at each instruction of a thread that runs one instruction at a time, with the calls
    /// and returns that the steps show.
    AsgstStep = "asgst-step" {
        walker: Some("asgst"), truths: [Steps], when: Step, program: Unmodified, usual: false,
        budget: 0.002, imprecise: [0.005, 0.005], unexplained: None,
        compares: "AsyncGetStackTrace at each instruction: as `asgct-step`, in runs without that layer",
    }
    /// JFR's CPU-time samples that are requested at chosen instructions of a thread that runs one instruction at a
    /// time, with the calls and returns that the steps show.
    JfrCpuStep = "jfr-cpu-step" {
        walker: Some(RecordedSampler::CpuTime.walker()), truths: [Steps], when: Step, program: Unmodified, usual: false,
        budget: 0.2, imprecise: [0.5, 0.5], unexplained: None,
        compares: "JFR's CPU-time samples of JDK 25, requested at chosen instructions, with the calls and returns that a thread's steps show, joined after the run",
    }
    /// The samples of a profiler's library at chosen instructions of a thread that runs one instruction at a time, with the
    /// calls and returns that the steps show.
    ProfilerStep = "profiler-step" {
        walker: Some(RecordedSampler::Profiler.walker()), truths: [Steps], when: Step, program: Unmodified, usual: false,
        budget: 0.2, imprecise: [0.5, 0.5], unexplained: None,
        compares: "the samples of a profiler (`--profiler`), whose handler is called at chosen instructions, with the calls and returns that a thread's steps show, joined after the run",
    }
    /// AsyncGetStackTrace in a signal handler with the trace stack copied there.
    AsgstAsync = "asgst-async" {
        walker: Some("asgst"), truths: [Trace, Classes], when: Signal, program: Hooked, usual: false,
        budget: 0.002, imprecise: [0.01, 0.4], unexplained: None,
        compares: "AsyncGetStackTrace in a signal handler, at any instant, with the recorded calls, and with the class files",
    }
    /// AsyncGetStackTrace in a signal handler with GetStackTrace at the next safepoint.
    AsgstGst = "asgst-gst" {
        walker: Some("asgst"), truths: [Next, Classes], when: Signal, program: Either, usual: false,
        budget: 0.001, imprecise: [0.0, 0.0], unexplained: None,
        compares: "AsyncGetStackTrace in a signal handler with GetStackTrace at the next safepoint",
    }
    /// AsyncGetStackTrace in a signal handler with the class files: can each frame have called
    /// the one above it?
    AsgstEdge = "asgst-edge" {
        walker: Some("asgst"), truths: [Classes], when: Signal, program: Unmodified, usual: false,
        budget: 0.005, imprecise: [0.0, 0.0], unexplained: None,
        compares: "AsyncGetStackTrace in a signal handler with the class files, in runs without hooks: can each frame have called the one above it?",
    }
    /// A sample in the safepoint queue: its top from the signal handler and the frames below from where its thread
    /// is suspended, with the trace stack copied in the handler.
    AsgstQueue = "asgst-queue" {
        walker: Some("asgst-queue"), truths: [Trace, Classes], when: Signal, program: Hooked, usual: false,
        budget: 0.005, imprecise: [0.1, 0.5], unexplained: None,
        compares: "the safepoint queue, whose samples are enqueued in a signal handler and walked while the thread is suspended, with the recorded calls at the signal, and with the class files",
    }
    /// JFR's execution samples with the trace stack copied when JFR's sampler suspended the thread.
    Jfr = "jfr" {
        walker: Some(RecordedSampler::Execution.walker()), truths: [Trace, Classes], when: Request, program: Hooked, usual: false,
        budget: 0.02, imprecise: [0.05, 0.4], unexplained: Some(0.002),
        compares: "JFR's execution samples with the recorded calls at the instant of JFR's own request, and with the class files, joined after the run",
    }
    /// JFR's CPU-time samples with the trace stack copied when the thread's timer fired.
    JfrCpu = "jfr-cpu" {
        walker: Some(RecordedSampler::CpuTime.walker()), truths: [Trace, Classes], when: Request, program: Hooked, usual: false,
        budget: 0.02, imprecise: [0.05, 0.4], unexplained: Some(0.002),
        compares: "JFR's CPU-time samples of JDK 25 with the recorded calls at the instant of JFR's own request, and with the class files, joined after the run",
    }
    /// The samples of a profiler's library with the trace stack copied when the profiler's signal came.
    Profiler = "profiler" {
        walker: Some(RecordedSampler::Profiler.walker()), truths: [Trace, Classes], when: Request, program: Hooked, usual: false,
        budget: 0.1, imprecise: [0.4, 0.4], unexplained: None,
        compares: "the samples of a profiler (`--profiler`) with the recorded calls at the instant of the profiler's own signal, and with the class files, joined after the run",
    }
}

/// The facts of a layer.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct LayerRow {
    /// The layer.
    pub layer: Layer,
    /// Its name on the command line, in files and in reports.
    pub name: &'static str,
    /// The name of the walker that is asked; `None` if the truth is compared with itself.
    pub walker: Option<&'static str>,
    /// The truths with which the walker is compared: first the truth on which the layer rests, then
    /// the other truths that can contradict a walk.
    pub truths: &'static [TruthKind],
    /// The instant at which the walker is asked.
    pub when: When,
    /// The programs in which the layer has checks.
    pub program: ProgramKind,
    /// Whether a scenario that lists no layers has this layer.
    pub usual: bool,
    /// The highest mismatch rate that scenarios allow by default. It is 0 for the layers on which
    /// all others rest. For the others it is three to ten times the rate that JDK 17 and 25 have
    /// because of known defects of their walkers (`docs/findings.md`). A JVM that exceeds the
    /// budget has become worse.
    pub budget: f64,
    /// The highest rate of imprecise stacks that scenarios allow by default. With exact hooks JDK 17
    /// shows 0.1 to 0.2 % in the default scenario.
    pub imprecise: f64,
    /// The corresponding rate for scenarios with light hooks, which do not change inlining much:
    /// JDK 25 shows 2 to 13 % in the default scenario.
    pub imprecise_light: f64,
    /// The highest rate of false stacks without a proven cause; `None` if no causes are looked for, or not all known ones
    /// can be proven. In millions of checks at a safepoint no honest JVM has shown one such stack, so the rate is what
    /// thousands of checks can tell from none. In signal handlers it is half the budget or less: x86-64 has proofs for all known
    /// causes there, other architectures may lack some. Of 106,000 samples of JFR on JDK 17 to 28 three had none.
    pub unexplained: Option<f64>,
    /// The comparison, in a phrase for users.
    pub compares: &'static str,
}

/// Declares [`TruthKind`]: one row for each truth.
macro_rules! truths {
    ($($(#[$doc:meta])* $truth:ident = $name:literal { shown: $shown:literal, checked_by: $layer:ident })*) => {
        /// A kind of truth: the source of the true stack.
        #[derive(Copy, Clone, Debug, Eq, PartialEq)]
        pub enum TruthKind {
            $($(#[$doc])* $truth,)*
        }

        impl TruthKind {
            /// The name in documentation.
            pub const fn name(self) -> &'static str {
                match self {
                    $(TruthKind::$truth => $name,)*
                }
            }

            /// The name in reports: "against …".
            pub const fn shown(self) -> &'static str {
                match self {
                    $(TruthKind::$truth => $shown,)*
                }
            }

            /// The layer that checks this truth itself. Where it has mismatches, no layer that rests on the truth means
            /// anything.
            pub const fn checked_by(self) -> Layer {
                match self {
                    $(TruthKind::$truth => Layer::$layer,)*
                }
            }
        }
    };
}

truths! {
    /// The trace stack of hooked code.
    Trace = "trace" { shown: "recorded calls", checked_by: Ground }
    /// GetStackTrace at the same place.
    Here = "here" { shown: "GetStackTrace at the same place", checked_by: Gst }
    /// GetStackTrace at the next safepoint.
    Next = "next" { shown: "GetStackTrace at the next safepoint", checked_by: Gst }
    /// The calls that class files allow.
    Classes = "classes" { shown: "class files", checked_by: Gst }
    /// The calls and returns that a thread shows which runs one instruction at a time.
    Steps = "steps" { shown: "calls and returns, step by step", checked_by: GstStep }
}

/// The instants at which a walker is asked.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum When {
    /// In every hook.
    Hook,
    /// In a hook that makes a check.
    Check,
    /// In an event that JVMTI reports on the thread itself.
    Event,
    /// In a signal handler, at any instant.
    Signal,
    /// By another thread, while the thread is suspended.
    Suspend,
    /// At each instruction.
    Step,
    /// When the JVM's own sampler or a profiler asks. The answer is in a recording, which is read after the run.
    Request,
}

/// A sampler that asks by itself, and whose answers are in a recording.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum RecordedSampler {
    /// JFR's sampler of execution samples.
    Execution,
    /// JFR's sampler by CPU time.
    CpuTime,
    /// A profiler that samples by signals.
    Profiler,
}

impl RecordedSampler {
    /// The sampler's name as a walker ([`LayerRow::walker`]).
    pub const fn walker(self) -> &'static str {
        match self {
            RecordedSampler::Execution => "jfr",
            RecordedSampler::CpuTime => "jfr-cpu",
            RecordedSampler::Profiler => "profiler",
        }
    }

    /// The layer that judges the samples at the instants that the sampler chooses.
    pub fn layer(self) -> Layer {
        let mut layers = When::Request.layers();
        let found = layers.find(|layer| layer.is_of(self));
        found.expect("each sampler has a layer")
    }
}

impl When {
    /// The layers of this instant, lowest first.
    pub fn layers(self) -> impl Iterator<Item = Layer> {
        let rows = LAYERS.iter().filter(move |row| row.when == self);
        rows.map(|row| row.layer)
    }
}

/// The programs in which a layer has checks.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum ProgramKind {
    /// In programs whose classes are rewritten.
    Hooked,
    /// In programs whose classes are not rewritten.
    Unmodified,
    /// In both kinds of programs.
    Either,
}

impl ProgramKind {
    /// Whether a program is of this kind; `hooked` if its classes are rewritten.
    pub fn is_for(self, hooked: bool) -> bool {
        match self {
            ProgramKind::Hooked => hooked,
            ProgramKind::Unmodified => !hooked,
            ProgramKind::Either => true,
        }
    }
}

impl Layer {
    /// The facts of the layer.
    pub fn row(self) -> &'static LayerRow {
        &LAYERS[self.index()]
    }

    /// The layer's name on the command line, in files and in reports.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The layer's index in [`Layer::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The layers of a scenario that lists none, lowest first.
    pub fn usual() -> Vec<Layer> {
        let rows = LAYERS.iter().filter(|row| row.usual);
        rows.map(|row| row.layer).collect()
    }

    /// Whether the walker's answers are in a recording, which is read after the run, at whatever instant the walker is
    /// asked.
    pub fn is_recorded(self) -> bool {
        let row = self.row();
        let mut requests = LAYERS.iter().filter(|other| other.when == When::Request);
        requests.any(|other| other.walker == row.walker)
    }

    /// The layers whose walkers are asked at each step, of which a run has one: a thread has one answer at a time.
    pub fn of_steps() -> impl Iterator<Item = Layer> {
        When::Step.layers().filter(|layer| !layer.checks_a_truth())
    }

    /// Whether the layer's walker is this sampler.
    pub fn is_of(self, sampler: RecordedSampler) -> bool {
        self.row().walker == Some(sampler.walker())
    }

    /// Whether other layers rest on what the layer compares.
    pub fn checks_a_truth(self) -> bool {
        let mut truths = LAYERS.iter().flat_map(|row| row.truths);
        truths.any(|truth| truth.checked_by() == self)
    }

    /// Whether the layer compares samples, taken at any instant, with the trace stack.
    pub fn is_sampled_with_trace(self) -> bool {
        self.row().when == When::Signal && self.rests_on(Trace)
    }

    /// Whether the layer rests on this truth.
    pub fn rests_on(self, truth: TruthKind) -> bool {
        self.row().truths.first() == Some(&truth)
    }

    /// Whether this truth can contradict a walk in the layer.
    pub fn uses(self, truth: TruthKind) -> bool {
        self.row().truths.contains(&truth)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Layer {
    type Err = String;

    fn from_str(name: &str) -> Result<Layer, String> {
        let found = Layer::ALL.into_iter().find(|layer| layer.name() == name);
        found.ok_or_else(|| {
            let known = Layer::ALL.map(Layer::name).join(", ");
            format!("unknown layer `{name}`; known: {known}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_the_places_of_their_layers() {
        for (place, row) in LAYERS.iter().enumerate() {
            assert_eq!((row.layer.index(), row.layer), (place, Layer::ALL[place]));
            assert_eq!(row.name.parse(), Ok(row.layer));
            let json = serde_json::to_value(row.layer).expect("plain data");
            assert_eq!(json, row.name);
        }
    }

    #[test]
    fn each_truth_is_checked_by_a_layer_of_its_own() {
        let checking = Layer::ALL
            .into_iter()
            .filter(|layer| layer.checks_a_truth());
        let checking: Vec<_> = checking.map(Layer::name).collect();
        assert_eq!(checking, ["ground", "gst", "gst-step"]);
        let step: Vec<_> = Layer::of_steps().map(Layer::name).collect();
        assert_eq!(
            step,
            ["asgct-step", "asgst-step", "jfr-cpu-step", "profiler-step"]
        );
    }

    #[test]
    fn each_sampler_of_the_jvm_has_a_layer_for_its_own_requests() {
        let layers = [
            RecordedSampler::Execution,
            RecordedSampler::CpuTime,
            RecordedSampler::Profiler,
        ]
        .map(RecordedSampler::layer);
        assert_eq!(layers.map(Layer::name), ["jfr", "jfr-cpu", "profiler"]);
    }
}
