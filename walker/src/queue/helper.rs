//! All queues, and the thread that processes them.

use crate::layout::Vm;
use crate::queue::elements::Queue;
use crate::queue::jvmti::{Jvmti, NotSuspended, vm_of};
use crate::queue::stack::{Stack, State};
use crate::queue::stop::Stopped;
use hotspot::layout::thread::JavaThread;
use jni_sys::{JNI_OK, JNI_VERSION_1_6, JNIEnv, JavaVM, jobject};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use vm::memory::Guard;
use vm::notifier::Notifier;

/// How long a thread that somebody else has suspended is left alone.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// How long the helper sleeps when nobody rings.
const LOOK_ANYWAY: Duration = Duration::from_secs(1);

/// A queue and its thread. `H` is what is called for its elements.
pub struct Entry<H> {
    /// The queue.
    pub queue: Queue,
    /// The options of its samples.
    pub options: u32,
    /// A global reference to the thread.
    thread: jobject,
    /// The thread's JNI environment.
    env: *mut JNIEnv,
    /// `None` when the queue was removed. Locked while the elements are processed.
    handlers: Mutex<Option<H>>,
}

// SAFETY: a global reference and the address of an environment may be used in every thread; the environment is not
// called through.
unsafe impl<H: Send> Send for Entry<H> {}
// SAFETY: as above.
unsafe impl<H: Send> Sync for Entry<H> {}

impl<H> Entry<H> {
    /// The thread of the queue.
    pub fn thread(&self, vm: &Vm) -> JavaThread {
        vm.threads.of_environment(self.env)
    }
}

/// What is called for the elements of a queue.
pub trait Process: Sized + Send + 'static {
    /// Whether the stack of the thread is wanted, whatever the elements are.
    fn wants_stack(&self) -> bool;

    /// Processes the elements of `entry`. `stack` is that of its thread.
    fn process(&self, entry: &Entry<Self>, stack: &Stack<'_>);
}

/// When a thread is stopped to process its elements.
#[derive(Copy, Clone, Eq, PartialEq)]
enum Stop {
    Always,
    /// If a handler wants its stack, or an element lacks frames.
    IfNeeded,
}

/// The queues, and the means to process them.
pub struct Helper<H> {
    jvmti: Jvmti,
    vm: JavaVmAddress,
    entries: Mutex<Vec<Arc<Entry<H>>>>,
    notifier: Notifier,
}

#[derive(Copy, Clone)]
struct JavaVmAddress(*mut JavaVM);
// SAFETY: the VM may be called from every thread.
unsafe impl Send for JavaVmAddress {}
// SAFETY: as above.
unsafe impl Sync for JavaVmAddress {}

