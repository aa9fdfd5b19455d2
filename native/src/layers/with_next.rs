//! Layers that rest on GetStackTrace at the thread's next safepoint, such as `asgct-gst`: a walker in a signal
//! handler.

use super::context::Layers;
use super::native_top::Top;
use super::path::Check;
use crate::evidence::Sampled;
use crate::jvm::jni::{Env, Ref};
use crate::sampling::sample::Sample;
use crate::sampling::targets::Target;
use crate::walkers::buffer::{FrameBuffer, MAX_FRAMES};
use crate::walkers::gst;
use oracle::edge::Finding;
use oracle::judge::{Edged, Edges, NativeTop, NextTruth, Settled, Truth};
use oracle::record::Evidence;
use oracle::trace::Frame;
use oracle::{Layer, Verdict};
use std::io;

/// GetStackTrace of running threads, which answers at their next safepoint.
pub struct AtSafepoint {
    own: FrameBuffer,
    of_virtual: FrameBuffer,
}

/// What GetStackTrace answered.
#[derive(Copy, Clone, Default)]
pub struct SafepointStacks<'b> {
    /// The thread's own stack.
    pub own: Option<&'b [Frame]>,
    /// The stack of the virtual thread that the thread carries.
    of_virtual: Option<&'b [Frame]>,
}

impl AtSafepoint {
    /// Makes room for the answers.
    pub fn new() -> io::Result<AtSafepoint> {
        Ok(AtSafepoint {
            own: FrameBuffer::new(MAX_FRAMES)?,
            of_virtual: FrameBuffer::new(MAX_FRAMES)?,
        })
    }

    /// Asks for the stack of the target of `sample`, and for that of the virtual thread that it carries.
    pub fn ask(
        &mut self,
        layers: &Layers,
        env: Env<'_>,
        target: &Target<'_>,
        sample: &Sample,
    ) -> SafepointStacks<'_> {
        SafepointStacks {
            of_virtual: stack_of_virtual(layers, env, target, sample, &mut self.of_virtual),
            own: stack_of(layers, env, target, &mut self.own),
        }
    }

    /// Asks for the stack of the target alone.
    pub fn stack_of(
        &mut self,
        layers: &Layers,
        env: Env<'_>,
        target: &Target<'_>,
    ) -> Option<&[Frame]> {
        stack_of(layers, env, target, &mut self.own)
    }
}

impl SafepointStacks<'_> {
    /// The stack of a thread that carries a virtual thread, as AsyncGetCallTrace gives it: the virtual thread's frames, then the
    /// frame of `walk` at which it passes to the carrier, then the carrier's frames.
    fn around(self, walk: &[Frame], boundary: usize) -> Option<Vec<Frame>> {
        let (of_virtual, of_carrier) = self.of_virtual.zip(self.own)?;
        Some([of_virtual, &walk[boundary..=boundary], of_carrier].concat())
    }
}

/// Checks in `layer` `walk`, the answer in `sample` for the thread whose kernel id is `tid`, against the `stacks`, of whose
/// own stack class files say `found`.
pub fn check(
    layers: &Layers,
    layer: Layer,
    env: Env<'_>,
    (tid, sample, walk): (i32, &Sample, &[Frame]),
    (stacks, found): (SafepointStacks<'_>, Option<Vec<Finding>>),
    edges: &Edges<'_>,
    evidence: &dyn Fn(&[Frame]) -> Evidence,
) {
    let threads = layers.truth.virtual_threads.as_ref();
    let boundary = threads.and_then(|threads| threads.boundary(walk));
    let whole = boundary.and_then(|at| stacks.around(walk, at));
    let (later, found) = match &whole {
        Some(whole) => (Some(&whole[..]), edges(whole)),
        None => (stacks.own, found),
    };
    let Some(later) = later else {
        return layers.records.slots.count(layer, Verdict::Unverifiable);
    };
    let truth = NextTruth {
        later: Edged::new(later, found.as_deref()),
        lacks_virtual: boundary.is_some() && whole.is_none(),
        edges,
    };
    let methods = &layers.truth.methods;
    let truth = Settled::own_answers(&truth, |truth, walk| {
        // Only the lowest frames decide whether a walk is cut.
        let (own, other) = (walk.last().copied(), later.last().copied());
        methods.settle(truth.judge(walk), own.as_slice(), &[other.as_slice()])
    });
    let top = Top::of_walk(layers, layer, sample);
    let truth = NativeTop {
        truth: &truth,
        is_top: top.as_ref().map(|top| |frame| top.is(env, methods, frame)),
    };
    let check = Check {
        layer,
        env,
        tid,
        seen: Sampled::InSignal(sample),
        event: None,
        evidence,
    };
    check.run(layers, walk, &truth);
}

/// GetStackTrace of the target at its next safepoint; none while a virtual thread acts as its carrier for
/// a moment.
fn stack_of<'b>(
    layers: &Layers,
    env: Env<'_>,
    target: &Target<'_>,
    buffer: &'b mut FrameBuffer,
) -> Option<&'b [Frame]> {
    let object = target.object.as_ref()?.get();
    let stack = walk_of(layers, env, object, buffer)?;
    let threads = layers.truth.virtual_threads.as_ref();
    let is_virtual = threads.is_some_and(|threads| threads.is_of_virtual_thread(stack));
    (!is_virtual).then_some(stack)
}

/// GetStackTrace of the virtual thread that the target carried in `sample`, if the target still carries
/// this one.
fn stack_of_virtual<'b>(
    layers: &Layers,
    env: Env<'_>,
    target: &Target<'_>,
    sample: &Sample,
    buffer: &'b mut FrameBuffer,
) -> Option<&'b [Frame]> {
    let threads = layers.truth.virtual_threads.as_ref();
    let (threads, carrier) = threads
        .filter(|_| sample.carried)
        .zip(target.object.as_ref())?;
    let jvmti = layers.truth.jvm.jvmti;
    let thread = threads.carried_by(jvmti, env, carrier.get(), sample.copy_of)?;
    walk_of(layers, env, thread.get(), buffer)
}

/// GetStackTrace of a thread at its next safepoint.
fn walk_of<'b>(
    layers: &Layers,
    env: Env<'_>,
    thread: Ref<'_>,
    buffer: &'b mut FrameBuffer,
) -> Option<&'b [Frame]> {
    let walker = layers.walkers.get(gst::NAME)?.elsewhere()?;
    walker.walk(env, thread, buffer).ok()?;
    (!buffer.is_full()).then(|| buffer.frames())
}
