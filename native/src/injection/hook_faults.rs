//! Hooks that fail on purpose, if the configuration asks for such faults. They are the faults of
//! layer `ground`, in which the hooks take the place of a walker.

use super::FaultLog;
use crate::truth::thread_state::ThreadState;
use crate::truth::trace_stack::Balance;
use oracle::judge::Unseen;
use oracle::mutants::Detection;
use oracle::record::{FaultCount, HookFault};
use oracle::{TruthKind, Verdict};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// One hook of this many fails; 0: none.
static ONE_IN: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Failures so far, and failures that were noticed or given up.
static DONE: AtomicU64 = AtomicU64::new(0);
static SETTLED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Failures of this thread that have not been noticed yet.
    static PENDING: Cell<u64> = const { Cell::new(0) };
}

/// The faults that the configuration asks for.
static ASKED: OnceLock<HookFault> = OnceLock::new();

/// Takes the faults from the configuration.
pub fn configure(hook_fault: Option<HookFault>, one_in: u64) {
    if let Some(hook_fault) = hook_fault {
        _ = ASKED.set(hook_fault);
        ONE_IN[hook_fault as usize].store(one_in, Relaxed);
    }
}

/// Whether the hook must fail in this way now.
#[inline(always)]
pub fn strikes(state: &ThreadState, hook_fault: HookFault) -> bool {
    match ONE_IN[hook_fault as usize].load(Relaxed) {
        0 => false,
        one_in => strikes_now(state, one_in),
    }
}

#[cold]
fn strikes_now(state: &ThreadState, one_in: u64) -> bool {
    let now = state.own.random().is_multiple_of(one_in);
    if now {
        DONE.fetch_add(1, Relaxed);
        PENDING.set(PENDING.get() + 1);
    }
    now
}

/// The hooks found their entries out of balance, with the verdict `verdict`. `excuse` says why this
/// is no mismatch, if it is none.
pub fn noticed(fault_log: &FaultLog, found: Balance, verdict: Verdict, excuse: Option<Unseen>) {
    let most = match found {
        Balance::TooMany(n) => u64::from(n),
        Balance::TooFew => 1,
        Balance::Even => 0,
    };
    let outcome = excuse.map_or(Detection::Caught, Detection::Explained);
    settle(fault_log, most.min(PENDING.get()), verdict, outcome);
}

/// The calling thread ends. It can no longer notice its failures.
pub fn thread_ends(fault_log: &FaultLog) {
    settle(fault_log, PENDING.get(), Verdict::Match, Detection::Missed);
}

fn settle(fault_log: &FaultLog, count: u64, verdict: Verdict, outcome: Detection) {
    if let Some(hook_fault) = ASKED.get().filter(|_| count > 0) {
        PENDING.set(PENDING.get() - count);
        SETTLED.fetch_add(count, Relaxed);
        fault_log.note(
            TruthKind::Trace.checked_by(),
            hook_fault.name(),
            verdict,
            outcome,
            count,
        );
    }
}

/// Failures in frames whose callers had not returned when the VM ended.
pub fn unsettled() -> Option<FaultCount> {
    let left = DONE
        .load(Relaxed)
        .checked_sub(SETTLED.load(Relaxed))
        .filter(|&left| left > 0)?;
    Some(FaultCount {
        layer: TruthKind::Trace.checked_by(),
        kind: ASKED.get()?.name().into(),
        verdict: Verdict::Unverifiable,
        outcome: Detection::Explained(Unseen::StillActive),
        count: left,
    })
}
