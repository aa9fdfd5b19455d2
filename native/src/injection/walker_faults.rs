//! Faults in place of the answers of walkers, if the configuration asks for them.

use super::FaultLog;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::JMethodId;
use crate::locks::lock;
use crate::truth::context::Truth;
use oracle::judge::{Expected, Slice, SliceTruth, Truth as LayerTruth};
use oracle::mutants::{
    Biased, BiasedWalker, Detection, FaultKind, Material, Strangers, WalkerAnswer, expected,
    inject, inject_slice,
};
use oracle::random::mix;
use oracle::record::Faults;
use oracle::trace::{Frame, HookId, Location, MethodKey, Methods, Site};
use oracle::{Judgement, Layer, Reason, Verdict};
use std::collections::HashMap;
use std::sync::Mutex;

/// The largest number of threads whose traces are remembered, so that traces of ended threads do
/// not pile up.
const REMEMBERED: usize = 256;

/// Injects faults, if the configuration asks for them.
pub struct Injector {
    truth: &'static Truth,
    faults: Option<Faults>,
    memories: [Mutex<Memory>; Layer::ALL.len()],
    /// Has a profile in place of the walker of a layer whose samples are compared with the trace stack, at the cost of this method.
    biased: Option<(String, Mutex<BiasedWalker>)>,
    /// How each fault ended.
    pub fault_log: FaultLog,
}

/// Earlier answers of the walker of one layer.
#[derive(Default)]
struct Memory {
    random: u64,
    /// The newest trace of each thread, by its kernel id.
    traces: HashMap<i32, Vec<Frame>>,
}

/// An answer of a walker.
#[derive(Copy, Clone)]
pub struct Answered<'a> {
    /// The calling thread's environment.
    pub env: Env<'a>,
    /// The layer that asked.
    pub layer: Layer,
    /// The thread that the walker was asked about.
    pub tid: i32,
    /// The stack, top frame first.
    pub walk: &'a [Frame],
    /// The verdict on the stack.
    pub judgement: Judgement,
    /// An error code that the walker has, and never gives in the thread's state, if there is one.
    pub code_of_other_state: Option<i32>,
}

/// An answer in place of the walker's own.
pub struct Fault {
    /// The stack in place of the walker's stack; empty if the fault is an error code.
    pub walk: Vec<Frame>,
    /// The judgement of the layer's judge on the fault.
    pub judgement: Judgement,
}

impl Injector {
    /// An injector with the faults that `faults` asks for.
    pub fn new(
        truth: &'static Truth,
        faults: Option<Faults>,
        biased: Option<Biased>,
        seed: u64,
    ) -> Injector {
        let memory = |at| {
            Mutex::new(Memory {
                random: mix(seed.wrapping_add(at as u64)),
                ..Memory::default()
            })
        };
        Injector {
            truth,
            faults,
            memories: std::array::from_fn(memory),
            biased: biased.map(|biased| {
                let walker = BiasedWalker::new(biased.bias, seed);
                (biased.method, Mutex::new(walker))
            }),
            fault_log: FaultLog::default(),
        }
    }

    /// Now and then a fault in place of the answer `answered`, judged by `truth` and noted. An answer that is a
    /// mismatch without a fault gets no fault, and neither does one that says of itself that it may not be whole.
    #[inline]
    pub fn inject(&self, answered: Answered<'_>, truth: &dyn LayerTruth) -> Option<Fault> {
        let faults = self.faults.as_ref()?;
        let is_whole = !answered.judgement.differs() && !answered.judgement.is_flagged();
        let asked = faults.layers.contains(&answered.layer) && is_whole;
        let (kind, answer) = asked.then(|| self.invent(faults, answered))??;
        let expected = expected(truth, answered.walk, &answer);
        let fault = judged(answer, truth);
        let given = fault.judgement.verdict;
        let outcome = Detection::of(expected, given);
        self.fault_log
            .note(answered.layer, kind.name(), given, outcome, 1);
        Some(fault)
    }

    /// Whether a walker that is biased on purpose has a profile in place of the layer's walker.
    pub fn gives_profile_of(&self, layer: Layer) -> bool {
        self.biased.is_some() && layer.is_sampled_with_trace()
    }

    /// What the walker that is biased on purpose answers, judged by `truth`. The walker is asked where the JVM's `walk`
    /// of what `ran` is right, so that a bias of the JVM does not count.
    pub fn biased(
        &self,
        layer: Layer,
        ran: HookId,
        (walk, judgement): (&[Frame], Judgement),
        truth: &dyn LayerTruth,
    ) -> Option<Fault> {
        let (method, biased) = self
            .biased
            .as_ref()
            .filter(|_| layer.is_sampled_with_trace())?;
        if judgement.verdict != Verdict::Match {
            return None;
        }
        let mut biased = lock(biased);
        let methods = &self.truth.methods;
        let hooked = methods.by_hook(ran);
        let is_it = hooked.is_some_and(|hooked| hooked.dotted() == *method);
        let answer = biased.answer((ran, is_it), walk, methods);
        Some(judged(answer, truth))
    }

