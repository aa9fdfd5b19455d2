//! Classes that were prepared: their methods get jmethodIDs, except where ids would take too much memory.

use crate::jvm::jni::{Env, Ref};
use crate::jvm::jvmti::{JMethodId, class_name};
use crate::truth::context::Truth;
use crate::truth::unloading::KnownMethods;
use hotspot::runtime::may_end_before_loader;

/// A class was prepared: gives its methods their jmethodIDs, unless such ids take too much memory, and counts the
/// class if it belongs to the program.
pub fn prepared(truth: &Truth, env: Env<'_>, class: Ref<'_>) {
    if !truth.jvm.is_live() {
        // The VM's first classes are never unloaded.
        create_ids(truth, class);
        return;
    }
    if is_application_class(truth, env, class) {
        truth.rewriting().application_classes += 1;
    }
    if are_ids_withheld(truth, env, class) {
        truth.rewriting().classes_without_ids += 1;
        return;
    }
    let methods = create_ids(truth, class);
    // Hidden classes may be unloaded before their loader.
    let hooked = truth.hooking.is_on();
    let hook_of = |method| hooked.then(|| truth.methods.hook_in(method))?;
    let known = KnownMethods::new(&methods, hook_of);
    let tag = |fresh| truth.jvm.jvmti.tag(class, fresh).ok();
    truth.unloading.add(known, tag);
}

/// Whether neither the boot loader nor the platform loader defined the class.
fn is_application_class(truth: &Truth, env: Env<'_>, class: Ref<'_>) -> bool {
    let Ok(Some(loader)) = truth.jvm.jvmti.class_loader(env, class) else {
        return false;
    };
    let name = class_of(truth, env, loader.get());
    name.is_none_or(|name| name != PLATFORM_LOADER)
}

/// The loader of the platform's classes, which are never unloaded.
const PLATFORM_LOADER: &str = "jdk/internal/loader/ClassLoaders$PlatformClassLoader";

/// The loader of the class path, whose classes are never unloaded.
const APP_LOADER: &str = "jdk/internal/loader/ClassLoaders$AppClassLoader";

/// Gives the methods of a class their jmethodIDs.
pub fn create_ids(truth: &Truth, class: Ref<'_>) -> Vec<JMethodId> {
    let jvmti = truth.jvm.jvmti;
    let methods = jvmti.create_method_ids(class).unwrap_or_default();
    truth.methods.add_keys(&methods);
    if let Some(threads) = &truth.virtual_threads {
        threads.learn(jvmti, class, &methods);
    }
    methods
}

/// Whether the class gets no ids: it may be unloaded, and the ids of unloaded classes take too much memory
/// already.
fn are_ids_withheld(truth: &Truth, env: Env<'_>, class: Ref<'_>) -> bool {
    let is_weak = || {
        let signature = truth.jvm.jvmti.class_signature(class);
        signature.is_ok_and(|signature| may_end_before_loader(class_name(&signature).as_bytes()))
    };
    let may_be_unloaded = || {
        let loader = truth.jvm.jvmti.class_loader(env, class).ok().flatten();
        is_unloadable(truth, env, loader.as_ref().map(|loader| loader.get())) || is_weak()
    };
    truth.methods.kept_ids.are_too_many() && may_be_unloaded()
}

/// Whether the classes that this loader defines now get no ids; hidden classes aside.
pub fn are_ids_withheld_by(truth: &Truth, loader: Option<Ref<'_>>) -> bool {
    let may_be_unloaded = |env: Env<'_>| is_unloadable(truth, env, loader);
    truth.methods.kept_ids.are_too_many() && truth.jvm.vm.with_env(may_be_unloaded) == Some(true)
}

/// Whether a loader may end, and its classes with it; `None` is the boot loader.
fn is_unloadable(truth: &Truth, env: Env<'_>, loader: Option<Ref<'_>>) -> bool {
    loader.is_some_and(|loader| {
        let name = class_of(truth, env, loader);
        name.is_none_or(|name| name != PLATFORM_LOADER && name != APP_LOADER)
    })
}

/// The internal name of the class of a loader.
pub fn class_of(truth: &Truth, env: Env<'_>, loader: Ref<'_>) -> Option<String> {
    let class = env.class_of(loader)?;
    let signature = truth.jvm.jvmti.class_signature(class.get()).ok()?;
    Some(class_name(&signature).into())
}
