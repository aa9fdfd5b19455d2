//! Walks of the calling thread, outside of its signal handler: by GetStackTrace, and by the walker of a layer
//! that compares another walker with it.

use super::Walkers;
use super::buffer::{ErrorCode, FrameBuffer, MAX_FRAMES, Room, Walk};
use super::walker::WalksHere;
use super::{asgct, gst};
use crate::jvm::jni::Env;
use crate::jvm::os::clock;
use crate::truth::context::Truth;
use crate::truth::thread_state::ThreadState;
use crate::truth::trace_stack::StackCopy;
use oracle::Layer;
use oracle::judge::Slice;
use std::cell::RefCell;
use std::io;

/// More frames than a virtual thread's carrier usually has of its own.
const CARRIER_FRAMES: usize = 64;

/// What a check needs, kept for the next one of its thread.
pub struct Scratch {
    /// GetStackTrace's answer.
    pub gst: FrameBuffer,
    /// The answer of the walker that is compared with it.
    pub walk: FrameBuffer,
    /// A copy of the thread's trace stack.
    pub copy: StackCopy,
    /// A copy of the trace stack of the thread's carrier.
    pub carrier: StackCopy,
}

thread_local! {
    /// Not used by signal handlers, so Rust's own thread-locals do.
    static SCRATCH: RefCell<Option<Scratch>> = const { RefCell::new(None) };
}

/// Lends the thread's scratch; `None` if it is in use or gone, or if there is no memory.
pub fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> Option<T> {
    // What a thread runs that detaches may come after its thread-locals are gone: no check then.
    let worked = SCRATCH.try_with(|scratch| {
        // A check inside a check would mean that a hook ran inside one: leave it out.
        let mut scratch = scratch.try_borrow_mut().ok()?;
        let made = match &mut *scratch {
            Some(made) => made,
            empty => empty.insert(Scratch::new().ok()?),
        };
        Some(work(made))
    });
    worked.ok()?
}

/// Why there is no answer of GetStackTrace.
pub enum NoAnswer {
    /// The walker is not in use.
    NobodyToAsk,
    /// The thread mounts or unmounts a virtual thread.
    Switching,
    /// A method on the stack has no id, and the answer would make the id, which the VM would keep for ever.
    NoIds,
    /// The walker failed.
    Failed(ErrorCode),
    /// The stack has more frames than fit.
    TooDeep,
}

/// How often GetStackTrace is asked again while classes are redefined.
const SETTLING: u32 = 3;

impl Scratch {
    fn new() -> io::Result<Scratch> {
        Ok(Scratch {
            gst: FrameBuffer::new(MAX_FRAMES)?,
            walk: FrameBuffer::new(MAX_FRAMES + CARRIER_FRAMES)?,
            copy: StackCopy::new(MAX_FRAMES)?,
            carrier: StackCopy::new(MAX_FRAMES)?,
        })
    }

    /// Asks the walker of `layer` for the calling thread; `None` if the VM does not have it.
    pub fn ask(
        &mut self,
        walkers: &Walkers,
        layer: Layer,
        env: Env<'_>,
        room: Room,
    ) -> Option<Walk> {
        let walker = walkers.of(layer)?.here()?;
        Some(self.walk.with_room(room, |frames| walker.walk(env, frames)))
    }

    /// Asks GetStackTrace for the calling thread once more, with this room; `None` if nobody is to be asked.
    pub fn ask_gst_in(&mut self, walkers: &Walkers, env: Env<'_>, room: Room) -> Option<Walk> {
        let gst = here(walkers, gst::NAME)?;
        Some(self.gst.with_room(room, |frames| gst.walk(env, frames)))
    }

    /// Asks GetStackTrace for this part of the stack of the calling thread, into `walk`; `None` if nobody is to be asked.
    pub fn ask_gst_slice(&mut self, walkers: &Walkers, env: Env<'_>, slice: Slice) -> Option<Walk> {
        here(walkers, gst::NAME)?.walk_slice(env, slice, &mut self.walk)
    }

    /// Asks GetStackTrace for the calling thread. Returns when, in nanoseconds of `clock::since_start`. Where
    /// classes are redefined, the keys of the methods are looked up before the walk that counts: what is
    /// seen to change only after a walk leaves the walk in doubt.
    pub fn ask_gst_settled(
        &mut self,
        walkers: &Walkers,
        truth: &Truth,
        state: &ThreadState,
        env: Env<'_>,
    ) -> Result<u64, NoAnswer> {
        let methods = &truth.methods;
        let mut asked = clock::since_start();
        self.ask_gst(walkers, truth, state, env)?;
        if methods.has_one_version_each() {
            return Ok(asked);
        }
        for _ in 0..SETTLING {
            methods.look_up(self.gst.frames());
            asked = clock::since_start();
            self.ask_gst(walkers, truth, state, env)?;
            if !methods.have_changed_since(self.gst.frames(), asked) {
                break;
            }
        }
        Ok(asked)
    }

    /// Asks GetStackTrace in place of the walker that is compared with it, once more.
    pub fn ask_gst_again(&mut self, walkers: &Walkers, env: Env<'_>) -> Option<Walk> {
        let gst = here(walkers, gst::NAME)?;
        Some(gst.walk(env, &mut self.walk))
    }

    /// Asks GetStackTrace for the calling thread.
    pub fn ask_gst(
        &mut self,
        walkers: &Walkers,
        truth: &Truth,
        state: &ThreadState,
        env: Env<'_>,
    ) -> Result<(), NoAnswer> {
        if truth.methods.lack_ids(state.stack().hooks()) {
            return Err(NoAnswer::NoIds);
        }
        if !self.may_ask(walkers, truth, state, env) {
            return Err(NoAnswer::Switching);
        }
        let gst = here(walkers, gst::NAME).ok_or(NoAnswer::NobodyToAsk)?;
        gst.walk(env, &mut self.gst).map_err(NoAnswer::Failed)?;
        if self.gst.is_full() {
            return Err(NoAnswer::TooDeep);
        }
        let threads = truth.virtual_threads.as_ref();
        if threads.is_some_and(|threads| threads.is_switching(state, self.gst.frames())) {
            Err(NoAnswer::Switching)
        } else {
            Ok(())
        }
    }

    /// Whether GetStackTrace may be asked for the calling thread: not while it mounts or unmounts
    /// a virtual thread, which JDK 21 would wait for, for ever. (Its `GetStackTrace` waits until
    /// no thread does so, the calling one included.) Where carriers are between two virtual threads only
    /// AsyncGetCallTrace tells; other threads are asked whatever AsyncGetCallTrace answers.
    fn may_ask(
        &mut self,
        walkers: &Walkers,
        truth: &Truth,
        state: &ThreadState,
        env: Env<'_>,
    ) -> bool {
        let (Some(threads), None) = (&truth.virtual_threads, state.carrier_stack()) else {
            return true;
        };
        if !threads.may_carry(state) {
            return true;
        }
        let walked = here(walkers, asgct::NAME).map(|asgct| asgct.walk(env, &mut self.walk));
        // A full buffer may hide more.
        matches!(walked, Some(Ok(())))
            && !self.walk.is_full()
            && !threads.is_mounting(self.walk.frames())
    }
}

fn here<'w>(walkers: &'w Walkers, name: &str) -> Option<&'w dyn WalksHere> {
    walkers.get(name)?.here()
}
