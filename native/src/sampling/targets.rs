//! The choice of threads: a random thread, running threads by preference.

use crate::jvm::jni::{Env, Local, Ref};
use crate::truth::context::Truth;
use crate::truth::thread_state::ThreadState;
use oracle::random::mix;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::ptr;
use std::time::{Duration, Instant};

/// One idle thread of this many is sampled nevertheless.
const IDLE_SHARE: u64 = 32;

/// The most threads that are looked at before each choice.
const LOOKS: u32 = 16;

/// The largest number of remembered looks, so that looks at ended threads do not pile up.
const REMEMBERED: usize = 1 << 12;

/// How long a look is valid. A look costs as much as a sample.
const FRESH: Duration = Duration::from_millis(1);

/// A thread that was chosen.
pub struct Target<'e> {
    /// Its state.
    pub state: &'static ThreadState,
    /// Its kernel id.
    pub tid: i32,
    /// Its `java.lang.Thread`, if the caller asked for it and it is known.
    pub object: Option<Local<'e>>,
}

/// Whether a thread was running at the last look.
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
    /// Targets for the sampler, whose environment is `env`.
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

    /// The virtual thread that `target` carries, at every second call, if `shows` says that a walker of the run shows the
    /// stacks of virtual threads by Java code. `object` is the `java.lang.Thread` of the target.
    pub fn carried(
        &mut self,
        shows: bool,
        target: &Target<'e>,
        object: Ref<'_>,
    ) -> Option<Local<'e>> {
        let threads = self.truth.virtual_threads.as_ref()?;
        if !shows || !threads.may_carry(target.state) || self.random().is_multiple_of(2) {
            return None;
        }
        threads.mounted_on(self.truth.jvm.jvmti, self.env, object)
    }

    /// A random thread; not the sampler itself, and no thread for which `is_busy` is true.
    pub fn choose(
        &mut self,
        with_object: bool,
        is_busy: impl Fn(&ThreadState) -> bool,
    ) -> Option<Target<'e>> {
        let (random, idle) = (self.random(), self.random());
        let (env, looks) = (self.env, &mut self.looks);
        let own = ThreadState::current();
        let threads = self.truth.jvm.java_threads.as_ref().ok();
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

/// Whether a thread runs, or is ready to run. The VM's knowledge is cheap, so the VM is asked
/// first. The kernel is asked for a limited number of the remaining threads.
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

/// Whether the thread `tid` runs, or is ready to run, as the kernel says (`proc_pid_stat(5)`). CPU
/// time is no measure, because a sleeping thread uses some to answer the agent's signal.
fn is_running(tid: i32) -> bool {
    /// The thread's id, its name of at most 16 bytes in parentheses, and the state.
    const ENOUGH: usize = 64;
    let mut stat = [0; ENOUGH];
    // One read: to the end of the file it would be four system calls more, in each sample.
    let file = File::open(format!("/proc/self/task/{tid}/stat"));
    let Ok(length) = file.and_then(|mut file| file.read(&mut stat)) else {
        return false;
    };
    // The name before the state may contain any character, including parentheses. Only numbers are behind the state.
    let mut after_name = stat[..length].rsplit(|&byte| byte == b')');
    after_name
        .next()
        .is_some_and(|rest| rest.starts_with(b" R"))
}
