//! Layers that rest on GetStackTrace at the same place, such as `asgct-safepoint` and `asgct-event`: a walker
//! of the calling thread in a hook, or in an event of JVMTI.

use super::context::Layers;
use super::native_top::Top;
use super::path::{Check, unless_doubtful};
use crate::evidence::Sampled;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::Event;
use crate::locks::lock;
use crate::records::instants::Answer;
use crate::truth::read_stack::ReadStack;
use crate::truth::thread_state::ThreadState;
use crate::truth::trace_stack::StackCopy;
use crate::walkers::buffer::Walk;
use oracle::judge::{HereTruth, NativeTop, Settled, Truth};
use oracle::record::Evidence;
use oracle::tally::Drop;
use oracle::trace::Frame;
use oracle::{Judgement, Layer, Reason, Verdict};

/// What the walk is compared with.
pub struct Reference<'a> {
    /// GetStackTrace's answer.
    pub gst: &'a [Frame],
    /// What is known of this answer.
    pub trust: Trust,
    /// When GetStackTrace was asked, in nanoseconds of `clock::since_start`.
    pub asked: u64,
    /// The trace stack of the thread's carrier, if the thread is a virtual one.
    pub carrier: Option<&'a StackCopy>,
    /// Where the walkers were asked.
    pub place: Place,
}

/// Where the walkers were asked.
#[derive(Copy, Clone, Debug)]
pub enum Place {
    /// In a hook.
    Hook,
    /// In an event of JVMTI.
    Event(Event),
    /// At the call of a native method.
    NativeMethod,
}

impl Place {
    /// The place, as evidence names it; none for hooks, where most checks are.
    fn name(self) -> Option<String> {
        match self {
            Place::Hook => None,
            Place::Event(event) => Some(format!("{event:?}")),
            Place::NativeMethod => Some("call of a native method".into()),
        }
    }

    /// What must be on top of every stack: the native method that the thread has called, whatever GetStackTrace says.
    fn top(self) -> Option<Top> {
        match self {
            Place::Hook => Some(Top::Hook),
            Place::Event(_) => None,
            Place::NativeMethod => Some(Top::Native),
        }
    }
}

/// What is known of GetStackTrace's answer.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Trust {
    /// The answer is false.
    Refuted,
    /// Nobody has said otherwise.
    Unopposed,
    /// The answer agrees with the trace stack, versions of methods included.
    Confirmed,
}

impl Trust {
    /// By the judgement of layer `gst`.
    pub fn of(judged: &Judgement) -> Trust {
        match judged.verdict {
            _ if judged.is_mismatch() => Trust::Refuted,
            Verdict::Unverifiable => Trust::Unopposed,
            _ => Trust::Confirmed,
        }
    }
}

/// Copies the trace stack of the thread's carrier, if the thread is a virtual one.
pub fn carrier<'c>(
    state: &ThreadState,
    into: &'c mut StackCopy,
) -> Result<Option<&'c StackCopy>, Drop> {
    match state.carrier_stack() {
        None => Ok(None),
        Some(stack) => stack.copy_to(into).map(|()| Some(&*into)),
    }
}

/// Checks in `layer` what the walker answered, an error or `walk`.
pub fn check(
    layers: &Layers,
    layer: Layer,
    state: &ThreadState,
    env: Env<'_>,
    reference: &Reference<'_>,
    (walked, walk): (Walk, &[Frame]),
) {
    let event = reference.place.name();
    if let Err(code) = walked {
        if let Some(event) = &event {
            lock(&layers.records.instants).add(layer, event, Answer::Error(code.0));
        }
        return layers.records.slots.count(layer, Verdict::Error(code.0));
    }
    let methods = &layers.truth.methods;
    let top = reference.place.top();
    let is_top = |frame| top.as_ref().is_none_or(|top| top.is(env, methods, frame));
    if reference.trust == Trust::Refuted && walk.first().is_none_or(|&frame| is_top(frame)) {
        let none = Judgement::plain(Verdict::Unverifiable, Reason::ReferenceMismatch);
        return layers.records.slots.judged(layer, &none);
    }
    let threads = layers.truth.virtual_threads.as_ref();
    let carrier = reference.carrier.map(|copy| ReadStack::new(copy, methods));
    let carrier = carrier.as_ref().map(ReadStack::truth);
    let gst = reference.gst;
    let truth = HereTruth {
        reference: gst,
        carrier: carrier.as_ref(),
        methods,
        boundary: &|walk| threads?.boundary(walk),
    };
    let truth = NativeTop {
        truth: &truth,
        is_top: Some(&is_top),
    };
    let check = Check {
        layer,
        env,
        tid: state.tid(),
        seen: Sampled::Here,
        event: event.as_deref(),
        evidence: &|_| Evidence {
            at: event.clone(),
            ..Evidence::default()
        },
    };
    // If the key stands for the same version still, its version at that time is certain.
    let is_unsure =
        || reference.trust != Trust::Confirmed || methods.have_changed_since(walk, reference.asked);
    if methods.has_one_version_each() || is_unsure() {
        check.run(layers, walk, &unless_doubtful(&truth, methods));
        return;
    }
    let truth = Settled::own_answers(&truth, |truth, walk| {
        let found = truth.judge(walk);
        let known = found
            .is_mismatch()
            .then(|| methods.without_old_versions(walk, gst));
        match known.flatten() {
            Some(known) if !truth.judge(&known).is_mismatch() => {
                Judgement::plain(Verdict::Unverifiable, Reason::MethodGone)
            }
            _ => found,
        }
    });
    check.run(layers, walk, &truth);
}
