//! Layers whose walkers are asked from outside, while the thread is suspended.
//!
//! The truth is the trace stack that the suspended thread's signal handler has copied, and the
//! class files. A thread that was suspended in a native hook may still finish the hook. Then the
//! entry may be there or not, and the BCI of the hook's caller shows which.

use super::context::Layers;
use super::path::{Check, nothing_more};
use crate::evidence::Seen;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::Suspended;
use crate::sampling::sample::Sample;
use crate::truth::methods::old_frames::Against;
use crate::truth::read_stack::ReadStack;
use crate::walkers::buffer::{FrameBuffer, Walk};
use crate::walkers::walker::WalksOther;
use oracle::edge::Finding;
use oracle::judge::judge_truth;
use oracle::mutants::Sight;
use oracle::tally::Drop;
use oracle::trace::Frame;
use oracle::{LAYERS, Layer, Verdict, When};
use std::io;
use std::time::Instant;

/// Deeper stacks are counted as dropped: the VM sets so much memory aside for each stack.
const MOST_FRAMES: usize = 1 << 11;

/// The layers of suspended threads.
pub struct Outside(Vec<Asked>);

/// A layer's walker, and what it answered.
struct Asked {
    layer: Layer,
    walker: &'static dyn WalksOther,
    frames: FrameBuffer,
    walked: Walk,
}

impl Outside {
    /// The layers whose walkers the VM has.
    pub fn new(layers: &'static Layers) -> io::Result<Outside> {
        let rows = LAYERS.iter().filter(|row| row.when == When::Suspend);
        let asked = rows.filter_map(|row| {
            let walker = layers.walkers.of(row.layer)?.elsewhere()?;
            Some(FrameBuffer::new(MOST_FRAMES).map(|frames| Asked {
                layer: row.layer,
                walker,
                frames,
                walked: Ok(()),
            }))
        });
        Ok(Outside(asked.collect::<io::Result<_>>()?))
    }

    /// Asks all walkers for the stack of the suspended thread, lets the thread run on, and judges
    /// the answers. `sample` has the truth, `tid` is the thread's kernel id, and `edges` says what the
    /// class files allow. Returns when the thread ran on.
    pub fn check(
        &mut self,
        layers: &Layers,
        env: Env<'_>,
        (tid, suspended): (i32, Suspended<'_>),
        sample: &Sample,
        edges: &dyn Fn(&[Frame]) -> Option<Vec<Finding>>,
    ) -> Instant {
        for asked in &mut self.0 {
            asked.walked = asked
                .walker
                .walk(env, suspended.thread(), &mut asked.frames);
        }
        drop(suspended);
        let end = Instant::now();
        for asked in &self.0 {
            judge(layers, env, (tid, sample), edges, asked);
        }
        end
    }
}

/// Judges one answer.
fn judge(
    layers: &Layers,
    env: Env<'_>,
    (tid, sample): (i32, &Sample),
    edges: &dyn Fn(&[Frame]) -> Option<Vec<Finding>>,
    asked: &Asked,
) {
    let (slots, layer) = (&layers.records.slots, asked.layer);
    if let Err(cause) = sample.copied {
        return slots.drop(layer, cause);
    }
    if let Err(code) = asked.walked {
        return slots.count(layer, Verdict::Error(code.0));
    }
    if asked.frames.is_full() {
        return slots.drop(layer, Drop::TooDeep);
    }
    let walk = asked.frames.frames();
    if is_switching(layers, sample, walk) {
        return slots.count(layer, Verdict::Unverifiable);
    }
    // The walkers give a carrier's own frames only.
    let stack = match sample.carried {
        true => &sample.carrier,
        false => &sample.stack,
    };
    let methods = &layers.truth.methods;
    let stack = ReadStack::new(stack, methods);
    let truth = stack.truth();
    let by_trace = Sight::Truth(&truth, methods);
    let against = Against {
        truth: &truth,
        carrier: None,
        boundary: None,
        asked: sample.asked,
    };
    let judge = |walk: &[Frame]| {
        let found = methods.settle_walk(by_trace.judge(walk), walk, against, |methods, walk| {
            judge_truth(walk, &truth, methods)
        });
        by_trace.judge_with_classes(found, walk, edges)
    };
    let check = Check {
        layer,
        env,
        tid,
        seen: Seen::Plainly,
        sight: &Sight::AlsoClasses(&by_trace, edges),
        reference: &[truth.checked],
        evidence: &nothing_more,
    };
    check.settled(layers, walk, judge(walk), judge);
}

/// Whether nothing can be judged because the thread carries virtual threads. While one is being mounted or
/// unmounted, the trace stack is not settled; and on JDK 25 GetAllStackTraces was seen to give no frames of
/// a carrier, three times in 11,000 checks, and frames of the virtual thread once in 3,500.
fn is_switching(layers: &Layers, sample: &Sample, walk: &[Frame]) -> bool {
    let Some(threads) = layers.truth.virtual_threads.as_ref() else {
        return false;
    };
    let is_mounting = !sample.carried && threads.is_mounting(walk);
    is_mounting || walk.is_empty() || threads.is_of_virtual_thread(walk)
}
