//! How many exact hooks of a thread run in Java, and not in the agent.
//!
//! A call of a native method costs many times what a hook does. So where a thread runs more than
//! half a million hooks a second ([`super::trace_stack::Pace`]), only about so many of them are native
//! calls. The others do the same work in Java. Which hooks are native is random: at a
//! fixed rate they could always be those of the same place in a loop.

use super::thread_state::ThreadState;
use super::trace_stack::{HookCounts, Left};

/// A native hook begins: the hooks that ran in Java before count. Returns how many more might have
/// run there.
#[inline(always)]
pub fn arrive(state: &ThreadState) -> Left {
    if !state.own.pace.is_on() {
        return Left::default();
    }
    let (ran, left) = state.own_stack().ran_in_java();
    if ran.pushes + ran.pops > 0 {
        let own = &state.own;
        own.pace
            .ran_in_java(u64::from(ran.pushes) + u64::from(ran.pops));
        own.even_pops.set(own.even_pops.get() + u64::from(ran.pops));
        own.countdown
            .set(own.countdown.get().saturating_sub(ran.pushes));
    }
    // Until it ends, the hook may be asked again.
    state.own_stack().allow(left);
    left
}

/// A native hook that changed the trace stack ends: `left` more may run in Java.
#[inline(always)]
pub fn resume(state: &ThreadState, left: Left) {
    if state.own.pace.is_on() {
        state.own_stack().allow(left);
    }
}

/// A native push or pop ends: a random number of hooks run in Java. `counts` is called once in many
/// times.
#[inline(always)]
pub fn depart<'a>(state: &ThreadState, counts: impl FnOnce() -> Option<&'a HookCounts>) {
    let pace = &state.own.pace;
    if !pace.is_on() {
        return;
    }
    let hooks = pace.next(counts, || state.own.random());
    state.own_stack().allow(Left(hooks));
}

/// The thread ends: its hooks are counted.
pub fn end(state: &ThreadState, counts: &HookCounts) {
    arrive(state);
    if state.own.pace.is_on() {
        state.own.pace.measure(Some(counts));
    }
}
