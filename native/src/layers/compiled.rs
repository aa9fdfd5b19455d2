//! The rule for samples between two debug records of compiled code.
//!
//! There the walker reports the frames of the record behind the program counter. The thread
//! came from the record before it, unless it jumped. So both are close; a truth that agrees
//! with the record before is what HotSpot's promise allows, and the two records prove it: the
//! sample is a `window`.
//!
//! Compilers inline much code without a record of its own: there both records show frames
//! that are not there. Such an answer is false, and stays so; but where the truth agrees from
//! the compiled method's own frame on, its reason says what is wrong with it. The same holds
//! behind the last record, in the slow paths at the code's end, where the walker reports the
//! method at BCI 0.

use crate::agent::Agent;
use crate::jvm::debug_info::Scope;
use crate::sampling::sample::Sample;
use crate::truth::methods::Registry;
use hotspot::causes::{NO_RECORD, OTHER_RECORD};
use oracle::judge::agrees_outside;
use oracle::trace::{Frame, HookId, Location, MethodKey, Methods, Presence, Truth};
use oracle::{Judgement, Verdict};

/// Judges a mismatch again, of a `walk` that ends in compiled code between two records: with
/// the record before the program counter, by `judge`; then with what is inlined there left
/// open, for which it needs the `truth` of the whole walk. `None` if the thread does not stand
/// there, or that explains nothing.
pub fn judge_between_records(
    agent: &Agent,
    sample: &Sample,
    mismatch: Judgement,
    walk: &[Frame],
    truth: Option<&Truth<'_>>,
    judge: impl Fn(&[Frame]) -> Judgement,
) -> Option<Judgement> {
    let in_java = sample.anchor.is_some_and(|anchor| anchor.is_in_java());
    if !in_java {
        return None;
    }
    let pc = sample.registers[0];
    let blob = agent.code_cache.as_ref()?.blob(pc)?;
    if !blob.is_compiled() {
        return None;
    }
    let around = agent.debug_info.as_ref()?.around(&blob, pc)?;
    if around.behind.is_empty() {
        // Without a record HotSpot fills the frame in as that of a native method: BCI 0
        // (`vframeStreamCommon::fill_from_compiled_frame`).
        let explained =
            walk.first()?.location.0 == 0 && agrees_outside(walk, truth?, &agent.methods);
        return explained.then_some(Judgement {
            reason: NO_RECORD,
            ..mismatch
        });
    }
    // What the walker reported must be the record behind, or we misread the tables.
    let (inlined, below) = walk.split_at_checked(around.behind.len())?;
    let hook_at = |frame: &Frame| Some(agent.methods.hook(frame.method, frame.location)?.0);
    let agrees = |(scope, frame): (&Scope, &Frame)| {
        scope.bci == frame.location.0 && hook_of(scope) == hook_at(frame)
    };
    if !around.behind.iter().zip(inlined).all(agrees) {
        return None;
    }
    if let Some(before) = &around.before {
        let other: Vec<Frame> = record_before(agent, before, &around.behind, inlined)
            .chain(below.iter().copied())
            .collect();
        if matches!(judge(&other).verdict, Verdict::Match | Verdict::Window) {
            let reason = "between two debug records of compiled code";
            return Some(Judgement::at(Verdict::Window, 0, reason));
        }
    }
    // The compiled method's own frame and all below.
    let outer = &walk[inlined.len().checked_sub(1)?..];
    agrees_outside(outer, truth?, &agent.methods).then_some(Judgement {
        reason: OTHER_RECORD,
        ..mismatch
    })
}

/// The frames of the record `before`, as a walker would have reported them.
fn record_before<'a>(
    agent: &'a Agent,
    before: &'a [Scope],
    behind: &'a [Scope],
    reported: &'a [Frame],
) -> impl Iterator<Item = Frame> + 'a {
    let key = move |scope: &Scope| {
        let mut known = behind.iter().zip(reported);
        match known.find(|(behind, _)| behind.method == scope.method) {
            Some((_, frame)) => Some(frame.method),
            None => agent.methods.key_of(hook_of(scope)?),
        }
    };
    before.iter().enumerate().map(move |(depth, scope)| {
        let frame = Frame {
            // A method that no hook has and the walk does not show matters to no entry.
            method: key(scope).unwrap_or(MethodKey(0)),
            location: Location(scope.bci),
        };
        match depth {
            0 => after_call(&agent.methods, frame),
            _ => frame,
        }
    })
}

fn hook_of(scope: &Scope) -> Option<HookId> {
    instrumenter::hook_id_of(&scope.code).map(|id| HookId(id.0))
}

/// The frame behind the call that its record stands for: a hook that was called has run.
fn after_call(methods: &Registry, frame: Frame) -> Frame {
    const INVOKESTATIC: i32 = 3;
    match methods.hook(frame.method, frame.location) {
        Some((_, Presence::Pushing | Presence::Popping | Presence::Unwinding)) => Frame {
            location: Location(frame.location.0 + INVOKESTATIC),
            ..frame
        },
        _ => frame,
    }
}
