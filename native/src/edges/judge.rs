//! The judge of call edges, which the sampler and the program's own threads share.

use super::walks::{Answer, Named, Thread, Walks};
use crate::jvm::jni::Env;
use crate::jvm::jvmti::JMethodId;
use crate::jvm::os::clock;
use crate::truth::class_files::ClassFiles;
use crate::truth::classes::hidden;
use crate::truth::context::Truth;
use hotspot::runtime::{is_hidden, is_launched_by_jdk};
use oracle::edge::{Counts, Finding, Unknown};
use oracle::trace::{Frame, MethodKey};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// While the VM is asked about methods, others may come: the stack is given up after so many rounds.
const ROUNDS: usize = 4;

/// Judges stacks by class files.
///
/// The lock is never held while the VM is asked, so that its holder never stops at a safepoint.
pub struct EdgeJudge {
    truth: &'static Truth,
    class_files: &'static ClassFiles,
    walks: Mutex<Walks>,
    /// What was found of the edges of GetStackTrace's stacks. The lock is held for a moment only.
    gst: Mutex<Counts>,
    checks: Checks,
}

/// What checks in hooks came to.
#[derive(Default)]
struct Checks {
    /// Those that could not be judged.
    unjudged: AtomicU64,
    /// The time that all of them took.
    nanos: AtomicU64,
}

/// Whether a thread waits for another one that judges.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Patience {
    /// The thread waits, and reads the classes that were loaded: the sampler.
    Waits,
    /// The thread does neither, unless a stack is impossible: a thread of the program.
    Hurries,
}

