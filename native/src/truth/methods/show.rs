//! Methods and frames in the form of reports.

use super::hooked::{Known, dotted, shown_name};
use super::key_origins::Origin;
use super::registry::Registry;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::{JMethodId, MethodName, class_name};
use instrumenter::RewrittenBci;
use oracle::record::ShownFrame;
use oracle::trace::{Frame, HookId, Location, MethodKey, Methods};

impl Registry {
    /// The frame in the form of reports.
    pub fn show(&self, env: Env<'_>, frame: &Frame) -> ShownFrame {
        let (bci, rewritten_bci) = match (self.known(frame.method), frame.location.bci()) {
            (Known::Hooked(_, hooked), Some(bci)) if !hooked.is_altered => {
                let original = hooked.method.map.original(RewrittenBci(bci)).0;
                (original as i32, Some(frame.location.0))
            }
            _ => (frame.location.0, None),
        };
        let method = JMethodId(frame.method.0);
        let safe = self.is_safe(frame.method);
        let line = safe.then(|| self.line(method, frame.location)).flatten();
        ShownFrame {
            method: self.name(env, frame.method),
            bci: Some(bci),
            line,
            rewritten_bci,
        }
    }

    /// The method in the form of reports: `package.Class.name(descriptor)`, if the VM knows it.
    pub fn name(&self, env: Env<'_>, key: MethodKey) -> String {
        let named = self.full_name(env, key);
        named.map_or_else(
            || unnamed(key),
            |(class, name, descriptor)| shown_name(&class, &name, &descriptor),
        )
    }

    /// Internal name of the method's class, and the method's name, unless it is gone.
    pub fn class_and_name(&self, env: Env<'_>, key: MethodKey) -> Option<(String, String)> {
        let (class, name, _) = self.full_name(env, key)?;
        Some((class, name))
    }

    /// `package.Class.name`, unless the method is gone.
    pub fn dotted(&self, env: Env<'_>, key: MethodKey) -> Option<String> {
        let (class, name) = self.class_and_name(env, key)?;
        Some(dotted(&class, &name))
    }

    /// The number of hooked methods so far.
    pub fn number_hooked(&self) -> usize {
        self.all_hooked().len()
    }

    /// A hooked method of this name. `class` is a binary name.
    pub fn named(&self, class: &str, name: &str) -> Option<HookId> {
        let all = self.all_hooked();
        let found = all.iter().find(|(_, hooked)| hooked.is_named(class, name));
        found.map(|(&id, _)| HookId(id))
    }

    /// An entry of the trace stack in the form of reports.
    pub fn show_entry(&self, hook: HookId) -> ShownFrame {
        let method = match self.by_hook(hook) {
            Some(hooked) => hooked.full_name(),
            None => format!("unknown hook {}", hook.0),
        };
        ShownFrame {
            method,
            ..ShownFrame::default()
        }
    }

    /// The method's name in a profile; `None` for the hooks themselves. As [`name_at_once`](Self::name_at_once).
    pub fn profiled(&self, env: Env<'_>, key: MethodKey) -> Option<String> {
        let unknown = || "unknown method".to_owned();
        if self.origin_at_once(key) == Origin::Class && self.is_hook_call(key) {
            None
        } else {
            Some(self.name_at_once(env, key).unwrap_or_else(unknown))
        }
    }

    /// As [`name`](Self::name), and `None` if the VM does not know the method. Never waits for a class: a profile may
    /// have thousands of methods whose classes are gone, and long forgotten.
    pub fn name_at_once(&self, env: Env<'_>, key: MethodKey) -> Option<String> {
        let is_safe = self.origin_at_once(key) == Origin::Class;
        let (class, name, descriptor) = is_safe.then(|| self.names(env, JMethodId(key.0)))??;
        Some(shown_name(&class, &name, &descriptor))
    }

    /// Internal name of the method's class, its name and descriptor, unless it is gone.
    pub fn full_name(&self, env: Env<'_>, key: MethodKey) -> Option<(String, String, String)> {
        let safe = self.is_safe(key);
        let method = JMethodId(key.0);
        safe.then(|| self.names(env, method)).flatten()
    }

    fn names(&self, env: Env<'_>, method: JMethodId) -> Option<(String, String, String)> {
        let MethodName { name, descriptor } = self.jvmti.method_name(method).ok()?;
        let class = self.jvmti.declaring_class(env, method).ok()?;
        let signature = self.jvmti.class_signature(class.get()).ok()?;
        Some((class_name(&signature).into(), name, descriptor))
    }

    /// The line of a location in a method that is safe, by the table of its class file (JVMS 4.7.12): the entry
    /// with the highest BCI up to the location's.
    pub fn line(&self, method: JMethodId, location: Location) -> Option<u32> {
        let bci = i64::from(location.bci()?);
        let lines = self.jvmti.line_numbers(method).ok()?;
        let before = lines.iter().filter(|(start, _)| *start <= bci);
        before
            .max_by_key(|(start, _)| *start)
            .and_then(|(_, line)| u32::try_from(*line).ok())
    }
}

/// What stands for a method that the VM does not know.
pub fn unnamed(key: MethodKey) -> String {
    if key.0 == 0 {
        "no method id".into()
    } else {
        format!("unknown method {:#x}", key.0)
    }
}
