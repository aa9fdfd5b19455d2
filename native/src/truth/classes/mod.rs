//! Classes as they load: rewriting, method ids, and the hook class.

pub mod hidden;
pub mod unloading;

use crate::agent::Agent;
use crate::hooks;
use crate::jvm::jvmti::JMethodId;
use crate::truth::classes::unloading::Known;
use crate::truth::light;
use instrumenter::{Choice, MethodInfo, Patterns, Plan};
use jni_sys::{JNIEnv, jclass, jobject};
use oracle::record::{Config, Rewriting};
use std::ptr;

/// Internal name of the class that holds the hooks.
pub const HOOK_CLASS: &str = "java/lang/StackwitnessTrace";

/// Classes whose methods the light hooks call: hooked, they would call themselves for ever.
const LIGHT_CLASSES: &[&str] = &["jdk/internal/misc/Unsafe"];

/// Classes whose methods switch the identity of the running thread, so that push and pop
/// would meet different trace stacks (`VirtualThread.java`, `Continuation.java`).
const SWITCHES_THREADS: &[&str] = &[
    "java/lang/VirtualThread",
    "java/lang/BaseVirtualThread",
    "java/lang/ThreadBuilders$BoundVirtualThread",
    "jdk/internal/vm/Continuation",
    "jdk/internal/vm/ContinuationScope",
];

/// Defines the hook class in the boot loader and binds its methods. Called at the early
/// VMStart: JNI is up, and no Java code has run.
///
/// # Safety
/// `env` must be the calling thread's.
pub unsafe fn define_hook_class(agent: &Agent, env: *mut JNIEnv) -> Result<(), String> {
    let path = &agent.config.trace_class;
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    // SAFETY: a null loader is the boot loader; a null name is that in the bytes, which
    // live during the call.
    let class = unsafe {
        let (loader, bytes, length) = (ptr::null_mut(), bytes.as_ptr().cast(), bytes.len());
        ((**env).v1_1.DefineClass)(env, ptr::null(), loader, bytes, length as i32)
    };
    // Without a name it is not shown to us as it loads.
    if let Some(edges) = &agent.edges {
        edges.loaded(&bytes);
    }
    if class.is_null() {
        return Err(format!("the VM did not accept {}", path.display()));
    }
    // SAFETY: `class` is the hook class, as the configuration promises.
    match unsafe { hooks::register(env, class, agent.config.hooks) } {
        true => Ok(()),
        false => Err("the VM did not bind the hooks".into()),
    }
}

/// Lets the methods of the hook class be told from others, once it is linked, and lets light
/// hooks do without native methods from now on.
///
/// # Safety
/// `env` must be the calling thread's, without a pending exception, in the live phase.
pub unsafe fn learn_hook_calls(agent: &Agent, env: *mut JNIEnv) -> Result<(), String> {
    // SAFETY: as the caller promised; the reference goes with the caller's frame.
    let class = unsafe { ((**env).v1_1.FindClass)(env, c"java/lang/StackwitnessTrace".as_ptr()) };
    let methods = agent.jvmti.create_method_ids(class);
    agent
        .methods
        .add_hook_calls(&methods.map_err(|e| format!("no hook methods: error {e}"))?);
    match &agent.light {
        // SAFETY: as the caller promised.
        Some(light) => unsafe { light.enable(env, class) },
        None => Ok(()),
    }
}

/// The rewritten class, if it has anything to hook. A null `loader` is the boot loader.
pub fn rewrite(agent: &Agent, loader: jobject, name: &str, class_file: &[u8]) -> Option<Vec<u8>> {
    if name == HOOK_CLASS {
        return None;
    }
    let leave = |reason: &str| {
        *agent
            .rewriting()
            .classes_left
            .entry(reason.into())
            .or_default() += 1;
        None
    };
    if SWITCHES_THREADS
        .iter()
        .any(|class| is_or_is_inside(name, class))
    {
        return leave("switches threads");
    }
    if agent.light.is_some() && LIGHT_CLASSES.contains(&name) {
        return leave("used by the light hooks");
    }
    let mut plan = Choosing(agent);
    let rewritten = match instrumenter::rewrite(class_file, HOOK_CLASS, &mut plan) {
        Ok(rewritten) => rewritten,
        Err(malformed) => return leave(&format!("malformed: {malformed}")),
    };
    let mut counts = agent.rewriting();
    count(&mut counts, &rewritten);
    drop(counts);
    if !loader.is_null() {
        let known = Known {
            keys: vec![],
            hooks: rewritten.hooked.iter().map(|m| m.id).collect(),
        };
        let tag = |fresh| agent.jvmti.tag(loader, fresh).ok();
        agent.unloading.add(known, tag);
    }
    let super_class = rewritten.super_name.as_deref();
    agent
        .methods
        .add_hooked(name, super_class, rewritten.hooked);
    if agent.light.is_none() || name != light::THREAD {
        return rewritten.bytes;
    }
    let extended = light::extend_thread(rewritten.bytes.as_deref().unwrap_or(class_file));
    // Without the field, hooks take the native way, if the VM comes that far.
    extended.or_else(|| leave("no room for the field of the light hooks"))
}

