//! Layer `ground`: the trace stack is compared with itself. Each hook must find the entries that
//! the hooks before it have left.

use super::context::Layers;
use crate::evidence::{Found, Sampled};
use crate::injection::hook_faults;
use crate::jvm::jni::{Env, Global, Ref};
use crate::records::instants::MismatchKind;
use crate::truth::java_hooks;
use crate::truth::thread_state::ThreadState;
use crate::truth::trace_stack::{Balance, StackCopy, Token, TraceStack};
use crate::walkers::buffer::MAX_FRAMES;
use oracle::judge::{TraceTruth, Unseen};
use oracle::record::Evidence;
use oracle::{Judgement, Layer, Reason, TruthKind, Verdict};
use std::ffi::CStr;
use std::sync::OnceLock;

const LAYER: Layer = TruthKind::Trace.checked_by();

/// The kind of this layer's mismatches, which have no cause.
const KIND: MismatchKind = (LAYER, Verdict::Wrong, None);

/// Balanced pops are added to the shared slots in lots of this size.
const LOT: u64 = 256;

/// How many of the entries that are too many are named.
const SHOWN: usize = 16;

/// At a check: whether the entries of the trace stack are consistent.
pub fn check(layers: &Layers, state: &ThreadState) {
    let verdict = if state.stack().is_consistent() {
        Verdict::Match
    } else {
        Verdict::Wrong
    };
    layers.records.slots.count(LAYER, verdict);
    if verdict == Verdict::Wrong {
        layers.reporter.count(KIND, "a check");
    }
}

/// A hook found exactly the entries that it had to find. `layers` is called once in many times.
#[inline(always)]
pub fn count_even<'a>(state: &ThreadState, layers: impl FnOnce() -> Option<&'a Layers>) {
    let pops = state.own.even_pops.get() + 1;
    if pops < LOT {
        state.own.even_pops.set(pops);
        return;
    }
    state.own.even_pops.set(0);
    if let Some(layers) = layers() {
        layers.records.slots.add(LAYER, Verdict::Match, pops);
    }
}

/// The end of a thread: without Java frames its trace stack must be empty. (The thread that
/// calls `System.exit` ends with its frames.)
pub fn end_thread(layers: &Layers, state: &ThreadState, env: Env<'_>) {
    let slots = &layers.records.slots;
    java_hooks::end(state, &layers.truth.hook_counts);
    slots.add(LAYER, Verdict::Match, state.own.even_pops.take());
    let place = "end of the thread";
    state.stack().notice();
    match (state.stack().depth(), layers.truth.jvm.jvmti.has_frames()) {
        (_, Ok(false)) if state.stack().is_doubtful() => {
            slots.count(LAYER, Verdict::Unverifiable);
        }
        (0, _) => slots.count(LAYER, Verdict::Match),
        (left, Ok(false)) => unbalanced(layers, state, env, place, Balance::TooMany(left)),
        (_, Ok(true) | Err(_)) => return,
    }
    hook_faults::thread_ends(&layers.injector.fault_log);
}

/// The end of a virtual thread: its trace stack must be empty.
pub fn end_virtual_thread(layers: &Layers, state: &ThreadState, stack: &TraceStack, env: Env<'_>) {
    let place = "end of a virtual thread";
    stack.notice();
    match stack.depth() {
        _ if stack.is_doubtful() => layers.records.slots.count(LAYER, Verdict::Unverifiable),
        0 => layers.records.slots.count(LAYER, Verdict::Match),
        left => unbalanced(layers, state, env, place, Balance::TooMany(left)),
    }
}

/// A plain pop met the entry of another method, or plain pushes the end of the entries. Which frames ended without a
/// hook is not known: the doubt of the trace stack shows what it costs.
#[cold]
pub fn noticed_late(layers: Option<&Layers>) {
    if let Some(layers) = layers {
        layers.truth.rewriting().repairs += 1;
        layers.records.slots.count(LAYER, Verdict::Unverifiable);
    }
}

/// Entries of frames that ended without their `pop`.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Stale {
    /// There are no such entries.
    None,
    /// All of them are constructors, whose call of `super(...)` no handler can cover.
    Constructors,
    /// There are other entries.
    Others,
    /// There may be other entries, of frames that an error of the VM ended.
    Doubtful,
}

impl Stale {
    /// The entries above the frame of `token`.
    #[inline(always)]
    pub fn above<'a>(
        state: &ThreadState,
        token: Token,
        layers: impl FnOnce() -> Option<&'a Layers>,
    ) -> Stale {
        if state.stack().depth() <= token.depth.wrapping_add(1) {
            return Stale::None;
        }
        Stale::look(state, token, layers())
    }

    #[cold]
    fn look(state: &ThreadState, token: Token, layers: Option<&Layers>) -> Stale {
        let Some(layers) = layers.filter(|_| !state.stack().is_doubtful()) else {
            return Stale::Doubtful;
        };
        let is_constructor = |hook| layers.truth.methods.is_constructor(hook);
        if state.stack().above(token).all(is_constructor) {
            Stale::Constructors
        } else {
            Stale::Others
        }
    }
}

