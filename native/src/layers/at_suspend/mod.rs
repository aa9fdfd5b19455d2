//! Layers whose walkers are asked from outside, while the thread is suspended.
//!
//! The truth is the trace stack that the suspended thread's signal handler has copied, and the
//! class files. A thread that was suspended in a native hook may still finish the hook. Then the
//! entry may be there or not, and the BCI of the hook's caller shows which.
//!
//! Walkers that run Java code give classes, methods and lines. Their truth is the same thread's stack by
//! GetStackTrace, if the trace stack shows that this stack is right. They are asked on a thread of their own,
//! which may wait for the suspended thread: after a limited time the thread runs on in any case.

mod elements;

use super::context::Layers;
use super::native_top::Top;
use super::path::{Check, nothing_more};
use crate::evidence::Sampled;
use crate::jvm::jni::Env;
use crate::sampling::sample::Sample;
use crate::sampling::sampler::Stopped;
use crate::sampling::targets::Target;
use crate::truth::methods::old_frames::Against;
use crate::truth::read_stack::ReadStack;
use crate::truth::trace_stack::StackCopy;
use crate::walkers::buffer::{FrameBuffer, Walk};
use crate::walkers::java::asker::{Answer, Asker};
use crate::walkers::walker::StackElement;
use crate::walkers::walker::{Walked, WalksOther};
use elements::Elements;
use oracle::edge::Finding;
use oracle::judge::{AlsoClasses, ElementsTruth, NativeTop, Settled, TraceTruth, Truth};
use oracle::tally::Drop;
use oracle::trace::Frame;
use oracle::{Judgement, LAYERS, Layer, TruthKind, Verdict, When};
use std::io;
use std::time::Instant;

/// Deeper stacks are counted as dropped: the VM sets so much memory aside for each stack.
const MOST_FRAMES: usize = 1 << 11;

/// Java shows no more than 1,024 frames (`MaxJavaStackTraceDepth`), and hides some of the frames that JVMTI shows.
const MOST_ELEMENTS: usize = 1000;

/// The layers of suspended threads.
pub struct Outside {
    walkers: Vec<Asked>,
    /// Walkers that run Java code.
    java: Option<Asker>,
    elements: Elements,
    /// How often a running thread could have been asked.
    turns: usize,
}

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
        let rows = || LAYERS.iter().filter(|row| row.when == When::Suspend);
        let asked = rows().filter_map(|row| {
            let walker = layers.walkers.of(row.layer)?.elsewhere()?;
            Some(FrameBuffer::new(MOST_FRAMES).map(|frames| Asked {
                layer: row.layer,
                walker,
                frames,
                walked: Ok(()),
            }))
        });
        // These cost much more, and load classes.
        let rows = rows().filter(|row| layers.config.layers.contains(&row.layer));
        let java = rows.filter_map(|row| {
            let walker = layers.walkers.of(row.layer)?.in_java()?;
            Some((row.layer, walker))
        });
        Ok(Outside {
            walkers: asked.collect::<io::Result<_>>()?,
            java: Asker::start(layers.truth.jvm, java.collect())?,
            elements: Elements::default(),
            turns: 0,
        })
    }

    /// Asks all walkers for the stack of the suspended thread, lets the thread run on, and judges
    /// the answers. `sample` has the truth, `tid` is the thread's kernel id, and `edges` says what the
    /// class files allow. Returns when the thread ran on.
    pub fn check(
        &mut self,
        layers: &Layers,
        env: Env<'_>,
        (tid, stopped): (i32, Stopped<'_>),
        sample: &Sample,
        edges: &dyn Fn(&[Frame]) -> Option<Vec<Finding>>,
    ) -> Instant {
        let Stopped {
            suspended,
            is_virtual,
        } = stopped;
        let walks = |asked: &Asked| !is_virtual || asked.walker.walks_virtual();
        if layers.truth.methods.lack_ids(sample.stack.hooks()) {
            // The answers would make the ids, which the VM would keep for ever.
            drop(suspended);
            let asked = self.walkers.iter().filter(|asked| walks(asked));
            let java = self.java.as_ref().map(|java| java.layers_of(is_virtual));
            let unasked = asked.map(|asked| &asked.layer);
            for &layer in unasked.chain(java.into_iter().flatten()) {
                layers.records.slots.count(layer, Verdict::Unverifiable);
            }
            return Instant::now();
        }
        for asked in self.walkers.iter_mut().filter(|asked| walks(asked)) {
            asked.walked = asked
                .walker
                .walk(env, suspended.thread(), &mut asked.frames);
        }
        let thread = Walked {
            object: suspended.thread(),
            tid,
        };
        let stack = stack_of(layers, thread, is_virtual, sample);
        let java = self.java.as_mut().filter(|java| !java.is(tid));
        let java = java.map(|java| {
            let of = java.layers_of(is_virtual).len();
            (java.ask(env, thread, 0..of), of, java)
        });
        drop(suspended);
        let end = Instant::now();
        // Read first of all: the thread's answers hold references.
        let java = java.map(|(is_asked, of, java)| {
            let answers = is_asked.then(|| java.answers()).flatten();
            (&java.layers()[..of], answers)
        });
        let mut confirmed = None;
        for asked in self.walkers.iter().filter(|asked| walks(asked)) {
            let judged = judge(layers, env, (tid, sample, stack), edges, asked);
            let walk = asked.frames.frames();
            if judged.is_some_and(|judged| is_confirmed(judged.verdict))
                && (is_virtual || !runs_on(layers, walk))
            {
                confirmed = confirmed.or(Some(walk));
            }
        }
        if let Some((of, answers)) = java {
            let answered = Answered {
                layers,
                env,
                tid,
                of,
            };
            answered.judge(&mut self.elements, confirmed, answers);
        }
        end
    }

    /// Asks Java code for the stack of a running thread, in turns with others who ask for that: for the layer whose
    /// turn it is, if it is the turn of one. The stack is that of the thread's next safepoint.
    pub fn ask_running(
        &mut self,
        layers: &Layers,
        env: Env<'_>,
        target: &Target<'_>,
    ) -> Option<(Layer, Option<Vec<StackElement>>)> {
        let wants = |layer: &Layer| layer.rests_on(TruthKind::Next);
        let java = self.java.as_mut().filter(|java| !java.is(target.tid));
        let java = java.filter(|_| layers.config.layers.iter().any(wants))?;
        let thread = Walked {
            object: target.object.as_ref()?.get(),
            tid: target.tid,
        };
        self.turns += 1;
        // The last turn is that of GetStackTrace.
        let row = self.turns % (java.layers().len() + 1);
        let layer = *java.layers().get(row)?;
        let is_asked = java.ask(env, thread, row..row + 1);
        let answers = is_asked.then(|| java.answers()).flatten();
        Some((layer, answers.and_then(|mut answers| answers.pop()?)))
    }
}

