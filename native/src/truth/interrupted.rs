//! The thread that a signal interrupted, for its handler.

use super::thread_state::ThreadState;
use crate::jvm::java_thread::{JavaThreads, ThreadSnapshot};
use crate::jvm::jni::EnvAddress;
use crate::jvm::os::signal::HandlerContext;
use crate::jvm::os::signal_set::SignalSet;

/// The calling thread, in its signal handler.
#[derive(Copy, Clone)]
pub struct Interrupted<'a> {
    context: &'a HandlerContext<'a>,
    state: &'static ThreadState,
}

impl<'a> Interrupted<'a> {
    /// The thread of `context`; `None` if it runs no Java code.
    pub fn new(context: &'a HandlerContext<'a>) -> Option<Interrupted<'a>> {
        let state = ThreadState::current()?;
        Some(Interrupted { context, state })
    }

    /// The context of the signal.
    pub fn context(self) -> &'a HandlerContext<'a> {
        self.context
    }

    /// The thread's state.
    pub fn state(self) -> &'static ThreadState {
        self.state
    }

    /// The thread's own JNI environment.
    pub fn env(self) -> EnvAddress {
        self.state.env()
    }

    /// The signals that are blocked now and were not when the thread began: those whose handlers run.
    pub fn handled(self) -> SignalSet {
        self.context.blocked().without(self.state.blocked())
    }

    /// The thread's state and its last Java frame, as the VM has them.
    pub fn seen(self, threads: &JavaThreads) -> Option<ThreadSnapshot> {
        // SAFETY: the state is the calling thread's, and so is the environment.
        unsafe { threads.see(self.context, self.env()) }
    }

    /// The word so many bytes above the stack pointer; `None` if it is not one of the thread's frames.
    pub fn frame_word(self, distance: usize) -> Option<usize> {
        let bounds = self.state.stack_bounds();
        self.context.read_frame_word(distance, &bounds)
    }

    /// Overwrites that word, if it is there. The caller puts the old value back before the handler ends.
    pub fn set_frame_word(self, distance: usize, value: usize) {
        let bounds = self.state.stack_bounds();
        self.context.write_frame_word(distance, &bounds, value);
    }

    /// Copies the words of the thread's stack from the address `from` on, or from the stack pointer
    /// on if that is higher. Returns how many words were copied.
    pub fn copy_stack(self, from: usize, words: &mut [usize]) -> usize {
        let bounds = self.state.stack_bounds();
        self.context.copy_stack(from, &bounds, words)
    }
}
