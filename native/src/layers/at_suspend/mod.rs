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
use super::path::{Check, nothing_more};
use crate::evidence::Seen;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::Suspended;
use crate::sampling::sample::Sample;
use crate::sampling::targets::Target;
use crate::truth::methods::old_frames::Against;
use crate::truth::read_stack::ReadStack;
use crate::walkers::buffer::{FrameBuffer, Walk};
use crate::walkers::element::StackElement;
use crate::walkers::java::asker::{Answer, Asker};
use crate::walkers::walker::{Walked, WalksOther};
use elements::Elements;
use oracle::edge::Finding;
use oracle::judge::judge_truth;
use oracle::mutants::Sight;
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
        (tid, suspended): (i32, Suspended<'_>),
        sample: &Sample,
        edges: &dyn Fn(&[Frame]) -> Option<Vec<Finding>>,
    ) -> Instant {
        for asked in &mut self.walkers {
            asked.walked = asked
                .walker
                .walk(env, suspended.thread(), &mut asked.frames);
        }
        let thread = Walked {
            object: suspended.thread(),
            tid,
        };
        let java = self.java.as_mut().filter(|java| !java.is(tid));
        let java = java.map(|java| {
            let all = 0..java.layers().len();
            (java.ask(env, thread, all), java)
        });
        drop(suspended);
        let end = Instant::now();
        // Read first of all: the thread's answers hold references.
        let java = java.map(|(is_asked, java)| {
            let answers = is_asked.then(|| java.answers()).flatten();
            (java.layers(), answers)
        });
        let mut confirmed = None;
        for asked in &self.walkers {
            let judged = judge(layers, env, (tid, sample), edges, asked);
            if judged.is_some_and(|judged| is_confirmed(judged.verdict)) {
                confirmed = confirmed.or(Some(asked.frames.frames()));
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
        let truth = confirmed.and_then(|stack| elements.of_stack(known, self.env, stack));
        let Some(truth) = truth else {
            return each(&|layer| slots.count(layer, Verdict::Unverifiable));
        };
        for (&layer, answer) in self.of.iter().zip(&answers) {
            let Some(answer) = answer else {
                slots.count(layer, Verdict::Error(0));
                continue;
            };
            let walk = elements.of_answer(answer);
            let sight = Sight::Elements(&truth);
            let check = Check {
                layer,
                env: self.env,
                tid: self.tid,
                seen: Seen::Plainly,
                sight: &sight,
                reference: &[],
                evidence: &|_| elements.evidence(answer, &truth),
            };
            let judge = |walk: &[Frame]| sight.judge(walk);
            check.settled(self.layers, &walk, judge(&walk), judge);
        }
    }
}

/// Judges one answer.
fn judge(
    layers: &Layers,
    env: Env<'_>,
    (tid, sample): (i32, &Sample),
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
    if is_switching(layers, sample, walk) {
        slots.count(layer, Verdict::Unverifiable);
        return None;
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
    Some(check.settled(layers, walk, judge(walk), judge))
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
