//! The functions of JVMTI that the queue needs.

use hotspot::layout::thread::JavaThread;
use jni_sys::{JNI_OK, JNIEnv, JavaVM, jint, jobject};
use vm::jvmti::{Capability, Env, FrameInfo, GetVirtualThread, THREAD_SUSPENDED, ok};
use vm::threads::platform_thread;

/// A JVMTI environment that may suspend threads.
#[derive(Copy, Clone)]
pub struct Jvmti {
    env: Env,
    get_virtual_thread: Option<GetVirtualThread>,
}

/// Deeper stacks are not listed.
const MOST_LISTED: usize = 1 << 12;

/// Why a thread is not suspended.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum NotSuspended {
    /// Somebody else has suspended the thread.
    Already,
    /// The thread has ended, or the VM does not suspend this thread.
    Refused,
}

impl Jvmti {
    /// An environment of its own. `None` if the VM has none, or if another agent has `can_suspend`, which only
    /// one agent may have.
    ///
    /// # Safety
    /// `vm` must be the VM of this process, and the calling thread attached.
    pub unsafe fn new(vm: *mut JavaVM) -> Option<Jvmti> {
        // SAFETY: as the caller promised.
        let env = unsafe { Env::new(vm)? };
        env.add_capabilities(&[Capability::Suspend]).ok()?;
        // Before JDK 21 there is no such capability.
        let has_virtual_threads = env.add_capabilities(&[Capability::SupportVirtualThreads]);
        let get_virtual_thread = has_virtual_threads
            .ok()
            .and_then(|()| env.get_virtual_thread());
        Some(Jvmti {
            env,
            get_virtual_thread,
        })
    }

    /// GetCurrentThread: a local reference of the calling thread, which must be no virtual thread.
    pub fn current_thread(self) -> Option<jobject> {
        let mut thread: jobject = std::ptr::null_mut();
        // SAFETY: a place for the answer.
        let error = unsafe { (self.env.functions().GetCurrentThread)(self.env, &raw mut thread) };
        ok(error).ok().filter(|()| !thread.is_null())?;
        Some(thread)
    }

    /// A local reference of the platform thread that `is_wanted`; `None` if no thread is.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread.
    pub unsafe fn find_thread(
        self,
        env: *mut JNIEnv,
        is_wanted: impl Fn(JavaThread) -> bool,
    ) -> Option<jobject> {
        let functions = self.env.functions();
        let (mut count, mut first) = (0, std::ptr::null_mut::<jobject>());
        // SAFETY: places for the answers; the VM gives so many references, which are the caller's, in memory that it takes back.
        unsafe {
            let error = (functions.GetAllThreads)(self.env, &raw mut count, &raw mut first);
            ok(error).ok().filter(|()| !first.is_null())?;
            let threads = std::slice::from_raw_parts(first, usize::try_from(count).unwrap_or(0));
            let is_it = |&&thread: &&jobject| platform_thread(env, thread).is_some_and(&is_wanted);
            let found = threads.iter().find(is_it).copied();
            for &thread in threads.iter().filter(|&&thread| Some(thread) != found) {
                ((**env).v1_1.DeleteLocalRef)(env, thread);
            }
            (functions.Deallocate)(self.env, first.cast());
            found
        }
    }

    /// SuspendThread.
    ///
    /// # Safety
    /// `thread` must be a reference to a `java.lang.Thread`.
    pub unsafe fn suspend(self, thread: jobject) -> Result<(), NotSuspended> {
        // SAFETY: as the caller promised.
        let error = unsafe { (self.env.functions().SuspendThread)(self.env, thread) };
        ok(error).map_err(|error| match error {
            THREAD_SUSPENDED => NotSuspended::Already,
            _ => NotSuspended::Refused,
        })
    }

    /// ResumeThread.
    ///
    /// # Safety
    /// `thread` must be a reference to a `java.lang.Thread`.
    pub unsafe fn resume(self, thread: jobject) {
        // SAFETY: as the caller promised.
        unsafe { (self.env.functions().ResumeThread)(self.env, thread) };
    }

    /// A local reference to the virtual thread that the platform thread `carrier` carries; null if it carries none.
    /// The calling thread must not be about to mount or unmount a virtual thread.
    ///
    /// # Safety
    /// `carrier` must be a reference to a `java.lang.Thread`.
    pub unsafe fn carried_by(self, carrier: jobject) -> jobject {
        match self.get_virtual_thread {
            // SAFETY: as the caller promised.
            Some(get) => unsafe { get.carried_by(self.env, carrier) },
            None => std::ptr::null_mut(),
        }
    }

    /// GetStackTrace: all frames, callees first; `None` if there are too many.
    ///
    /// # Safety
    /// `thread` must be a reference to a `java.lang.Thread`.
    pub unsafe fn stack_trace(self, thread: jobject) -> Option<Vec<FrameInfo>> {
        let mut frames = vec![FrameInfo::default(); MOST_LISTED];
        let mut count: jint = 0;
        let (first, room) = (frames.as_mut_ptr(), MOST_LISTED as jint);
        let get = self.env.functions().GetStackTrace;
        // SAFETY: as the caller promised; there is room for so many frames.
        ok(unsafe { get(self.env, thread, 0, room, first, &raw mut count) }).ok()?;
        let count = usize::try_from(count).ok()?;
        frames.truncate(count);
        (count < MOST_LISTED).then_some(frames)
    }
}

/// The VM of an environment.
///
/// # Safety
/// `env` must be the JNI environment of the calling thread.
pub unsafe fn vm_of(env: *mut JNIEnv) -> Option<*mut JavaVM> {
    let mut vm: *mut JavaVM = std::ptr::null_mut();
    // SAFETY: as the caller promised.
    let result = unsafe { ((**env).v1_1.GetJavaVM)(env, &raw mut vm) };
    (result == JNI_OK && !vm.is_null()).then_some(vm)
}
