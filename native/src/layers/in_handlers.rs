//! Instants at which a thread was in a handler of another signal.
//!
//! A profiler that samples by signals may be in the JVM too. While its handler runs, the thread is between two
//! instructions of the program as far as the program knows, and what a walker says of the handler's own code is no
//! answer about the program. Such instants are no checks. They are counted by the library of the handler.

use crate::jvm::os::earlier;
use crate::jvm::os::signal_set::{SIGNALS, SignalSet};
use crate::jvm::symbols;
use oracle::record::Record;
use std::collections::BTreeMap;
use std::ffi::c_int;

/// How often threads were met in handlers.
pub struct InHandlers {
    /// The handler of each signal that was seen last. A profiler that stops takes its handler away.
    seen: [usize; SIGNALS],
    counts: BTreeMap<String, u64>,
    written: bool,
}

impl InHandlers {
    /// No thread was met in one.
    pub fn new() -> InHandlers {
        InHandlers {
            seen: [libc::SIG_DFL; SIGNALS],
            counts: BTreeMap::new(),
            written: true,
        }
    }

    /// Looks at the handlers that are installed.
    pub fn look(&mut self) {
        for signal in 1..SIGNALS as c_int {
            self.look_at(signal);
        }
    }

    fn look_at(&mut self, signal: c_int) -> Option<usize> {
        let seen = &mut self.seen[signal as usize];
        // The C library keeps two signals for itself, and refuses to tell.
        if let Ok(found) = earlier::find(signal)
            && ![libc::SIG_DFL, libc::SIG_IGN].contains(&found.sa_sigaction)
        {
            *seen = found.sa_sigaction;
        }
        (*seen != libc::SIG_DFL).then_some(*seen)
    }

    /// Counts an instant at which the handlers of `handled` were running. Returns whether there was one: a thread may
    /// have blocked a signal that has none.
    pub fn has_met(&mut self, handled: SignalSet) -> bool {
        let Some(handler) = handled.signals().find_map(|signal| self.look_at(signal)) else {
            return false;
        };
        let library = symbols::library(handler).unwrap_or_else(|| "code of no library".into());
        *self.counts.entry(library).or_default() += 1;
        self.written = false;
        true
    }

    /// The counts, if they have changed since they were taken last.
    pub fn take_new(&mut self) -> Option<Record> {
        let is_new = !std::mem::replace(&mut self.written, true);
        is_new.then(|| Record::InHandlers(self.counts.clone()))
    }
}
