//! Native methods of the program, with a thunk before each, except in classes that switch threads.

use crate::jvm::jni::Env;
use crate::jvm::jvmti::{JMethodId, Jvmti, class_name};
use crate::jvm::thunks::{Thunk, Thunks};
use crate::locks::lock;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// The native methods that were bound.
pub struct Natives {
    thunks: Thunks,
    /// For each thunk whether the calls of its method are listened to.
    heard: Box<[AtomicBool]>,
    /// Those that were bound when the VM could not be asked about methods yet.
    earlier: Mutex<Vec<(Thunk, JMethodId)>>,
}

impl Natives {
    /// None yet; `thunks` go before them.
    pub fn new(thunks: Thunks) -> Natives {
        Natives {
            thunks,
            heard: (0..Thunks::COUNT).map(|_| AtomicBool::new(false)).collect(),
            earlier: Mutex::default(),
        }
    }

    /// The VM binds `method` to the function at `target`: the address to bind instead, if any. Without an
    /// `env` the VM cannot be asked about methods yet.
    pub fn bind(
        &self,
        jvmti: Jvmti,
        env: Option<Env<'_>>,
        method: JMethodId,
        target: usize,
    ) -> Option<usize> {
        let (thunk, code) = self.thunks.before(target)?;
        match env {
            Some(env) => self.look_at(jvmti, env, thunk, method),
            None => self.earlier(|earlier| earlier.push((thunk, method))),
        }
        Some(code)
    }

    /// Looks at the methods that were bound early. In the live phase.
    pub fn look_at_earlier(&self, jvmti: Jvmti, env: Env<'_>) {
        for (thunk, method) in self.earlier(std::mem::take) {
            self.look_at(jvmti, env, thunk, method);
        }
    }

    /// Whether the calls of the thunk's method are listened to.
    #[inline]
    pub fn is_heard(&self, Thunk(number): Thunk) -> bool {
        let heard = self.heard.get(number);
        heard.is_some_and(|heard| heard.load(Relaxed))
    }

    fn look_at(&self, jvmti: Jvmti, env: Env<'_>, Thunk(number): Thunk, method: JMethodId) {
        let class = jvmti.declaring_class(env, method).ok();
        let signature = class.and_then(|class| jvmti.class_signature(class.get()).ok());
        // While a thread changes its identity, its stack is in pieces.
        let is_whole = signature.is_some_and(|signature| !switches_threads(class_name(&signature)));
        self.heard[number].store(is_whole, Relaxed);
    }

    fn earlier<T>(&self, change: impl FnOnce(&mut Vec<(Thunk, JMethodId)>) -> T) -> T {
        change(&mut lock(&self.earlier))
    }
}

/// Classes whose methods switch the identity of the running thread, so that push and pop
/// would meet different trace stacks (`VirtualThread.java`, `Continuation.java`).
const SWITCHES_THREADS: &[&str] = &[
    "java/lang/VirtualThread",
    "java/lang/BaseVirtualThread",
    "java/lang/ThreadBuilders$BoundVirtualThread",
    "jdk/internal/vm/Continuation",
    "jdk/internal/vm/ContinuationScope",
];

/// Whether methods of the class of this internal name switch the identity of the running thread.
pub fn switches_threads(name: &str) -> bool {
    let mut classes = SWITCHES_THREADS.iter();
    classes.any(|class| is_or_is_inside(name, class))
}

fn is_or_is_inside(name: &str, class: &str) -> bool {
    name.strip_prefix(class)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('$'))
}
