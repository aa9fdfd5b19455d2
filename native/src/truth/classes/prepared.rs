//! Classes that were prepared. Their methods get jmethodIDs.

use super::ids;
use crate::jvm::jni::{Env, Ref};
use crate::truth::context::Truth;
use crate::truth::unloading::KnownMethods;

/// A class was prepared: gives its methods their jmethodIDs, unless such ids take too much memory, and counts the
/// class if it belongs to the program.
pub fn prepared(truth: &Truth, env: Env<'_>, class: Ref<'_>) {
    if !truth.jvm.is_live() {
        // The VM's first classes are never unloaded.
        ids::create(truth, class);
        return;
    }
    if is_application_class(truth, env, class) {
        truth.rewriting().application_classes += 1;
    }
    if ids::are_withheld(truth, env, class) {
        truth.rewriting().classes_without_ids += 1;
        return;
    }
    let methods = ids::create(truth, class);
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
    let name = ids::class_of(truth, env, loader.get());
    name.is_none_or(|name| name != ids::PLATFORM_LOADER)
}
