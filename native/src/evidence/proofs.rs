//! Looks for the facts on which causes rest ([`Proofs`]).

use super::seen::Seen;
use crate::jvm::Jvm;
use crate::jvm::code_cache::CodeCache;
use crate::jvm::debug_info::Scope;
use crate::jvm::jni::Env;
use crate::jvm::os::peek::{OwnMemory, peek_bytes};
use crate::sampling::sample::Sample;
use hotspot::arch::{Arch, Native, Registers};
use hotspot::code::{Blob, CodeKind, CodeMemory};
use hotspot::proofs::{InterpreterFrame, Proofs};
use hotspot::vm::entry::Words;

const WORD: usize = size_of::<usize>();

/// So many words of the calling thread's own stack are looked at, from the newest Java frame on: 32 KiB.
const OWN_WORDS: usize = 1 << 12;

/// In the interpreter these bytes tell whether the frame is removed.
const CODE: usize = 32;

/// What is asked about the two stacks, whose methods are named as reports do.
pub struct Stacks<'a> {
    /// The name of the walk's frame so far from the top, without the descriptor, and the BCI of the
    /// code that runs.
    pub walk: &'a dyn Fn(usize) -> Option<(String, i32)>,
    /// Whether the walk's top frame stands at an instruction that can call.
    pub is_top_at_call: bool,
    /// Whether the true caller's instruction names the method of the walk's lowest frame.
    pub is_lowest_named: &'a dyn Fn() -> bool,
    /// Whether the walk lacks a frame of the method of this name, without a descriptor.
    pub lacks: &'a dyn Fn(&str) -> bool,
}

/// What a look at a stack that was `seen` so finds; `env` is the calling thread's.
pub fn find(jvm: &Jvm, env: Env<'_>, seen: Seen<'_>, stacks: &Stacks<'_>) -> Proofs {
    let Some(cache) = &jvm.code_cache else {
        return Proofs::default();
    };
    match seen {
        Seen::Plainly => Proofs::default(),
        Seen::Here => {
            let (start, words) = own_words(jvm, env).unwrap_or_default();
            let words = &words;
            of_stack(jvm, cache, Words { start, words }, stacks)
        }
        Seen::InSignal(sample) => {
            let words = sample.stack_top.stack();
            let in_java = sample.anchor.is_some_and(|anchor| anchor.is_without_pc());
            Proofs {
                is_top_at_call: stacks.is_top_at_call,
                is_next_record: is_next_record(jvm, cache, sample, stacks),
                interpreter: match in_java {
                    true => interpreter_frame(jvm, &sample.registers),
                    false => InterpreterFrame::Intact,
                },
                is_leaf_call: in_java && is_leaf_call(cache, words, &sample.registers),
                ..of_stack(jvm, cache, words, stacks)
            }
        }
    }
}

/// What the words of the stack show, whatever runs.
fn of_stack(jvm: &Jvm, cache: &CodeCache, stack: Words<'_>, stacks: &Stacks<'_>) -> Proofs {
    let mut proofs = Proofs::default();
    for &word in stack.words {
        let Some(name) = cache.name_at(word) else {
            continue;
        };
        match CodeKind::of(&name) {
            CodeKind::Stub if !proofs.stubs.contains(&name) => proofs.stubs.push(name),
            CodeKind::Compiled => {
                let method = deoptimised(jvm, cache, word);
                proofs
                    .deoptimised
                    .extend(method.filter(|m| (stacks.lacks)(m)));
            }
            _ => {}
        }
    }
    let callers = jvm.java_calls.map(|calls| calls.callers(&OwnMemory, stack));
    let code_of = |pc| cache.name_at(pc).map(|name| CodeKind::of(&name));
    proofs.entries = callers
        .into_iter()
        .flatten()
        .filter_map(|caller| code_of(caller?))
        .collect();
    let calls_from_stub = proofs.entries.contains(&CodeKind::Stub);
    proofs.is_lowest_named = calls_from_stub && (stacks.is_lowest_named)();
    proofs
}

/// The words of the calling thread's stack from its last Java frame on, and their address.
fn own_words(jvm: &Jvm, env: Env<'_>) -> Option<(usize, Vec<usize>)> {
    let sp = jvm.java_threads.as_ref()?.last_java_sp(env.address())?;
    let bytes = peek_bytes(sp, OWN_WORDS * WORD);
    let (words, _) = bytes.as_chunks::<WORD>();
    Some((
        sp,
        words.iter().copied().map(usize::from_ne_bytes).collect(),
    ))
}

/// The method whose frame goes on at `pc` only to be deoptimised.
fn deoptimised(jvm: &Jvm, cache: &CodeCache, pc: usize) -> Option<String> {
    let blob = cache.blob(pc)?;
    let is_handler = jvm.debug_info.as_ref()?.is_deopt_handler(&blob, pc);
    blob.method.filter(|_| is_handler)
}

/// Whether the top of the walk is the debug info record behind that of the call into the stub that
/// runs, or that has called the VM.
fn is_next_record(jvm: &Jvm, cache: &CodeCache, sample: &Sample, stacks: &Stacks<'_>) -> bool {
    let anchor = sample.anchor.filter(|anchor| anchor.last_pc != 0);
    let pc = anchor.map_or(sample.registers.pc, |anchor| anchor.last_pc);
    let Some(stub) = cache.blob(pc).filter(|blob| blob.kind() == CodeKind::Stub) else {
        return false;
    };
    // The return address of the stub: where its frame ends, or on top where the frame is not built.
    let by_frame = cache.frame_words(&stub).map(|words| words - 1);
    let mut places = by_frame.into_iter().chain(0..4);
    places.any(|at| {
        let word = sample.stack_top.word(at);
        word.is_some_and(|word| is_record_behind(jvm, cache, word, stacks))
    })
}

/// Whether the top of the walk is the debug info record behind that of the call that returns to `pc`.
fn is_record_behind(jvm: &Jvm, cache: &CodeCache, pc: usize, stacks: &Stacks<'_>) -> bool {
    let is_compiled = |blob: &Blob| blob.kind() == CodeKind::Compiled;
    let caller = cache.blob(pc).filter(is_compiled);
    let around = caller.and_then(|blob| jvm.debug_info.as_ref()?.around(&blob, pc));
    let Some(around) = around.filter(|around| around.is_exact) else {
        return false;
    };
    let is_reported = |(at, scope): (usize, &Scope)| {
        let reported = (stacks.walk)(at);
        reported.is_some_and(|(name, bci)| {
            bci == scope.bci && cache.method_name(scope.method) == Some(name)
        })
    };
    !around.behind.is_empty() && around.behind.iter().enumerate().all(is_reported)
}

fn interpreter_frame(jvm: &Jvm, registers: &Registers) -> InterpreterFrame {
    let codelet = jvm
        .interpreter()
        .and_then(|found| found.codelet(registers.pc));
    codelet.map_or(InterpreterFrame::Intact, |codelet| {
        codelet.frame::<Native>(registers, &peek_bytes(registers.pc, CODE))
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
