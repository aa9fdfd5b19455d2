//! Looks for the facts on which causes rest ([`Proofs`]).

use crate::jvm::Jvm;
use crate::jvm::code_cache::CodeCache;
use crate::jvm::debug_info::Scope;
use crate::jvm::jni::Env;
use crate::sampling::sample::{Sample, WORDS};
use hotspot::arch::{Arch, InterpretedFrame, Native, RETURN_ADDRESS, Registers};
use hotspot::code::{Blob, CodeKind, CodeMemory};
use hotspot::layout::entry::Words;
use hotspot::layout::interpreter;
use hotspot::proofs::{InterpreterFrame, Proofs};
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

/// The largest number of frames of a library that are followed.
const LIBRARY_FRAMES: usize = 16;

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

/// What a look at a stack that was `seen` so finds; `env` is the calling thread's.
pub fn find(jvm: &Jvm, env: Env<'_>, seen: Sampled<'_>, stacks: &Stacks<'_>) -> Proofs {
    let Ok(cache) = jvm.code_cache() else {
        return Proofs::default();
    };
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
            let words = sample.stack_top.stack();
            let in_java = sample.seen.is_some_and(|seen| seen.is_without_pc());
            let anchored = sample.seen.map(|seen| seen.last.pc).filter(|&pc| pc != 0);
            let pc = anchored.unwrap_or(sample.registers.pc);
            let is_leaf_call = in_java
                && (is_leaf_call(cache, words, &sample.registers)
                    || is_called_without_frame(jvm, cache, words, &sample.registers));
            Proofs {
                is_top_at_call: stacks.is_top_at_call,
                is_next_record: is_next_record(jvm, cache, pc, words, stacks),
                interpreter: if in_java {
                    interpreter_frame(jvm, &sample.registers)
                } else {
                    InterpreterFrame::Intact
                },
                is_leaf_call,
                is_caller_misplaced: is_leaf_call
                    && is_caller_misplaced(jvm, cache, words, sample.registers.fp, stacks),
                ..of_stack(jvm, cache, pc, words, stacks)
            }
        }
    }
}

/// What the words of the stack show, whatever runs; the newest Java frame is at `pc`.
fn of_stack(
    jvm: &Jvm,
    cache: &CodeCache,
    pc: usize,
    stack: Words<'_>,
    stacks: &Stacks<'_>,
) -> Proofs {
    let mut proofs = Proofs {
        extended: extended(cache, pc, stack),
        ..Proofs::default()
    };
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
                proofs.is_return_barrier |= is_return_barrier(&name, word);
                if !proofs.stubs.contains(&name) {
                    proofs.stubs.push(name);
                }
            }
            CodeKind::Compiled => {
                let method = deoptimised(jvm, cache, word);
                proofs
                    .deoptimised
                    .extend(method.filter(|m| (stacks.lacks)(m)));
            }
            _ => {}
        }
    }
    let callers = jvm
        .java_calls
        .as_ref()
        .map(|calls| calls.callers(&OwnMemory, stack));
    let code_of = |pc| cache.name_at(pc).map(|name| CodeKind::of(&name));
    proofs.entries = callers
        .unwrap_or_default()
        .into_iter()
        .filter_map(|caller| code_of(caller?))
        .collect();
    let calls_from_stub = proofs.entries.contains(&CodeKind::Stub);
    proofs.is_lowest_named = calls_from_stub && (stacks.is_lowest_named)();
    proofs
}

