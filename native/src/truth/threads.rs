//! The agent's list of the threads that run Java code.

use super::thread_state::{Live, ThreadState, ThreadWord};
use crate::jvm::jni::{Env, Global};
use crate::jvm::os::thread::StackBounds;
use crate::locks::lock;
use std::ptr;
use std::sync::{Mutex, MutexGuard};

/// All threads that run Java code.
pub struct Threads {
    lists: Mutex<Lists>,
    seed: u64,
}

#[derive(Default)]
struct Lists {
    live: Vec<&'static ThreadState>,
    free: Vec<&'static ThreadState>,
    started: u64,
}

impl Threads {
    /// No threads yet. `seed` starts the random numbers of all threads.
    pub fn new(seed: u64) -> Threads {
        Threads {
            lists: Mutex::default(),
            seed,
        }
    }

    fn lists(&self) -> MutexGuard<'_, Lists> {
        lock(&self.lists)
    }

    /// The calling thread's state, which is made at the first call; `None` if the thread has ended
    /// or there is no memory.
    #[cold]
    pub fn enter(&self, env: Env<'_>) -> Option<&'static ThreadState> {
        match ThreadWord::of_this_thread() {
            ThreadWord::New => {}
            ThreadWord::Ended => return None,
            ThreadWord::Known(state) => return Some(state),
        }
        let (bounds, mut lists) = (StackBounds::of_this_thread(), self.lists());
        let bytes = bounds.size();
        let fits = |state: &&'static ThreadState| state.own_stack().serves(bytes);
        let state = match lists.free.iter().position(fits) {
            Some(index) => lists.free.swap_remove(index),
            None => Box::leak(Box::new(ThreadState::new(bytes).ok()?)),
        };
        lists.started += 1;
        state.begin(env, &bounds, self.seed ^ lists.started);
        lists.live.push(state);
        drop(lists);
        ThreadWord::Known(state).set();
        Some(state)
    }

    /// The calling thread ends: its state is free for another thread. Returns the reference, which
    /// the caller must delete.
    pub fn leave(&self, state: &'static ThreadState) -> Option<Global> {
        // The word comes first: from here on this thread's handler finds no state.
        ThreadWord::Ended.set();
        let mut lists = self.lists();
        let object = state.end();
        lists.live.retain(|live| !ptr::eq(*live, state));
        lists.free.push(state);
        object
    }

    /// Calls `choose` with the live threads. No thread can leave the list meanwhile.
    pub fn with_live<T>(&self, choose: impl FnOnce(LiveThreads<'_>) -> T) -> T {
        choose(LiveThreads(&self.lists().live))
    }

    /// A thread that ended may come back: a native thread can attach again.
    pub fn revive() {
        if let ThreadWord::Ended = ThreadWord::of_this_thread() {
            ThreadWord::New.set();
        }
    }
}

/// The live threads. No thread can leave the list meanwhile.
#[derive(Copy, Clone)]
pub struct LiveThreads<'a>(&'a [&'static ThreadState]);

impl<'a> LiveThreads<'a> {
    /// All live threads, beginning with the thread at `first` modulo their number.
    pub fn from(self, first: usize) -> impl Iterator<Item = Live<'a>> {
        let (upto, from) = self.0.split_at(first % self.0.len().max(1));
        from.iter().chain(upto).map(|state| Live::new(state))
    }
}