fn is_or_is_inside(name: &str, class: &str) -> bool {
    name.strip_prefix(class)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('$'))
}

fn count(counts: &mut Rewriting, rewritten: &instrumenter::Rewritten) {
    counts.classes_hooked += u64::from(!rewritten.hooked.is_empty());
    counts.methods_hooked += rewritten.hooked.len() as u64;
    for left in &rewritten.left {
        *counts
            .methods_left
            .entry(left.reason.to_string())
            .or_default() += 1;
    }
}

/// Which methods are hooked, and which of them check at each call.
pub struct Chosen {
    hook: Patterns,
    check: Option<Patterns>,
}

impl Chosen {
    /// What the configuration asks for.
    pub fn new(config: &Config) -> Chosen {
        let all = Patterns::all().probability(config.probability, config.seed);
        let hook = config
            .include
            .iter()
            .fold(all, |chosen, p| chosen.include(p));
        let none = config.check.is_empty();
        let check = config
            .check
            .iter()
            .fold(Patterns::all(), |chosen, p| chosen.include(p));
        Chosen {
            hook: config
                .exclude
                .iter()
                .fold(hook, |chosen, p| chosen.exclude(p)),
            check: (!none).then_some(check),
        }
    }
}

/// The plan for one class.
struct Choosing<'a>(&'a Agent);

impl Plan for Choosing<'_> {
    fn choose(&mut self, method: &MethodInfo<'_>) -> Choice {
        let Chosen { hook, check } = &self.0.chosen;
        if !hook.wants_method(method) {
            return Choice::Leave;
        }
        let check = check
            .as_ref()
            .is_some_and(|check| check.wants_method(method));
        let id = self.0.methods.new_id();
        Choice::Hook { id, check }
    }
}

/// Gives the methods of a class their ids.
pub fn create_method_ids(agent: &Agent, class: jclass) -> Vec<JMethodId> {
    let methods = agent.jvmti.create_method_ids(class).unwrap_or_default();
    agent.methods.add_keys(&methods);
    if let Some(threads) = &agent.virtual_threads {
        threads.learn(&agent.jvmti, class, &methods);
    }
    methods
}

/// A class was prepared: gives its methods their ids, and counts it if it is the program's.
pub fn prepared(agent: &Agent, env: *mut JNIEnv, class: jclass) {
    let methods = create_method_ids(agent, class);
    if !agent.is_live() {
        // What the VM itself starts with stays.
        return;
    }
    if is_application_class(agent, env, class) {
        agent.rewriting().application_classes += 1;
    }
    // Hidden classes may go before their loader.
    let hooked = agent.config.hooks.is_on();
    let hook_of = |method| hooked.then(|| agent.methods.hook_in(method))?;
    let known = Known::new(&methods, hook_of);
    let tag = |fresh| agent.jvmti.tag(class, fresh).ok();
    agent.unloading.add(known, tag);
}

/// Whether neither the boot loader nor the platform loader defined the class.
fn is_application_class(agent: &Agent, env: *mut JNIEnv, class: jclass) -> bool {
    let Ok(loader) = agent.jvmti.class_loader(class) else {
        return false;
    };
    if loader.is_null() {
        return false;
    }
    // SAFETY: local references of this thread.
    unsafe {
        let of_loader = ((**env).v1_1.GetObjectClass)(env, loader);
        let signature = agent.jvmti.class_signature(of_loader).unwrap_or_default();
        ((**env).v1_1.DeleteLocalRef)(env, of_loader);
        ((**env).v1_1.DeleteLocalRef)(env, loader);
        signature != "Ljdk/internal/loader/ClassLoaders$PlatformClassLoader;"
    }
}
