//! The sampler: a thread that asks random running Java threads for their stacks, again and
//! again, and hands what comes back to its client.

use super::asking::{self, Asked, Depth, Done, Free};
use super::client::Client;
use super::handler::{self, Serving};
use super::pace::Turns;
use super::supply::Supply;
use super::suspending::Suspensions;
use super::targets::{Target, Targets};
use crate::jvm::jni::Env;
use crate::jvm::os::clock;
use crate::jvm::os::signal::Post;
use crate::records::Records;
use crate::truth::context::Truth;
use oracle::pace::Pace;
use oracle::record::{Config, Record};
use oracle::tally::Drop;
use oracle::{Layer, When};
use std::iter;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long a thread may take for what it is asked.
const ANSWER: Duration = Duration::from_millis(200);

/// How long the VM's end waits for the sampler: longer than one answer.
const END: Duration = Duration::from_secs(3);

/// So many threads are asked at the same time: one may wait for its processor while others
/// run.
const AT_ONCE: usize = 4;

/// How long the sampler sleeps where nobody runs.
const REST: Duration = Duration::from_millis(1);

/// How often the rewriter's counts are written down.
const BOOKKEEPING: Duration = Duration::from_secs(1);

/// Profile and errors are written down after a second, then ever more rarely, as they grow,
/// but at least so often. A crash costs what came since.
const PROFILE: Duration = Duration::from_secs(30);

/// The running sampler.
pub struct Sampler {
    stop: Sender<()>,
    ended: Receiver<()>,
}

static STOP: AtomicBool = AtomicBool::new(false);

/// A sampler that is about to run, on its own thread.
pub struct Ready {
    samples: Vec<Free>,
    stopped: Receiver<()>,
}

/// What a sampler works with.
#[derive(Copy, Clone)]
pub struct Means {
    /// What the runner asked for.
    pub config: &'static Config,
    /// Whom it asks.
    pub truth: &'static Truth,
    /// Where it counts.
    pub records: &'static Records,
}

impl Sampler {
    /// Starts the sampler's thread, once, in the live phase; `body` must call [`Ready::run`].
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

    /// Stops it, and waits for its end; false if it did not end in time.
    pub fn stop(&self) -> bool {
        STOP.store(true, Relaxed);
        _ = self.stop.send(());
        self.ended.recv_timeout(END).is_ok()
    }
}

impl Ready {
    /// Samples for `client` until the VM's end, on a thread whose environment is `env`.
    pub fn run(self, means: Means, env: Env<'_>, client: &mut dyn Client) {
        let Means {
            config,
            truth,
            records,
        } = means;
        let mut sampling = Sampling {
            means,
            targets: Targets::new(truth, env, config.seed),
            client,
            supply: Supply::new(self.samples),
            asked: Vec::new(),
            since_gst: 0,
            suspensions: Suspensions::new(),
            turns: Turns::new(config.turns),
            answers: 0,
            post: Post::new(),
        };
        let mut booked = Instant::now();
        let (mut profiled, mut profile_after) = (booked, BOOKKEEPING);
        while truth.jvm.is_live() && !STOP.load(Relaxed) {
            let busy = sampling.turn();
            if sampling.turns.is_over() {
                sampling.finish();
                let answers = std::mem::take(&mut sampling.answers);
                let paced = sampling.turns.pass_on(answers);
                records.write(&Record::Paced(paced));
            }
            if booked.elapsed() >= BOOKKEEPING {
                booked = Instant::now();
                sampling.client.keep_books();
            }
            if profiled.elapsed() >= profile_after {
                sampling.client.write_profile();
                (profiled, profile_after) = (Instant::now(), (2 * profile_after).min(PROFILE));
            }
            let average = config.sample_interval_us;
            if average > 0 {
                // Uniform over twice the average, lest it beats with the program's own rhythm.
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

/// What the sampler's loop keeps.
struct Sampling<'e, 'c> {
    means: Means,
    targets: Targets<'e>,
    client: &'c mut dyn Client,
    supply: Supply,
    /// Those on their way.
    asked: Vec<Request<'e>>,
    /// Samples since the last one for `asgct-gst`.
    since_gst: u32,
    suspensions: Suspensions,
    post: Post,
    turns: Turns,
    /// Answers in this turn.
    answers: u64,
}

/// A thread that was asked.
struct Request<'e> {
    target: Target<'e>,
    asked: Asked,
    at: Instant,
}

impl Request<'_> {
    fn is_over(&self) -> bool {
        self.asked.is_done() || self.at.elapsed() >= ANSWER
    }
}

impl<'e> Sampling<'e, '_> {
    /// Asks a thread, and while it answers judges what another answered; false if there was
    /// nothing to do.
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
        if config.gst_every > 0 && self.since_gst >= config.gst_every {
            self.since_gst = 0;
            let was_suspended = config.hooks.is_on() && self.ask_suspended();
            return self.ask_with_gst() || was_suspended;
        }
        if !config.hooks.is_on() && !config.edges {
            self.since_gst += 1;
            return config.gst_every > 0;
        }
        let over = self.asked.iter().position(Request::is_over);
        let over = over.map(|at| self.asked.swap_remove(at));
        // First of all, so that the next thread answers while this is judged.
        let is_asked = self.ask_next();
        match over {
            Some(over) => {
                self.close(over);
                true
            }
            None => is_asked,
        }
    }

