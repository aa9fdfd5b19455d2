//! The sampler: a thread that asks a random running Java thread for its stack, again and
//! again, and compares what comes back: layers `asgct-async` and `asgct-gst`.

use crate::agent::{Agent, guard};
use crate::check::{MAX_FRAMES, frame_of};
use crate::compiled;
use crate::error_codes::ErrorCodes;
use crate::evidence::{self, Found};
use crate::liar::Said;
use crate::methods::Registry;
use crate::profile::Stacks;
use crate::sample::{Inner, Outcome, Sample, Ticket};
use crate::signal;
use crate::threads::{ThreadState, mix};
use crate::virtual_threads;
use crate::vm::jvmti::FrameInfo;
use jni_sys::{JNIEnv, jobject};
use oracle::judge::judge_moving;
use oracle::lie::Sight;
use oracle::record::Record;
use oracle::tally::Drop;
use oracle::trace::{Frame, HookId};
use oracle::{Judgement, Layer, Verdict};
use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long a thread may take to answer a signal.
const ANSWER: Duration = Duration::from_millis(200);

/// How long the VM's end waits for the sampler: longer than one answer.
const END: Duration = Duration::from_secs(3);

/// One idle thread in so many is sampled all the same.
const IDLE_SHARE: u64 = 32;

/// At most so many threads are looked at before each sample.
const LOOKS: u32 = 16;

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

/// Starts the sampler, in the live phase.
pub fn start(agent: &'static Agent) -> std::io::Result<Sampler> {
    signal::install()?;
    let (stop, stopped) = channel();
    let (end, ended) = channel();
    thread::Builder::new()
        .name("Stackwitness".into())
        .spawn(move || {
            guard((), || run(agent, &stopped));
            _ = end.send(());
        })?;
    Ok(Sampler { stop, ended })
}

impl Sampler {
    /// Stops it, and waits for its end; false if it did not end in time.
    pub fn stop(&self) -> bool {
        STOP.store(true, Relaxed);
        _ = self.stop.send(());
        self.ended.recv_timeout(END).is_ok()
    }
}

fn run(agent: &'static Agent, stopped: &Receiver<()>) {
    let Some(env) = attach(agent) else {
        let reason = "the sampler could not attach to the VM".to_owned();
        agent.records.write(&Record::Invalid(reason));
        return;
    };
    let Ok(samples) = signal::samples() else {
        return;
    };
    let mut sampling = Sampling {
        samples,
        free: (0..samples.len()).collect(),
        aside: Vec::new(),
        pending: None,
        agent,
        env,
        random: mix(agent.config.seed),
        looks: HashMap::new(),
        walk: Vec::new(),
        hooks: Vec::new(),
        gst: vec![
            FrameInfo {
                method: ptr::null_mut(),
                location: 0
            };
            MAX_FRAMES
        ],
        count: 0,
        stacks: Stacks::default(),
        errors: ErrorCodes::default(),
    };
    let mut booked = Instant::now();
    let (mut profiled, mut profile_after) = (booked, BOOKKEEPING);
    while agent.is_live() && !STOP.load(Relaxed) {
        sampling.sample();
        if booked.elapsed() >= BOOKKEEPING {
            booked = Instant::now();
            agent.record_rewriting();
        }
        if profiled.elapsed() >= profile_after {
            sampling.record_profile();
            (profiled, profile_after) = (Instant::now(), (2 * profile_after).min(PROFILE));
        }
        let average = agent.config.sample_interval_us;
        if average > 0 {
            // Uniform over twice the average, lest it beats with the program's own rhythm.
            let pause = Duration::from_micros(sampling.next_random() % (2 * average + 1));
            match stopped.recv_timeout(pause) {
                Err(RecvTimeoutError::Timeout) => {}
                _ => break,
            }
        }
    }
    sampling.finish();
    sampling.record_profile();
    // SAFETY: this thread attached itself and has no Java frames.
    unsafe { ((**agent.vm.0).v1_2.DetachCurrentThread)(agent.vm.0) };
}

/// Attaches the calling thread as a daemon, so that it keeps no VM alive.
fn attach(agent: &Agent) -> Option<*mut JNIEnv> {
    let mut env = ptr::null_mut();
    let mut arguments = jni_sys::JavaVMAttachArgs {
        version: jni_sys::JNI_VERSION_1_8,
        name: c"Stackwitness".as_ptr().cast_mut(),
        group: ptr::null_mut(),
    };
    // SAFETY: the VM is live; the arguments outlive the call.
    let status = unsafe {
        let arguments = ptr::from_mut(&mut arguments).cast();
        ((**agent.vm.0).v1_4.AttachCurrentThreadAsDaemon)(agent.vm.0, &mut env, arguments)
    };
    (status == 0).then_some(env.cast())
}

