//! Two halves: the handlers of a signal fill one, while a thread empties the other.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use vm::sync::{AtomicU32, UnsafeCell};

/// Bits of the state: the index of the half that is filled, and who is at work.
const SIDE: u32 = 1;
const FILLING: u32 = 2;
const EMPTYING: u32 = 4;
/// What the filled half holds is not for each emptier.
const RESERVED: u32 = 8;

/// Why no half was emptied.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum NotEmptied {
    /// Somebody fills the half, or somebody else empties one.
    Busy,
    /// The half is reserved.
    Reserved,
}

/// Two values of which one is filled and the other is emptied.
pub struct Halves<T> {
    state: AtomicU32,
    halves: [UnsafeCell<T>; 2],
}

// SAFETY: one filler has the half of `SIDE` while it has `FILLING`, and one emptier the other half while it has `EMPTYING`. The
// side changes only where nobody has either bit.
unsafe impl<T: Send> Sync for Halves<T> {}

/// The index of the half that `state` has filled.
fn side(state: u32) -> usize {
    (state & SIDE) as usize
}

impl<T> Halves<T> {
    /// Two halves. The first is filled first.
    pub fn new(halves: [T; 2]) -> Halves<T> {
        Halves {
            state: AtomicU32::new(0),
            halves: halves.map(UnsafeCell::new),
        }
    }

    /// The index of the half that is filled now. Async-signal-safe.
    pub fn filled(&self) -> usize {
        side(self.state.load(Acquire))
    }

    /// Lets `work` change the half that is filled, and gives it its index; `None` if somebody else fills it.
    /// Async-signal-safe if `work` is.
    pub fn fill<R>(&self, work: impl FnOnce(usize, &mut T) -> R) -> Option<R> {
        self.fill_reserving(|half, value| (work(half, value), false))
    }

    /// As [`Halves::fill`]. `work` says in addition whether the half is reserved from now on: [`Halves::empty_unreserved`] leaves
    /// it as it is.
    pub fn fill_reserving<R>(&self, work: impl FnOnce(usize, &mut T) -> (R, bool)) -> Option<R> {
        let mut state = self.state.load(Relaxed);
        // A handler that interrupts one that fills must not wait for it. Otherwise an exchange fails only if the emptier has begun or
        // ended since the load. Between two beginnings it empties a half, so the loop ends.
        let state = loop {
            if state & FILLING != 0 {
                return None;
            }
            let filling = state | FILLING;
            match self
                .state
                .compare_exchange(state, filling, Acquire, Relaxed)
            {
                Ok(_) => break state,
                Err(changed) => state = changed,
            }
        };
        let at = side(state);
        // SAFETY: only one has the bit, and the side does not change meanwhile.
        let (result, reserves) = self.halves[at].with_mut(|half| work(at, unsafe { &mut *half }));
        if reserves {
            // No emptier takes the half before the next operation.
            self.state.fetch_or(RESERVED, Relaxed);
        }
        // The emptier may have ended in between, so only this one's bit is taken back.
        self.state.fetch_and(!FILLING, Release);
        Some(result)
    }

    /// Whether the half that is filled now is reserved. Async-signal-safe.
    pub fn is_reserved(&self) -> bool {
        self.state.load(Relaxed) & RESERVED != 0
    }

    /// Lets the other half be filled from now on, and `work` empty the one that was filled, of which it gets the index.
    pub fn empty<R>(&self, work: impl FnOnce(usize, &mut T) -> R) -> Result<R, NotEmptied> {
        self.empty_unless(0, work)
    }

    /// As [`Halves::empty`], unless the half is reserved.
    pub fn empty_unreserved<R>(
        &self,
        work: impl FnOnce(usize, &mut T) -> R,
    ) -> Result<R, NotEmptied> {
        self.empty_unless(RESERVED, work)
    }

    fn empty_unless<R>(
        &self,
        refused: u32,
        work: impl FnOnce(usize, &mut T) -> R,
    ) -> Result<R, NotEmptied> {
        let state = self.state.load(Relaxed);
        if state & (FILLING | EMPTYING) != 0 {
            return Err(NotEmptied::Busy);
        }
        if state & refused != 0 {
            return Err(NotEmptied::Reserved);
        }
        // The other half is empty, so it is not reserved.
        let emptying = ((state ^ SIDE) | EMPTYING) & !RESERVED;
        self.state
            .compare_exchange(state, emptying, AcqRel, Relaxed)
            .map_err(|_| NotEmptied::Busy)?;
        let at = side(state);
        // SAFETY: only one has the bit, and fillers have the other half until the next exchange.
        let result = self.halves[at].with_mut(|half| work(at, unsafe { &mut *half }));
        self.state.fetch_and(!EMPTYING, Release);
        Ok(result)
    }
}
