//! A thread as the VM sees it (`share/runtime/javaThread.hpp`): the current thread, its state, its
//! stack, and the anchor of its last Java frame.

use crate::memory::{Live, Permanent};
use crate::vm::tables::Tables;
use hotspot::memory::Memory;
use hotspot::vm::fields::Fields;
use hotspot::vm::thread_state::{Doing, States};
use jni_sys::{JNIEnv, jobject};
use std::ops::Range;

/// The VM's address of a `JavaThread`.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct JavaThread(pub usize);

/// The layout of a thread.
pub struct Layout {
    state: usize,
    states: States,
    anchor: AnchorLayout,
    thread_anchor: usize,
    wrapper_anchor: usize,
    stack_base: usize,
    stack_size: usize,
    terminated: usize,
    not_terminated: u32,
    unpacked: usize,
    exception_pc: Option<usize>,
    list: ListLayout,
    /// The distance from the thread to its JNI environment.
    environment: usize,
    /// The first word of each JNI environment.
    functions: usize,
    /// The first word of threads of the most usual class, and the size of these threads.
    class: usize,
    size: usize,
    /// The key of the VM's thread-local pointer to its thread.
    key: libc::pthread_key_t,
}

/// The VM's list of threads (`ThreadsSMRSupport`).
struct ListLayout {
    current: usize,
    length: usize,
    threads: usize,
}

struct AnchorLayout {
    sp: usize,
    pc: usize,
    fp: usize,
}

/// An anchor: where a thread left Java code.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Anchor {
    /// The stack pointer of the last Java frame.
    pub sp: usize,
    /// Its program counter; 0 if the word below the stack pointer has it.
    pub pc: usize,
    /// Its frame pointer; 0 if the VM has not stored it.
    pub fp: usize,
}

impl Layout {
    /// Reads the layout from the calling thread. `None` if this VM does not describe its threads as
    /// expected.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread, which is attached, without a
    /// pending exception.
    pub unsafe fn learn(tables: &Tables, env: *mut JNIEnv) -> Option<Layout> {
        // SAFETY: as the caller promised.
        let thread = unsafe { current_thread(env)? };
        let field = |field| tables.field(&["JavaThread", "Thread"], field);
        let anchor = |field| tables.field(&["JavaFrameAnchor"], field);
        Some(Layout {
            state: field("_thread_state")?,
            states: States::find(tables)?,
            anchor: AnchorLayout {
                sp: anchor("_last_Java_sp")?,
                pc: anchor("_last_Java_pc")?,
                fp: anchor("_last_Java_fp")?,
            },
            thread_anchor: field("_anchor")?,
            wrapper_anchor: tables.field(&["JavaCallWrapper"], "_anchor")?,
            stack_base: field("_stack_base")?,
            stack_size: field("_stack_size")?,
            terminated: field("_terminated")?,
            not_terminated: tables
                .constant("JavaThread::_not_terminated")?
                .cast_unsigned(),
            unpacked: field("_vframe_array_head")?,
            exception_pc: field("_exception_pc"),
            list: ListLayout {
                current: tables.field(&["ThreadsSMRSupport"], "_java_thread_list")?,
                length: tables.field(&["ThreadsList"], "_length")?,
                threads: tables.field(&["ThreadsList"], "_threads")?,
            },
            environment: (env as usize).checked_sub(thread)?,
            // SAFETY: the environment begins with the pointer to its functions.
            functions: unsafe { *env.cast::<usize>() },
            // SAFETY: the calling thread's own description, which begins with the pointer to its virtual functions.
            class: unsafe { *(thread as *const usize) },
            size: tables.size("JavaThread")?,
            key: key_of(thread)?,
        })
    }
}

/// The VM's address of the calling thread, from the field `eetop` of its `java.lang.Thread`.
///
/// # Safety
/// As for [`Layout::learn`].
unsafe fn current_thread(env: *mut JNIEnv) -> Option<usize> {
    // SAFETY: as the caller promised; an exception for what is missing is cleared, and local
    // references are deleted.
    unsafe {
        let functions = &(**env).v1_6;
        let class = (functions.FindClass)(env, c"java/lang/Thread".as_ptr());
        if class.is_null() {
            (functions.ExceptionClear)(env);
            return None;
        }
        // A virtual thread has no `eetop`, but its carrier has one.
        let names = [c"currentCarrierThread", c"currentThread"];
        let current = names.into_iter().find_map(|name| {
            let signature = c"()Ljava/lang/Thread;".as_ptr();
            let method = (functions.GetStaticMethodID)(env, class, name.as_ptr(), signature);
            if method.is_null() {
                (functions.ExceptionClear)(env);
                return None;
            }
            let thread: jobject =
                (functions.CallStaticObjectMethodA)(env, class, method, std::ptr::null());
            (functions.ExceptionClear)(env);
            (!thread.is_null()).then_some(thread)
        })?;
        let field = (functions.GetFieldID)(env, class, c"eetop".as_ptr(), c"J".as_ptr());
        if field.is_null() {
            (functions.ExceptionClear)(env);
            return None;
        }
        let thread = (functions.GetLongField)(env, current, field) as usize;
        (functions.DeleteLocalRef)(env, current);
        (functions.DeleteLocalRef)(env, class);
        (thread != 0).then_some(thread)
    }
}

