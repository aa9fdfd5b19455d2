//! The truth as reports show it.

use crate::jvm::jni::Env;
use crate::truth::methods::registry::Registry;
use oracle::mutants::Sight;
use oracle::record::ShownFrame;
use oracle::trace::{Frame, Truth};

/// What `sight` holds walks against, top first. Of a trace stack: all frames up to the newest checked
/// frame, and the hooked frames above.
pub fn truth(methods: &Registry, env: Env<'_>, sight: &Sight<'_, Registry>) -> Vec<ShownFrame> {
    let whole = |frames: &[Frame]| frames.iter().map(|f| methods.show(env, f)).collect();
    match sight {
        Sight::Truth(truth, _) => of_trace_stack(methods, env, truth),
        Sight::Truths { truth, carrier, .. } => {
            let mut shown = of_trace_stack(methods, env, truth);
            let below = carrier.map(|carrier| of_trace_stack(methods, env, carrier));
            shown.extend(below.into_iter().flatten());
            shown
        }
        Sight::SameInstant { reference, .. } => whole(reference),
        Sight::Later(later, _) => whole(later.stack),
        Sight::Edges(_) => vec![],
        Sight::AlsoClasses(sight, _) => self::truth(methods, env, sight),
    }
}

/// The method of the lowest frame that [`truth`] shows.
pub fn lowest(methods: &Registry, env: Env<'_>, sight: &Sight<'_, Registry>) -> Option<String> {
    let of_frame = |frame: &Frame| methods.name(env, frame.method);
    let of_truth = |truth: &Truth<'_>| match truth.checked.first() {
        Some(frame) => Some(of_frame(frame)),
        None => truth
            .entries
            .first()
            .map(|&hook| methods.show_entry(hook).method),
    };
    match sight {
        Sight::Truth(truth, _) => of_truth(truth),
        Sight::Truths { truth, carrier, .. } => {
            carrier.and_then(of_truth).or_else(|| of_truth(truth))
        }
        Sight::SameInstant { reference, .. } => reference.last().map(of_frame),
        Sight::Later(later, _) => later.stack.last().map(of_frame),
        Sight::Edges(_) => None,
        Sight::AlsoClasses(sight, _) => lowest(methods, env, sight),
    }
}

/// The names of the methods that [`truth`] shows; `None` where the truth has no stack.
pub fn names(methods: &Registry, env: Env<'_>, sight: &Sight<'_, Registry>) -> Option<Vec<String>> {
    let of_frames = |frames: &[Frame]| -> Vec<String> {
        let names = frames.iter().map(|frame| methods.name(env, frame.method));
        names.collect()
    };
    let of_truth = |truth: &Truth<'_>| {
        let above = truth.entries[truth.checked_entries..].iter();
        let mut names = of_frames(truth.checked);
        names.extend(above.map(|&hook| methods.show_entry(hook).method));
        names
    };
    match sight {
        Sight::Truth(truth, _) => Some(of_truth(truth)),
        Sight::Truths { truth, carrier, .. } => {
            let below = carrier.map(of_truth).unwrap_or_default();
            Some([of_truth(truth), below].concat())
        }
        Sight::SameInstant { reference, .. } => Some(of_frames(reference)),
        Sight::Later(later, _) => Some(of_frames(later.stack)),
        Sight::Edges(_) => None,
        Sight::AlsoClasses(sight, _) => names(methods, env, sight),
    }
}

fn of_trace_stack(methods: &Registry, env: Env<'_>, truth: &Truth<'_>) -> Vec<ShownFrame> {
    let above = truth.entries[truth.checked_entries..].iter().rev();
    let mut shown: Vec<_> = above.map(|&hook| methods.show_entry(hook)).collect();
    let checked = truth.checked.iter().rev();
    let mut whole: Vec<_> = checked.map(|frame| methods.show(env, frame)).collect();
    if let Some(moves) = whole.first_mut() {
        (moves.bci, moves.line, moves.rewritten_bci) = (None, None, None);
    }
    shown.append(&mut whole);
    shown
}
