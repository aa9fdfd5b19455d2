//! Layers that rest on GetStackTrace at the thread's next safepoint, such as `asgct-gst`: a walker in a signal
//! handler.

use super::context::Layers;
use super::path::Check;
use crate::evidence::Seen;
use crate::jvm::jni::Env;
use crate::sampling::sample::Sample;
use crate::truth::methods::registry::Registry;
use oracle::edge::Finding;
use oracle::judge::Edged;
use oracle::mutants::Sight;
use oracle::record::Evidence;
use oracle::trace::Frame;
use oracle::{Judgement, Layer, Reason, Verdict};

/// What GetStackTrace said of a thread later.
#[derive(Copy, Clone)]
pub struct Later<'a> {
    /// The thread's stack. Of a thread that carries a virtual one: the virtual thread's own stack, and
    /// below it the carrier's, where both are known; otherwise the carrier's.
    pub stack: Edged<'a>,
    /// Whether the stack of the virtual thread is missing.
    pub lacks_virtual: bool,
}

/// Checks in `layer` `walk`, the answer in `sample` for the thread whose kernel id is `tid`, against
/// `later`, if there is such an answer. `edges` says what the class files allow.
pub fn check(
    layers: &Layers,
    layer: Layer,
    env: Env<'_>,
    (tid, sample, walk): (i32, &Sample, &[Frame]),
    later: Option<Later<'_>>,
    edges: &dyn Fn(&[Frame]) -> Option<Vec<Finding>>,
    evidence: &dyn Fn(&[Frame]) -> Evidence,
) {
    let Some(later) = later else {
        return layers.records.slots.count(layer, Verdict::Unverifiable);
    };
    let gst = later.stack.stack;
    let check = Check {
        layer,
        env,
        tid,
        seen: Seen::InSignal(sample),
        sight: &Sight::<Registry>::Later(later.stack, edges),
        reference: &[gst],
        evidence,
    };
    let judge = |walk: &[Frame]| {
        let found = check.sight.judge(walk);
        // Of the frames that matter most nothing was compared.
        match found.verdict {
            Verdict::Match if later.lacks_virtual => {
                Judgement::plain(Verdict::Unverifiable, Reason::NoVirtualThread)
            }
            _ => found,
        }
    };
    // Only the lowest frames decide whether a walk is cut.
    let (own, other) = (walk.last().copied(), gst.last().copied());
    let methods = &layers.truth.methods;
    let judged = methods.settle(judge(walk), own.as_slice(), &[other.as_slice()]);
    check.settled(layers, walk, judged, judge);
}

/// The stack of a thread that carries a virtual thread, as AsyncGetCallTrace gives it: the frames of the
/// `virtual` thread, then the frame of `walk` at which it passes to the carrier, then the `carrier`'s.
pub fn with_carrier(
    walk: &[Frame],
    boundary: usize,
    (of_virtual, of_carrier): (&[Frame], &[Frame]),
) -> Vec<Frame> {
    [of_virtual, &walk[boundary..=boundary], of_carrier].concat()
}
