//! Classes that were prepared. Their methods get jmethodIDs.

use crate::jvm::jni::{Env, Ref};
use crate::jvm::jvmti::{JMethodId, class_name};
use crate::truth::context::Truth;
use crate::truth::unloading::KnownMethods;

/// Gives the methods of a class their jmethodIDs.
pub fn create_method_ids(truth: &Truth, class: Ref<'_>) -> Vec<JMethodId> {
    let jvmti = truth.jvm.jvmti;
    let methods = jvmti.create_method_ids(class).unwrap_or_default();
    truth.methods.add_keys(&methods);
    if let Some(threads) = &truth.virtual_threads {
        threads.learn(jvmti, class, &methods);
    }
    methods
}

/// A class was prepared: gives its methods their jmethodIDs, and counts the class if it belongs to
/// the program.
pub fn prepared(truth: &Truth, env: Env<'_>, class: Ref<'_>) {
    let methods = create_method_ids(truth, class);
    if !truth.jvm.is_live() {
        // The VM's first classes are never unloaded.
        return;
    }
    if is_application_class(truth, env, class) {
        truth.rewriting().application_classes += 1;
    }
    // Hidden classes may be unloaded before their loader.
    let hooked = truth.hooking.is_on();
    let hook_of = |method| hooked.then(|| truth.methods.hook_in(method))?;
    let known = KnownMethods::new(&methods, hook_of);
    let tag = |fresh| truth.jvm.jvmti.tag(class, fresh).ok();
    truth.unloading.add(known, tag);
}

/// Whether neither the boot loader nor the platform loader defined the class.
fn is_application_class(truth: &Truth, env: Env<'_>, class: Ref<'_>) -> bool {
    const PLATFORM_LOADER: &str = "jdk/internal/loader/ClassLoaders$PlatformClassLoader";
    let jvmti = truth.jvm.jvmti;
    let Ok(Some(loader)) = jvmti.class_loader(env, class) else {
        return false;
    };
    let of_loader = env.class_of(loader.get());
    let signature = of_loader.and_then(|class| jvmti.class_signature(class.get()).ok());
    signature.is_none_or(|signature| class_name(&signature) != PLATFORM_LOADER)
}
