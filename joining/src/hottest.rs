//! The hottest method at a request: the true one, and the one that the sampler names.
//!
//! The hottest method is the newest that is hooked. The hooks' own methods do not count, and neither does a frame that
//! has not pushed its entry yet, or has popped it: such a frame is of the program, but the truth does not show it.

use crate::judging::OwnedWalk;
use crate::methods::NamedMethods;
use crate::run::Judged;
use oracle::Verdict;
use oracle::trace::{Frame, Methods, Presence};

/// The true method, and the sampler's, if the sampler answered; `None` if nothing is certain.
pub fn named(judged: &Judged<'_>, methods: &NamedMethods) -> Option<(String, Option<String>)> {
    let newest = *judged.truth?.truth().entries.last()?;
    let truth = methods.shown_hook(newest);
    let claimed = match judged.judgement.verdict {
        Verdict::Error(_) => None,
        Verdict::Unverifiable => return None,
        Verdict::Match | Verdict::Window => Some(truth.clone()),
        Verdict::Imprecise | Verdict::Truncated | Verdict::Wrong => {
            Some(claimed(judged.compared?.0, methods))
        }
    };
    Some((truth, claimed))
}

fn claimed(walk: &OwnedWalk, methods: &NamedMethods) -> String {
    let has_entry = |frame: &&Frame| {
        let hook = methods.hook(frame.method, frame.location);
        hook.is_some_and(|(_, presence)| presence != Presence::Absent)
    };
    let frame = walk.frames.iter().find(has_entry).or(walk.frames.first());
    frame.map_or_else(
        || "no method".to_owned(),
        |frame| methods.shown(frame.method),
    )
}
