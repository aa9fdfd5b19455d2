//! Looks for the facts on which causes rest ([`Proofs`]).

use super::anchor::{anchored, in_stub};
use super::code::code_of;
use super::interpreter::interpreter_frame;
use super::leaf_call::is_leaf_call;
use super::library::{Return, is_behind_call};
use super::misplaced::{begins_elsewhere, misplaced_frames};
use super::record_behind::{named_behind, record_behind};
use super::return_address;
use crate::jvm::Jvm;
use crate::jvm::debug_info::Scope;
use crate::jvm::jni::Env;
use crate::jvm::remembered_code::RememberedCode;
use crate::sampling::sample::{Interruption, Sample, WORDS};
use hotspot::arch::{Arch, Native, Registers};
use hotspot::at_request::{Entry, NamedFrame, RequestProofs};
use hotspot::code::{Blob, CodeKind, CodeMemory};
use hotspot::layout;
use hotspot::layout::entry::Words;
use hotspot::proofs::{InterpreterFrame, Proofs};
use oracle::requests::RecordedAround;
use rustc_hash::FxBuildHasher;
use std::collections::{HashMap, HashSet};
use vm::memory::kernel::{OwnMemory, peek, peek_bytes};

/// How a stack was seen, which decides where causes are looked for.
#[derive(Copy, Clone)]
pub enum Sampled<'a> {
    /// By hooks, or by a walker whose mismatches have no known causes.
    Plainly,
    /// By AsyncGetCallTrace on its own thread, in a hook or in an event of JVMTI.
    Here,
    /// By AsyncGetCallTrace in a signal handler.
    InSignal(&'a Sample),
}

const WORD: usize = size_of::<usize>();

/// The VM's name for the stubs of continuations begins so.
const CONTINUATION_STUBS: &str = "StubRoutines (continuation";

/// What is asked about the two stacks, whose methods are named as reports do.
pub struct Stacks<'a> {
    /// The name of the walk's frame so far from the top, without the descriptor, and the BCI of the
    /// code that runs.
    pub walk: &'a dyn Fn(usize) -> Option<(String, i32)>,
    /// The index of the walk's frame that differs.
    pub at: Option<usize>,
    /// Whether the walk's top frame stands at an instruction that can call.
    pub is_top_at_call: bool,
    /// Whether the true caller's instruction names the method of the walk's lowest frame.
    pub is_lowest_named: &'a dyn Fn() -> bool,
    /// Whether the walk lacks a frame of the method of this name, without a descriptor.
    pub lacks: &'a dyn Fn(&str) -> bool,
}

impl Stacks<'_> {
    /// Whether the walk begins with these frames, and the frame that differs is the next.
    fn end_behind(&self, frames: &[NamedFrame]) -> bool {
        let is_there = |(at, frame): (usize, &NamedFrame)| {
            (self.walk)(at).is_some_and(|walked| walked == *frame)
        };
        self.at == Some(frames.len()) && frames.iter().enumerate().all(is_there)
    }
}

/// What a look at a stack that was `seen` so finds; `env` is the calling thread's.
pub fn find(jvm: &Jvm, env: Env<'_>, seen: Sampled<'_>, stacks: &Stacks<'_>) -> Proofs {
    let Ok(cache) = jvm.code_cache() else {
        return Proofs::default();
    };
    let cache = &RememberedCode::new(cache);
    match seen {
        Sampled::Plainly => Proofs::default(),
        Sampled::Here => {
            let (pc, start, words) = own_words(jvm, env).unwrap_or_default();
            let words = Words {
                start,
                words: &words,
            };
            Proofs {
                is_next_record: is_next_record(jvm, cache, pc, words, stacks),
                ..of_stack(jvm, cache, pc, words, stacks)
            }
        }
        Sampled::InSignal(sample) => {
            let words = sample.at.stack_top.stack();
            let in_java = sample.at.seen.is_some_and(|seen| seen.is_without_pc());
            let anchored = sample
                .at
                .seen
                .map(|seen| seen.last.pc)
                .filter(|&pc| pc != 0);
            let pc = anchored.unwrap_or(sample.at.registers.pc);
            let (stub, above) = in_stub(jvm, cache, &sample.at);
            let is_leaf_call = is_leaf_call(jvm, cache, &sample.at);
            let misplaced = is_leaf_call.then(|| misplaced_frames(jvm, cache, &sample.at));
            Proofs {
                is_top_at_call: stacks.is_top_at_call,
                is_next_record: is_next_record(jvm, cache, stub, above, stacks),
                interpreter: if in_java {
                    interpreter_frame(jvm, &sample.at.registers)
                } else {
                    InterpreterFrame::Intact
                },
                is_leaf_call,
                is_caller_misplaced: misplaced
                    .flatten()
                    .is_some_and(|frames| stacks.end_behind(&frames))
                    || (stacks.walk)(0)
                        .is_some_and(|top| begins_elsewhere(jvm, cache, &sample.at, &top)),
                ..of_stack(jvm, cache, pc, words, stacks)
            }
        }
    }
}