/// The key under which the calling thread stores `thread` (`ThreadLocalStorage`, which the VM sets
/// in addition to its own variable).
fn key_of(thread: usize) -> Option<libc::pthread_key_t> {
    // `PTHREAD_KEYS_MAX` of glibc and musl.
    (0..1024).find(|&key| {
        // SAFETY: glibc and musl answer with null for a key that is not in use.
        unsafe { libc::pthread_getspecific(key) as usize == thread }
    })
}

impl JavaThread {
    /// The Java thread that runs here; `None` if the calling thread is no Java thread.
    /// Async-signal-safe, as far as `pthread_getspecific` is: the function only reads.
    #[inline]
    pub fn current(layout: &Layout, memory: &Live<'_>) -> Option<JavaThread> {
        // SAFETY: the key was in use when it was found, and the VM never deletes it.
        let thread = unsafe { libc::pthread_getspecific(layout.key) } as usize;
        // SAFETY: the VM names the description of the calling thread here as long as there is one. It is of this size if it is of
        // this class. Threads of the VM have smaller ones.
        unsafe {
            if thread != 0 && Permanent::new().word(thread) == Some(layout.class) {
                memory.trust(thread..thread.wrapping_add(layout.size));
            }
        }
        let functions = memory.word(thread.wrapping_add(layout.environment))?;
        (thread != 0 && functions == layout.functions).then_some(JavaThread(thread))
    }

    /// The Java thread of a JNI environment.
    pub fn of_environment(layout: &Layout, env: *mut JNIEnv) -> JavaThread {
        JavaThread((env as usize).wrapping_sub(layout.environment))
    }

    /// What it does.
    pub fn doing(self, layout: &Layout, memory: &impl Memory) -> Option<Doing> {
        let state = memory.i32(self.0.wrapping_add(layout.state))?;
        Some(layout.states.of(state).doing)
    }

    /// Whether the thread has begun to end.
    pub fn is_ending(self, layout: &Layout, memory: &impl Memory) -> Option<bool> {
        Some(memory.u32(self.0.wrapping_add(layout.terminated))? != layout.not_terminated)
    }

    /// Whether the thread replaces frames of compiled code by frames of the interpreter: from the
    /// description of the new frames until they are filled in (`share/runtime/deoptimization.cpp`).
    pub fn unpacks(self, layout: &Layout, memory: &impl Memory) -> Option<bool> {
        Some(memory.word(self.0.wrapping_add(layout.unpacked))? != 0)
    }

    /// The return address of the callee whose exception the thread is about to handle; `None` if there is none.
    pub fn exception_pc(self, layout: &Layout, memory: &impl Memory) -> Option<usize> {
        let pc = memory.word(self.0.wrapping_add(layout.exception_pc?))?;
        (pc != 0).then_some(pc)
    }

    /// The addresses of its stack.
    #[inline]
    pub fn stack(self, layout: &Layout, memory: &Live<'_>) -> Option<Range<usize>> {
        let base = memory.word(self.0.wrapping_add(layout.stack_base))?;
        let size = memory.word(self.0.wrapping_add(layout.stack_size))?;
        let stack = base.checked_sub(size)?..base;
        let here = std::ptr::from_ref(&size) as usize;
        if stack.contains(&here) {
            // SAFETY: the calling thread runs on this stack, and has come so far.
            unsafe { memory.trust(here..base) };
        }
        Some(stack)
    }

    /// Where the thread left Java code; `None` if it runs Java code, or has never run Java code.
    pub fn anchor(self, layout: &Layout, memory: &impl Memory) -> Option<Anchor> {
        layout.anchor_at(memory, self.0.wrapping_add(layout.thread_anchor))
    }
}

impl Layout {
    /// The addresses of the stack that contains `sp`: the stack of the calling thread, or of
    /// another Java thread.
    pub fn stack_of(&self, memory: &Live<'_>, sp: usize) -> Option<Range<usize>> {
        const MOST_THREADS: usize = 1 << 20;
        let stack = |thread: JavaThread| {
            thread
                .stack(self, memory)
                .filter(|stack| stack.contains(&sp))
        };
        if let Some(stack) = JavaThread::current(self, memory).and_then(stack) {
            return Some(stack);
        }
        let list = memory.word(self.list.current)?;
        let length = memory.u32(list.wrapping_add(self.list.length))? as usize;
        let threads = memory.word(list.wrapping_add(self.list.threads))?;
        (0..length.min(MOST_THREADS)).find_map(|at| {
            let place = threads.wrapping_add(at.wrapping_mul(size_of::<usize>()));
            stack(JavaThread(memory.word(place)?))
        })
    }

    /// The anchor that the `JavaCallWrapper` at `wrapper` keeps for the Java frames below it.
    pub fn wrapped_anchor(&self, memory: &impl Memory, wrapper: usize) -> Option<Anchor> {
        self.anchor_at(memory, wrapper.wrapping_add(self.wrapper_anchor))
    }

    /// The anchor at `place`; `None` if none is set.
    pub fn anchor_at(&self, memory: &impl Memory, place: usize) -> Option<Anchor> {
        let sp = memory.word(place.wrapping_add(self.anchor.sp))?;
        Some(Anchor {
            sp: Some(sp).filter(|&sp| sp != 0)?,
            pc: memory.word(place.wrapping_add(self.anchor.pc))?,
            fp: memory.word(place.wrapping_add(self.anchor.fp))?,
        })
    }
}
