//! Writes mismatches down.

use crate::agent::Agent;
use crate::error_codes::Place;
use crate::sample::Sample;
use crate::vm::{peek_bytes, symbols};
use jni_sys::JNIEnv;
use oracle::record::{Mismatch, Record, ShownFrame};
use oracle::trace::{Frame, Truth};
use oracle::{Judgement, Layer, Verdict};
use std::collections::BTreeMap;

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
    /// Further evidence.
    pub evidence: BTreeMap<String, String>,
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
    let mismatch = Mismatch {
        layer: found.layer,
        verdict: found.judgement.verdict,
        reason: found.judgement.reason.into(),
        thread: thread_name(found.tid),
        walker: show(agent, env, found.walk),
        truth: found.truth,
        at_frame: found.judgement.at_frame,
        evidence: found.evidence,
    };
    agent.records.write(&Record::Mismatch(Box::new(mismatch)));
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

/// What a sample tells of the instant: registers, thread state, and the code that ran.
pub fn of_sample(agent: &Agent, sample: &Sample) -> BTreeMap<String, String> {
    let [pc, sp, fp] = sample.registers;
    let hex = |value: usize| format!("{value:#x}");
    let mut evidence = BTreeMap::from([
        ("pc".to_owned(), hex(pc)),
        ("sp".to_owned(), hex(sp)),
        ("fp".to_owned(), hex(fp)),
    ]);
    if let Some(anchor) = sample.anchor {
        evidence.insert("state".into(), anchor.state_name().into());
        evidence.insert("last_java_sp".into(), hex(anchor.last_sp));
        evidence.insert("last_java_pc".into(), hex(anchor.last_pc));
        if anchor.last_pc != 0 {
            evidence.insert("last_java_code".into(), code_at(agent, anchor.last_pc));
        }
    }
    evidence.insert("code".into(), code_at(agent, pc));
    let bytes = peek_bytes(pc, 16)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    evidence.insert("bytes".into(), bytes);
    evidence
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
