//! The stack of the thread whose elements are processed.

use crate::layout::Vm;
use crate::queue::mark::Mark;
use crate::queue::stop::Stopped;
use crate::walk::Walk;
use crate::walk::frame::{Failure, Frame};
use hotspot::layout::thread::JavaThread;
use std::cell::OnceCell;
use vm::jvmti::FrameInfo;
use vm::memory::Live;

/// Why a stack stays as it is.
#[derive(Copy, Clone)]
pub enum State<'s> {
    /// The thread is stopped.
    Stopped(&'s Stopped),
    /// The thread itself, in native code, looks at its stack.
    Own,
    /// The thread runs.
    Runs,
    /// The stack does not stay, and no thread can be stopped: it has ended, for example.
    Unknown,
}

/// The stack of a thread.
pub struct Stack<'s> {
    vm: &'s Vm,
    memory: Live<'s>,
    thread: JavaThread,
    state: State<'s>,
    /// All frames, as JVMTI gives them.
    listed: OnceCell<Option<Vec<Frame>>>,
}

/// The frames below the top of a sample.
#[expect(
    clippy::large_enum_variant,
    reason = "it becomes an iterator at once, which has a walk in itself"
)]
pub enum Below<'s> {
    /// There are none.
    Nothing,
    /// A walk of them.
    Walk(Walk<'s>),
    /// All of them. Some are in the heap, and JVMTI gave them.
    Listed(&'s [Frame]),
}

impl<'s> Stack<'s> {
    /// The stack of `thread`.
    pub fn new(vm: &'s Vm, memory: Live<'s>, thread: JavaThread, state: State<'s>) -> Stack<'s> {
        Stack {
            vm,
            memory,
            thread,
            state,
            listed: OnceCell::new(),
        }
    }

    /// Whether nothing can be gained by stopping the thread.
    pub fn is_final(&self) -> bool {
        !matches!(self.state, State::Runs)
    }

    /// The walk of the whole stack.
    pub fn walk(&self) -> Result<Walk<'s>, Failure> {
        match self.state {
            State::Runs | State::Unknown => Err(Failure::NotSuspended),
            _ => Walk::from_anchor(self.vm, self.memory, self.thread),
        }
    }

    /// The frames below the top that `mark` has. An error if the frames are not there any more, or if they cannot be
    /// walked now.
    pub fn below<'a>(&'a self, mark: &Mark) -> Result<Below<'a>, Failure> {
        if mark.is_whole() {
            return Ok(Below::Nothing);
        }
        let carries = match self.state {
            State::Stopped(stopped) => stopped.carries_virtual_thread(),
            _ => false,
        };
        let is_known = !matches!(self.state, State::Runs | State::Unknown);
        match self.walk().and_then(|now| mark.below(now)) {
            Ok(walk) => Ok(Below::Walk(walk)),
            Err(_) if mark.is_of_virtual_thread() && is_known && !carries => {
                Err(Failure::Unmounted)
            }
            // The thread has left all Java code.
            Err(Failure::NoJavaFrame) => Err(Failure::Left),
            // The virtual thread may have frames in the heap, which a collector may move now.
            Err(Failure::Caller) if carries => {
                let all = self.listed().ok_or(Failure::Caller)?;
                mark.below_in(all).map(Below::Listed).ok_or(Failure::Left)
            }
            Err(failure) => Err(failure),
        }
    }

    /// All frames: those of the virtual thread, the one by which it was mounted, and those of the carrier.
    fn listed(&self) -> Option<&[Frame]> {
        let list = || {
            let State::Stopped(stopped) = self.state else {
                return None;
            };
            let entry = self.vm.continuations.as_ref()?.enters;
            let stamped = |mut frame: Frame| {
                frame.stamp(&self.vm.methods, &self.memory);
                frame
            };
            let frame = |FrameInfo { method, location }| {
                Frame::of_id(&self.memory, method.0, location).map(stamped)
            };
            let [of_virtual, of_carrier] = stopped.frames()?;
            let of_virtual = of_virtual.into_iter().map(frame);
            let of_carrier = of_carrier.into_iter().map(frame);
            let entry = Some(stamped(Frame::of_native(entry)));
            of_virtual.chain([entry]).chain(of_carrier).collect()
        };
        self.listed.get_or_init(list).as_deref()
    }
}