impl EdgeJudge {
    /// Knows no method yet; none if class files are not kept. In the live phase.
    pub fn new(truth: &'static Truth) -> Option<EdgeJudge> {
        let class_files = truth.class_files.as_ref()?;
        let launcher = truth.jvm.jvmti.system_property(c"sun.java.launcher");
        let walks = Walks::new(is_launched_by_jdk(Some(&launcher)));
        Some(EdgeJudge {
            truth,
            class_files,
            walks: Mutex::new(walks),
            gst: Mutex::default(),
            checks: Checks::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Walks> {
        self.walks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gst(&self) -> MutexGuard<'_, Counts> {
        self.gst.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_with(&self, patience: Patience) -> Option<MutexGuard<'_, Walks>> {
        match patience {
            Patience::Waits => Some(self.lock()),
            Patience::Hurries => match self.walks.try_lock() {
                Ok(walks) => Some(walks),
                Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            },
        }
    }

    /// Reads the classes that were loaded since.
    pub fn read_loaded(&self) {
        self.read_into(&mut self.lock());
    }

    /// Under the lock, so that nobody judges without classes that were taken already.
    fn read_into(&self, walks: &mut Walks) {
        for class_file in self.class_files.take() {
            // One that breaks the JVMS is for the VM to refuse.
            _ = walks.read(&class_file);
        }
    }

    /// Whether [`EdgeJudge::learn`] is to be told a stack of `thread`.
    pub fn wants_start(&self, thread: Thread) -> bool {
        self.lock().wants_start(thread)
    }

    /// What the class files say of a stack of `thread`; none if classes come too fast.
    pub fn findings(&self, env: Env<'_>, thread: Thread, stack: &[Frame]) -> Option<Vec<Finding>> {
        self.judge(env, Patience::Waits, thread, stack, |_| {})
    }

    /// The same, but an edge is impossible only if it is sure which methods the edge is of. None
    /// either if another thread is judging and this one hurries.
    pub fn sure_findings(
        &self,
        env: Env<'_>,
        patience: Patience,
        thread: Thread,
        stack: &[Frame],
    ) -> Option<Vec<Finding>> {
        let found = self.judge(env, patience, thread, stack, |_| {})?;
        Some(self.settle(found, stack))
    }

    /// [`EdgeJudge::sure_findings`] of a stack by GetStackTrace, which are counted. From the stack
    /// the judge learns how the thread started.
    pub fn findings_of_gst(
        &self,
        env: Env<'_>,
        patience: Patience,
        thread: Thread,
        gst: &[Frame],
    ) -> Option<Vec<Finding>> {
        let found = self.judge(env, patience, thread, gst, |walks| walks.learn(thread, gst))?;
        let found = self.settle(found, gst);
        self.gst().add(&found);
        Some(found)
    }

    /// [`EdgeJudge::findings_of_gst`] on the thread that has the stack, which does not wait. What the
    /// judge takes of the thread's time is counted.
    pub fn findings_here(
        &self,
        env: Env<'_>,
        thread: Thread,
        gst: &[Frame],
    ) -> Option<Vec<Finding>> {
        let start = clock::since_start();
        let found = self.findings_of_gst(env, Patience::Hurries, thread, gst);
        let took = clock::since_start().saturating_sub(start);
        self.checks.nanos.fetch_add(took, Relaxed);
        if found.is_none() {
            self.checks.unjudged.fetch_add(1, Relaxed);
        }
        found
    }

    /// How many checks in hooks were not judged, and how many nanoseconds the others took.
    pub fn checks(&self) -> (u64, u64) {
        let Checks { unjudged, nanos } = &self.checks;
        (unjudged.load(Relaxed), nanos.load(Relaxed))
    }

    /// What was found of the edges of GetStackTrace's stacks.
    pub fn counted_of_gst(&self) -> Counts {
        self.gst().clone()
    }

    /// Takes back what was found impossible where it is not sure which methods an edge is of.
    fn settle(&self, mut found: Vec<Finding>, stack: &[Frame]) -> Vec<Finding> {
        let is_doubtful = |at: usize| {
            let frame = stack.get(at);
            frame.is_some_and(|frame| self.truth.methods.is_doubtful_frame(frame))
        };
        for (at, finding) in found.iter_mut().enumerate() {
            let is_edge_doubtful = || is_doubtful(at) || at > 0 && is_doubtful(at - 1);
            if finding.is_impossible() && is_edge_doubtful() {
                *finding = Finding::Unknown(Unknown::Method);
            }
        }
        found
    }

    /// `first` is called before the stack is judged.
    fn judge(
        &self,
        env: Env<'_>,
        patience: Patience,
        thread: Thread,
        stack: &[Frame],
        first: impl Fn(&mut Walks),
    ) -> Option<Vec<Finding>> {
        for _ in 0..ROUNDS {
            let mut walks = self.lock_with(patience)?;
            if patience == Patience::Waits {
                self.read_into(&mut walks);
            }
            first(&mut walks);
            let answer = match walks.findings(thread, stack) {
                // A class that was not read yet may make the stack possible.
                Answer::Found(found) if found.iter().any(|found| found.is_impossible()) => {
                    self.read_into(&mut walks);
                    walks.findings(thread, stack)
                }
                answer => answer,
            };
            drop(walks);
            let unknown = match answer {
                Answer::Found(found) => return Some(found),
                Answer::Ask(unknown) => unknown,
            };
            let asked: Vec<_> = unknown.iter().map(|&key| self.ask(env, key)).collect();
            let mut walks = self.lock_with(patience)?;
            for (key, named) in unknown.into_iter().zip(asked) {
                walks.add(key, named);
            }
        }
        None
    }

    /// Asks the VM about a method; none if the method is gone.
    #[cold]
    fn ask(&self, env: Env<'_>, key: MethodKey) -> Option<Named> {
        let (class, name, descriptor) = self.truth.methods.full_name(env, key)?;
        let hidden = match is_hidden(class.as_bytes()) {
            false => None,
            // Once a method: classes that hide behind one name come and go. One that cannot be
            // read must not be taken for another of its name.
            true => Some(hidden::class_file(
                self.truth.jvm.jvmti,
                env,
                JMethodId(key.0),
            )?),
        };
        let names = [class, name, descriptor];
        Some(Named { names, hidden })
    }
}