    /// Now and then a fault in place of the right answer for this `slice` of `stack`, noted: frames, or the error
    /// JVMTI_ERROR_ILLEGAL_ARGUMENT if there are `None`.
    pub fn inject_slice<'s>(
        &self,
        layer: Layer,
        slice: Slice,
        stack: &'s [Frame],
    ) -> Option<Option<&'s [Frame]>> {
        let faults = self.faults.as_ref()?;
        let random = {
            let mut memory = lock(&self.memories[layer.index()]);
            memory.random = memory.random.wrapping_add(1);
            mix(memory.random)
        };
        if !faults.layers.contains(&layer) || !random.is_multiple_of(faults.one_in) {
            return None;
        }
        let mut kinds = from_random(&faults.kinds, random);
        let (kind, faulty) =
            kinds.find_map(|kind| Some((kind, inject_slice(kind, slice, stack)?)))?;
        let part = slice.of(stack);
        let given = SliceTruth { part }.judge_part(faulty).verdict;
        let outcome = Detection::of(Expected::Verdict(Verdict::Wrong), given);
        self.fault_log.note(layer, kind.name(), given, outcome, 1);
        Some(faulty)
    }

    #[cold]
    fn invent(&self, faults: &Faults, answered: Answered<'_>) -> Option<(FaultKind, WalkerAnswer)> {
        let memory = &self.memories[answered.layer.index()];
        let mut memory = lock(memory);
        memory.random = memory.random.wrapping_add(1);
        let random = mix(memory.random);
        let (mut previous, mut other) = (None, None);
        let faulty = random.is_multiple_of(faults.one_in);
        if faulty {
            previous = memory.traces.get(&answered.tid).cloned();
            let mut others = memory
                .traces
                .iter()
                .filter(|&(&tid, _)| tid != answered.tid);
            let choice = (random >> 32) as usize % memory.traces.len().max(1);
            // The choice has one possibility more than there are threads: now and then no other
            // thread is chosen.
            other = others.nth(choice).map(|(_, trace)| trace.clone());
        }
        if memory.traces.len() >= REMEMBERED {
            memory.traces.clear();
        }
        let newest = memory.traces.entry(answered.tid).or_default();
        newest.clear();
        newest.extend_from_slice(answered.walk);
        // The VM is asked below. No other thread must wait for this lock meanwhile.
        drop(memory);
        if !faulty {
            return None;
        }
        let is_own = |frame: &&Frame| self.truth.methods.is_hook_call(frame.method);
        let own = answered.walk.iter().take_while(is_own).count();
        let sibling = |method| sibling(self.truth, answered.env, method, mix(random));
        let material = Material {
            previous: previous.as_deref(),
            other: other.as_deref(),
            sibling: &sibling,
            inside: &|frame| inside(self.truth, frame),
            strangers: Some(STRANGERS),
            code_of_other_state: answered.code_of_other_state,
        };
        from_random(&faults.kinds, random).find_map(|kind| {
            Some((
                kind,
                inject(kind, answered.walk, own, &material, mix(random))?,
            ))
        })
    }
}

/// The kinds, from a random one on. Not every kind of fault is possible for every stack.
fn from_random(kinds: &[FaultKind], random: u64) -> impl Iterator<Item = FaultKind> {
    let first = mix(!random) as usize % kinds.len().max(1);
    kinds[first..].iter().chain(&kinds[..first]).copied()
}

fn judged(answer: WalkerAnswer, truth: &dyn LayerTruth) -> Fault {
    match answer {
        WalkerAnswer::Error(code) => Fault {
            walk: vec![],
            judgement: Judgement::plain(Verdict::Error(code), Reason::ErrorCode),
        },
        WalkerAnswer::Stack(walk) => Fault {
            judgement: truth.judge_fault(&walk),
            walk,
        },
    }
}

/// Keys without a method. The unknown key is neither an address nor a small number, so no VM follows it.
const STRANGERS: Strangers = Strangers {
    none: MethodKey(0),
    unknown: MethodKey(0x5741_4C4B_0000_0008),
};

/// The next location inside an instruction of the frame's method.
fn inside(truth: &Truth, frame: Frame) -> Option<Location> {
    // Instructions are shorter, apart from `tableswitch` and `lookupswitch`.
    const LONGEST: i32 = 8;
    let site = |bci: i32| truth.methods.site(frame.method, Location(bci));
    let within = frame.location.0 + 1;
    let mut behind = within..within + LONGEST;
    let is_code = |site| matches!(site, Site::Silent | Site::Calls);
    // More code follows, so `within` is not past the end.
    let is_inside = site(within) == Site::NoInstruction && behind.any(|bci| is_code(site(bci)));
    is_inside.then_some(Location(within))
}

/// Another method of the same class, if it has one.
fn sibling(truth: &Truth, env: Env<'_>, method: MethodKey, random: u64) -> Option<MethodKey> {
    if !truth.methods.is_safe(method) {
        return None;
    }
    let jvmti = truth.jvm.jvmti;
    let class = jvmti.declaring_class(env, JMethodId(method.0)).ok()?;
    let mut methods = jvmti.create_method_ids(class.get()).ok()?;
    methods.retain(|other| other.0 != method.0);
    let choice = random as usize % methods.len().max(1);
    methods.get(choice).map(|other| MethodKey(other.0))
}
