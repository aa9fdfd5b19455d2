//! Writes mismatches down.

pub mod compiled;
mod return_address;
mod seen;
mod stubs;

pub use seen::Seen;

use crate::evidence::return_address::Found as FoundAddress;
use crate::jvm::Jvm;
use crate::jvm::jni::Env;
use crate::jvm::os::peek::{can_read, peek_bytes};
use crate::jvm::symbols;
use crate::records::Records;
use crate::records::error_codes::Place;
use crate::sampling::sample::Sample;
use crate::truth::context::Truth as Known;
use hotspot::arch::Native;
use hotspot::case::{Case, Instant};
use hotspot::causes::Cause;
use hotspot::code::{CodeKind, CodeMemory};
use hotspot::return_address::ReturnAddress;
use oracle::record::{Address, CodeBytes, Evidence, Mismatch, Record, ShownFrame, StackWord};
use oracle::trace::{Frame, Truth};
use oracle::{Judgement, Layer, Verdict};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// How many bytes at a program counter are written down.
const BYTES: usize = 16;

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
    /// How the stack was seen.
    pub seen: Seen<'a>,
    /// Further evidence.
    pub evidence: Evidence,
}

/// Writes mismatches down, as many of each kind as are wanted.
pub struct Reporter {
    /// What is known of the methods that are shown.
    pub truth: &'static Known,
    records: &'static Records,
    limit: u32,
    /// How many mismatches were written down, by layer and verdict.
    written: Mutex<HashMap<(Layer, Verdict), u32>>,
}

impl Reporter {
    /// At most `limit` mismatches of each layer and verdict.
    pub fn new(truth: &'static Known, records: &'static Records, limit: u32) -> Reporter {
        Reporter {
            truth,
            records,
            limit,
            written: Mutex::default(),
        }
    }

    /// Whether one more mismatch of this kind is to be written down; if so it is reserved.
    pub fn wants(&self, layer: Layer, verdict: Verdict) -> bool {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let of_kind = written.entry((layer, verdict)).or_default();
        let wanted = *of_kind < self.limit;
        *of_kind += u32::from(wanted);
        wanted
    }

