//! Rewriting classes as they load, and the class with the hooks.

use super::prepared;
use crate::jvm::jni::{Env, Native, Ref};
use crate::truth::context::Truth;
use crate::truth::java_hooks;
use crate::truth::natives::switches_threads;
use crate::truth::unloading::KnownMethods;
use instrumenter::{Choice, HookClass, MethodInfo, Plan, Tokens};
use oracle::random::mix;
use oracle::record::Rewriting;
use oracle::trace::HookId;
use std::path::Path;

/// Classes whose methods hooks in Java call. With hooks, these methods would call themselves
/// endlessly.
const CALLED_BY_HOOKS: &[&str] = &["jdk/internal/misc/Unsafe"];

/// Why a short method has no hooks.
const SHORT: &str = "short method, whose frames class files prove";

/// The rewritten class, if it has methods to hook. `loader` is `None` for the boot loader.
pub fn rewrite(
    truth: &Truth,
    loader: Option<Ref<'_>>,
    name: &str,
    class_file: &[u8],
) -> Option<Vec<u8>> {
    if name == HOOK_CLASS {
        return None;
    }
    let leave = |reason: &str| {
        *truth
            .rewriting()
            .classes_left
            .entry(reason.into())
            .or_default() += 1;
        None
    };
    if switches_threads(name) {
        return leave("switches threads");
    }
    if truth.java_hooks.is_some() && CALLED_BY_HOOKS.contains(&name) {
        return leave("used by the hooks");
    }
    let mut plan = Choosing(truth);
    let hooks = HookClass {
        name: HOOK_CLASS,
        tokens: Tokens::WhereNeeded,
    };
    let rewritten = match instrumenter::rewrite(class_file, hooks, &mut plan) {
        Ok(rewritten) => rewritten,
        Err(malformed) => return leave(&format!("malformed: {malformed}")),
    };
    let mut counts = truth.rewriting();
    count(&mut counts, &rewritten);
    drop(counts);
    if let Some(loader) = loader {
        let known = KnownMethods {
            keys: vec![],
            hooks: rewritten.hooked.iter().map(|m| m.id).collect(),
        };
        let tag = |fresh| truth.jvm.jvmti.tag(loader, fresh).ok();
        truth.unloading.add(known, tag);
        truth.forget_late();
    }
    let super_class = rewritten.super_name.as_deref();
    let have_ids = !prepared::are_ids_withheld_by(truth, loader);
    truth
        .methods
        .add_hooked(name, super_class, rewritten.hooked, have_ids);
    if truth.java_hooks.is_none() || name != java_hooks::THREAD {
        return rewritten.bytes;
    }
    let extended = java_hooks::extend_thread(rewritten.bytes.as_deref().unwrap_or(class_file));
    // Without the field, hooks call native methods, if the VM starts at all.
    extended.or_else(|| leave("no room for the field of the hooks"))
}

fn count(counts: &mut Rewriting, rewritten: &instrumenter::Rewritten) {
    counts.classes_hooked += u64::from(!rewritten.hooked.is_empty());
    counts.methods_hooked += rewritten.hooked.len() as u64;
    for method in &rewritten.hooked {
        counts.methods_with_more_locals += u64::from(method.growth.locals > 0);
        counts.methods_with_more_stack += u64::from(method.growth.stack > 0);
    }
    for left in &rewritten.left {
        *counts
            .methods_left
            .entry(left.reason.to_string())
            .or_default() += 1;
    }
}

/// One light hook in so many asks whether it may run in Java, so that it can make checks and end doubts. They are
/// chosen at random.
const ASK: u64 = 8;

/// Whether the light hooks of the method with this id ask.
fn asks(id: HookId) -> bool {
    mix(u64::from(id.0)).is_multiple_of(ASK)
}

/// The plan for one class.
struct Choosing<'a>(&'a Truth);

impl Plan for Choosing<'_> {
    fn choose(&mut self, method: &MethodInfo<'_>) -> Choice {
        let Choosing(truth) = *self;
        if !truth.chosen.wants(method) {
            return Choice::Leave;
        }
        if truth.chosen.leaves(method) {
            let mut counts = truth.rewriting();
            *counts.methods_left.entry(SHORT.into()).or_default() += 1;
            return Choice::Leave;
        }
        let check = truth.chosen.checks(method);
        let id = truth.methods.new_id();
        let plain = truth.has_light_hooks() && !asks(id);
        Choice::Hook { id, check, plain }
    }
}

/// Internal name of the class with the hooks.
pub const HOOK_CLASS: &str = "java/lang/StackwitnessTrace";

/// Defines the hook class in the boot loader and binds its methods. Called at the early
/// VMStart: JNI is up, and no Java code has run.
pub fn define_hook_class(
    truth: &Truth,
    env: Env<'_>,
    path: &Path,
    natives: &[Native],
) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let class = env.define_boot_class(&bytes);
    // A class without a name in DefineClass is not shown to agents as it loads.
    if let Some(class_files) = &truth.class_files {
        class_files.loaded(&bytes);
    }
    let refused = || format!("the VM did not accept {}", path.display());
    let class = class.ok_or_else(refused)?;
    if env.register_natives(class.get(), natives) {
        Ok(())
    } else {
        Err("the VM did not bind the hooks".into())
    }
}

/// Learns the methods of the hook class, once the class is linked, and lets hooks in Java write the
/// trace stack themselves from now on. To be called in the live phase.
pub fn learn_hook_class(truth: &Truth, env: Env<'_>) -> Result<(), String> {
    let absent = || "the VM does not know the hook class".to_owned();
    let class = env
        .find_class(c"java/lang/StackwitnessTrace")
        .ok_or_else(absent)?;
    let methods = truth.jvm.jvmti.create_method_ids(class.get());
    let methods = methods.map_err(|e| format!("no hook methods: error {e}"))?;
    truth.methods.add_hook_calls(&methods);
    match &truth.java_hooks {
        Some(hooks) if has_compilers(truth) => truth.threads.with_live(|live| {
            let carries = truth.virtual_threads.is_some();
            hooks.enable(env, class.get(), carries, live.from(0))
        }),
        _ => Ok(()),
    }
}

/// Whether the VM compiles methods.
fn has_compilers(truth: &Truth) -> bool {
    let info = truth.jvm.jvmti.system_property(c"java.vm.info");
    !info.contains("interpreted mode")
}
