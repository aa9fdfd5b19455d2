//! Whom the sampler asks: a random thread, running ones by preference.

use crate::jvm::jni::{Env, Local};
use crate::truth::context::Truth;
use crate::truth::random::mix;
use crate::truth::thread_state::ThreadState;
use std::collections::HashMap;
use std::ptr;
use std::time::{Duration, Instant};

/// One idle thread in so many is sampled all the same.
const IDLE_SHARE: u64 = 32;

/// At most so many threads are looked at before each choice.
const LOOKS: u32 = 16;

/// Looks at more threads than this are forgotten, lest those at ended threads pile up.
const REMEMBERED: usize = 1 << 12;

/// How long a look is good; a look costs as much as a sample.
const FRESH: Duration = Duration::from_millis(1);

/// A thread that was chosen.
pub struct Target<'e> {
    /// Its state.
    pub state: &'static ThreadState,
    /// Its kernel id.
    pub tid: i32,
    /// Its `java.lang.Thread`, if it was asked for and is known.
    pub object: Option<Local<'e>>,
}

/// Whether a thread ran when it was last looked at.
#[derive(Copy, Clone)]
struct Look {
    at: Instant,
    ran: bool,
}

/// Chooses threads.
pub struct Targets<'e> {
    truth: &'static Truth,
    env: Env<'e>,
    random: u64,
    /// When each thread was last looked at.
    looks: HashMap<i32, Look>,
}

impl<'e> Targets<'e> {
    /// For the sampler, whose environment is `env`.
    pub fn new(truth: &'static Truth, env: Env<'e>, seed: u64) -> Targets<'e> {
        Targets {
            truth,
            env,
            random: mix(seed),
            looks: HashMap::new(),
        }
    }

    /// The next random number.
    pub fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(1);
        mix(self.random)
    }

    /// A random thread; not the sampler itself, and none that `is_busy` knows.
    pub fn choose(
        &mut self,
        with_object: bool,
        is_busy: impl Fn(&ThreadState) -> bool,
    ) -> Option<Target<'e>> {
        let (random, idle) = (self.random(), self.random());
        let (env, looks) = (self.env, &mut self.looks);
        let own = ThreadState::current();
        let threads = self.truth.jvm.java_threads.as_ref();
        let is_blocked =
            |state: &ThreadState| threads.is_some_and(|threads| threads.is_blocked(state.env()));
        let mut looks_left = LOOKS;
        self.truth.threads.with_live(|live| {
            let mut others = live.from(random as usize);
            let live = others.find(|live| {
                let state = live.state();
                let is_own = own.is_some_and(|own| ptr::eq(own, state));
                !is_own
                    && !is_busy(state)
                    && (runs(looks, state, is_blocked, &mut looks_left) || idle % IDLE_SHARE == 0)
            })?;
            let state = live.state();
            Some(Target {
                state,
                tid: state.tid(),
                object: with_object.then(|| live.object(env)).flatten(),
            })
        })
    }
}

/// Whether a thread runs, or is ready to. What the VM says of it is cheap, so that is asked first;
/// only so many others are looked at.
fn runs(
    looks: &mut HashMap<i32, Look>,
    state: &ThreadState,
    is_blocked: impl Fn(&ThreadState) -> bool,
    looks_left: &mut u32,
) -> bool {
    let tid = state.tid();
    let last = looks.get(&tid).copied();
    if let Some(fresh) = last.filter(|last| last.at.elapsed() < FRESH) {
        return fresh.ran;
    }
    let ran = match is_blocked(state) {
        true => false,
        false if *looks_left == 0 => return false,
        false => {
            *looks_left -= 1;
            is_running(tid)
        }
    };
    if looks.len() > REMEMBERED {
        looks.clear();
    }
    let at = Instant::now();
    looks.insert(tid, Look { at, ran });
    ran
}

/// Whether thread `tid` runs, or is ready to, as the kernel tells (`proc_pid_stat(5)`). Its
/// CPU time would not do: a sleeping thread uses some to answer our signal.
fn is_running(tid: i32) -> bool {
    // The name before the state may hold anything, closing brackets included.
    let state = |stat: String| {
        let rest = stat.rsplit(')').next();
        rest.is_some_and(|rest| rest.starts_with(" R"))
    };
    std::fs::read_to_string(format!("/proc/self/task/{tid}/stat")).is_ok_and(state)
}
