//! The rule for samples between two debug records of compiled code.
//!
//! There the walker reports the frames of the record behind the program counter. The thread
//! came from the record before it, unless it jumped. So both are close; a truth that agrees
//! with the record before is what HotSpot's promise allows, and the two records prove it: the
//! sample is a `window`. Any other difference stays what it is.

use crate::agent::Agent;
use crate::methods::Registry;
use crate::sample::Sample;
use crate::vm::debug_info::Scope;
use oracle::trace::{Frame, HookId, Location, MethodKey, Methods, Presence};
use oracle::{Judgement, Verdict};

/// Lets `judge` judge `walk` again with the record before the program counter; `None` if the
/// thread does not stand between two records, or they prove nothing.
pub fn judge_between_records(
    agent: &Agent,
    sample: &Sample,
    walk: &[Frame],
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
    // What the walker reported must be the record behind, or we misread the tables.
    let (inlined, below) = walk.split_at_checked(around.behind.len())?;
    let hook_at = |frame: &Frame| Some(agent.methods.hook(frame.method, frame.location)?.0);
    let agrees = |(scope, frame): (&Scope, &Frame)| {
        scope.bci == frame.location.0 && hook_of(scope) == hook_at(frame)
    };
    if !around.behind.iter().zip(inlined).all(agrees) {
        return None;
    }
    let known: Vec<_> = around.behind.iter().zip(inlined).collect();
    let key = |scope: &Scope| {
        let reported = known
            .iter()
            .find(|(behind, _)| behind.method == scope.method);
        match reported {
            Some((_, frame)) => Some(frame.method),
            None => agent.methods.key_of(hook_of(scope)?),
        }
    };
    let before = around.before.iter().enumerate().map(|(depth, scope)| {
        // A method that no hook has and the walk does not show matters to no entry.
        let method = key(scope).unwrap_or(MethodKey(0));
        let frame = Frame {
            method,
            location: Location(scope.bci),
        };
        if depth == 0 {
            after_call(&agent.methods, frame)
        } else {
            frame
        }
    });
    let other: Vec<Frame> = before.chain(below.iter().copied()).collect();
    let judgement = judge(&other);
    matches!(judgement.verdict, Verdict::Match | Verdict::Window).then(|| {
        Judgement::at(
            Verdict::Window,
            0,
            "between two debug records of compiled code",
        )
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