/// What a look at a request finds, before the profiler's stack is known. `leaf_call` becomes a part of it.
pub fn at_request(
    jvm: &Jvm,
    cache: &RememberedCode<'_>,
    at: &Interruption,
    leaf_call: Option<RecordedAround>,
) -> RequestProofs {
    let (stack, registers) = (at.stack_top.stack(), &at.registers);
    let in_java = at.seen.is_some_and(|seen| seen.is_without_pc());
    // A thread without an anchor outside of Java has no Java frames to prove anything of. By the wall clock most requests are
    // such, and looking at all words of their stacks would leave no time for the others.
    let is_outside = at.seen.is_some_and(|seen| !in_java && seen.last.sp == 0);
    if is_outside {
        return RequestProofs::outside(code_of(jvm, registers.pc));
    }
    let (stub, above) = in_stub(jvm, cache, at);
    let is_leaf_call = is_leaf_call(jvm, cache, at);
    let on_stack = of_words(jvm, cache, stack);
    let place = return_address::find(jvm, cache, at).map(|found| found.place);
    let misplaced = is_leaf_call.then(|| misplaced_frames(jvm, cache, at));
    RequestProofs {
        in_java,
        code: code_of(jvm, registers.pc),
        anchor: anchored(cache, at).map(|pc| code_of(jvm, pc)),
        return_address: place.unwrap_or_default(),
        interpreter: if in_java {
            interpreter_frame(jvm, registers)
        } else {
            InterpreterFrame::Intact
        },
        is_leaf_call,
        stubs: on_stack.stubs,
        is_return_barrier: on_stack.is_return_barrier,
        deoptimised: on_stack.deoptimised,
        entries: entries(jvm, cache, stack),
        leaf_call,
        is_in_unsized_stub: in_java && is_in_unsized_stub(cache, stack, registers),
        is_in_signal_handler: in_java && is_in_signal_handler(cache, stack, registers),
        behind_stub: callers_of_stub(cache, stub, above)
            .into_iter()
            .filter_map(|caller| named_behind(jvm, cache, caller))
            .collect(),
        misplaced: misplaced.flatten().unwrap_or_default(),
    }
}

/// The JavaCalls entries on the stack, newest first, as far as the words reach.
fn entries(jvm: &Jvm, cache: &RememberedCode<'_>, stack: Words<'_>) -> Vec<Entry> {
    let found = jvm
        .java_calls
        .as_ref()
        .map(|calls| calls.entries(&OwnMemory, stack));
    let code_of = |pc| cache.name_at(pc).map(|name| CodeKind::of(&name));
    let entry = |entry: layout::entry::Entry| Entry {
        callee: entry.method.and_then(|method| cache.method_name(method)),
        caller: entry.caller(stack).and_then(code_of),
        lacks_pc: entry.lacks_pc(),
    };
    let found = found.unwrap_or_default().into_iter().flatten();
    found.map(entry).collect()
}

/// What the words of a stack point to.
#[derive(Default)]
struct OnStack {
    /// The stubs, by the VM's names.
    stubs: Vec<String>,
    /// Whether the return barrier of continuations is among the return addresses.
    is_return_barrier: bool,
    /// The methods of frames that are to be deoptimised.
    deoptimised: Vec<String>,
}

