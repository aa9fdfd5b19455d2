//! What the judges after the run need to know of methods.

use crate::jvm::jni::Env;
use crate::jvm::jvmti::JMethodId;
use crate::truth::context::Truth;
use oracle::requests::{MethodFacts, letter};
use oracle::trace::{Location, MethodKey, Methods, Site};

/// The facts of a method; `None` if the method is gone.
pub fn facts(truth: &Truth, env: Env<'_>, key: MethodKey) -> Option<MethodFacts> {
    let methods = &truth.methods;
    let (class, name, descriptor) = methods.full_name(env, key)?;
    let is_native = methods.site(key, Location::NATIVE) == Site::Native;
    let length = if is_native {
        0
    } else {
        methods.bytecodes(key, <[u8]>::len).unwrap_or(0)
    };
    let at = |bci: usize| {
        let location = Location(bci as i32);
        let site = methods.site(key, location);
        let presence = match site {
            Site::NoInstruction => None,
            _ => methods.hook(key, location).map(|(_, presence)| presence),
        };
        letter(site, presence)
    };
    let lines = truth.jvm.jvmti.line_numbers(JMethodId(key.0));
    let line =
        |(bci, line): (i64, i32)| Some((u32::try_from(bci).ok()?, u32::try_from(line).ok()?));
    Some(MethodFacts {
        class,
        name,
        descriptor,
        hook: methods.hook(key, Location(0)).map(|(hook, _)| hook.0),
        code: (0..length).map(at).collect(),
        is_native,
        is_hook_call: methods.is_hook_call(key),
        by_vm: methods.may_be_called_by_vm(key),
        lines: lines
            .unwrap_or_default()
            .into_iter()
            .filter_map(line)
            .collect(),
    })
}
