//! The class with the hooks.

use crate::jvm::jni::{Env, Native};
use crate::truth::context::Truth;
use std::path::Path;

/// Internal name of the class with the hooks.
pub const HOOK_CLASS: &str = "java/lang/StackwitnessTrace";

/// Defines the hook class in the boot loader and binds its methods. Called at the early
/// VMStart: JNI is up, and no Java code has run.
pub fn define(truth: &Truth, env: Env<'_>, path: &Path, natives: &[Native]) -> Result<(), String> {
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
pub fn learn(truth: &Truth, env: Env<'_>) -> Result<(), String> {
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