/// Whether the truth shows that a stack of GetStackTrace is right.
fn is_confirmed(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Match | Verdict::Window)
}

/// Whether a platform thread with this stack may go on while it is suspended: JVMTI suspends a carrier without the
/// virtual thread that it carries.
fn runs_on(layers: &Layers, walk: &[Frame]) -> bool {
    let threads = layers.truth.virtual_threads.as_ref();
    threads.is_some_and(|threads| threads.is_mounting(walk))
}

/// What walkers that run Java code answered, and for which layers.
struct Answered<'a> {
    layers: &'a Layers,
    env: Env<'a>,
    tid: i32,
    of: &'a [Layer],
}

impl Answered<'_> {
    /// Judges the answers by the stack that the trace stack has confirmed.
    fn judge(
        &self,
        elements: &mut Elements,
        confirmed: Option<&[Frame]>,
        answers: Option<Vec<Answer>>,
    ) {
        let slots = &self.layers.records.slots;
        let each = |count: &dyn Fn(Layer)| self.of.iter().for_each(|&layer| count(layer));
        let Some(answers) = answers else {
            return each(&|layer| slots.drop(layer, Drop::NoAnswer));
        };
        if confirmed.is_some_and(|stack| stack.len() > MOST_ELEMENTS) {
            return each(&|layer| slots.drop(layer, Drop::TooDeep));
        }
        let known = self.layers.truth;
        let shown = |stack| elements.of_stack(known, self.env, stack).zip(Some(stack));
        let Some((shown, stack)) = confirmed.and_then(shown) else {
            return each(&|layer| slots.count(layer, Verdict::Unverifiable));
        };
        for (&layer, answer) in self.of.iter().zip(&answers) {
            let Some(answer) = answer else {
                slots.count(layer, Verdict::Error(0));
                continue;
            };
            let truth = elements.as_java_shows(known, self.env, stack, (&shown, answer));
            let walk = elements.of_answer(answer);
            let check = Check {
                layer,
                env: self.env,
                tid: self.tid,
                seen: Sampled::Plainly,
                event: None,
                evidence: &|_| elements.evidence(answer, &truth),
            };
            check.run(self.layers, &walk, &ElementsTruth(&truth));
        }
    }
}

