//! The judge of call edges, which the sampler and the program's own threads share, and its findings in the form of records.

use super::walks::{Judged, Named, Thread, Walks};
use crate::jvm::jni::Env;
use crate::jvm::jvmti::JMethodId;
use crate::jvm::os::clock;
use crate::locks::lock;
use crate::truth::class_files::{self, ClassFiles, Earlier};
use crate::truth::context::Truth;
use crate::truth::methods::hooked::shown_name;
use classfile::instruction::fingerprint;
use hotspot::runtime::{is_hidden, is_launched_by_jdk};
use oracle::edge::{Counts, Finding, Impossible, Unknown};
use oracle::record::FoundEdges;
use oracle::trace::{Frame, MethodKey};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// While the VM is asked about methods, new methods may come. The judge gives the stack up after
/// this many rounds.
const ROUNDS: usize = 4;

/// Judges stacks by class files.
///
/// The lock is never held while the VM is asked, so that its holder never stops at a safepoint.
pub struct EdgeJudge {
    truth: &'static Truth,
    class_files: &'static ClassFiles,
    walks: Mutex<Walks>,
    /// The findings on the edges of GetStackTrace's stacks. The lock is held for a moment only.
    gst: Mutex<Counts>,
    checks: Checks,
}

/// Counts of the checks in hooks.
#[derive(Default)]
struct Checks {
    /// Checks that could not be judged.
    unjudged: AtomicU64,
    /// The time that all checks took.
    nanos: AtomicU64,
}

/// Whether a thread waits for another thread that judges.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Patience {
    /// The sampler: it waits, and reads the classes that were loaded.
    Waits,
    /// A thread of the program: it does not wait, and reads classes only if a stack is impossible.
    Hurries,
}