impl<H: Process> Helper<H> {
    /// Starts a helper, which runs until the process ends; `None` if no thread can be suspended here.
    ///
    /// # Safety
    /// `env` must be the JNI environment of a live thread, and the calling thread attached.
    pub unsafe fn start(env: *mut JNIEnv) -> Option<&'static Helper<H>> {
        // SAFETY: as the caller promised. GetJavaVM looks at no thread.
        let (vm, jvmti) = unsafe {
            let vm = vm_of(env)?;
            (vm, Jvmti::new(vm)?)
        };
        let helper: &'static Helper<H> = Box::leak(Box::new(Helper {
            jvmti,
            vm: JavaVmAddress(vm),
            entries: Mutex::new(vec![]),
            notifier: Notifier::new(),
        }));
        let thread = std::thread::Builder::new().name("asgst queues".into());
        thread.spawn(|| helper.run()).ok()?;
        Some(helper)
    }

    /// Adds a queue of the thread with the JNI environment `env`.
    ///
    /// # Safety
    /// `env` must be the JNI environment of a live thread, and the calling thread attached.
    pub unsafe fn add(
        &self,
        env: *mut JNIEnv,
        capacity: usize,
        options: u32,
        handlers: H,
    ) -> Option<*const Entry<H>> {
        let own = self.own_environment()?;
        let queue = Queue::new(capacity)?;
        // SAFETY: the calling thread's own environment; the reference is valid.
        let thread = unsafe {
            let local = if own == env {
                self.jvmti.current_thread()?
            } else {
                let wanted = Vm::get()?.threads.of_environment(env);
                self.jvmti.find_thread(own, |thread| thread == wanted)?
            };
            let thread = ((**own).v1_2.NewGlobalRef)(own, local);
            ((**own).v1_1.DeleteLocalRef)(own, local);
            thread
        };
        let entry = Arc::new(Entry {
            queue,
            options,
            thread,
            env,
            handlers: Mutex::new(Some(handlers)),
        });
        let address = Arc::as_ptr(&entry);
        locked(&self.entries).push(entry);
        Some(address)
    }

    /// The JNI environment of the calling thread; `None` if the thread is not attached.
    fn own_environment(&self) -> Option<*mut JNIEnv> {
        let JavaVmAddress(vm) = self.vm;
        let mut env: *mut c_void = std::ptr::null_mut();
        // SAFETY: the VM's own table, and a place for the answer.
        let found = unsafe { ((**vm).v1_2.GetEnv)(vm, &raw mut env, JNI_VERSION_1_6) };
        (found == JNI_OK && !env.is_null()).then_some(env.cast())
    }

    /// Removes a queue. The elements that wait are processed first, on the calling thread.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread.
    pub unsafe fn remove(&self, env: *mut JNIEnv, entry: *const Entry<H>) -> bool {
        let mut entries = locked(&self.entries);
        let Some(at) = entries.iter().position(|known| Arc::as_ptr(known) == entry) else {
            return false;
        };
        let entry = entries.swap_remove(at);
        drop(entries);
        // SAFETY: as the caller promised. Nobody uses the reference any more when there are no handlers.
        unsafe {
            if entry.env == env {
                // The thread itself is in native code, so its stack stays as it is.
                self.process(&entry, State::Own);
            } else if self.process_of_another(env, &entry, Stop::Always).is_err() {
                self.process(&entry, State::Unknown);
            }
            *locked(&entry.handlers) = None;
            ((**env).v1_1.DeleteGlobalRef)(env, entry.thread);
        }
        true
    }

    /// Changes what is called for the elements of a queue. Waits while they are being processed.
    pub fn change(&self, entry: &Entry<H>, change: impl FnOnce(&mut H)) {
        locked(&entry.handlers).as_mut().map(change);
    }

    /// Lets the helper look at the queues. Async-signal-safe.
    pub fn ring(&self) {
        self.notifier.notify();
    }

    fn run(&self) {
        let JavaVmAddress(vm) = self.vm;
        let mut env: *mut c_void = std::ptr::null_mut();
        // SAFETY: the VM's own table; the thread is not attached yet.
        let attached = unsafe {
            ((**vm).v1_4.AttachCurrentThreadAsDaemon)(vm, &raw mut env, std::ptr::null_mut())
        };
        if attached != JNI_OK {
            return;
        }
        let env = env.cast();
        loop {
            let entries = locked(&self.entries).clone();
            // This thread cannot suspend itself.
            let others = entries.iter().filter(|entry| entry.env != env);
            let mut again = false;
            for entry in others.filter(|entry| entry.queue.is_waiting()) {
                // SAFETY: this thread's environment.
                match unsafe { self.process_of_another(env, entry, Stop::IfNeeded) } {
                    Ok(()) => {}
                    // Its stack stays as it is.
                    Err(NotSuspended::Already) => again = true,
                    Err(NotSuspended::Refused) => self.process(entry, State::Unknown),
                }
            }
            if again {
                std::thread::sleep(LOOK_AGAIN)
            } else {
                let has_work = || {
                    let entries = locked(&self.entries);
                    let mut others = entries.iter().filter(|entry| entry.env != env);
                    others.any(|entry| entry.queue.is_waiting())
                };
                self.notifier.wait(LOOK_ANYWAY, has_work);
            }
        }
    }

    /// Processes the elements of `entry`. The thread is stopped only if `when` says so: that takes until the thread comes to a
    /// safepoint, and the queues of all other threads wait meanwhile.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread, which is another one.
    unsafe fn process_of_another(
        &self,
        env: *mut JNIEnv,
        entry: &Entry<H>,
        when: Stop,
    ) -> Result<(), NotSuspended> {
        // The reference lives as long as the handlers are there.
        let guard = locked(&entry.handlers);
        let Some(handlers) = &*guard else {
            return Ok(());
        };
        let is_needed = || entry.queue.needs_stack() || handlers.wants_stack();
        if when == Stop::Always || is_needed() {
            // SAFETY: as the caller promised.
            let stopped = unsafe { Stopped::stop(self.jvmti, env, entry.thread)? };
            call(entry, handlers, State::Stopped(&stopped));
        } else {
            call(entry, handlers, State::Runs);
        }
        Ok(())
    }

    fn process(&self, entry: &Entry<H>, state: State<'_>) {
        if let Some(handlers) = &*locked(&entry.handlers) {
            call(entry, handlers, state);
        }
    }
}

fn call<H: Process>(entry: &Entry<H>, handlers: &H, state: State<'_>) {
    let Some(vm) = Vm::get() else {
        return;
    };
    let guard = Guard::set();
    let thread = entry.thread(vm);
    let stack = Stack::new(vm, guard.memory(), thread, state);
    handlers.process(entry, &stack);
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