/// Judges one answer.
fn judge(
    layers: &Layers,
    env: Env<'_>,
    (tid, sample, stack): (i32, &Sample, Option<Stack<'_>>),
    edges: &dyn Fn(&[Frame]) -> Option<Vec<Finding>>,
    asked: &Asked,
) -> Option<Judgement> {
    let (slots, layer) = (&layers.records.slots, asked.layer);
    if let Err(cause) = sample.copied {
        slots.drop(layer, cause);
        return None;
    }
    if let Err(code) = asked.walked {
        slots.count(layer, Verdict::Error(code.0));
        return None;
    }
    if asked.frames.is_full() {
        slots.drop(layer, Drop::TooDeep);
        return None;
    }
    let walk = asked.frames.frames();
    let stack = stack.filter(|stack| !stack.is_switching(layers, sample, walk));
    let Some(stack) = stack else {
        slots.count(layer, Verdict::Unverifiable);
        return None;
    };
    let top = stack.top(layers, sample);
    let methods = &layers.truth.methods;
    let stack = ReadStack::new(stack.copy(), methods);
    let trace = stack.truth();
    let against = Against {
        truth: &trace,
        carrier: None,
        boundary: None,
        asked: sample.asked,
    };
    let by_trace = TraceTruth::new(&trace, methods);
    let settled = Settled::always(&by_trace, |by_trace, walk| {
        methods.settle_walk(by_trace.judge(walk), walk, against, |methods, walk| {
            TraceTruth::new(&trace, methods).judge(walk)
        })
    });
    let with_classes = AlsoClasses {
        truth: &settled,
        edges,
    };
    let truth = NativeTop {
        truth: &with_classes,
        is_top: top.as_ref().map(|top| |frame| top.is(env, methods, frame)),
    };
    let check = Check {
        layer,
        env,
        tid,
        seen: Sampled::Plainly,
        event: None,
        evidence: &nothing_more,
    };
    Some(check.run(layers, walk, &truth))
}

/// The trace stack of a thread that is suspended.
#[derive(Copy, Clone)]
enum Stack<'a> {
    /// Of a platform thread. If the thread carries a virtual thread, the walkers give the carrier's own frames only.
    Platform(&'a StackCopy),
    Virtual(&'a StackCopy),
}

/// The trace stack of `thread`; `None` if the sample is not that of the virtual thread, which has left its carrier.
fn stack_of<'s>(
    layers: &Layers,
    thread: Walked<'_>,
    is_virtual: bool,
    sample: &'s Sample,
) -> Option<Stack<'s>> {
    if !is_virtual {
        return Some(Stack::Platform(if sample.carried {
            &sample.carrier
        } else {
            &sample.stack
        }));
    }
    let (known, jvmti) = (
        layers.truth.virtual_threads.as_ref()?,
        layers.truth.jvm.jvmti,
    );
    let is_of_sample = sample.carried && known.has_stack(jvmti, thread.object, sample.copy_of);
    is_of_sample.then_some(Stack::Virtual(&sample.stack))
}

impl<'a> Stack<'a> {
    fn copy(self) -> &'a StackCopy {
        match self {
            Stack::Platform(copy) | Stack::Virtual(copy) => copy,
        }
    }

    /// The native method that the thread was in when the sample was taken. As long as the thread is suspended, the method's
    /// native code may end, but its frame stays: the wrapper waits for the resumption before it returns.
    ///
    /// A carrier's own stack begins where it has passed to the virtual thread, and the anchor is that of the virtual thread.
    fn top(self, layers: &Layers, sample: &Sample) -> Option<Top> {
        let is_own = match self {
            Stack::Virtual(_) => true,
            Stack::Platform(_) => !sample.carried,
        };
        let top = is_own.then(|| Top::of_sample(layers.truth.jvm, sample))?;
        top.filter(|top| !top.may_mount())
    }

    /// Whether nothing can be judged because a virtual thread is being mounted or unmounted, so that the trace stack
    /// is not settled. On JDK 25 GetAllStackTraces was seen to give no frames of a carrier, three times in 11,000
    /// checks, and frames of the virtual thread once in 3,500.
    fn is_switching(self, layers: &Layers, sample: &Sample, walk: &[Frame]) -> bool {
        let Some(threads) = layers.truth.virtual_threads.as_ref() else {
            return false;
        };
        match self {
            Stack::Virtual(_) => !threads.is_whole(walk),
            Stack::Platform(_) => {
                let is_mounting = !sample.carried && threads.is_mounting(walk);
                is_mounting || walk.is_empty() || threads.is_of_virtual_thread(walk)
            }
        }
    }
}