    /// Writes `found` down, which was [`Reporter::wants`]. The caller counts it.
    pub fn report(&self, env: Env<'_>, found: Found<'_>) {
        let Judgement {
            verdict,
            at_frame,
            reason,
            ..
        } = found.judgement;
        let walker = self.show(env, found.walk);
        let jvm = self.truth.jvm;
        let cause = self.cause(env, found.judgement, found.seen, &walker, &found.truth);
        let mut evidence = found.evidence;
        let stubs = stubs::on_stack(jvm, env, found.seen);
        evidence.stack_stubs = (!stubs.is_empty()).then(|| stubs.join(", "));
        if let Seen::InSignal(sample) = found.seen {
            let bytes = peek_bytes(sample.registers.pc, BYTES);
            add_sample(&mut evidence, jvm, sample, &bytes);
            if let Some(found) = return_address::find(jvm, sample) {
                add_return_address(&mut evidence, jvm, sample, found);
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
        self.records.write(&Record::Mismatch(Box::new(mismatch)));
    }

    /// The cause that a mismatch of `walk` points to, where a stack that was `seen` so can have one.
    pub fn cause(
        &self,
        env: Env<'_>,
        judgement: Judgement,
        seen: Seen<'_>,
        walk: &[ShownFrame],
        truth: &[ShownFrame],
    ) -> Option<&'static Cause> {
        let jvm = self.truth.jvm;
        let stubs = stubs::on_stack(jvm, env, seen);
        let case = |instant| Case {
            verdict: judgement.verdict,
            reason: judgement.reason,
            at: judgement.at_frame.and_then(|at| walk.get(at)),
            lowest: walk.last(),
            true_lowest: truth.last(),
            stubs: &stubs,
            instant,
        };
        match seen {
            Seen::Plainly => None,
            Seen::InHook => Some(Cause::of::<Native>(case(None))),
            Seen::InSignal(sample) => {
                let bytes = peek_bytes(sample.registers.pc, BYTES);
                let found = return_address::find(jvm, sample);
                let place = found.map_or(ReturnAddress::Usual, |found| found.place);
                Some(Cause::of::<Native>(case(Some(instant(
                    jvm, sample, &bytes, place,
                )))))
            }
        }
    }

    /// The frames as reports show them.
    pub fn show(&self, env: Env<'_>, frames: &[Frame]) -> Vec<ShownFrame> {
        frames
            .iter()
            .map(|frame| self.truth.methods.show(env, frame))
            .collect()
    }

    /// The truth as reports show it, top first: whole up to the newest checked frame, hooked
    /// frames only above it.
    pub fn show_truth(&self, env: Env<'_>, truth: &Truth<'_>) -> Vec<ShownFrame> {
        let above = truth.entries[truth.checked_entries..].iter().rev();
        let mut shown: Vec<_> = above
            .map(|&hook| self.truth.methods.show_entry(hook))
            .collect();
        let mut whole: Vec<_> = truth
            .checked
            .iter()
            .rev()
            .map(|f| self.truth.methods.show(env, f))
            .collect();
        if let Some(moves) = whole.first_mut() {
            (moves.bci, moves.line, moves.rewritten_bci) = (None, None, None);
        }
        shown.append(&mut whole);
        shown
    }
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
fn add_sample(evidence: &mut Evidence, jvm: &Jvm, sample: &Sample, bytes: &[u8]) {
    let registers = sample.registers;
    evidence.pc = Some(Address(registers.pc));
    evidence.sp = Some(Address(registers.sp));
    evidence.fp = Some(Address(registers.fp));
    if let Some(anchor) = sample.anchor {
        evidence.state = Some(anchor.state_name().into());
        evidence.last_java_sp = Some(Address(anchor.last_sp));
        evidence.last_java_pc = Some(Address(anchor.last_pc));
        let has_pc = anchor.last_pc != 0;
        evidence.last_java_code = has_pc.then(|| code_at(jvm, anchor.last_pc));
    }
    evidence.code = Some(code_at(jvm, registers.pc));
    evidence.memory = can_read().err().map(ToString::to_string);
    evidence.bytes = Some(CodeBytes(bytes.into()));
}

/// Adds where the walker looks for the return address, and where the return address is.
fn add_return_address(evidence: &mut Evidence, jvm: &Jvm, sample: &Sample, found: FoundAddress) {
    let FoundAddress { place, frame_words } = found;
    let word = |index| {
        let what = match sample.stack_top.word(index) {
            Some(word) => format!("{word:#x}, {}", code_at(jvm, word)),
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
    jvm: &Jvm,
    sample: &Sample,
    bytes: &'a [u8],
    return_address: ReturnAddress,
) -> Instant<'a> {
    let anchor = sample.anchor.filter(|anchor| anchor.last_pc != 0);
    Instant {
        in_java: sample.anchor.is_some_and(|anchor| anchor.is_without_pc()),
        code: code_of(jvm, sample.registers.pc),
        anchor: anchor.map(|anchor| code_of(jvm, anchor.last_pc)),
        bytes,
        return_address,
    }
}

/// What `pc` lies in.
pub fn code_of(jvm: &Jvm, pc: usize) -> CodeKind {
    let blob = jvm.code_cache.as_ref().and_then(|cache| cache.blob(pc));
    blob.map_or(CodeKind::Library, |blob| blob.kind())
}

/// The kind of code that `pc` lies in: the VM's name for it, with a compiled method's tier,
/// or the library's file.
pub fn kind_at(jvm: &Jvm, pc: usize) -> Place {
    match jvm.code_cache.as_ref().and_then(|cache| cache.kind(pc)) {
        Some(kind) => Place::Generated(kind),
        None => match symbols::library(pc) {
            Some(library) => Place::Library(library),
            None => Place::Generated("no library".into()),
        },
    }
}

/// The code that `pc` lies in: a blob of the code cache or a library, with the offset there.
fn code_at(jvm: &Jvm, pc: usize) -> String {
    match jvm.code_cache.as_ref().and_then(|cache| cache.blob(pc)) {
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