/// A hook that found another number of entries above its token than one.
pub struct Uneven<'a> {
    /// The kind of hook, for the evidence.
    pub place: &'static str,
    /// What the hook found.
    pub found: Balance,
    /// The entries above its frame.
    pub stale: Stale,
    /// The exception for which the hook runs, if any.
    pub exception: Option<Ref<'a>>,
}

/// Frames that ended without their `pop` are the hooks' own fault, unless
///
/// * an exception left the call of `super(...)` in constructors, which no handler can cover: the
///   next handler below corrects the trace stack, as planned. Until then samples see the mark that
///   `thrown` left (see [`TraceStack::leave`]);
/// * or the VM stopped a hook in the middle, with a StackOverflowError or another error of the VM,
///   or because another thread stopped this thread.
#[cold]
pub fn explain(layers: &Layers, state: &ThreadState, env: Env<'_>, uneven: Uneven<'_>) {
    let slots = &layers.records.slots;
    let Uneven {
        place,
        found,
        stale,
        exception,
    } = uneven;
    let (verdict, excuse) = match (stale, exception) {
        (Stale::Constructors, Some(_)) => {
            count_even(state, || Some(layers));
            (Verdict::Match, Unseen::Constructor)
        }
        // A frame without hooks has caught the exception.
        (Stale::Constructors, None) => {
            slots.count(LAYER, Verdict::Unverifiable);
            (Verdict::Unverifiable, Unseen::Constructor)
        }
        (stale, exception) if by_vm_error(env, stale, exception) => {
            layers.truth.rewriting().repairs += 1;
            slots.count(LAYER, Verdict::Unverifiable);
            (Verdict::Unverifiable, Unseen::VmError)
        }
        _ => return unbalanced(layers, state, env, place, found),
    };
    hook_faults::noticed(&layers.injector.fault_log, found, verdict, Some(excuse));
}

/// An exit that throws after its `pop` is no fault of the hooks.
#[cold]
pub fn excuse_throw(layers: &Layers) {
    let excuse = Some(Unseen::ThrewAfterPop);
    let fault_log = &layers.injector.fault_log;
    hook_faults::noticed(fault_log, Balance::TooFew, Verdict::Match, excuse);
}

/// Whether the VM may have ended frames without a hook.
fn by_vm_error(env: Env<'_>, stale: Stale, exception: Option<Ref<'_>>) -> bool {
    match stale {
        Stale::Doubtful => true,
        Stale::Others => exception.is_some_and(|exception| is_vm_error(env, exception)),
        Stale::Constructors | Stale::None => false,
    }
}

fn unbalanced(layers: &Layers, state: &ThreadState, env: Env<'_>, place: &str, found: Balance) {
    let (truth, reporter) = (layers.truth, &layers.reporter);
    layers.records.slots.count(LAYER, Verdict::Wrong);
    reporter.count(KIND, place);
    hook_faults::noticed(&layers.injector.fault_log, found, Verdict::Wrong, None);
    if !truth.jvm.is_live() {
        return;
    }
    let Some(kept) = reporter.kept(KIND) else {
        return;
    };
    let Ok(mut copy) = StackCopy::new(MAX_FRAMES) else {
        return;
    };
    _ = state.stack().copy_to(&mut copy);
    let hooks: Vec<_> = copy.hooks().collect();
    let text = match found {
        Balance::TooMany(n) => {
            let names = state.stack().dropped(n).take(SHOWN).map(|hook| {
                let entry = truth.methods.show_entry(hook);
                entry.method
            });
            let names: Vec<_> = names.collect();
            format!("{n} entries too many, from below: {}", names.join(", "))
        }
        Balance::TooFew => "the method's own entry is gone".into(),
        Balance::Even => return,
    };
    let trace = copy.truth(&hooks, &[]);
    let found = Found {
        layer: LAYER,
        judgement: Judgement::plain(Verdict::Wrong, Reason::Unbalanced),
        tid: state.tid(),
        walk: &[],
        truth: &TraceTruth::new(&trace, &truth.methods),
        seen: Sampled::Plainly,
        edges: None,
    };
    let evidence = Evidence {
        at: Some(place.into()),
        found: Some(text),
        ..Evidence::default()
    };
    reporter.keep(env, found, kept, evidence);
}

/// `java.lang.VirtualMachineError` and `java.lang.ThreadDeath`, if the VM has them.
static VM_ERRORS: OnceLock<Vec<Global>> = OnceLock::new();

/// Looks up the classes of errors that may stop a hook. To be called in the live phase.
pub fn find_vm_errors(env: Env<'_>) {
    let find = |name: &CStr| {
        env.find_class(name)
            .and_then(|class| env.global(class.get()))
    };
    let names = [c"java/lang/VirtualMachineError", c"java/lang/ThreadDeath"];
    _ = VM_ERRORS.set(names.into_iter().filter_map(find).collect());
}

/// Whether an exception is an error of the VM, or comes from another thread. Such an exception may
/// end frames without a hook.
pub fn is_vm_error(env: Env<'_>, exception: Ref<'_>) -> bool {
    // A correction before the live phase cannot be judged. The VM's start does not overflow the
    // stack.
    let classes = VM_ERRORS.get().into_iter().flatten();
    let mut classes = classes.map(Global::get);
    classes.any(|class| env.is_instance(exception, class))
}