/// What the sampler's loop keeps.
struct Sampling {
    agent: &'static Agent,
    env: *mut JNIEnv,
    random: u64,
    /// When each thread was last looked at.
    looks: HashMap<i32, Look>,
    walk: Vec<Frame>,
    hooks: Vec<HookId>,
    gst: Vec<FrameInfo>,
    count: u32,
    samples: &'static [Sample],
    /// Places of samples that may be used.
    free: Vec<usize>,
    /// Places of samples that a late handler has taken.
    aside: Vec<usize>,
    /// The request whose answer is not judged yet.
    pending: Option<Request>,
    /// All walks.
    stacks: Stacks,
    /// Where there was none.
    errors: ErrorCodes,
}

/// Who is sampled.
struct Target {
    state: &'static ThreadState,
    tid: i32,
    /// A local reference to its `java.lang.Thread`; null if it is not needed or not known.
    object: jobject,
}

/// A signal under way.
struct Request {
    target: Target,
    layer: Layer,
    place: usize,
    ticket: Ticket,
}

impl Sampling {
    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(1);
        mix(self.random)
    }

    /// Asks the next thread, and while it answers judges what the one before answered.
    fn sample(&mut self) {
        self.count = self.count.wrapping_add(1);
        let every = self.agent.config.gst_every;
        let with_gst = every > 0 && self.count.is_multiple_of(every);
        if !with_gst && !self.agent.config.hooks.is_on() {
            return;
        }
        let answered = self.pending.take().and_then(|request| self.wait(request));
        let Some(request) = self
            .choose(with_gst)
            .and_then(|target| self.ask(target, with_gst))
        else {
            return answered
                .into_iter()
                .for_each(|request| self.judge(request, None));
        };
        if let Some(answered) = answered {
            self.judge(answered, None);
        }
        if !with_gst {
            self.pending = Some(request);
        } else if let Some(answered) = self.wait(request) {
            let gst = self.stack_of(&answered.target);
            self.judge(answered, gst);
        }
    }

    /// Waits for the last answer.
    fn finish(&mut self) {
        if let Some(answered) = self.pending.take().and_then(|request| self.wait(request)) {
            self.judge(answered, None);
        }
    }

    /// A random thread, running ones by preference; not the sampler itself.
    fn choose(&mut self, with_object: bool) -> Option<Target> {
        let (random, idle) = (self.next_random(), self.next_random());
        let (agent, env, looks) = (self.agent, self.env, &mut self.looks);
        let own = ThreadState::current();
        let mut looks_left = LOOKS;
        agent.threads.with_live(|live| {
            let start = random as usize % live.len().max(1);
            let mut others = (0..live.len()).map(|i| live[(start + i) % live.len()]);
            let state = others.find(|state| {
                let is_own = own.is_some_and(|own| ptr::eq(own, *state));
                !is_own && (runs(looks, state.tid(), &mut looks_left) || idle % IDLE_SHARE == 0)
            })?;
            let mut object = ptr::null_mut();
            if with_object && !state.object().is_null() {
                // While the list is locked the thread cannot give its reference back.
                // SAFETY: a valid global reference.
                object = unsafe { ((**env).v1_2.NewLocalRef)(env, state.object()) };
            }
            Some(Target {
                state,
                tid: state.tid(),
                object,
            })
        })
    }

    /// Sends the signal.
    fn ask(&mut self, target: Target, with_gst: bool) -> Option<Request> {
        let layer = match with_gst {
            true => Layer::AsgctGst,
            false => Layer::AsgctAsync,
        };
        // A sample that was put aside and is done by now comes back.
        let (samples, free) = (self.samples, &mut self.free);
        self.aside.retain(|&place| {
            let back = samples[place].read(|_| ()).is_some();
            free.extend(back.then_some(place));
            !back
        });
        let Some(place) = self.free.pop() else {
            self.agent.slots.drop(layer, Drop::NoRecord);
            self.release(target);
            thread::sleep(Duration::from_millis(1));
            return None;
        };
        let ticket = samples[place].ask(target.state)?;
        let request = Request {
            target,
            layer,
            place,
            ticket,
        };
        match signal::send(request.target.tid, place, ticket) {
            Ok(()) => Some(request),
            Err(_) => self.lose(request, Drop::ThreadEnded),
        }
    }

    /// Waits for the answer to `request`; `None` if there is none in time.
    fn wait(&mut self, request: Request) -> Option<Request> {
        match self.samples[request.place].wait(request.ticket, ANSWER) {
            true => Some(request),
            false => self.lose(request, Drop::NoAnswer),
        }
    }

    /// Counts a request that got no answer. Its sample is free again, unless the handler has
    /// just taken it.
    fn lose(&mut self, request: Request, cause: Drop) -> Option<Request> {
        match self.samples[request.place].give_up(request.ticket) {
            true => self.free.push(request.place),
            false => self.aside.push(request.place),
        }
        self.agent.slots.drop(request.layer, cause);
        self.release(request.target);
        None
    }

    fn release(&self, target: Target) {
        if !target.object.is_null() {
            // SAFETY: a local reference of this thread, not used again.
            unsafe { ((**self.env).v1_1.DeleteLocalRef)(self.env, target.object) };
        }
    }

    /// Judges the answer to `request`, and frees its sample.
    fn judge(&mut self, request: Request, gst: Option<Vec<Frame>>) {
        let Request {
            target,
            layer,
            place,
            ..
        } = request;
        let slots = &self.agent.slots;
        self.samples[place].read(|inner| match inner.outcome {
            Outcome::OtherThread => slots.drop(layer, Drop::ThreadEnded),
            Outcome::Walked(code) if code <= 0 => {
                slots.count(layer, Verdict::Error(code));
                let state = inner.anchor.map_or("unknown", |anchor| anchor.state_name());
                let (agent, pc) = (self.agent, inner.registers[0]);
                let find = |pc| evidence::kind_at(agent, pc);
                self.errors.add_at((layer, code, state), pc, find);
            }
            Outcome::Walked(count) if count as usize >= MAX_FRAMES => {
                slots.drop(layer, Drop::TooDeep);
            }
            Outcome::Walked(_) => {
                self.walk.clear();
                self.walk.extend(inner.walk());
                // Samples of one layer only: those of the other are taken in another rhythm.
                if layer == Layer::AsgctAsync || !self.agent.config.hooks.is_on() {
                    self.stacks.add(&self.walk);
                }
                match layer {
                    Layer::AsgctGst => self.judge_gst(&target, inner, gst.as_deref()),
                    _ => self.judge_async(&target, inner),
                }
            }
        });
        self.free.push(place);
        self.release(target);
    }

    /// Writes down all stacks and errors so far.
    fn record_profile(&mut self) {
        let (agent, env) = (self.agent, self.env);
        let profile = self.stacks.profile(|key| agent.methods.profiled(env, key));
        if !profile.is_empty() {
            agent.records.write(&Record::Profile(profile));
        }
        if let Some(errors) = self.errors.take_new() {
            agent.records.write(&Record::Errors(errors));
        }
    }

    /// GetStackTrace of the target at its next safepoint.
    fn stack_of(&mut self, target: &Target) -> Option<Vec<Frame>> {
        if target.object.is_null() {
            return None;
        }
        let count = self
            .agent
            .jvmti
            .stack_trace(target.object, &mut self.gst)
            .ok()?;
        (count < MAX_FRAMES).then(|| self.gst[..count].iter().map(frame_of).collect())
    }

    fn judge_async(&mut self, target: &Target, inner: &Inner) {
        let (agent, layer) = (self.agent, Layer::AsgctAsync);
        if let Err(cause) = inner.copied {
            return agent.slots.drop(layer, cause);
        }
        self.hooks.clear();
        self.hooks.extend(inner.stack.hooks());
        let truth = inner.stack.truth(&self.hooks);
        let below: Vec<HookId>;
        let carrier = match inner.carried {
            true => {
                below = inner.carrier.hooks().collect();
                Some(inner.carrier.truth(&below))
            }
            false => None,
        };
        let threads = agent.virtual_threads.as_ref();
        let judge = |walk: &[Frame]| {
            let boundary = threads.and_then(|threads| threads.boundary(walk));
            virtual_threads::judge(walk, &truth, carrier.as_ref(), boundary, &agent.methods)
        };
        let judge = |walk: &[Frame]| {
            let judgement = judge(walk);
            let between = || compiled::judge_between_records(agent, inner, walk, judge);
            let asked = judgement.is_mismatch().then(between);
            asked.flatten().unwrap_or(judgement)
        };
        let below = carrier.map_or(&[][..], |carrier| carrier.checked);
        let checked = [truth.checked, below];
        let judge = |walk: &[Frame]| {
            let judgement = judge(walk);
            agent.methods.settle(judgement, walk, &checked)
        };
        let mut judgement = judge(&self.walk);
        if carrier.is_none() {
            let sight = Sight::Truth(&truth, &agent.methods);
            let said = said(self.env, target, layer, &self.walk, judgement);
            if let Some(lie) = agent.liar.tell(agent, said, &sight, judge) {
                (self.walk, judgement) = (lie.walk, lie.judgement);
            }
        }
        agent.slots.count(layer, judgement.verdict);
        if judgement.is_mismatch() && evidence::wanted(agent, layer, judgement.verdict) {
            let shown = |truth| evidence::show_truth(agent, self.env, truth);
            let mut frames = shown(&truth);
            frames.extend(carrier.iter().flat_map(shown));
            let truth = frames;
            self.report(target, inner, layer, judgement, truth);
        }
    }

    fn judge_gst(&mut self, target: &Target, inner: &Inner, gst: Option<&[Frame]>) {
        let (agent, layer) = (self.agent, Layer::AsgctGst);
        let Some(gst) = gst else {
            return agent.slots.count(layer, Verdict::Unverifiable);
        };
        let judgement = judge_moving(&self.walk, gst);
        let methods = &agent.methods;
        let mut judgement = methods.settle(judgement, &self.walk, &[gst]);
        let sight = Sight::<Registry>::Later(gst);
        let said = said(self.env, target, layer, &self.walk, judgement);
        if let Some(lie) = agent.liar.tell(agent, said, &sight, |lie| sight.judge(lie)) {
            (self.walk, judgement) = (lie.walk, lie.judgement);
        }
        agent.slots.count(layer, judgement.verdict);
        if judgement.is_mismatch() && evidence::wanted(agent, layer, judgement.verdict) {
            let truth = evidence::show(agent, self.env, gst);
            self.report(target, inner, layer, judgement, truth);
        }
    }

    fn report(
        &self,
        target: &Target,
        inner: &Inner,
        layer: Layer,
        judgement: Judgement,
        truth: Vec<oracle::record::ShownFrame>,
    ) {
        let evidence = evidence::of_sample(self.agent, inner);
        let (tid, walk) = (target.tid, self.walk.as_slice());
        evidence::record(
            self.agent,
            self.env,
            Found {
                layer,
                judgement,
                tid,
                walk,
                truth,
                evidence,
            },
        );
    }
}

