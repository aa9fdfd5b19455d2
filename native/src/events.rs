//! The agent's life: from its loading through the VM's events to the VM's death.

use crate::agent::{Agent, Vm, guard};
use crate::hooks;
use crate::injection::Liar;
use crate::injection::hook_faults;
use crate::jvm::asgct::Asgct;
use crate::jvm::code_cache::CodeCache;
use crate::jvm::debug_info::DebugInfo;
use crate::jvm::java_thread::JavaThreads;
use crate::jvm::jvmti::{Capability, Event, EventCallbacks, Jvmti, RawEnv};
use crate::jvm::structs::Structs;
use crate::layers::walks::Edges;
use crate::recorder::Recorder;
use crate::records::claim;
use crate::records::file::Records;
use crate::records::slots::Slots;
use crate::sampling::sampler::{self, Sampler};
use crate::truth::classes::unloading::Unloading;
use crate::truth::light::Light;
use crate::truth::methods::Registry;
use crate::truth::threads::{ThreadState, Threads};
use crate::truth::virtual_threads::VirtualThreads;
use crate::truth::{classes, virtual_threads};
use jni_sys::{JNIEnv, JavaVM, jclass, jint, jlong, jobject};
use oracle::Hooking;
use oracle::record::{Config, RECORDS_FILE, Record, SLOTS_FILE, Started};
use std::ffi::{CStr, c_char, c_uchar};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

static SAMPLER: Mutex<Option<Sampler>> = Mutex::new(None);

fn running_sampler() -> MutexGuard<'static, Option<Sampler>> {
    SAMPLER
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Prepares the agent with the configuration at `path`. Prepares nothing if another JVM has the
/// run.
///
/// # Safety
/// `vm` must be the VM's, in its OnLoad phase.
pub unsafe fn load(vm: *mut JavaVM, path: &str) -> Result<(), String> {
    let text = std::fs::read(path).map_err(|e| format!("cannot read `{path}`: {e}"))?;
    let config: Config =
        serde_json::from_slice(&text).map_err(|e| format!("`{path}` is no configuration: {e}"))?;
    if !claim::take(&config.run_dir).map_err(|e| format!("cannot claim the run: {e}"))? {
        return Ok(());
    }
    // SAFETY: as the caller promised.
    let jvmti = unsafe { Jvmti::new(vm) }.ok_or("this VM has no JVMTI 11")?;
    let io = |what: &'static str| move |e: std::io::Error| format!("cannot open the {what}: {e}");
    let slots = Slots::map(&config.run_dir.join(SLOTS_FILE)).map_err(io("slots"))?;
    let records = Records::open(&config.run_dir.join(RECORDS_FILE)).map_err(io("records"))?;

    let mut capabilities = vec![
        Capability::GetLineNumbers,
        Capability::GetBytecodes,
        Capability::GetConstantPool,
        Capability::TagObjects,
        Capability::ObjectFreeEvents,
    ];
    let mut events = vec![
        Event::VmInit,
        Event::VmDeath,
        Event::ThreadStart,
        Event::ThreadEnd,
        // Enabled, AsyncGetCallTrace answers at all.
        Event::ClassLoad,
        Event::ClassPrepare,
        Event::ObjectFree,
    ];
    if config.hooks.is_on() {
        capabilities.extend([
            Capability::AllClassHookEvents,
            Capability::EarlyVmStart,
            Capability::EarlyClassHookEvents,
        ]);
        events.extend([Event::VmStart, Event::ClassFileLoadHook]);
    } else if config.edges {
        capabilities.extend([
            Capability::AllClassHookEvents,
            Capability::EarlyClassHookEvents,
        ]);
        events.push(Event::ClassFileLoadHook);
    }
    let jvmti_error = |what: &'static str| move |e| format!("JVMTI refuses {what}: error {e}");
    jvmti
        .add_capabilities(&capabilities)
        .map_err(jvmti_error("capabilities"))?;
    jvmti
        .set_callbacks(&callbacks())
        .map_err(jvmti_error("callbacks"))?;

    let virtual_threads = VirtualThreads::enable(&jvmti);
    if virtual_threads.is_some() {
        events.push(Event::VirtualThreadEnd);
    }
    hook_faults::configure(config.sabotage, config.sabotage_one_in);
    let structs = Structs::read(&jvmti);
    let feature = jvmti.system_property(c"java.vm.specification.version");
    let feature = feature.parse().unwrap_or(0);
    let recorder = match config.record_samples {
        0 => None,
        limit => Some(
            Recorder::open(&config.run_dir, limit)
                .map_err(|e| format!("cannot write samples: {e}"))?,
        ),
    };
    let agent = Agent {
        vm: Vm(vm),
        jvmti,
        asgct: Asgct::find(&jvmti),
        code_cache: structs.as_ref().and_then(CodeCache::find),
        debug_info: structs.as_ref().and_then(|s| DebugInfo::find(s, feature)),
        java_threads: structs.as_ref().and_then(JavaThreads::find),
        slots,
        records,
        recorder,
        methods: Registry::new(jvmti),
        unloading: Unloading::default(),
        chosen: classes::Chosen::new(&config),
        threads: Threads::new(config.seed),
        light: match config.hooks {
            Hooking::Light => Some(Light::default()),
            Hooking::None | Hooking::Exact => None,
        },
        virtual_threads,
        edges: config.edges.then(Edges::default),
        liar: Liar::new(config.faults.clone(), config.seed),
        rewriting: Mutex::default(),
        live: AtomicBool::new(false),
        evidence: Mutex::default(),
        config,
    };
    if !Agent::install(agent) {
        return Err("it is loaded already".into());
    }
    for event in events {
        jvmti
            .set_event(event, true)
            .map_err(jvmti_error("an event"))?;
    }
    Ok(())
}