fn of_words(jvm: &Jvm, cache: &RememberedCode<'_>, stack: Words<'_>) -> OnStack {
    let mut found = OnStack::default();
    // Recursion repeats its return addresses.
    let mut known = HashSet::<usize, FxBuildHasher>::default();
    for &word in stack.words {
        if known.contains(&word) {
            continue;
        }
        let Some(name) = cache.name_at(word) else {
            continue;
        };
        known.insert(word);
        match CodeKind::of(&name) {
            CodeKind::Stub => {
                found.is_return_barrier |= is_return_barrier(&name, word);
                if !found.stubs.contains(&name) {
                    found.stubs.push(name);
                }
            }
            CodeKind::Compiled => found.deoptimised.extend(deoptimised(jvm, cache, word)),
            _ => {}
        }
    }
    found
}

/// What the words of the stack show, whatever runs; the newest Java frame is at `pc`.
fn of_stack(
    jvm: &Jvm,
    cache: &RememberedCode<'_>,
    pc: usize,
    stack: Words<'_>,
    stacks: &Stacks<'_>,
) -> Proofs {
    let on_stack = of_words(jvm, cache, stack);
    let deoptimised = on_stack.deoptimised.into_iter();
    let mut proofs = Proofs {
        stubs: on_stack.stubs,
        is_return_barrier: on_stack.is_return_barrier,
        deoptimised: deoptimised.filter(|m| (stacks.lacks)(m)).collect(),
        extended: extended(cache, pc, stack),
        ..Proofs::default()
    };
    let entries = entries(jvm, cache, stack).into_iter();
    proofs.entries = entries.filter_map(|entry| entry.caller).collect();
    let calls_from_stub = proofs.entries.contains(&CodeKind::Stub);
    proofs.is_lowest_named = calls_from_stub && (stacks.is_lowest_named)();
    proofs
}

/// The methods of the compiled frames that are larger than their code says, newest first.
fn extended(cache: &RememberedCode<'_>, pc: usize, stack: Words<'_>) -> Vec<String> {
    /// A method whose frames may be extended.
    struct Extends {
        blob: Blob,
        /// Where a frame has its size, in words from its stack pointer.
        at: usize,
        /// The size that the code blob says, likewise without the return address and the saved frame pointer, in bytes.
        usual: usize,
    }
    let extends = |pc| {
        let blob = cache.blob(pc).filter(|b| b.kind() == CodeKind::Compiled)?;
        let code = cache.code_of(blob.start)?;
        let at = Native::frame_size_word(&peek_bytes(code.start, code.len()))?;
        let usual = cache.frame_words(blob.start)?.checked_sub(2)? * WORD;
        let at = at / WORD;
        Some(Extends { blob, at, usual })
    };
    let mut known = HashMap::<usize, Option<Extends>, FxBuildHasher>::default();
    let mut found = vec![];
    // The frame of the code that a call returns to begins above the return address, and that of the newest frame at the first word.
    let frames = std::iter::once(&pc).chain(stack.words).enumerate();
    for (sp, &pc) in frames.filter(|&(_, &pc)| cache.is_code(pc)) {
        let Some(method) = known.entry(pc).or_insert_with(|| extends(pc)) else {
            continue;
        };
        let word = |at: usize| stack.words.get(sp.wrapping_add(at)).copied();
        // Behind the frame and the saved frame pointer is the return address.
        let returns = |size: usize| word(size / WORD + 1).is_some_and(|pc| cache.is_code(pc));
        let is_extended = word(method.at).is_some_and(|size| size > method.usual && returns(size));
        let name = is_extended.then(|| cache.method(&method.blob)).flatten();
        found.extend(name.filter(|name| !found.contains(name)));
    }
    found
}

/// Whether the return address `word`, in the stub `name`, is the return barrier of continuations.
fn is_return_barrier(name: &str, word: usize) -> bool {
    // The VM has a blob for the stubs of continuations (`StubRoutines::initialize_continuation_stubs`). The frame whose callers
    // are in the heap returns to the first instruction of one of them. Other words that point into the blob are return addresses
    // of its own calls.
    name.starts_with(CONTINUATION_STUBS) && !is_behind_call(word)
}

/// The program counter at which the calling thread left Java code, and the address and the words of its stack from
/// there on.
fn own_words(jvm: &Jvm, env: Env<'_>) -> Option<(usize, usize, Vec<usize>)> {
    let last = jvm.java_threads.as_ref().ok()?.last_frame(env.address())?;
    // The call that left Java code has pushed its return address.
    let pushed = || peek::<usize>(last.sp.wrapping_sub(WORD));
    let pc = match last.pc {
        0 => pushed()?,
        pc => pc,
    };
    let bytes = peek_bytes(last.sp, WORDS * WORD);
    let (words, _) = bytes.as_chunks::<WORD>();
    let words = words.iter().copied().map(usize::from_ne_bytes);
    Some((pc, last.sp, words.collect()))
}