impl EdgeJudge {
    /// A judge without methods; `None` if class files are not kept. To be called in the live phase.
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
        lock(&self.walks)
    }

    fn gst(&self) -> MutexGuard<'_, Counts> {
        lock(&self.gst)
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

    /// Reads those of `earlier` that are linked by now. What the VM is asked for takes some 0.1 ms a class.
    pub fn read_earlier(&self, earlier: &mut Earlier<'_>) {
        earlier.read(self.truth.jvm.jvmti, self.class_files);
    }

    /// Reads the classes that were loaded since the last call.
    pub fn read_loaded(&self) {
        self.read_into(&mut self.lock());
    }

    /// Called under the lock, so that no thread judges without the classes that were taken from the
    /// queue.
    fn read_into(&self, walks: &mut Walks) {
        for class_file in self.class_files.take() {
            // A class file that breaks the JVMS is refused by the VM.
            _ = walks.read(&class_file);
        }
    }

    /// Whether [`EdgeJudge::learn`] needs a stack of `thread`.
    pub fn wants_start(&self, thread: Thread) -> bool {
        self.lock().wants_start(thread)
    }

    /// The findings of class files on a stack of `thread`; `None` if classes are loaded too fast.
    pub fn findings(&self, env: Env<'_>, thread: Thread, stack: &[Frame]) -> Option<Vec<Finding>> {
        self.judge(env, Patience::Waits, thread, stack, |_| {})
    }

    /// As [`EdgeJudge::findings`], but an edge is impossible only if it is certain of which methods
    /// the edge is. Also `None` if another thread is judging and this thread hurries.
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

    /// The finding on the edge from `caller` to `callee` in any thread; `None` as in
    /// [`EdgeJudge::findings`].
    pub fn edge(&self, env: Env<'_>, caller: Frame, callee: Frame) -> Option<Finding> {
        const ANY: Thread = (0, 0);
        let found = self.findings(env, ANY, &[callee, caller])?;
        found.get(1).copied()
    }

    /// [`EdgeJudge::sure_findings`] on a stack of GetStackTrace. The findings are counted, and the
    /// judge learns from the stack how the thread started.
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

    /// [`EdgeJudge::findings_of_gst`] on the calling thread's own stack, without waiting. The time
    /// that the judge takes is counted.
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

    /// How many checks in hooks were not judged, and how many nanoseconds the other checks took.
    pub fn checks(&self) -> (u64, u64) {
        let Checks { unjudged, nanos } = &self.checks;
        (unjudged.load(Relaxed), nanos.load(Relaxed))
    }

    /// The findings on the edges of GetStackTrace's stacks.
    pub fn counted_of_gst(&self) -> Counts {
        self.gst().clone()
    }

    /// Withdraws impossible edges if it is not certain of which methods an edge is, and finds frames of no method impossible.
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
            let names_none = |frame: &Frame| self.truth.methods.is_made_up(frame.method);
            if *finding == Finding::Unknown(Unknown::Method)
                && stack.get(at).is_some_and(names_none)
            {
                *finding = Finding::Impossible(Impossible::NotAMethod);
            }
        }
        found
    }

    /// Judges a stack. `first` is called before the stack is judged.
    fn judge(
        &self,
        env: Env<'_>,
        patience: Patience,
        thread: Thread,
        stack: &[Frame],
        first: impl Fn(&mut Walks),
    ) -> Option<Vec<Finding>> {
        let mut looked_again = false;
        for _ in 0..ROUNDS {
            let mut walks = self.lock_with(patience)?;
            if patience == Patience::Waits {
                self.read_into(&mut walks);
            }
            first(&mut walks);
            let answer = match walks.findings(thread, stack) {
                // A class that has not been read yet may make the stack possible.
                Judged::Found(found) if found.iter().any(|found| found.is_impossible()) => {
                    self.read_into(&mut walks);
                    walks.findings(thread, stack)
                }
                answer => answer,
            };
            drop(walks);
            let unknown = match answer {
                Judged::Ask(unknown) => unknown,
                Judged::Found(found) => {
                    let suspects = suspects(&found, stack);
                    if looked_again || suspects.is_empty() {
                        return Some(found);
                    }
                    // Another agent may have changed their code since they were asked about.
                    looked_again = true;
                    suspects
                }
            };
            let asked: Vec<_> = unknown.iter().map(|&key| self.ask(env, key)).collect();
            let mut walks = self.lock_with(patience)?;
            self.look_for_altered(&mut walks, asked.iter().flatten());
            for (key, named) in unknown.into_iter().zip(asked) {
                walks.add(key, named);
            }
        }
        None
    }

    /// Distrusts the classes of methods whose code another agent has changed after ours.
    fn look_for_altered<'n>(&self, walks: &mut Walks, methods: impl Iterator<Item = &'n Named>) {
        for method in methods {
            if !walks.is_altered(method) {
                continue;
            }
            // The class file may not be read yet.
            self.read_into(walks);
            if walks.is_altered(method) {
                walks.distrust(method);
                let [class, name, descriptor] = &method.names;
                let name = shown_name(class, name, descriptor);
                self.truth.methods.altered.add(name);
            }
        }
    }

    /// Asks the VM about a method; `None` if the method is gone.
    #[cold]
    fn ask(&self, env: Env<'_>, key: MethodKey) -> Option<Named> {
        let (class, name, descriptor) = self.truth.methods.full_name(env, key)?;
        let hidden = match is_hidden(class.as_bytes()) {
            false => None,
            // Asked for each method, because several classes may have the name over time. A class
            // that cannot be read must not be taken for another class of the name.
            true => Some(class_files::declaring(
                self.truth.jvm.jvmti,
                env,
                JMethodId(key.0),
            )?),
        };
        let methods = &self.truth.methods;
        // A redefined method has other constants than its class file, and doubts of its own.
        let code = if methods.was_redefined(key) {
            None
        } else {
            methods.bytecodes(key, fingerprint)
        };
        Some(Named {
            names: [class, name, descriptor],
            hidden,
            code,
        })
    }
}

/// The methods of the edges that class files forbid.
fn suspects(found: &[Finding], stack: &[Frame]) -> Vec<MethodKey> {
    let findings = found.iter().enumerate();
    let forbidden = findings.filter(|(_, finding)| finding.is_impossible());
    let frames = forbidden.flat_map(|(at, _)| {
        stack
            .get(at.saturating_sub(1)..)
            .unwrap_or_default()
            .iter()
            .take(2)
    });
    frames.map(|frame| frame.method).collect()
}

/// All counts, by finding and reason.
pub fn found_edges(counts: &Counts) -> FoundEdges {
    let edges = counts.findings();
    let edges = edges.map(|(finding, n)| (finding.to_string(), n));
    FoundEdges {
        stacks: counts.stacks(),
        edges: edges.collect(),
    }
}

/// The findings on a stack, for the evidence of a mismatch in any layer.
pub fn odd_edges(found: &[Finding]) -> String {
    let odd = found.iter().enumerate();
    let odd = odd.filter(|(_, finding)| !matches!(finding, Finding::Possible(_)));
    let odd: Vec<_> = odd
        .map(|(at, finding)| format!("frame {at} {finding}"))
        .collect();
    if odd.is_empty() {
        "all possible".into()
    } else {
        odd.join("; ")
    }
}
