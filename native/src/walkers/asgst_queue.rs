//! The safepoint queue of AsyncGetStackTrace, used as a profiler uses it (`profile2.h`): each thread has a queue. The
//! signal handler enqueues, and the library gives the frames soon after, while the thread is suspended.

use super::asgst::{converted, is_likely_inlined};
use super::buffer::{ErrorCode, FrameBuffer, Walk};
use super::walker::{CompletesWalks, Walker, WalksInterrupted};
use crate::jvm::Jvm;
use crate::jvm::jni::Env;
use crate::locks::lock;
use crate::truth::interrupted::Interrupted;
use crate::truth::thread_state::ThreadState;
use oracle::trace::Frame;
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::{Duration, Instant};
use walker::api::ASGST_Initialize;
use walker::api::iterator::Iterator;
use walker::api::queue::{ASGST_DeregisterQueue, ASGST_Enqueue, ASGST_RegisterQueue, Queue};

/// How many samples of a thread may wait for their frames. The sampler asks for one at a time, and may give up.
const CAPACITY: c_int = 16;

/// How many answers may wait for the sampler. Older ones are no longer wanted.
const MOST_ANSWERS: usize = 256;

/// `ASGST_ENQUEUE_NO_QUEUE`.
const NO_QUEUE: ErrorCode = ErrorCode(-5);

/// How long a sample may wait for the suspension of its thread.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_micros(30);

/// The walker. Each thread keeps its queue.
///
/// The sampler may ask a thread again before it takes the earlier answer. So each sample has a ticket of its own, which is
/// the argument of its element.
struct AsgstQueue {
    /// The answers that nobody has taken yet. The library writes them as long as the process lives.
    answers: &'static Answers,
    tickets: AtomicUsize,
}

type Answers = Mutex<VecDeque<Answer>>;

/// The answer to the sample with this ticket.
struct Answer {
    ticket: usize,
    frames: Vec<Frame>,
    walk: Walk,
}

/// The walker is there in every VM. Where it cannot read the VM, no thread has a queue.
pub fn find(_: &'static Jvm) -> Option<Box<dyn Walker>> {
    Some(Box::new(AsgstQueue {
        answers: Box::leak(Box::default()),
        tickets: AtomicUsize::new(0),
    }))
}

/// The handler of each queue, on the library's thread: `answers` is the argument of the queue.
///
/// # Safety
/// `iterator` must be valid, and `answers` the address of [`Answers`].
unsafe extern "C" fn answer(
    iterator: *mut Iterator<'_>,
    answers: *mut c_void,
    ticket: *mut c_void,
) {
    // SAFETY: as the caller promised.
    let (iterator, answers) = unsafe { (&mut *iterator, &*answers.cast::<Answers>()) };
    let mut frames = vec![];
    let walk = loop {
        match iterator.next_call_frame() {
            // SAFETY: without options there are frames of methods alone.
            Ok(Some(frame)) if unsafe { is_likely_inlined(frame) } => {}
            // SAFETY: likewise.
            Ok(Some(frame)) => frames.push(unsafe { converted(frame) }),
            Ok(None) => break Ok(()),
            Err(failure) => break Err(ErrorCode(failure.code())),
        }
    };
    let mut answers = lock(answers);
    if answers.len() >= MOST_ANSWERS {
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
        let argument = ptr::from_ref(self.answers).cast_mut();
        // SAFETY: the calling thread's environment, and an argument that is never freed.
        let queue = unsafe {
            let env = env.address().0 as *mut _;
            ASGST_RegisterQueue(env, CAPACITY, 0, Some(answer), argument.cast())
        };
        state.keep_for_walker(queue.cast_mut().cast());
    }

    fn leave(&self, env: Env<'_>, state: &ThreadState) {
        let queue = state.kept_for_walker().cast::<Queue>();
        // From here on the handler of this thread enqueues nothing.
        state.keep_for_walker(ptr::null_mut());
        // SAFETY: the queue of the calling thread, whose environment this is; null is no queue.
        unsafe { ASGST_DeregisterQueue(env.address().0 as *mut _, queue) };
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
        let queue = thread.state().kept_for_walker().cast::<Queue>();
        if queue.is_null() {
            return Err(NO_QUEUE);
        }
        let ticket = self.tickets.fetch_add(1, Relaxed);
        let context = thread.context().as_raw();
        let argument = ptr::without_provenance_mut(ticket);
        // SAFETY: the queue and the context are those of the interrupted thread, which runs here and removes the queue
        // itself. The argument is a number.
        match unsafe { ASGST_Enqueue(queue, context, argument) } {
            kind if kind > 0 => {
                into.await_answer(ticket);
                Ok(())
            }
            code => Err(ErrorCode(code)),
        }
    }
}

impl CompletesWalks for AsgstQueue {
    fn complete(
        &self,
        _: &ThreadState,
        asked: &FrameBuffer,
        into: &mut FrameBuffer,
    ) -> Option<Walk> {
        let take = || {
            let mut answers = lock(self.answers);
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
