//! A safe face over the JVM and the system below it: JNI, JVMTI, the VM's own description of its
//! data, its code and its threads.
//!
//! Nearly all of the agent's `unsafe` is here. References to Java objects are deleted when they are
//! dropped. A function that runs in a signal handler takes a token that only a handler has
//! ([`os::signal::HandlerContext`]). Memory of the VM is read through the kernel, so that a stale
//! address gives an error and no crash ([`os::peek`]).

pub mod attached;
pub mod calls;
pub mod code_cache;
pub mod debug_info;
pub mod entry;
pub mod java_thread;
pub mod jni;
pub mod jvmti;
pub mod library;
pub mod os;
pub mod step_facts;
pub mod structs;
pub mod symbols;
pub mod thunks;

use code_cache::CodeCache;
use debug_info::DebugInfo;
use hotspot::vm::entry::Layout as JavaCalls;
use hotspot::vm::flags::Flags;
use hotspot::vm::interpreter::{Interpreter, Layout as InterpreterLayout};
use java_thread::JavaThreads;
use jni::Vm;
use jvmti::Jvmti;
use oracle::record::ClassData;
use os::peek::OwnMemory;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use step_facts::StepFacts;
use structs::Structs;

/// The VM, and its description of itself.
pub struct Jvm {
    /// The invocation interface.
    pub vm: Vm,
    /// The tool interface.
    pub jvmti: Jvmti,
    /// The code cache, if the VM describes it.
    pub code_cache: Option<CodeCache>,
    /// The debug info, if the VM describes it.
    pub debug_info: Option<DebugInfo>,
    /// The threads, if the VM describes them.
    pub java_threads: Option<JavaThreads>,
    /// The JavaCalls entries, if the VM describes them.
    pub java_calls: Option<JavaCalls>,
    /// Code and methods, for the truth by steps, if the VM describes them.
    pub step_facts: Option<StepFacts>,
    /// The feature release, such as 25; 0 if the VM does not tell.
    pub feature: u32,
    flags: Option<Flags>,
    interpreter: Option<InterpreterLayout>,
    codelets: OnceLock<Option<Interpreter>>,
    inlined_alike: OnceLock<Option<usize>>,
    live: AtomicBool,
}

impl Jvm {
    /// Reads the VM's description of itself.
    pub fn new(vm: Vm, jvmti: Jvmti) -> Jvm {
        let structs = Structs::read(jvmti);
        let structs = structs.as_ref();
        let feature = jvmti.system_property(c"java.vm.specification.version");
        let feature = feature.parse().unwrap_or(0);
        Jvm {
            vm,
            jvmti,
            code_cache: structs.and_then(CodeCache::find),
            debug_info: structs.and_then(|structs| DebugInfo::find(structs, feature)),
            java_threads: structs.and_then(JavaThreads::find),
            java_calls: structs.and_then(JavaCalls::find),
            step_facts: structs.and_then(|structs| StepFacts::find(structs, feature)),
            feature,
            flags: structs.and_then(Flags::find),
            interpreter: structs.and_then(InterpreterLayout::find),
            codelets: OnceLock::new(),
            inlined_alike: OnceLock::new(),
            live: AtomicBool::new(false),
        }
    }

    /// The VM's interpreter. To be called in the live phase.
    pub fn interpreter(&self) -> Option<&Interpreter> {
        let read = || self.interpreter?.read(&OwnMemory);
        self.codelets.get_or_init(read).as_ref()
    }

    /// Whether it takes classes from an archive. In the live phase.
    pub fn class_data(&self) -> ClassData {
        // As `java -version` shows it: "mixed mode, sharing".
        let info = self.jvmti.system_property(c"java.vm.info");
        // JDK 24 and later have the flag.
        let has_cache = || self.flags?.is_given(&OwnMemory, "AOTCache");
        if !info.contains("sharing") {
            ClassData::Unshared
        } else if has_cache() == Some(true) {
            ClassData::AotCache
        } else {
            ClassData::Archive
        }
    }

    /// How many frames of one method a compiled frame may stand for, its own frame included; `None` if that is not
    /// known.
    pub fn most_inlined_alike(&self) -> Option<usize> {
        let read = || self.flags?.most_inlined_alike(&OwnMemory);
        *self.inlined_alike.get_or_init(read)
    }

    /// Whether the VM's time stamps are the processor's counter (`UseFastUnorderedTimeStamps`).
    pub fn stamps_with_counter(&self) -> bool {
        let flags = self.flags.as_ref();
        flags.and_then(|flags| flags.is_set(&OwnMemory, "UseFastUnorderedTimeStamps")) == Some(true)
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
