//! Writes mismatches down.

pub mod compiled;
mod return_address;

use crate::agent::Agent;
use crate::evidence::return_address::Found as FoundAddress;
use crate::jvm::os::peek::peek_bytes;
use crate::jvm::symbols;
use crate::records::error_codes::Place;
use crate::sampling::sample::Sample;
use hotspot::arch::Native;
use hotspot::case::{Case, Instant};
use hotspot::causes::Cause;
use hotspot::code::{CodeKind, CodeMemory};
use hotspot::return_address::ReturnAddress;
use jni_sys::JNIEnv;
use oracle::record::{Address, CodeBytes, Evidence, Mismatch, Record, ShownFrame, StackWord};
use oracle::trace::{Frame, Truth};
use oracle::{Judgement, Layer, Verdict};

/// How many bytes at a program counter are written down.
const BYTES: usize = 16;

/// Who walked a stack, and when.
#[derive(Copy, Clone)]
pub enum Walker<'a> {
    /// Nobody: the trace stack itself is wrong.
    Nobody,
    /// GetStackTrace.
    Gst,
    /// AsyncGetCallTrace, on its own thread in a hook.
    AsgctInHook,
    /// AsyncGetCallTrace, in a signal handler.
    AsgctInSignal(&'a Sample),
}

/// A mismatch as it was found.
pub struct Found<'a> {
    /// The layer.
    pub layer: Layer,
    /// The verdict.
    pub judgement: Judgement,
    /// Kernel id of the thread.
    pub tid: i32,
    /// What the walker returned, top first.
    pub walk: &'a [Frame],
    /// What was true, top first.
    pub truth: Vec<ShownFrame>,
    /// Who walked the stack.
    pub walker: Walker<'a>,
    /// Further evidence.
    pub evidence: Evidence,
}

/// Whether one more mismatch of this kind is to be written down; if so it is reserved.
pub fn wanted(agent: &Agent, layer: Layer, verdict: Verdict) -> bool {
    let mut written = agent
        .evidence
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let of_kind = written.entry((layer, verdict)).or_default();
    let wanted = *of_kind < agent.config.evidence_limit;
    *of_kind += u32::from(wanted);
    wanted
}

/// Writes `found` down, which was [`wanted`]. The caller counts it.
pub fn record(agent: &Agent, env: *mut JNIEnv, found: Found<'_>) {
    let Judgement {
        verdict,
        at_frame,
        reason,
    } = found.judgement;
    let walker = show(agent, env, found.walk);
    let cause = cause(agent, found.judgement, found.walker, &walker, &found.truth);
    let mut evidence = found.evidence;
    if let Walker::AsgctInSignal(sample) = found.walker {
        let bytes = peek_bytes(sample.registers.pc, BYTES);
        add_sample(&mut evidence, agent, sample, &bytes);
        if let Some(found) = return_address::find(agent, sample) {
            add_return_address(&mut evidence, agent, sample, found);
        }
    }
    let mismatch = Mismatch {
        layer: found.layer,
        verdict,
        reason: reason.to_string(),
        thread: thread_name(found.tid),
        at_frame,
        cause: cause.map(Into::into),
        walker,
        truth: found.truth,
        evidence,
    };
    agent.records.write(&Record::Mismatch(Box::new(mismatch)));
}

/// The cause that a mismatch of `walk` points to, where `walker` can have one.
pub fn cause(
    agent: &Agent,
    judgement: Judgement,
    walker: Walker<'_>,
    walk: &[ShownFrame],
    truth: &[ShownFrame],
) -> Option<&'static Cause> {
    let case = |instant| Case {
        verdict: judgement.verdict,
        reason: judgement.reason,
        at: judgement.at_frame.and_then(|at| walk.get(at)),
        lowest: walk.last(),
        true_lowest: truth.last(),
        instant,
    };
    match walker {
        Walker::Nobody | Walker::Gst => None,
        Walker::AsgctInHook => Some(Cause::of::<Native>(case(None))),
        Walker::AsgctInSignal(sample) => {
            let bytes = peek_bytes(sample.registers.pc, BYTES);
            let found = return_address::find(agent, sample);
            let place = found.map_or(ReturnAddress::Usual, |found| found.place);
            Some(Cause::of::<Native>(case(Some(instant(
                agent, sample, &bytes, place,
            )))))
        }
    }
}

/// The frames as reports show them.
pub fn show(agent: &Agent, env: *mut JNIEnv, frames: &[Frame]) -> Vec<ShownFrame> {
    frames
        .iter()
        .map(|frame| agent.methods.show(env, frame))
        .collect()
}

