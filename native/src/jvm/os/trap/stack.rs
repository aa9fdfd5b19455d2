//! The stacks of the handler of traps: the instructions of a thread write to the thread's own stack, below
//! its stack pointer too, while the handler runs.
//!
//! Each thread that steps has a stack of its own. A thread may be preempted at the end of its handler, when it steps no more and
//! another thread does: until it has returned to the kernel, it is on its stack still, and nothing tells that it has.

use crate::arch::thread_word;
use crate::jvm::os::memory::Reserved;
use crate::jvm::os::thread;
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI32, AtomicUsize};
use std::sync::{Mutex, PoisonError};

/// The size of a stack in bytes. Memory is taken as far as handlers come.
const SIZE: usize = 1 << 20;

/// So many living threads have a stack at most.
const STACKS: usize = 128;

/// The handler leaves the stack to nobody else: while the handler runs, other handlers use the stack that is
/// in use (`sigaltstack(2)`).
const SS_AUTODISARM: libc::c_int = libc::c_int::MIN;

/// The stacks of all threads.
pub struct OwnStacks {
    all: Box<[Slot]>,
    /// Held by a thread that gets a stack.
    getting: Mutex<()>,
}

/// A place for the stack of one thread.
#[derive(Default)]
struct Slot {
    /// Identifies the owner among living threads; 0 while there is none.
    owner: AtomicUsize,
    /// The kernel's id of the owner.
    tid: AtomicI32,
    stack: UnsafeCell<Option<OwnStack>>,
}

// SAFETY: only the owner gets at the stack: outside of handlers before it steps, and in the handler of traps, which is not interrupted
// by itself there. A slot gets another owner, while `getting` is held, only if its owner has ended.
unsafe impl Sync for Slot {}

/// A stack.
struct OwnStack {
    memory: Reserved<u8>,
    /// The alternate stack that the thread had before.
    earlier: libc::stack_t,
}

// SAFETY: the earlier stack is that of the thread that owns this value, and only passed back to it.
unsafe impl Send for OwnStack {}

impl OwnStacks {
    /// No thread has a stack yet.
    pub fn new() -> OwnStacks {
        OwnStacks {
            all: (0..STACKS).map(|_| Slot::default()).collect(),
            getting: Mutex::new(()),
        }
    }

    /// The calling thread gets a stack, if it has none. Returns whether it has one: there may be too many threads. Not in handlers.
    pub fn get(&self) -> bool {
        let _getting = self.getting.lock().unwrap_or_else(PoisonError::into_inner);
        let (me, tid) = (thread_word() as usize, thread::id());
        let is_free = |slot: &&Slot| {
            slot.owner.load(Relaxed) == 0 || !thread::is_alive(slot.tid.load(Relaxed))
        };
        let Some(slot) = self.mine().or_else(|| self.all.iter().find(is_free)) else {
            return false;
        };
        // The stack of a thread that has ended may be mine already, by its address.
        slot.tid.store(tid, Relaxed);
        slot.owner.store(me, Release);
        // SAFETY: the calling thread owns the slot and does not step.
        let stack = unsafe { &mut *slot.stack.get() };
        if stack.is_none() {
            *stack = OwnStack::new().ok();
        }
        stack.is_some()
    }

    /// From the next trap on, handlers of the interrupted thread use its stack, if it has one. Async-signal-safe.
    pub fn enter(&self, context: &mut libc::ucontext_t) {
        self.with_mine(|stack| stack.enter(context));
    }

    /// From the end of the handler on, the thread has its earlier alternate stack. Async-signal-safe.
    pub fn leave(&self, context: &mut libc::ucontext_t) {
        self.with_mine(|stack| stack.leave(context));
    }

    fn with_mine(&self, work: impl FnOnce(&mut OwnStack)) {
        if let Some(slot) = self.mine() {
            // SAFETY: the calling thread owns the slot, and runs the handler of traps.
            unsafe { &mut *slot.stack.get() }.as_mut().map(work);
        }
    }

    fn mine(&self) -> Option<&Slot> {
        let me = thread_word() as usize;
        self.all.iter().find(|slot| slot.owner.load(Acquire) == me)
    }
}

impl OwnStack {
    fn new() -> std::io::Result<OwnStack> {
        Ok(OwnStack {
            memory: Reserved::new(SIZE)?,
            earlier: none(),
        })
    }

    fn enter(&mut self, context: &mut libc::ucontext_t) {
        self.earlier = context.uc_stack;
        context.uc_stack = libc::stack_t {
            ss_sp: self.memory.start().as_ptr().cast(),
            ss_flags: SS_AUTODISARM,
            ss_size: SIZE,
        };
    }

    fn leave(&mut self, context: &mut libc::ucontext_t) {
        if ptr::eq(context.uc_stack.ss_sp, self.memory.start().as_ptr().cast()) {
            context.uc_stack = self.earlier;
        }
    }
}

/// Whether the calling handler runs on the alternate stack of `context`, and nobody else uses that.
pub fn is_in_use(context: &libc::ucontext_t) -> bool {
    let here = ptr::from_ref(&context) as usize;
    let start = context.uc_stack.ss_sp as usize;
    context.uc_stack.ss_flags & SS_AUTODISARM != 0
        && (start..start + context.uc_stack.ss_size).contains(&here)
}

fn none() -> libc::stack_t {
    libc::stack_t {
        ss_sp: ptr::null_mut(),
        ss_flags: libc::SS_DISABLE,
        ss_size: 0,
    }
}
