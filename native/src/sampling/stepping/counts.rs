//! How many steps threads have made, and why they ran on freely.

use crate::jvm::os::clock;
use oracle::record::StepCounts;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Declares [`End`]: one row for each reason.
macro_rules! ends {
    ($($(#[$doc:meta])* $end:ident = $phrase:literal;)*) => {
        /// Why a thread runs on freely.
        #[derive(Copy, Clone, Debug, Eq, PartialEq)]
        pub enum End {
            $($(#[$doc])* $end,)*
        }

        /// The reasons, in the form of reports.
        const PHRASES: [&str; [$($phrase),*].len()] = [$($phrase),*];
    };
}

ends! {
    /// It is about to enter the kernel, by a call behind which it must not trap.
    Kernel = "enters the kernel for good, or to start a thread";
    /// It has come back from the kernel, and another thread steps.
    Elsewhere = "another thread steps when it comes back from the kernel";
    /// It has been outside of the code cache for long.
    Outside = "long outside of generated code";
    /// Generated code moves frames.
    Code = "generated code moves frames, or frames are not followed";
    /// It has stepped for long.
    Turn = "its turn is over";
    /// Its stack has too many calls.
    TooDeep = "too many calls";
    /// Its stack has little room left.
    NearGuards = "near the end of the stack";
    /// Where it should begin the VM's anchor does not lead to all calls.
    NoCalls = "where it should begin nothing shows its calls";
    /// Where it should begin the calls have no frames, or GetStackTrace fails.
    NoFrames = "where it should begin its calls show no frames";
    /// Where it should begin GetStackTrace does not agree with the calls.
    Disagrees = "where it should begin GetStackTrace does not agree";
    /// It ends.
    ThreadExits = "the thread ends";
    /// GetStackTrace does not agree with the steps.
    Refuted = "GetStackTrace does not agree";
    /// The VM ends, or the time for steps is over.
    Stopped = "the time for steps is over";
}

/// The counts of all threads. One thread at a time adds to them.
#[derive(Default)]
pub struct Counts {
    /// Instructions.
    pub steps: AtomicU64,
    /// Of these the instants at which the walker was asked.
    pub instants: AtomicU64,
    /// Of these those that could not be judged.
    pub unjudged: AtomicU64,
    ends: [AtomicU64; PHRASES.len()],
}

/// The counts.
pub static COUNTS: Counts = Counts {
    steps: AtomicU64::new(0),
    instants: AtomicU64::new(0),
    unjudged: AtomicU64::new(0),
    ends: [const { AtomicU64::new(0) }; PHRASES.len()],
};

impl Counts {
    /// Adds one. Async-signal-safe.
    pub fn add(count: &AtomicU64) {
        count.fetch_add(1, Relaxed);
    }

    /// A thread runs on freely. Async-signal-safe.
    pub fn ended(&self, end: End) {
        Counts::add(&self.ends[end as usize]);
    }

    /// The counts in the form of reports.
    pub fn read(&self) -> StepCounts {
        let ends = PHRASES.iter().zip(&self.ends);
        let ends = ends.map(|(phrase, count)| ((*phrase).to_owned(), count.load(Relaxed)));
        StepCounts {
            steps: self.steps.load(Relaxed),
            instants: self.instants.load(Relaxed),
            unjudged: self.unjudged.load(Relaxed),
            ends: ends.filter(|&(_, count)| count > 0).collect(),
            nanos: clock::since_start(),
            ..StepCounts::default()
        }
    }
}
