//! The sampler: a thread that asks random running Java threads for their stacks, again and again,
//! and passes the answers to its [`Client`].
//!
//! Which thread is asked next: [`Targets::choose`] takes a random thread, and prefers those that run. Whose walker is asked:
//! [`TurnOrder`].

use super::asking::{self, ANSWER, Asked, Depth, Done, Free, Question, Request, Supply};
use super::handler::{self, Serving};
use super::pace::{Suspensions, Turns};
use super::requests;
use super::sample::Sample;
use super::targets::{Target, Targets};
use crate::jvm::jni::Env;
use crate::jvm::jvmti::Suspended;
use crate::jvm::os::clock;
use crate::jvm::os::signal::SignalSender;
use crate::records::Records;
use crate::truth::context::Truth;
use crate::walkers::turn_order::TurnOrder;
use oracle::pace::Pace;
use oracle::record::{Config, Record};
use oracle::tally::Drop;
use oracle::{Layer, When};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use std::{iter, ptr, thread};

/// How long the VM's end waits for the sampler. This is longer than an answer may take.
const END: Duration = Duration::from_secs(3);

/// How many threads are asked at the same time: a thread may wait for its processor while others
/// run.
const AT_ONCE: usize = 4;

/// How long the sampler sleeps if no thread runs.
const REST: Duration = Duration::from_millis(1);

/// How long the sampler sleeps where no layer lives on its samples.
const IDLE: Duration = Duration::from_millis(20);

/// The interval in which the rewriter's counts are written.
const BOOKKEEPING: Duration = Duration::from_secs(1);

/// Profile and errors are written after a second, then less and less often, because they grow, but
/// at least in this interval. A crash loses what was added since.
const PROFILE: Duration = Duration::from_secs(30);

/// The running sampler.
pub struct Sampler {
    stop: Sender<()>,
    ended: Receiver<()>,
}

static STOP: AtomicBool = AtomicBool::new(false);

/// A sampler on its own thread, before its loop starts.
pub struct Ready {
    samples: Vec<Free>,
    stopped: Receiver<()>,
}

/// The parts of the agent that a sampler uses.
#[derive(Copy, Clone)]
pub struct Means {
    /// The configuration of the runner.
    pub config: &'static Config,
    /// The threads to ask.
    pub truth: &'static Truth,
    /// The place of the counts.
    pub records: &'static Records,
    /// Whether a walker of the run shows the stacks of virtual threads by running Java code.
    pub shows_virtual_in_java: bool,
}

impl Sampler {
    /// Starts the sampler's thread. To be called once, in the live phase. `body` must call
    /// [`Ready::run`].
    pub fn start(
        serving: Serving,
        body: impl FnOnce(Ready) + Send + 'static,
    ) -> std::io::Result<Sampler> {
        let samples = asking::make()?;
        handler::install(serving)?;
        let (stop, stopped) = channel();
        let (end, ended) = channel();
        thread::Builder::new()
            .name("Stackwitness".into())
            .spawn(move || {
                body(Ready { samples, stopped });
                _ = end.send(());
            })?;
        Ok(Sampler { stop, ended })
    }

    /// Stops the sampler, and waits for its end. Returns false if the sampler did not end in time.
    pub fn stop(&self) -> bool {
        STOP.store(true, Relaxed);
        _ = self.stop.send(());
        self.ended.recv_timeout(END).is_ok()
    }
}

impl Ready {
    /// Takes samples for `client` until the VM's end, on a thread whose environment is `env`.
    pub fn run(self, means: Means, env: Env<'_>, client: &mut dyn Client) {
        let Means {
            config,
            truth,
            records,
            ..
        } = means;
        let mut sampling = Sampling {
            means,
            targets: Targets::new(truth, env, config.seed),
            client,
            supply: Supply::new(self.samples),
            asked: Vec::new(),
            alone: TurnOrder::of_samples(config),
            with_gst: TurnOrder::with_gst(config),
            since_gst: 0,
            suspensions: Suspensions::new(config.sampling.suspend_share),
            turns: Turns::new(config.turns),
            answers: 0,
            sender: SignalSender::new(),
        };
        sampling.begin_turn();
        let mut booked = Instant::now();
        let (mut profiled, mut profile_after) = (booked, BOOKKEEPING);
        while truth.jvm.is_live() && !STOP.load(Relaxed) {
            let busy = sampling.turn();
            if sampling.turns.is_over() {
                sampling.finish();
                let answers = std::mem::take(&mut sampling.answers);
                let paced = sampling.turns.pass_on(answers);
                records.write(&Record::Paced(paced));
                sampling.begin_turn();
            }
            if booked.elapsed() >= BOOKKEEPING {
                booked = Instant::now();
                sampling.client.keep_books();
            }
            if profiled.elapsed() >= profile_after {
                sampling.client.write_profile();
                (profiled, profile_after) = (Instant::now(), (2 * profile_after).min(PROFILE));
            }
            let average = if takes_samples(config) {
                config.sampling.interval_us
            } else {
                IDLE.as_micros() as u64
            };
            if average > 0 {
                // Uniform up to twice the average, so that the sampler does not follow a rhythm of
                // the program.
                let pause = Duration::from_micros(sampling.targets.random() % (2 * average + 1));
                match self.stopped.recv_timeout(pause) {
                    Err(RecvTimeoutError::Timeout) => {}
                    _ => break,
                }
            } else if !busy {
                sampling.rest();
            }
        }
        sampling.finish();
        sampling.client.write_profile();
    }
}