    /// The layer of samples without GetStackTrace.
    fn layer(&self) -> Layer {
        match self.means.config.hooks.is_on() {
            true => Layer::AsgctAsync,
            false => Layer::CallEdge,
        }
    }

    /// Asks the next thread, unless enough are asked or none is left that runs.
    fn ask_next(&mut self) -> bool {
        if self.asked.len() >= AT_ONCE {
            return false;
        }
        let asked = &self.asked;
        let is_busy = |state: &_| asked.iter().any(|other| ptr::eq(other.target.state, state));
        let target = self.targets.choose(false, is_busy);
        let layer = self.layer();
        let request = target.and_then(|target| self.ask(target, &[layer], Depth::Check));
        let is_asked = request.is_some();
        self.asked.extend(request);
        is_asked
    }

    /// Asks a thread for its stack, then at its next safepoint once more.
    fn ask_with_gst(&mut self) -> bool {
        let layer = Layer::AsgctGst;
        let target = self.targets.choose(true, |_| false);
        let Some(request) = target.and_then(|target| self.ask(target, &[layer], Depth::Check))
        else {
            return false;
        };
        if let Some(done) = self.await_answer(request.asked, &[layer]) {
            let sample = &done.value().sample;
            self.client.judge(layer, &request.target, sample);
            self.supply.give_back(done.free());
        }
        true
    }

    /// Suspends a thread, asks the thread for its truth, and walkers from outside for its stack.
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
        let start = Instant::now();
        let suspended = match self.means.truth.jvm.jvmti.suspend(thread.get()) {
            Ok(suspended) => suspended,
            Err(error) => {
                self.suspensions.failed(error);
                return false;
            }
        };
        let layers: Vec<Layer> = When::Suspend.layers().collect();
        if let Some(request) = self.ask(target, &layers, Depth::Check)
            && let Some(done) = self.await_answer(request.asked, &layers)
        {
            let sample = &done.value().sample;
            self.client
                .judge_suspended(&request.target, sample, suspended);
            self.supply.give_back(done.free());
        }
        self.suspensions.ended(start);
        true
    }

    /// The bare loop: asks a thread for a walk, and waits for it.
    fn ask_bare(&mut self) -> bool {
        let layer = Layer::AsgctAsync;
        let target = self.targets.choose(false, |_| false);
        let Some(request) = target.and_then(|target| self.ask(target, &[layer], Depth::Walk))
        else {
            return false;
        };
        if let Some(done) = self.await_answer(request.asked, &[layer]) {
            self.answers += 1;
            self.supply.give_back(done.free());
        }
        true
    }

    /// Asks `target` for a sample of `layers`; counts the loss if it cannot be asked.
    fn ask(&mut self, target: Target<'e>, layers: &[Layer], depth: Depth) -> Option<Request<'e>> {
        let Some(sample) = self.supply.take() else {
            self.lose(layers, Drop::NoFreeRecord);
            thread::sleep(REST);
            return None;
        };
        self.since_gst += u32::from(layers.contains(&self.layer()));
        if self.means.truth.light.is_some() {
            target.state.invite_check(clock::since_start());
        }
        let signal = |word| self.post.send(target.tid, word);
        match asking::ask(sample, target.state, depth, signal) {
            Ok(asked) => Some(Request {
                target,
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

    /// Judges what came of a request.
    fn close(&mut self, request: Request<'e>) {
        let layer = self.layer();
        if let Some(done) = self.end(request.asked, &[layer]) {
            self.answers += 1;
            let sample = &done.value().sample;
            self.client.judge(layer, &request.target, sample);
            self.supply.give_back(done.free());
        }
    }

    /// Waits for an answer, and ends the request.
    fn await_answer(&mut self, asked: Asked, layers: &[Layer]) -> Option<Done> {
        asking::wait(iter::once(&asked), ANSWER);
        self.end(asked, layers)
    }

    /// Ends a request; counts the loss if the target did not answer.
    fn end(&mut self, asked: Asked, layers: &[Layer]) -> Option<Done> {
        let ended = self.supply.end(asked);
        ended.map_err(|cause| self.lose(layers, cause)).ok()
    }

    fn lose(&self, layers: &[Layer], cause: Drop) {
        let slots = &self.means.records.slots;
        layers.iter().for_each(|&layer| slots.drop(layer, cause));
    }

    /// Waits until there is something to do, or somebody may run again.
    fn rest(&self) {
        match self.asked.is_empty() {
            true => thread::sleep(REST),
            false => _ = asking::wait(self.asked.iter().map(|request| &request.asked), REST),
        }
    }

    /// Waits for what is on its way.
    fn finish(&mut self) {
        while !self.asked.is_empty() {
            match self.asked.iter().position(Request::is_over) {
                Some(at) => {
                    let over = self.asked.swap_remove(at);
                    self.close(over);
                }
                None => self.rest(),
            }
        }
    }
}