fn callbacks() -> EventCallbacks {
    EventCallbacks {
        vm_init: Some(vm_init),
        vm_death: Some(vm_death),
        thread_start: Some(thread_start),
        thread_end: Some(thread_end),
        class_file_load_hook: Some(class_file_load_hook),
        class_load: Some(class_load),
        class_prepare: Some(class_prepare),
        vm_start: Some(vm_start),
        object_free: Some(object_free),
        virtual_thread_end: Some(virtual_threads::end),
        ..EventCallbacks::default()
    }
}

fn invalid(agent: &Agent, reason: String) {
    agent.records.write(&Record::Invalid(reason));
}

unsafe extern "system" fn vm_start(_: RawEnv, env: *mut JNIEnv) {
    guard((), || {
        let Some(agent) = Agent::get() else { return };
        // SAFETY: the VM gives this thread's environment.
        if let Err(reason) = unsafe { classes::define_hook_class(agent, env) } {
            // The classes loaded so far call the hooks: the VM cannot go on.
            invalid(agent, reason.clone());
            eprintln!("stackwitness: {reason}");
            std::process::exit(1);
        }
    });
}

unsafe extern "system" fn vm_init(_: RawEnv, env: *mut JNIEnv, thread: jobject) {
    guard((), || {
        let Some(agent) = Agent::get() else { return };
        let property = |name: &CStr| agent.jvmti.system_property(name);
        agent.records.write(&Record::Started(Started {
            home: property(c"java.home"),
            vendor: property(c"java.vm.vendor"),
            version: property(c"java.vm.version"),
            vm: property(c"java.vm.name"),
            asgct: agent.asgct.is_some(),
        }));
        for class in agent.jvmti.loaded_classes().unwrap_or_default() {
            classes::create_method_ids(agent, class);
            // SAFETY: a local reference of this thread, not used again.
            unsafe { ((**env).v1_1.DeleteLocalRef)(env, class) };
        }
        // SAFETY: the VM gives this thread's environment, in the live phase.
        unsafe { hooks::find_vm_errors(env) };
        if agent.config.hooks.is_on() {
            // SAFETY: as above.
            if let Err(reason) = unsafe { classes::learn_hook_calls(agent, env) } {
                invalid(agent, reason);
            }
        }
        begin_thread(agent, env, thread);
        if let Some(threads) = &agent.java_threads {
            // SAFETY: as above; `thread` is this thread.
            unsafe { threads.learn(env, thread) };
        }
        agent.live.store(true, Relaxed);
        match sampler::start(agent) {
            Ok(sampler) => *running_sampler() = Some(sampler),
            Err(error) => invalid(agent, format!("the sampler cannot start: {error}")),
        }
    });
}

