//! A safe face over the JVM and the system below it: JNI, JVMTI, the VM's own description of its
//! data, its code and its threads.
//!
//! Nearly all of the agent's `unsafe` is here. References to Java objects are deleted when they are
//! dropped. A function that runs in a signal handler takes a token that only a handler has
//! ([`os::signal::HandlerContext`]). Memory of the VM is read through the kernel, so that a stale
//! address gives an error and no crash ([`vm::memory`]).

pub mod attached;
mod build_id;
pub mod calls;
pub mod code_cache;
pub mod debug_info;
pub mod entry;
pub mod java_thread;
pub mod jni;
pub mod jvmti;
pub mod os;
pub mod remembered_code;
pub mod sight;
pub mod step_facts;
pub mod symbols;
pub mod thunks;

use code_cache::CodeCache;
use debug_info::DebugInfo;
use hotspot::layout::entry::Layout as JavaCalls;
use hotspot::layout::fields::Missing;
use hotspot::layout::flags::Flags;
use hotspot::layout::interpreter::{Interpreter, Layout as InterpreterLayout};
use hotspot::layout::objects;
use java_thread::JavaThreads;
use jni::Vm;
use jvmti::Jvmti;
use oracle::record::{ClassData, VmFlag};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use step_facts::StepFacts;
use vm::memory::kernel::OwnMemory;
use vm::tables::Tables;

/// The VM, and its description of itself.
pub struct Jvm {
    /// The invocation interface.
    pub vm: Vm,
    /// The tool interface.
    pub jvmti: Jvmti,
    /// The debug info of compiled code.
    pub debug_info: Result<DebugInfo, Missing>,
    /// The threads.
    pub java_threads: Result<JavaThreads, Missing>,
    /// The JavaCalls entries.
    pub java_calls: Result<JavaCalls, Missing>,
    /// Code and methods, for the truth by steps.
    pub step_facts: Result<StepFacts, Missing>,
    /// The feature release, such as 25; 0 if the VM does not tell.
    pub feature: u32,
    /// The JDK's folder.
    pub home: PathBuf,
    /// All that the crate `walker` reads.
    pub own_walker: Result<(), Missing>,
    /// Frames of virtual threads in the heap.
    pub frames_in_heap: Result<(), Missing>,
    code_cache: Result<Arc<CodeCache>, Missing>,
    flags: Result<Flags, Missing>,
    interpreter: Result<InterpreterLayout, Missing>,
    codelets: OnceLock<Result<Interpreter, Missing>>,
    inlined_alike: OnceLock<Option<usize>>,
    live: AtomicBool,
}

impl Jvm {
    /// Reads the VM's description of itself.
    pub fn new(vm: Vm, jvmti: Jvmti) -> Jvm {
        let tables = Tables::read();
        let feature = jvmti.system_property(c"java.vm.specification.version");
        let feature = feature.parse().unwrap_or(0);
        let code_cache = find(&tables, CodeCache::find).map(Arc::new);
        Jvm {
            vm,
            jvmti,
            debug_info: find(&tables, |tables| DebugInfo::find(tables, feature)),
            java_threads: find(&tables, JavaThreads::find),
            java_calls: find(&tables, JavaCalls::find),
            step_facts: find(&tables, |tables| {
                StepFacts::find(tables, &code_cache, feature)
            }),
            own_walker: find(&tables, walker::layout::check),
            frames_in_heap: find(&tables, |tables| {
                objects::Layout::find(tables)?.oops.map(drop)
            }),
            code_cache,
            home: jvmti.system_property(c"java.home").into(),
            feature,
            flags: find(&tables, Flags::find),
            interpreter: find(&tables, InterpreterLayout::find),
            codelets: OnceLock::new(),
            inlined_alike: OnceLock::new(),
            live: AtomicBool::new(false),
        }
    }

    /// The code cache.
    pub fn code_cache(&self) -> Result<&CodeCache, &Missing> {
        self.code_cache.as_deref()
    }

    /// The VM's interpreter. To be called in the live phase.
    pub fn interpreter(&self) -> Result<&Interpreter, &Missing> {
        let read = || {
            let found = self.interpreter.clone()?.read(&OwnMemory);
            found.ok_or(Missing::Unexpected(
                "the interpreter's codelets cannot be read",
            ))
        };
        self.codelets.get_or_init(read).as_ref()
    }

    /// Whether it takes classes from an archive. In the live phase.
    pub fn class_data(&self) -> ClassData {
        // As `java -version` shows it: "mixed mode, sharing".
        let info = self.jvmti.system_property(c"java.vm.info");
        // JDK 24 and later have the flag.
        let has_cache = || self.flags.as_ref().ok()?.is_given(&OwnMemory, "AOTCache");
        if !info.contains("sharing") {
            ClassData::Unshared
        } else if has_cache() == Some(true) {
            ClassData::AotCache
        } else {
            ClassData::Archive
        }
    }

    /// The VM's flags; none if they cannot be read.
    pub fn all_flags(&self) -> Vec<VmFlag> {
        let flags = self.flags.as_ref();
        flags.map_or_else(|_| vec![], |flags| flags.all(&OwnMemory))
    }

    /// How many frames of one method a compiled frame may stand for, its own frame included; `None` if that is not
    /// known.
    pub fn most_inlined_alike(&self) -> Option<usize> {
        let read = || self.flags.as_ref().ok()?.most_inlined_alike(&OwnMemory);
        *self.inlined_alike.get_or_init(read)
    }

    /// Whether the VM's time stamps are the processor's counter (`UseFastUnorderedTimeStamps`).
    pub fn stamps_with_counter(&self) -> bool {
        let flags = self.flags.as_ref();
        flags
            .is_ok_and(|flags| flags.is_set(&OwnMemory, "UseFastUnorderedTimeStamps") == Some(true))
    }

    /// Whether stack walkers may be asked: between VM Initialization and VM Death, as long as no
    /// call has failed.
    pub fn is_live(&self) -> bool {
        self.live.load(Relaxed)
    }

    /// Allows or forbids that walkers are asked.
    pub fn set_live(&self, live: bool) {
        self.live.store(live, Relaxed);
    }
}

/// What `find` finds in the VM's tables.
fn find<T>(
    tables: &Result<Tables, Missing>,
    find: impl FnOnce(&Tables) -> Result<T, Missing>,
) -> Result<T, Missing> {
    find(tables.as_ref().map_err(Missing::clone)?)
}
