//! All queues, and the thread that processes them.

use crate::memory::{Guard, Live};
use crate::queue::elements::Queue;
use crate::queue::jvmti::{Jvmti, vm_of};
use crate::queue::mark::Mark;
use crate::vm::Vm;
use crate::vm::thread::JavaThread;
use crate::walk::Walk;
use crate::walk::frame::Failure;
use jni_sys::{JNI_OK, JNIEnv, JavaVM, jobject};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A queue and its thread. `H` is what is called for its elements.
pub struct Entry<H> {
    /// The queue.
    pub queue: Queue,
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

/// Processes the elements of a queue, whose thread is suspended.
pub type Process<H> = fn(&Entry<H>, &H, &Stack<'_>);

/// The queues, and the means to process them.
pub struct Helper<H> {
    jvmti: Jvmti,
    vm: JavaVmAddress,
    process: Process<H>,
    entries: Mutex<Vec<Arc<Entry<H>>>>,
    bell: Bell,
}

#[derive(Copy, Clone)]
struct JavaVmAddress(*mut JavaVM);
// SAFETY: the VM may be called from every thread.
unsafe impl Send for JavaVmAddress {}
// SAFETY: as above.
unsafe impl Sync for JavaVmAddress {}

/// The stack of a suspended thread.
pub struct Stack<'a> {
    vm: &'a Vm,
    memory: Live<'a>,
    thread: JavaThread,
}

impl<'a> Stack<'a> {
    /// The VM.
    pub fn vm(&self) -> &'a Vm {
        self.vm
    }

    /// The walk of the whole stack. A thread that carries a virtual thread is not stopped by its suspension, and
    /// is not walked.
    pub fn walk(&self) -> Result<Walk<'a>, Failure> {
        match self.thread.continuation(&self.vm.threads, &self.memory) {
            None | Some(0) => Walk::from_anchor(self.vm, self.memory, self.thread),
            Some(_) => Err(Failure::Caller),
        }
    }

    /// The walk of the frames below the top that `mark` has; `None` if there are none.
    /// [`Failure::Caller`] if they are not there any more, whatever the thread does now: it may have left all Java
    /// code.
    pub fn below(&self, mark: &Mark) -> Result<Option<Walk<'a>>, Failure> {
        if mark.is_whole() {
            return Ok(None);
        }
        let here = self.walk().and_then(|now| mark.below(now));
        here.map(|walk| Some(walk.from_here()))
            .map_err(|_| Failure::Caller)
    }
}

impl<H: Send + 'static> Helper<H> {
    /// Starts a helper, which runs until the process ends; `None` if no thread can be suspended here.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread.
    pub unsafe fn start(env: *mut JNIEnv, process: Process<H>) -> Option<&'static Helper<H>> {
        // SAFETY: as the caller promised.
        let (vm, jvmti) = unsafe {
            let vm = vm_of(env)?;
            (vm, Jvmti::new(vm)?)
        };
        let helper: &'static Helper<H> = Box::leak(Box::new(Helper {
            jvmti,
            vm: JavaVmAddress(vm),
            process,
            entries: Mutex::new(vec![]),
            bell: Bell::new(),
        }));
        let thread = std::thread::Builder::new().name("asgst queues".into());
        thread.spawn(|| helper.run()).ok()?;
        Some(helper)
    }

    /// Adds a queue of the calling thread.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread.
    pub unsafe fn add(
        &self,
        env: *mut JNIEnv,
        capacity: usize,
        handlers: H,
    ) -> Option<*const Entry<H>> {
        let local = self.jvmti.current_thread()?;
        // SAFETY: as the caller promised; the reference is valid.
        let thread = unsafe {
            let thread = ((**env).v1_2.NewGlobalRef)(env, local);
            ((**env).v1_1.DeleteLocalRef)(env, local);
            thread
        };
        let entry = Arc::new(Entry {
            queue: Queue::new(capacity),
            thread,
            env,
            handlers: Mutex::new(Some(handlers)),
        });
        let address = Arc::as_ptr(&entry);
        locked(&self.entries).push(entry);
        Some(address)
    }

    /// Removes a queue. Its elements are dropped. Waits while they are being processed.
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
        *locked(&entry.handlers) = None;
        // SAFETY: as the caller promised; nobody uses the reference any more.
        unsafe { ((**env).v1_1.DeleteGlobalRef)(env, entry.thread) };
        true
    }

    /// Changes what is called for the elements of a queue. Waits while they are being processed.
    pub fn change(&self, entry: &Entry<H>, change: impl FnOnce(&mut H)) {
        locked(&entry.handlers).as_mut().map(change);
    }

    /// Lets the helper look at the queues. Async-signal-safe.
    pub fn ring(&self) {
        self.bell.ring();
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
        loop {
            self.bell.wait();
            let entries = locked(&self.entries).clone();
            // This thread cannot suspend itself.
            let others = entries.iter().filter(|entry| entry.env != env.cast());
            for entry in others.filter(|entry| entry.queue.is_waiting()) {
                self.process(entry);
            }
        }
    }

    fn process(&self, entry: &Entry<H>) {
        let Some(vm) = Vm::get() else { return };
        let handlers = locked(&entry.handlers);
        let Some(handlers) = &*handlers else { return };
        let guard = Guard::set();
        let stack = Stack {
            vm,
            memory: guard.memory(),
            thread: JavaThread::of_environment(&vm.threads, entry.env),
        };
        let process = || (self.process)(entry, handlers, &stack);
        // SAFETY: the reference lives as long as the handlers are there.
        unsafe { self.jvmti.while_suspended(entry.thread, process) };
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A semaphore, which a signal handler may ring.
struct Bell(Box<MaybeUninit<libc::sem_t>>);

// SAFETY: semaphores are for several threads.
unsafe impl Sync for Bell {}
// SAFETY: the semaphore does not move.
unsafe impl Send for Bell {}

impl Bell {
    fn new() -> Bell {
        let mut semaphore = Box::new(MaybeUninit::uninit());
        // SAFETY: memory for a semaphore, which stays where it is.
        unsafe { libc::sem_init(semaphore.as_mut_ptr(), 0, 0) };
        Bell(semaphore)
    }

    fn ring(&self) {
        // SAFETY: the semaphore was made; `sem_post` may be called in a handler.
        unsafe { libc::sem_post(self.0.as_ptr().cast_mut()) };
    }

    /// Waits for a ring. Later rings that were heard meanwhile count as one.
    fn wait(&self) {
        let semaphore = self.0.as_ptr().cast_mut();
        // SAFETY: the semaphore was made.
        unsafe {
            while libc::sem_wait(semaphore) != 0 {}
            while libc::sem_trywait(semaphore) == 0 {}
        }
    }
}
