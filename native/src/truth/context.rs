//! The agent's knowledge of threads, methods and classes. Class files that were loaded wait here until the sampler reads them.

use super::choice::Chosen;
use super::class_files::ClassFiles;
use super::java_hooks::JavaHooks;
use super::methods::registry::Registry;
use super::natives::Natives;
use super::thread_state::ThreadState;
use super::threads::Threads;
use super::trace_stack::{HookCounts, TraceStack};
use super::unloading::{GRACE, LATE, Unloading};
use super::virtual_threads::VirtualThreads;
use crate::jvm::Jvm;
use crate::jvm::jni::{Env, Ref};
use crate::locks::lock;
use oracle::Hooking;
use oracle::record::{Config, Rewriting};
use std::sync::{Mutex, MutexGuard};

/// The truth, and the parts that keep it.
pub struct Truth {
    /// The VM.
    pub jvm: &'static Jvm,
    /// How methods are hooked.
    pub hooking: Hooking,
    /// Methods.
    pub methods: Registry,
    /// Classes that can be unloaded.
    pub unloading: Unloading,
    /// The choice of methods that are hooked.
    pub chosen: Chosen,
    /// Threads.
    pub threads: Threads,
    /// How hooks in Java find trace stacks; `None` if all hooks are native.
    pub java_hooks: Option<JavaHooks>,
    /// Exact hooks, by the way they ran.
    pub hook_counts: HookCounts,
    /// Virtual threads, if the VM has them.
    pub virtual_threads: Option<VirtualThreads>,
    /// Native methods whose calls make checks, if they do.
    pub natives: Option<Natives>,
    /// The classes by which call edges are judged, if they are judged.
    pub class_files: Option<ClassFiles>,
    rewriting: Mutex<Rewriting>,
}

impl Truth {
    /// An empty truth, with the settings of `config`.
    pub fn new(
        jvm: &'static Jvm,
        virtual_threads: Option<VirtualThreads>,
        natives: Option<Natives>,
        config: &Config,
    ) -> Truth {
        Truth {
            jvm,
            hooking: config.hooks,
            methods: Registry::new(jvm),
            unloading: Unloading::default(),
            chosen: Chosen::new(config),
            threads: Threads::new(config.seed),
            java_hooks: JavaHooks::new(config),
            hook_counts: HookCounts::default(),
            virtual_threads,
            natives,
            class_files: ClassFiles::new(config),
            rewriting: Mutex::default(),
        }
    }

    /// The rewriter's counts, which the caller may change.
    pub fn rewriting(&self) -> MutexGuard<'_, Rewriting> {
        lock(&self.rewriting)
    }

    /// Forgets the methods of unloaded classes.
    pub fn forget_unloaded(&self) {
        let classes = self.unloading.take(GRACE);
        let (left, forgotten) = self.methods.forget(&classes);
        let mut rewriting = self.rewriting();
        rewriting.methods_known = left as u64;
        rewriting.methods_forgotten += forgotten as u64;
    }

    /// As [`forget_unloaded`](Self::forget_unloaded), if the agent's own thread is late with it. Threads that load
    /// classes ask, so that methods cannot pile up.
    pub fn forget_late(&self) {
        if self.unloading.is_late(LATE) {
            self.forget_unloaded();
        }
    }

    /// The calling thread starts; `thread` is its `java.lang.Thread`.
    pub fn begin_thread(&self, env: Env<'_>, thread: Ref<'_>) {
        Threads::revive();
        if let Some(state) = self.enter(env) {
            state.set_object(env.global(thread));
            if let Some(threads) = &self.virtual_threads {
                threads.begin_thread(self.jvm.jvmti, env, state, thread);
            }
            self.show_to_hooks(env, state, Some(state.own_stack()));
        }
    }

    /// The state of the calling thread, which is made at the first call; `None` if the thread has ended or there is no
    /// memory.
    pub fn enter(&self, env: Env<'_>) -> Option<&'static ThreadState> {
        let is_new = ThreadState::current().is_none();
        let state = self.threads.enter(env)?;
        if is_new {
            let hooks = self.java_hooks.as_ref();
            state.hear(hooks.is_none_or(JavaHooks::hears_of_unshown));
        }
        Some(state)
    }

    /// The calling thread ends.
    pub fn end_thread(&self, env: Env<'_>, state: &'static ThreadState) {
        self.show_to_hooks(env, state, None);
        if let Some(object) = self.threads.leave(state) {
            object.delete(env);
        }
    }

    /// The calling thread mounts a virtual thread: its hooks use the virtual thread's trace stack
    /// from now on. Returns false if there is no memory for a trace stack.
    pub fn mount(&self, env: Env<'_>) -> bool {
        let Some(threads) = &self.virtual_threads else {
            return true;
        };
        let state = ThreadState::current().or_else(|| self.enter(env));
        let Some(state) = state else { return true };
        let Some(stack) = threads.mounted(self.jvm.jvmti, state) else {
            return false;
        };
        stack.close();
        self.show_to_hooks(env, state, Some(stack));
        state.carry(Some(stack));
        true
    }

    /// The calling thread unmounts its virtual thread: its hooks use its own trace stack again.
    pub fn unmount(&self, env: Env<'_>) {
        if let Some(state) = ThreadState::current() {
            state.carry(None);
            self.show_to_hooks(env, state, Some(state.own_stack()));
        }
    }

    /// The trace stack of the calling thread's virtual thread, which ends; `None` if it has none.
    pub fn end_virtual_thread(&self) -> Option<(&VirtualThreads, &'static TraceStack)> {
        let threads = self.virtual_threads.as_ref()?;
        Some((threads, threads.ended(self.jvm.jvmti)?))
    }

    /// Whether hooks are Java code that compilers inline.
    pub fn has_light_hooks(&self) -> bool {
        self.java_hooks.as_ref().is_some_and(JavaHooks::are_light)
    }

    fn show_to_hooks(&self, env: Env<'_>, state: &ThreadState, stack: Option<&TraceStack>) {
        if let Some(hooks) = &self.java_hooks {
            hooks.show(env, state, stack);
        }
    }
}