/// The methods of the compiled frames that are larger than their code says, newest first.
fn extended(cache: &CodeCache, pc: usize, stack: Words<'_>) -> Vec<String> {
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
    for (sp, &pc) in frames.filter(|&(_, &pc)| cache.name_at(pc).is_some()) {
        let Some(method) = known.entry(pc).or_insert_with(|| extends(pc)) else {
            continue;
        };
        let word = |at: usize| stack.words.get(sp.wrapping_add(at)).copied();
        // Behind the frame and the saved frame pointer is the return address.
        let returns =
            |size: usize| word(size / WORD + 1).is_some_and(|pc| cache.name_at(pc).is_some());
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

/// Whether the instruction before `pc` is a call.
fn is_behind_call(pc: usize) -> bool {
    let before = peek_bytes(pc.saturating_sub(Native::CALL_SIZE), Native::CALL_SIZE);
    Native::is_register_call(&before) || Native::call_target(&before, pc).is_some()
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
fn deoptimised(jvm: &Jvm, cache: &CodeCache, pc: usize) -> Option<String> {
    let blob = cache.blob(pc)?;
    let is_handler = jvm.debug_info.as_ref().ok()?.is_deopt_handler(&blob, pc);
    is_handler.then(|| cache.method(&blob))?
}

/// Whether the top of the walk is the debug info record behind that of the call into the stub at `pc`, which runs or
/// has called the VM, and the frame that differs is of this record.
fn is_next_record(
    jvm: &Jvm,
    cache: &CodeCache,
    pc: usize,
    stack: Words<'_>,
    stacks: &Stacks<'_>,
) -> bool {
    let Some(stub) = cache.blob(pc).filter(|blob| blob.kind() == CodeKind::Stub) else {
        return false;
    };
    // The return address of the stub: where its frame ends, or on top where the frame is not built.
    let by_frame = cache.frame_words(stub.start).map(|words| words - 1);
    let mut places = by_frame.into_iter().chain(0..4);
    places.any(|at| {
        let word = stack.words.get(at);
        let frames = word.and_then(|&word| frames_behind(jvm, cache, word, stacks));
        let at_frame = frames.zip(stacks.at);
        at_frame.is_some_and(|(frames, at)| at < frames)
    })
}

/// The number of frames of the debug info record behind that of the call that returns to `pc`, if they are the top of
/// the walk.
fn frames_behind(jvm: &Jvm, cache: &CodeCache, pc: usize, stacks: &Stacks<'_>) -> Option<usize> {
    let is_compiled = |blob: &Blob| blob.kind() == CodeKind::Compiled;
    let caller = cache.blob(pc).filter(is_compiled)?;
    let around = jvm.debug_info.as_ref().ok()?.around(&caller, pc)?;
    let is_reported = |(at, scope): (usize, &Scope)| {
        let reported = (stacks.walk)(at);
        reported.is_some_and(|(name, bci)| {
            bci == scope.bci && cache.method_name(scope.method) == Some(name)
        })
    };
    let is_top = around.is_exact && around.behind.iter().enumerate().all(is_reported);
    is_top.then_some(around.behind.len())
}

fn interpreter_frame(jvm: &Jvm, registers: &Registers) -> InterpreterFrame {
    let found = jvm.interpreter().ok();
    let codelet = found.and_then(|found| found.codelet(registers.pc));
    let frame = codelet.map(|codelet| {
        codelet.frame::<Native>(registers, &peek_bytes(registers.pc, interpreter::CODE))
    });
    // Where the architecture does not show it, there is no proof that the frame is not intact.
    frame.map_or(InterpreterFrame::Intact, |frame| {
        frame.unwrap_or(InterpreterFrame::Intact)
    })
}

/// Whether the return address into generated code, behind a call to a library, lies below the frame
/// that the frame pointer leads to.
fn is_leaf_call(cache: &CodeCache, stack: Words<'_>, registers: &Registers) -> bool {
    let older = registers.fp.wrapping_add(WORD);
    let is_call = |word: usize| {
        let before = peek_bytes(word.saturating_sub(Native::CALL_SIZE), Native::CALL_SIZE);
        let to_library = |target| cache.name_at(target).is_none();
        Native::is_register_call(&before)
            || Native::call_target(&before, word).is_some_and(to_library)
    };
    let count = older.saturating_sub(stack.start) / WORD;
    let mut below = stack.words.iter().take(count);
    registers.fp >= stack.start && below.any(|&word| cache.name_at(word).is_some() && is_call(word))
}

/// Whether the interpreter has called the library that runs, and had removed its frame before: the frame pointers of the
/// library lead to its frame pointer, which is that of an older frame.
fn is_called_without_frame(
    jvm: &Jvm,
    cache: &CodeCache,
    stack: Words<'_>,
    registers: &Registers,
) -> bool {
    // Where an exception leaves an interpreted method, for example, `exception_handler_for_return_address` is called in
    // between activations (`TemplateInterpreterGenerator::generate_throw_exception`). Functions of the VM keep the frame pointer.
    let mut fp = registers.fp;
    for _ in 0..LIBRARY_FRAMES {
        let (Some(caller), Some(pc)) = (stack.at(fp), stack.at(fp.wrapping_add(RETURN_ADDRESS)))
        else {
            return false;
        };
        if cache.name_at(pc).is_some() {
            let at_return = Registers { pc, ..*registers };
            return is_behind_call(pc)
                && interpreter_frame(jvm, &at_return) == InterpreterFrame::Removed;
        }
        if caller <= fp {
            return false;
        }
        fp = caller;
    }
    false
}

/// Whether the frame pointer is that of an interpreted method that compiled code has called through an adapter, which
/// has moved the stack pointer: the walker expects the frame of the compiled code right below the interpreter's
/// frame, reports the frames of this code, and ends there.
fn is_caller_misplaced(
    jvm: &Jvm,
    cache: &CodeCache,
    stack: Words<'_>,
    fp: usize,
    stacks: &Stacks<'_>,
) -> bool {
    // In words, those of the longs counted twice (JVMS, 4.11).
    const MOST_ARGUMENTS: usize = 256;
    const FRAME: InterpretedFrame = Native::INTERPRETED;
    let below = |distance: usize| stack.at(fp.wrapping_sub(distance));
    let is_interpreted =
        || below(FRAME.method).is_some_and(|method| cache.method_name(method).is_some());
    let expected = fp.wrapping_add(RETURN_ADDRESS + WORD);
    let is_moved = |sp: usize| expected < sp && sp <= expected + MOST_ARGUMENTS * WORD;
    let ends_there = || {
        let caller = stack.at(fp.wrapping_add(RETURN_ADDRESS));
        let frames = caller.and_then(|pc| frames_behind(jvm, cache, pc, stacks));
        frames.is_some() && frames == stacks.at
    };
    below(FRAME.sender_sp).is_some_and(is_moved) && is_interpreted() && ends_there()
}