/// The method whose frame goes on at `pc` only to be deoptimised.
fn deoptimised(jvm: &Jvm, cache: &RememberedCode<'_>, pc: usize) -> Option<String> {
    let blob = cache.blob(pc)?;
    let is_handler = jvm.debug_info.as_ref().ok()?.is_deopt_handler(&blob, pc);
    is_handler.then(|| cache.method(&blob))?
}

/// Whether the top of the walk is the debug info record behind that of the call into the stub at `pc`, which runs or
/// has called the VM, and the frame that differs is of this record.
fn is_next_record(
    jvm: &Jvm,
    cache: &RememberedCode<'_>,
    pc: usize,
    stack: Words<'_>,
    stacks: &Stacks<'_>,
) -> bool {
    let mut callers = callers_of_stub(cache, pc, stack).into_iter();
    callers.any(|caller| {
        let frames = frames_behind(jvm, cache, caller, stacks);
        let at_frame = frames.zip(stacks.at);
        at_frame.is_some_and(|(frames, at)| at < frames)
    })
}

/// Where the stub at `pc` may return to; nothing if there is no stub. Its return address lies where its frame ends, or on top
/// where the frame is not built.
fn callers_of_stub(cache: &RememberedCode<'_>, pc: usize, stack: Words<'_>) -> Vec<usize> {
    let Some(stub) = cache.blob(pc).filter(|blob| blob.kind() == CodeKind::Stub) else {
        return vec![];
    };
    let by_frame = cache.frame_words(stub.start).map(|words| words - 1);
    let places = by_frame.into_iter().chain(0..4);
    places
        .filter_map(|at| stack.words.get(at).copied())
        .collect()
}

/// The number of frames of the debug info record behind that of the call that returns to `pc`, if they are the top of
/// the walk.
fn frames_behind(
    jvm: &Jvm,
    cache: &RememberedCode<'_>,
    pc: usize,
    stacks: &Stacks<'_>,
) -> Option<usize> {
    let record = record_behind(jvm, cache, pc)?;
    let is_reported = |(at, scope): (usize, &Scope)| {
        let reported = (stacks.walk)(at);
        reported.is_some_and(|(name, bci)| {
            bci == scope.bci && cache.method_name(scope.method) == Some(name)
        })
    };
    let is_top = record.iter().enumerate().all(is_reported);
    is_top.then_some(record.len())
}

/// Whether a library runs as the handler of a signal that has interrupted generated code.
fn is_in_signal_handler(
    cache: &RememberedCode<'_>,
    stack: Words<'_>,
    registers: &Registers,
) -> bool {
    let Ok(frame) = Native::SIGNAL_FRAME else {
        return false;
    };
    if cache.is_code(registers.pc) {
        return false;
    }
    // A return address into generated code above that frame would be that of a newer Java frame.
    let mut words = stack.words.iter().enumerate();
    let is_restorer = |at: usize, word: usize| {
        let pc = stack.words.get(at + frame.pc);
        pc.is_some_and(|&pc| cache.is_code(pc))
            && peek_bytes(word, frame.restorer.len()) == frame.restorer
    };
    words
        .find(|&(at, &word)| is_restorer(at, word) || cache.is_code(word))
        .is_some_and(|(_, &word)| !cache.is_code(word))
}

/// Whether a stub runs whose frames have no known size, or a library that such a stub has called.
fn is_in_unsized_stub(cache: &RememberedCode<'_>, stack: Words<'_>, registers: &Registers) -> bool {
    let stub = |pc| cache.blob(pc).filter(|blob| blob.kind() == CodeKind::Stub);
    let called_by = || {
        let pc = Return::find(cache, stack, registers.fp).map(|found| found.pc);
        pc.filter(|&pc| is_behind_call(pc)).and_then(stub)
    };
    let found = match cache.name_at(registers.pc) {
        Some(_) => stub(registers.pc),
        None => called_by(),
    };
    found.is_some_and(|stub| cache.frame_words(stub.start).is_none())
}
