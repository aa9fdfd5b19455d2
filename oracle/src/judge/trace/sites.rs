//! Whether each frame of a walk can be at its location.

use crate::edge::Impossible;
use crate::judge::{Judgement, Reason, Verdict};
use crate::trace::{Frame, Methods, Site};

/// The first frame among the top `frames` of `walk` that cannot be at its location: there is no such
/// method, no instruction starts there, or the instruction cannot have run the frame above. Every truth forbids such a
/// frame.
pub(super) fn forbidden(
    walk: &[Frame],
    frames: usize,
    methods: &impl Methods,
) -> Option<Judgement> {
    let mut top = walk.iter().take(frames).enumerate();
    top.find_map(|(at, frame)| {
        let fault = match methods.site(frame.method, frame.location) {
            Site::NoInstruction => Impossible::NoInstruction,
            Site::NotAMethod => Impossible::NotAMethod,
            Site::NotNative => Impossible::NotNative,
            Site::IsNative => Impossible::IsNative,
            Site::Silent if at > 0 && !methods.may_be_called_by_vm(walk[at - 1].method) => {
                Impossible::NoCall
            }
            Site::Silent | Site::Calls | Site::Native | Site::Unknown => return None,
        };
        Some(Judgement::at(Verdict::Wrong, at, Reason::Edge(fault)))
    })
}
