//! Faults that take the place of what a walker says, where the configuration asks for them, and
//! the book of what came of each (see [`oracle::mutants`]).

pub mod hook_faults;

use crate::agent::Agent;
use crate::jvm::jvmti::JMethodId;
use crate::truth::threads::mix;
use jni_sys::JNIEnv;
use oracle::mutants::{
    Detection, Expected, FaultKind, Material, Sight, Unseen, WalkerAnswer, inject,
};
use oracle::record::{FaultCount, Faults};
use oracle::trace::{Frame, MethodKey, Methods};
use oracle::{Judgement, Layer, Reason, Verdict};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Traces of more threads than this are forgotten, lest those of ended ones pile up.
const REMEMBERED: usize = 256;

/// How a lie ended: where it was told, which it was, its verdict, and whether that is right.
type End = (Layer, &'static str, Verdict, Detection);

/// The liar; it is silent unless it was asked for.
pub struct Liar {
    lies: Option<Faults>,
    memories: [Mutex<Memory>; Layer::ALL.len()],
    book: Mutex<HashMap<End, u64>>,
}

/// What the walker of one layer has said.
#[derive(Default)]
struct Memory {
    random: u64,
    /// The newest trace of each thread, by its kernel id.
    traces: HashMap<i32, Vec<Frame>>,
}

/// What a walker said.
#[derive(Copy, Clone)]
pub struct Said<'a> {
    /// The calling thread's environment.
    pub env: *mut JNIEnv,
    /// The layer that asked.
    pub layer: Layer,
    /// The thread that it was asked about.
    pub tid: i32,
    /// The stack, top frame first.
    pub walk: &'a [Frame],
    /// What is to be made of it.
    pub judgement: Judgement,
}

/// A lie that was told.
pub struct Lie {
    /// The stack that takes the place of the true one; empty if the lie is an error code.
    pub walk: Vec<Frame>,
    /// What the layer's judge makes of it.
    pub judgement: Judgement,
}

impl Liar {
    /// One that tells `lies`.
    pub fn new(lies: Option<Faults>, seed: u64) -> Liar {
        let memory = |at| {
            Mutex::new(Memory {
                random: mix(seed.wrapping_add(at as u64)),
                ..Memory::default()
            })
        };
        Liar {
            lies,
            memories: std::array::from_fn(memory),
            book: Mutex::default(),
        }
    }

    /// Now and then a lie in place of what was `said`, judged by `judge` and noted. `sight`
    /// is what the layer holds a walk against. A walker that is caught without a lie is left
    /// alone.
    #[inline]
    pub fn tell<M: Methods>(
        &self,
        agent: &Agent,
        said: Said<'_>,
        sight: &Sight<'_, M>,
        judge: impl Fn(&[Frame]) -> Judgement,
    ) -> Option<Lie> {
        let lies = self.lies.as_ref()?;
        let asked = lies.layers.contains(&said.layer) && !said.judgement.is_mismatch();
        let (kind, answer) = asked.then(|| self.invent(lies, agent, said))??;
        let expected = sight.expect(said.walk, &answer);
        let lie = match answer {
            WalkerAnswer::Error(code) => Lie {
                walk: vec![],
                judgement: Judgement::plain(Verdict::Error(code), Reason::ErrorCode),
            },
            WalkerAnswer::Stack(walk) => Lie {
                judgement: judge(&walk),
                walk,
            },
        };
        let given = lie.judgement.verdict;
        let outcome = match Detection::of(expected, given) {
            // The layer's judge asked more than the walk itself, and was satisfied.
            Detection::Missed
                if given == Verdict::Window
                    && Expected::Verdict(sight.judge(&lie.walk).verdict) == expected =>
            {
                Detection::Explained(Unseen::BetweenRecords)
            }
            outcome => outcome,
        };
        self.note(said.layer, kind.name(), given, outcome, 1);
        Some(lie)
    }

    #[cold]
    fn invent(
        &self,
        lies: &Faults,
        agent: &Agent,
        said: Said<'_>,
    ) -> Option<(FaultKind, WalkerAnswer)> {
        let mut memory = lock(&self.memories[said.layer.index()]);
        memory.random = memory.random.wrapping_add(1);
        let random = mix(memory.random);
        let (mut previous, mut other) = (None, None);
        let lying = random.is_multiple_of(lies.one_in);
        if lying {
            previous = memory.traces.get(&said.tid).cloned();
            let mut others = memory.traces.iter().filter(|&(&tid, _)| tid != said.tid);
            let choice = (random >> 32) as usize % memory.traces.len().max(1);
            // One too many to choose from: now and then there is none.
            other = others.nth(choice).map(|(_, trace)| trace.clone());
        }
        if memory.traces.len() >= REMEMBERED {
            memory.traces.clear();
        }
        let newest = memory.traces.entry(said.tid).or_default();
        newest.clear();
        newest.extend_from_slice(said.walk);
        // The VM is asked below: nobody has to wait for us meanwhile.
        drop(memory);
        if !lying {
            return None;
        }
        let is_own = |frame: &&Frame| agent.methods.is_hook_call(frame.method);
        let own = said.walk.iter().take_while(is_own).count();
        let sibling = |method| sibling(agent, said.env, method, mix(random));
        let material = Material {
            previous: previous.as_deref(),
            other: other.as_deref(),
            sibling: &sibling,
        };
        let first = mix(!random) as usize % lies.kinds.len().max(1);
        let kinds = lies.kinds[first..].iter().chain(&lies.kinds[..first]);
        // Not every stack and material serve every kind.
        kinds
            .copied()
            .find_map(|kind| Some((kind, inject(kind, said.walk, own, &material, mix(random))?)))
    }

    /// Notes what came of `count` lies.
    pub fn note(
        &self,
        layer: Layer,
        kind: &'static str,
        given: Verdict,
        outcome: Detection,
        count: u64,
    ) {
        let mut book = lock(&self.book);
        *book.entry((layer, kind, given, outcome)).or_default() += count;
    }

    /// The book; empty if nobody lied.
    pub fn counts(&self) -> Vec<FaultCount> {
        let book = lock(&self.book);
        let mut counts: Vec<_> = book
            .iter()
            .map(|(&(layer, kind, verdict, outcome), &count)| FaultCount {
                layer,
                kind: kind.into(),
                verdict,
                outcome,
                count,
            })
            .collect();
        counts.sort_by(|a, b| (a.layer, &a.kind, a.outcome).cmp(&(b.layer, &b.kind, b.outcome)));
        counts
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Another method of the same class, if it has one.
fn sibling(agent: &Agent, env: *mut JNIEnv, method: MethodKey, random: u64) -> Option<MethodKey> {
    let class = agent.jvmti.declaring_class(method.0 as JMethodId).ok()?;
    let methods = agent.jvmti.create_method_ids(class);
    // SAFETY: a local reference of this thread, not used again.
    unsafe { ((**env).v1_1.DeleteLocalRef)(env, class) };
    let mut methods = methods.ok()?;
    methods.retain(|&other| other as usize != method.0);
    let choice = random as usize % methods.len().max(1);
    methods.get(choice).map(|&other| MethodKey(other as usize))
}
