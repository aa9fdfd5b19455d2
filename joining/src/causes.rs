//! The causes of a profiler's mismatches.

use crate::instant::Instant;
use crate::judging::OwnedWalk;
use crate::methods::NamedMethods;
use crate::run::Judged;
use crate::truths::OwnedTruth;
use hotspot::arch::Native;
use hotspot::at_request::{Compared, NamedFrame, RequestProofs};
use hotspot::case::Case;
use hotspot::causes::Cause;
use oracle::record::{CauseName, CodeBytes};
use oracle::trace::{Frame, Methods, Site};
use oracle::{StepFrame, Verdict};

/// The cause of a mismatch of a walk that was made `by_profiler`, or else by the JVM; `None` if the agent has not looked at
/// the request.
pub fn cause(judged: &Judged<'_>, methods: &NamedMethods, by_profiler: bool) -> Option<CauseName> {
    let (walk, instant) = judged.compared?;
    let seen = judged.seen?;
    let code = judged.code.and_then(|code| code.bytes.parse().ok());
    let CodeBytes(bytes) = code.unwrap_or(CodeBytes(vec![]));
    Some(
        of(
            judged,
            (walk, instant),
            (seen, &bytes, by_profiler),
            methods,
        )
        .into(),
    )
}

fn of(
    judged: &Judged<'_>,
    (walk, instant): (&OwnedWalk, &Instant<'_>),
    (seen, bytes, by_profiler): (&RequestProofs, &[u8], bool),
    methods: &NamedMethods,
) -> &'static Cause {
    let named = |frame: &Frame| -> NamedFrame { (methods.dotted(frame.method), frame.location.0) };
    let named: Vec<NamedFrame> = walk.frames.iter().map(named).collect();
    let true_names = names(instant.truth, methods);
    let at = judged.judgement.at_frame;
    let is_at_call = |top: &Frame| methods.site(top.method, top.location) == Site::Calls;
    let proofs = seen.proofs(&Compared {
        walk: &named,
        at,
        truth: &true_names,
        is_top_at_call: walk.frames.first().is_some_and(is_at_call),
        by_profiler,
    });
    let shown = |frame: &Frame| methods.shown(frame.method);
    let (at, lowest) = (
        at.and_then(|at| walk.frames.get(at)).map(shown),
        walk.frames.last().map(shown),
    );
    let true_lowest = lowest_of(instant.truth, methods);
    Cause::of::<Native>(Case {
        verdict: judged.judgement.verdict,
        reason: judged.judgement.reason,
        at: at.as_deref(),
        lowest: lowest.as_deref(),
        true_lowest: true_lowest.as_deref(),
        is_hook_alone: judged.judgement.verdict == Verdict::Imprecise
            && is_hook_alone(walk, instant, methods),
        proofs: &proofs,
        instant: Some(seen.instant(bytes)),
    })
}

/// Whether the truth has all frames of the walk but the hooks at its top.
fn is_hook_alone(walk: &OwnedWalk, instant: &Instant<'_>, methods: &NamedMethods) -> bool {
    let frames = &walk.frames;
    let hooks = frames
        .iter()
        .take_while(|frame| methods.is_hook_call(frame.method))
        .count();
    hooks > 0 && instant.see(methods, |truth| truth.has_all_of(&frames[hooks..]))
}

/// The methods of the true frames that are known, as `package.Class.name`.
fn names(truth: &OwnedTruth, methods: &NamedMethods) -> Vec<String> {
    match truth {
        OwnedTruth::Trace(stack) => {
            let truth = stack.truth();
            let above = truth.entries[truth.checked_entries..].iter();
            let above = above.filter_map(|&hook| methods.of_hook(hook));
            let checked = truth.checked.iter().map(|frame| frame.method);
            checked
                .chain(above)
                .map(|key| methods.dotted(key))
                .collect()
        }
        OwnedTruth::Steps(truth) => {
            let dotted = |frame: &StepFrame| methods.dotted(frame.method);
            truth.callers.iter().map(dotted).collect()
        }
    }
}

/// The method of the lowest true frame.
fn lowest_of(truth: &OwnedTruth, methods: &NamedMethods) -> Option<String> {
    match truth {
        OwnedTruth::Trace(stack) => {
            let truth = stack.truth();
            let checked = truth
                .checked
                .first()
                .map(|frame| methods.shown(frame.method));
            checked.or_else(|| truth.entries.first().map(|&hook| methods.shown_hook(hook)))
        }
        OwnedTruth::Steps(truth) => truth
            .callers
            .last()
            .map(|frame| methods.shown(frame.method)),
    }
}
