//! The agent as a whole: what every part of it reaches.

use crate::injection::Liar;
use crate::injection::hook_faults;
use crate::jvm::asgct::Asgct;
use crate::jvm::code_cache::CodeCache;
use crate::jvm::debug_info::DebugInfo;
use crate::jvm::java_thread::JavaThreads;
use crate::jvm::jvmti::Jvmti;
use crate::layers::walks::Edges;
use crate::recorder::Recorder;
use crate::records::file::Records;
use crate::records::slots::Slots;
use crate::truth::classes::Chosen;
use crate::truth::classes::unloading::{self, Unloading};
use crate::truth::light::Light;
use crate::truth::methods::Registry;
use crate::truth::threads::Threads;
use crate::truth::virtual_threads::VirtualThreads;
use jni_sys::JavaVM;
use oracle::record::{Config, Record, Rewriting};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

/// The agent; there is one in a VM.
pub struct Agent {
    /// What the runner asked for.
    pub config: Config,
    /// The VM.
    pub vm: Vm,
    /// The VM's tool interface.
    pub jvmti: Jvmti,
    /// The walker, where the VM has it.
    pub asgct: Option<Asgct>,
    /// The VM's code, where it describes it.
    pub code_cache: Option<CodeCache>,
    /// The VM's debug information, where it describes it.
    pub debug_info: Option<DebugInfo>,
    /// The VM's threads, where it describes them.
    pub java_threads: Option<JavaThreads>,
    /// Counts.
    pub slots: Slots,
    /// Evidence.
    pub records: Records,
    /// Samples for tests, where they are asked for.
    pub recorder: Option<Recorder>,
    /// Methods.
    pub methods: Registry,
    /// Classes that may be unloaded.
    pub unloading: Unloading,
    /// Which methods are hooked.
    pub chosen: Chosen,
    /// Threads.
    pub threads: Threads,
    /// How light hooks find trace stacks, in that mode.
    pub light: Option<Light>,
    /// Virtual threads, where the VM has them.
    pub virtual_threads: Option<VirtualThreads>,
    /// The classes by which call edges are judged, if they are.
    pub edges: Option<Edges>,
    /// Lies for tests of ourselves.
    pub liar: Liar,
    /// What the rewriter did.
    pub rewriting: Mutex<Rewriting>,
    /// Between VMInit and VMDeath: only then walkers may be asked.
    pub live: AtomicBool,
    /// How many mismatches were written down, by layer and verdict.
    pub evidence: Mutex<std::collections::HashMap<(oracle::Layer, oracle::Verdict), u32>>,
}

/// The VM's invocation interface; usable from every thread.
#[derive(Copy, Clone)]
pub struct Vm(pub *mut JavaVM);
// SAFETY: JNI allows it ("The Invocation API").
unsafe impl Send for Vm {}
// SAFETY: as above.
unsafe impl Sync for Vm {}

static AGENT: OnceLock<Agent> = OnceLock::new();

impl Agent {
    /// Makes `agent` the one; false if there is one already.
    pub fn install(agent: Agent) -> bool {
        AGENT.set(agent).is_ok()
    }

    /// The agent, once installed. Async-signal-safe.
    #[inline]
    pub fn get() -> Option<&'static Agent> {
        AGENT.get()
    }

    /// Whether walkers may be asked.
    pub fn is_live(&self) -> bool {
        self.live.load(Relaxed)
    }

    /// What the rewriter did, to change it.
    pub fn rewriting(&self) -> std::sync::MutexGuard<'_, Rewriting> {
        self.rewriting
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Forgets what was unloaded.
    pub fn forget_unloaded(&self) {
        let classes = self.unloading.take(unloading::GRACE);
        let (left, forgotten) = self.methods.forget(&classes);
        let mut rewriting = self.rewriting();
        rewriting.methods_known = left as u64;
        rewriting.methods_forgotten += forgotten as u64;
    }

    /// Writes down what the rewriter did so far.
    pub fn record_rewriting(&self) {
        let now = self.rewriting().clone();
        self.records.write(&Record::Rewriting(now));
        let mut lies = self.liar.counts();
        lies.extend(hook_faults::unsettled(self));
        if !lies.is_empty() {
            self.records.write(&Record::Faults(lies));
        }
    }
}

/// Runs an entry point's body. A panic must not leave it, which would abort the VM: it makes
/// the run invalid instead.
pub fn guard<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown");
        if let Some(agent) = Agent::get() {
            agent.live.store(false, Relaxed);
            agent
                .records
                .write(&Record::Invalid(format!("the agent panicked: {text}")));
        }
        otherwise
    })
}