unsafe extern "system" fn vm_death(_: RawEnv, _: *mut JNIEnv) {
    guard((), || {
        let Some(agent) = Agent::get() else { return };
        agent.live.store(false, Relaxed);
        if let Some(sampler) = running_sampler().take()
            && !sampler.stop()
        {
            // It waits for a thread that reaches no safepoint; the VM's end ends it.
            agent.rewriting().late_samplers += 1;
        }
        agent.record_rewriting();
        agent.records.write(&Record::Ended);
    });
}

fn begin_thread(agent: &Agent, env: *mut JNIEnv, thread: jobject) {
    Threads::revive();
    if let Some(state) = agent.threads.enter(env) {
        // SAFETY: a valid local reference of this thread.
        let object = unsafe { ((**env).v1_1.NewGlobalRef)(env, thread) };
        agent.threads.set_object(state, object);
        if let Some(light) = &agent.light {
            light.show(state, true);
        }
    }
}

unsafe extern "system" fn thread_start(_: RawEnv, env: *mut JNIEnv, thread: jobject) {
    guard((), || {
        if let Some(agent) = Agent::get() {
            begin_thread(agent, env, thread);
        }
    });
}

unsafe extern "system" fn thread_end(_: RawEnv, env: *mut JNIEnv, _: jobject) {
    guard((), || {
        if let Some(agent) = Agent::get() {
            end_thread(agent, env);
        }
    });
}

/// The calling thread ends.
pub fn end_thread(agent: &Agent, env: *mut JNIEnv) {
    let Some(state) = ThreadState::current() else {
        return;
    };
    if agent.config.hooks.is_on() {
        hooks::end_thread(agent, state, env);
    }
    if let Some(light) = &agent.light {
        light.show(state, false);
    }
    let object = agent.threads.leave(state);
    if !object.is_null() {
        // SAFETY: the state's global reference, which nobody finds any more.
        unsafe { ((**env).v1_1.DeleteGlobalRef)(env, object) };
    }
}

unsafe extern "system" fn class_load(_: RawEnv, _: *mut JNIEnv, _: jobject, _: jclass) {}

unsafe extern "system" fn class_prepare(_: RawEnv, env: *mut JNIEnv, _: jobject, class: jclass) {
    guard((), || {
        if let Some(agent) = Agent::get() {
            classes::prepared(agent, env, class);
        }
    });
}

/// The VM may be at a safepoint: nothing of it may be called.
unsafe extern "system" fn object_free(_: RawEnv, tag: jlong) {
    guard((), || {
        if let Some(agent) = Agent::get() {
            agent.unloading.note(tag);
        }
    });
}

#[allow(clippy::too_many_arguments, reason = "JVMTI's own signature")]
unsafe extern "system" fn class_file_load_hook(
    _: RawEnv,
    _: *mut JNIEnv,
    redefined: jclass,
    loader: jobject,
    name: *const c_char,
    _: jobject,
    length: jint,
    bytes: *const c_uchar,
    new_length: *mut jint,
    new_bytes: *mut *mut c_uchar,
) {
    guard((), || {
        let Some(agent) = Agent::get() else { return };
        if name.is_null() || bytes.is_null() {
            return;
        }
        // SAFETY: the VM gives a zero-terminated name and `length` bytes.
        let (name, class_file) = unsafe {
            let bytes = std::slice::from_raw_parts(bytes, length.max(0) as usize);
            (CStr::from_ptr(name).to_string_lossy(), bytes)
        };
        if !redefined.is_null() {
            let methods = agent.jvmti.create_method_ids(redefined);
            agent.methods.redefining(&methods.unwrap_or_default());
        }
        let hooked = agent.config.hooks.is_on();
        let rewritten = hooked.then(|| classes::rewrite(agent, loader, &name, class_file));
        let rewritten = rewritten.flatten();
        if let Some(edges) = &agent.edges {
            edges.loaded(rewritten.as_deref().unwrap_or(class_file));
        }
        let Some(rewritten) = rewritten else {
            return;
        };
        let Ok(memory) = agent.jvmti.allocate(rewritten.len()) else {
            return;
        };
        // SAFETY: freshly allocated with this size; the VM takes it over.
        unsafe {
            ptr::copy_nonoverlapping(rewritten.as_ptr(), memory, rewritten.len());
            *new_length = rewritten.len() as jint;
            *new_bytes = memory;
        }
    });
}