/// Whether any layer lives on samples of this sampler. Otherwise the sampler only keeps books.
fn takes_samples(config: &Config) -> bool {
    config.hooks.is_on()
        || config.edges
        || config.sampling.gst_every > 0
        || config.sampling.chosen_instants
}

/// The state of the sampler's loop.
struct Sampling<'e, 'c> {
    means: Means,
    targets: Targets<'e>,
    client: &'c mut dyn Client,
    supply: Supply,
    /// Requests under way.
    asked: Vec<Request<'e>>,
    /// The layers whose samples are judged as they are.
    alone: TurnOrder,
    /// The layers whose samples are compared with GetStackTrace at the next safepoint.
    with_gst: TurnOrder,
    /// Samples of `alone` since the last sample of `with_gst`.
    since_gst: u32,
    suspensions: Suspensions,
    sender: SignalSender,
    turns: Turns,
    /// Answers in this turn.
    answers: u64,
}

impl<'e> Sampling<'e, '_> {
    fn begin_turn(&mut self) {
        let with_checks = self.turns.pace() == Pace::Checks;
        self.client.begin_turn(with_checks);
    }

    /// Asks a thread, and while the thread answers, judges an earlier answer. Returns false if
    /// there was nothing to do.
    fn turn(&mut self) -> bool {
        match self.turns.pace() {
            Pace::Loop => return self.ask_bare(),
            Pace::Rest => {
                thread::sleep(REST);
                return false;
            }
            Pace::Checks => {}
        }
        let config = self.means.config;
        if config.sampling.chosen_instants {
            return requests::ask(&mut self.targets, self.sender, config.has_profiler());
        }
        if config.sampling.gst_every > 0 && self.since_gst >= config.sampling.gst_every {
            self.since_gst = 0;
            let was_suspended = config.hooks.is_on() && self.ask_suspended();
            return self.ask_with_gst() || was_suspended;
        }
        if !takes_samples(config) {
            return false;
        }
        if !config.hooks.is_on() && !config.edges {
            self.since_gst += 1;
            return config.sampling.gst_every > 0;
        }
        let over = self.asked.iter().position(Request::is_over);
        let over = over.map(|at| self.asked.swap_remove(at));
        // The next request comes first, so that the next thread answers during the judging.
        let is_asked = self.ask_next();
        match over {
            Some(over) => {
                self.close(over);
                true
            }
            None => is_asked,
        }
    }

    /// Asks the next thread, unless enough threads are asked or no other thread runs.
    fn ask_next(&mut self) -> bool {
        if self.asked.len() >= AT_ONCE {
            return false;
        }
        let asked = &self.asked;
        let is_busy = |state: &_| asked.iter().any(|other| ptr::eq(other.target.state, state));
        let target = self.targets.choose(false, is_busy);
        let request = target.and_then(|target| {
            self.since_gst += 1;
            self.ask(target, &[self.alone.next_layer()?], Depth::Check)
        });
        let is_asked = request.is_some();
        self.asked.extend(request);
        is_asked
    }

    /// Asks a thread for its stack, and then asks GetStackTrace at the thread's next safepoint.
    fn ask_with_gst(&mut self) -> bool {
        let Some(target) = self.targets.choose(true, |_| false) else {
            return false;
        };
        let judged = self.with_gst.next_layer().and_then(|layer| {
            self.with_answer(target, &[layer], Depth::Check, |client, target, sample| {
                client.judge(layer, target, sample);
            })
        });
        judged.is_some()
    }

    /// Suspends a thread, asks the thread for its truth, and asks the walkers of other threads for
    /// its stack.
    fn ask_suspended(&mut self) -> bool {
        if !self.suspensions.is_time() {
            return false;
        }
        let Some(mut target) = self.targets.choose(true, |_| false) else {
            return false;
        };
        let Some(thread) = target.object.take() else {
            return false;
        };
        let shows = self.means.shows_virtual_in_java;
        let carried = self.targets.carried(shows, &target, thread.get());
        let is_virtual = carried.is_some();
        let thread = carried.unwrap_or(thread);
        let start = Instant::now();
        let jvmti = self.means.truth.jvm.jvmti;
        let Some(suspended) = self.suspensions.suspend(jvmti, thread.get()) else {
            return false;
        };
        let layers: Vec<Layer> = When::Suspend.layers().collect();
        let end = self.with_answer(target, &layers, Depth::Check, |client, target, sample| {
            client.judge_suspended(target, sample, Stopped::new(suspended, is_virtual))
        });
        self.suspensions.ended(start, end);
        true
    }

    /// The loop of [`Depth::Walk`]: asks a thread for a walk, and waits for the walk.
    fn ask_bare(&mut self) -> bool {
        let target = self.targets.choose(false, |_| false);
        let asked = target.zip(self.alone.next_layer());
        let answered = asked.and_then(|(target, layer)| {
            self.with_answer(target, &[layer], Depth::Walk, |_, _, _| {})
        });
        self.answers += u64::from(answered.is_some());
        answered.is_some()
    }

    /// Asks `target` for a sample of `layers`, and the walker of the first of them. Counts the loss if the
    /// target cannot be asked.
    fn ask(&mut self, target: Target<'e>, layers: &[Layer], depth: Depth) -> Option<Request<'e>> {
        let Some(sample) = self.supply.take() else {
            self.lose(layers, Drop::NoFreeRecord);
            thread::sleep(REST);
            return None;
        };
        if self.means.truth.has_light_hooks() {
            target.state.invite_check(clock::since_start());
        }
        let signal = |word| self.sender.send(target.tid, word);
        let layer = layers[0];
        let question = Question {
            target: target.state,
            layer,
            depth,
        };
        match asking::ask(sample, question, signal) {
            Ok(asked) => Some(Request {
                target,
                layer,
                asked,
                at: Instant::now(),
            }),
            Err(sample) => {
                self.supply.give_back(sample);
                self.lose(layers, Drop::ThreadEnded);
                None
            }
        }
    }

    /// Judges the answer of a request.
    fn close(&mut self, request: Request<'e>) {
        let layer = request.layer;
        if let Some(done) = self.end(request.asked, request.target.tid, &[layer]) {
            self.answers += 1;
            self.client
                .judge(layer, &request.target, &done.value().sample);
            self.supply.give_back(done.free());
        }
    }

    /// Asks `target` as [`ask`](Self::ask) does, waits for the answer, and lets `judge` see it.
    fn with_answer<T>(
        &mut self,
        target: Target<'e>,
        layers: &[Layer],
        depth: Depth,
        judge: impl FnOnce(&mut dyn Client, &Target<'e>, &Sample) -> T,
    ) -> Option<T> {
        let Request { target, asked, .. } = self.ask(target, layers, depth)?;
        asking::wait(iter::once(&asked), ANSWER);
        let done = self.end(asked, target.tid, layers)?;
        let judged = judge(self.client, &target, &done.value().sample);
        self.supply.give_back(done.free());
        Some(judged)
    }

    /// Ends a request to the thread `tid`. Counts the loss if the thread did not answer.
    fn end(&mut self, asked: Asked, tid: i32, layers: &[Layer]) -> Option<Done> {
        let ended = self.supply.end(asked, self.sender, tid);
        ended.map_err(|cause| self.lose(layers, cause)).ok()
    }

    fn lose(&self, layers: &[Layer], cause: Drop) {
        let slots = &self.means.records.slots;
        layers.iter().for_each(|&layer| slots.drop(layer, cause));
    }

    /// Waits until there is something to do, or a thread may run again.
    fn rest(&self) {
        if self.asked.is_empty() {
            thread::sleep(REST)
        } else {
            _ = asking::wait(self.asked.iter().map(|request| &request.asked), REST)
        }
    }

    /// Waits for the requests under way.
    fn finish(&mut self) {
        while !self.asked.is_empty() {
            let over = self.asked.iter().position(Request::is_over);
            match over.map(|at| self.asked.swap_remove(at)) {
                Some(over) => self.close(over),
                None => self.rest(),
            }
        }
    }
}

/// A thread that is suspended while it is asked.
pub struct Stopped<'a> {
    /// The thread. It runs on when this value is dropped.
    pub suspended: Suspended<'a>,
    /// Whether the thread is a virtual thread, which the target has carried shortly before.
    pub is_virtual: bool,
}

impl<'a> Stopped<'a> {
    /// The suspended thread.
    pub fn new(suspended: Suspended<'a>, is_virtual: bool) -> Stopped<'a> {
        Stopped {
            suspended,
            is_virtual,
        }
    }
}

/// The user of the samples.
pub trait Client {
    /// Judges the answer of a thread. The sampler counts lost samples.
    fn judge(&mut self, layer: Layer, target: &Target<'_>, sample: &Sample);

    /// Asks walkers for the stack of a suspended thread, lets the thread run on, and judges the
    /// answers. `sample` was taken while the thread was suspended, and is that of its carrier if it is a virtual thread. Returns when the thread ran on.
    fn judge_suspended(
        &mut self,
        target: &Target<'_>,
        sample: &Sample,
        stopped: Stopped<'_>,
    ) -> Instant;

    /// A turn begins in which checks are made, or not (see [`oracle::pace`]).
    fn begin_turn(&mut self, with_checks: bool);

    /// Called about every second.
    fn keep_books(&mut self);

    /// Called after a second, then less and less often, and at the end.
    fn write_profile(&mut self);
}