fn said<'a>(
    env: *mut JNIEnv,
    target: &Target,
    layer: Layer,
    walk: &'a [Frame],
    judgement: Judgement,
) -> Said<'a> {
    let tid = target.tid;
    Said {
        env,
        layer,
        tid,
        walk,
        judgement,
    }
}

/// Whether a thread ran when it was last looked at.
#[derive(Copy, Clone)]
struct Look {
    at: Instant,
    ran: bool,
}

/// Looks at more threads than this are forgotten, lest those at ended threads pile up.
const REMEMBERED: usize = 1 << 12;

/// How long a look is good.
const FRESH: Duration = Duration::from_micros(500);

/// Whether thread `tid` runs, or is ready to, as the kernel tells (`proc_pid_stat(5)`). Its
/// CPU time would not do: a sleeping thread uses some to answer our signal.
fn runs(looks: &mut HashMap<i32, Look>, tid: i32, looks_left: &mut u32) -> bool {
    let last = looks.get(&tid).copied();
    if let Some(fresh) = last.filter(|last| last.at.elapsed() < FRESH) {
        return fresh.ran;
    }
    if *looks_left == 0 {
        return false;
    }
    *looks_left -= 1;
    let ran = std::fs::read_to_string(format!("/proc/self/task/{tid}/stat"))
        // The name before the state may hold anything, closing brackets included.
        .is_ok_and(|stat| {
            stat.rsplit(')')
                .next()
                .is_some_and(|rest| rest.starts_with(" R"))
        });
    if looks.len() > REMEMBERED {
        looks.clear();
    }
    let at = Instant::now();
    looks.insert(tid, Look { at, ran });
    ran
}