/// The truth as reports show it, top first: whole up to the newest checked frame, hooked
/// frames only above it.
pub fn show_truth(agent: &Agent, env: *mut JNIEnv, truth: &Truth<'_>) -> Vec<ShownFrame> {
    let above = truth.entries[truth.checked_entries..].iter().rev();
    let mut shown: Vec<_> = above.map(|&hook| agent.methods.show_entry(hook)).collect();
    let mut whole: Vec<_> = truth
        .checked
        .iter()
        .rev()
        .map(|f| agent.methods.show(env, f))
        .collect();
    if let Some(moves) = whole.first_mut() {
        (moves.bci, moves.line, moves.rewritten_bci) = (None, None, None);
    }
    shown.append(&mut whole);
    shown
}

/// `tid (name)`, with the name that the kernel has.
fn thread_name(tid: i32) -> String {
    match std::fs::read_to_string(format!("/proc/self/task/{tid}/comm")) {
        Ok(name) => format!("{tid} ({})", name.trim_end()),
        Err(_) => tid.to_string(),
    }
}

/// Adds what `sample` knows of the instant: registers, state of the thread, and the code that ran,
/// with the `bytes` at the program counter.
fn add_sample(evidence: &mut Evidence, agent: &Agent, sample: &Sample, bytes: &[u8]) {
    let registers = sample.registers;
    evidence.pc = Some(Address(registers.pc));
    evidence.sp = Some(Address(registers.sp));
    evidence.fp = Some(Address(registers.fp));
    if let Some(anchor) = sample.anchor {
        evidence.state = Some(anchor.state_name().into());
        evidence.last_java_sp = Some(Address(anchor.last_sp));
        evidence.last_java_pc = Some(Address(anchor.last_pc));
        let has_pc = anchor.last_pc != 0;
        evidence.last_java_code = has_pc.then(|| code_at(agent, anchor.last_pc));
    }
    evidence.code = Some(code_at(agent, registers.pc));
    evidence.bytes = Some(CodeBytes(bytes.into()));
}

/// Adds where the walker looks for the return address, and where the return address is.
fn add_return_address(
    evidence: &mut Evidence,
    agent: &Agent,
    sample: &Sample,
    found: FoundAddress,
) {
    let FoundAddress { place, frame_words } = found;
    let word = |index| {
        let what = match sample.stack_top.word(index) {
            Some(word) => format!("{word:#x}, {}", code_at(agent, word)),
            None => "not copied".into(),
        };
        Some(StackWord { index, what })
    };
    let expected = frame_words - 1;
    evidence.return_address_by_frame_size = word(expected);
    evidence.return_address = match place {
        ReturnAddress::Usual | ReturnAddress::InLink => None,
        ReturnAddress::Beyond(words) => word(expected + words),
        ReturnAddress::AtTop(index) => word(index),
    };
}

/// What `sample` knows of the instant, as far as a cause depends on it.
fn instant<'a>(
    agent: &Agent,
    sample: &Sample,
    bytes: &'a [u8],
    return_address: ReturnAddress,
) -> Instant<'a> {
    let anchor = sample.anchor.filter(|anchor| anchor.last_pc != 0);
    Instant {
        in_java: sample.anchor.is_some_and(|anchor| anchor.is_without_pc()),
        code: code_of(agent, sample.registers.pc),
        anchor: anchor.map(|anchor| code_of(agent, anchor.last_pc)),
        bytes,
        return_address,
    }
}

/// What `pc` lies in.
pub fn code_of(agent: &Agent, pc: usize) -> CodeKind {
    let blob = agent.code_cache.as_ref().and_then(|cache| cache.blob(pc));
    blob.map_or(CodeKind::Library, |blob| blob.kind())
}

/// The kind of code that `pc` lies in: the VM's name for it, with a compiled method's tier,
/// or the library's file.
pub fn kind_at(agent: &Agent, pc: usize) -> Place {
    match agent.code_cache.as_ref().and_then(|cache| cache.kind(pc)) {
        Some(kind) => Place::Generated(kind),
        None => match symbols::library(pc) {
            Some(library) => Place::Library(library),
            None => Place::Generated("no library".into()),
        },
    }
}

/// The code that `pc` lies in: a blob of the code cache or a library, with the offset there.
fn code_at(agent: &Agent, pc: usize) -> String {
    match agent.code_cache.as_ref().and_then(|cache| cache.blob(pc)) {
        Some(blob) => {
            let method = blob
                .method
                .map_or(String::new(), |method| format!(" {method}"));
            let tier = blob
                .tier
                .map_or(String::new(), |tier| format!(" tier {tier}"));
            format!("{}{method}{tier} +{:#x}", blob.name, pc - blob.start)
        }
        None => symbols::describe(pc),
    }
}
