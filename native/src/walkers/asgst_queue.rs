//! The safepoint queue of AsyncGetStackTrace, used as a profiler uses it (`profile2.h`): each thread has a queue. The
//! signal handler enqueues, and the library gives the frames soon after, while the thread is suspended.

use super::asgst::{converted, shown};
use super::buffer::{ErrorCode, FrameBuffer, Walk};
use super::walker::{CompletesWalks, Walker, WalksInterrupted};
use crate::jvm::Jvm;
use crate::jvm::jni::Env;
use crate::truth::interrupted::Interrupted;
use crate::truth::thread_state::ThreadState;
use oracle::trace::Frame;
use std::collections::{HashMap, VecDeque};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use walker::api::ASGST_Initialize;
use walker::api::iterator::Iterator;
use walker::api::queue::{
    ASGST_DeregisterQueue, ASGST_Enqueue, ASGST_GetQueueSizeInfo, ASGST_RegisterQueue, Queue,
};

/// How many samples of a thread may wait for their frames. The sampler asks for one at a time, and may give up.
const CAPACITY: c_int = 16;

/// `ASGST_ENQUEUE_NO_QUEUE`.
const NO_QUEUE: ErrorCode = ErrorCode(-5);

/// How long a sample may wait for the suspension of its thread. A thread that ends waits as long for its samples.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_micros(30);

/// The walker: the queues of all threads, by the addresses of their states.
///
/// The sampler may ask a thread again before it takes the earlier answer, and another thread may get the state of a thread
/// that has ended. So each sample has a ticket of its own, which is the argument of its element.
#[derive(Default)]
struct AsgstQueue {
    threads: Mutex<HashMap<usize, Arc<OfThread>>>,
    tickets: AtomicUsize,
}

/// The queue of a thread, and the answers that nobody has taken yet.
struct OfThread {
    /// Null before the queue is registered. The queue lives until its thread removes it.
    queue: AtomicPtr<Queue>,
    answers: Mutex<VecDeque<Answer>>,
}

/// The answer to the sample with this ticket.
struct Answer {
    ticket: usize,
    frames: Vec<Frame>,
    walk: Walk,
}

/// The walker is there in every VM. Where it cannot read the VM, no thread has a queue.
pub fn find(_: &'static Jvm) -> Option<Box<dyn Walker>> {
    Some(Box::<AsgstQueue>::default())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The handler of the queue, on the library's thread: `of_thread` is the argument of the queue.
///
/// # Safety
/// `iterator` must be valid, and `of_thread` the address of an [`OfThread`].
unsafe extern "C" fn answer(
    iterator: *mut Iterator<'_>,
    of_thread: *mut c_void,
    ticket: *mut c_void,
) {
    // SAFETY: as the caller promised. The queue is removed before the memory is given back.
    let (iterator, of_thread) = unsafe { (&mut *iterator, &*of_thread.cast::<OfThread>()) };
    let mut frames = vec![];
    let walk = loop {
        match iterator.next_call_frame() {
            // SAFETY: without options there are frames of methods alone.
            Ok(Some(frame)) => frames.push(unsafe { converted(frame) }),
            Ok(None) => break Ok(()),
            Err(failure) => break Err(shown(failure.code())),
        }
    };
    let mut answers = locked(&of_thread.answers);
    if answers.len() >= CAPACITY as usize {
        // Nobody waits for the oldest any more.
        answers.pop_front();
    }
    answers.push_back(Answer {
        ticket: ticket.addr(),
        frames,
        walk,
    });
}

impl Walker for AsgstQueue {
    fn name(&self) -> &'static str {
        "asgst-queue"
    }

    fn begin(&self, env: Env<'_>) {
        // SAFETY: the calling thread's environment, in the live phase. Without success no thread gets a queue.
        unsafe { ASGST_Initialize(env.address().0 as *mut _) };
    }

    fn suspends(&self) -> bool {
        true
    }

    fn enter(&self, env: Env<'_>, state: &ThreadState) {
        let of_thread = Arc::new(OfThread {
            queue: AtomicPtr::default(),
            answers: Mutex::default(),
        });
        let argument = Arc::as_ptr(&of_thread).cast_mut();
        // SAFETY: the calling thread's environment. The argument lives until `leave` has removed the queue.
        let queue = unsafe {
            let env = env.address().0 as *mut _;
            ASGST_RegisterQueue(env, CAPACITY, 0, Some(answer), argument.cast())
        };
        if queue.is_null() {
            return;
        }
        of_thread.queue.store(queue.cast_mut(), Release);
        locked(&self.threads).insert(ptr::from_ref(state).addr(), of_thread);
        state.keep_for_walker(argument.cast());
    }

    fn leave(&self, env: Env<'_>, state: &ThreadState) {
        // From here on the handler of this thread enqueues nothing.
        state.keep_for_walker(ptr::null_mut());
        let removed = locked(&self.threads).remove(&ptr::from_ref(state).addr());
        let Some(of_thread) = removed else { return };
        let queue = of_thread.queue.load(Acquire);
        // SAFETY: the queue of the calling thread, whose environment this is.
        unsafe {
            let start = Instant::now();
            while ASGST_GetQueueSizeInfo(queue).size > 0 && start.elapsed() < PATIENCE {
                sleep(LOOK_AGAIN);
            }
            ASGST_DeregisterQueue(env.address().0 as *mut _, queue);
        }
    }

    fn in_handler(&self) -> Option<&dyn WalksInterrupted> {
        Some(self)
    }

    fn later(&self) -> Option<&dyn CompletesWalks> {
        Some(self)
    }
}

impl WalksInterrupted for AsgstQueue {
    fn walk(&self, thread: Interrupted<'_>, into: &mut FrameBuffer) -> Walk {
        let of_thread = thread.state().kept_for_walker().cast::<OfThread>();
        // SAFETY: what `enter` kept on this thread, which is alive until `leave` runs on this thread.
        let of_thread = unsafe { of_thread.as_ref() }.ok_or(NO_QUEUE)?;
        let ticket = self.tickets.fetch_add(1, Relaxed);
        let context = thread.context().as_raw();
        let argument = ptr::without_provenance_mut(ticket);
        // SAFETY: the queue and the context are those of the interrupted thread, which runs here. The argument is a
        // number.
        match unsafe { ASGST_Enqueue(of_thread.queue.load(Acquire), context, argument) } {
            kind if kind > 0 => {
                into.await_answer(ticket);
                Ok(())
            }
            code => Err(shown(code)),
        }
    }
}

impl CompletesWalks for AsgstQueue {
    fn complete(
        &self,
        thread: &ThreadState,
        asked: &FrameBuffer,
        into: &mut FrameBuffer,
    ) -> Option<Walk> {
        let of_thread = locked(&self.threads)
            .get(&ptr::from_ref(thread).addr())?
            .clone();
        let take = || {
            let mut answers = locked(&of_thread.answers);
            let mut all = answers.iter();
            let at = all.position(|answer| answer.ticket == asked.awaited())?;
            answers.remove(at)
        };
        let start = Instant::now();
        let answer = loop {
            match take() {
                Some(answer) => break answer,
                None if start.elapsed() < PATIENCE => sleep(LOOK_AGAIN),
                None => return None,
            }
        };
        into.set(answer.frames.into_iter(), false);
        Some(answer.walk)
    }
}
