//! Real samples in files: the complete input of a judge for one walk, and the judgement.
//!
//! If its configuration asks for samples, the agent writes them to [`SAMPLES_FILE`]: each
//! [`RecordedSample`] is a line of JSON. Tests judge the files again on any machine, without a JVM,
//! and expect the recorded verdict and cause.
//!
//! The format is independent: it uses no type of the judges, so that files stay readable when the
//! judges change. Numbers that are addresses are hexadecimal text without a prefix.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name of the file of recorded samples in a run's folder.
pub const SAMPLES_FILE: &str = "samples.jsonl";

/// A frame: the index of its method in [`RecordedSample::methods`] plus 1, or 0 for a frame without
/// a `jmethodID`; and its location in the form of AsyncGetCallTrace (a BCI, or -3 in a native
/// method).
pub type RecordedFrame = (u32, i32);

/// A walk, the complete input of its layer's judge, and the judgement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedSample<P> {
    /// The JVM's version.
    pub jvm: String,
    /// How classes were hooked: `exact`, `light` or `none`.
    pub hooks: String,
    /// The layer.
    pub layer: String,
    /// The methods of all frames.
    pub methods: Vec<RecordedMethod>,
    /// The walker's answer, top frame first; empty if the walker returned an error.
    pub walk: Vec<RecordedFrame>,
    /// The walker's error code, 0 or below, if it returned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<i32>,
    /// The trace stack: layers `gst` and `asgct-async`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truth: Option<RecordedTruth>,
    /// The trace stack of the carrier of a mounted virtual thread: layers `asgct-safepoint` and
    /// `asgct-async`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carrier: Option<RecordedTruth>,
    /// Whether a virtual thread was mounted: layer `asgct-safepoint`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_carried: bool,
    /// The frame of `Continuation.enterSpecial` in the walk, as an index from the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boundary: Option<usize>,
    /// GetStackTrace's stack, top frame first: layers `asgct-safepoint` and `asgct-gst`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Vec<RecordedFrame>>,
    /// The findings of class files on the walk's edges, from the top: `possible`, `unknown`, or why
    /// an edge is impossible, such as `no-entry`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<Vec<String>>,
    /// The findings of class files on the edges of `reference`; in layers `gst` and `asgct-async`,
    /// on the edges of the checked frames of `truth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_edges: Option<Vec<String>>,
    /// Whether a method of the walk or of the truth was redefined or unloaded, so that no mismatch
    /// is certain.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_doubtful: bool,
    /// The names of the hooks that no frame shows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hook_names: BTreeMap<u32, String>,
    /// The interrupted code, for walks in a signal handler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instant: Option<RecordedInstant>,
    /// What code, stack and debug info showed at the instant of a mismatch. The cause rests on
    /// this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proofs: Option<P>,
    /// The judgement.
    pub judged: RecordedJudgement,
}

/// A method, and the facts about its hooks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedMethod {
    /// `package.Class.method(descriptor)`.
    pub name: String,
    /// The id that its entry hook pushes, if it is hooked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<u32>,
    /// What each location proves about its entry on the trace stack: `absent`, `pushing`,
    /// `present`, `popping`, `catching` or `unwinding`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub presence: BTreeMap<i32, String>,
    /// Whether it is one of the hooks' own methods.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_hook_call: bool,
}

/// A trace stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedTruth {
    /// The hooks of the hooked frames, bottom first.
    pub entries: Vec<u32>,
    /// All frames up to the newest checked frame, bottom first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checked: Vec<RecordedFrame>,
    /// How many of `entries` belong to `checked`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub checked_entries: usize,
    /// Constructors that an exception may have left: the number of entries up to the newest of
    /// them, and their number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaving: Vec<(usize, usize)>,
}

/// The code that ran at the time of the signal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedInstant {
    /// Program counter.
    pub pc: String,
    /// Stack pointer.
    pub sp: String,
    /// Frame pointer.
    pub fp: String,
    /// The thread state in words, with the last Java stack pointer and program counter, if the VM
    /// describes its threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<(String, String, String)>,
    /// The pieces of generated code to which this sample refers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<RecordedBlob>,
    /// The piece of generated code at the program counter, as an index into `blobs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<usize>,
    /// The file name of the library at the program counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// The generated code at the anchor's program counter, as an index into `blobs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor_code: Option<usize>,
    /// The 32 bytes of code before the program counter, as far as they could be read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bytes_before: String,
    /// The 64 bytes of code from the program counter on, as far as they could be read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bytes: String,
    /// The words from the stack pointer on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<RecordedWord>,
    /// The debug info records around the program counter, if it lies in compiled code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug_info: Option<RecordedDebugInfo>,
}

/// A piece of generated code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedBlob {
    /// The VM's name for the code.
    pub name: String,
    /// Its start, header included.
    pub start: String,
    /// Of compiled code: `package.Class.method`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Of compiled code: its tier, 1 to 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<i32>,
    /// The size of its frame in words, the return address included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_words: Option<usize>,
}

/// A word of the stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedWord {
    /// Its value.
    pub v: String,
    /// The generated code into which it points, as an index into the instant's `blobs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<usize>,
    /// The bytes before the address: those of a call, if a call ends there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// The target of that call, as an index into `blobs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<usize>,
}

/// The debug info records around a program counter, innermost frames first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedDebugInfo {
    /// The last record at or before the program counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Vec<RecordedScope>>,
    /// The first record behind the program counter.
    pub behind: Vec<RecordedScope>,
}

/// One frame of a debug info record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedScope {
    /// The VM's address of the method.
    pub method: String,
    /// The hook in the method's bytecode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<u32>,
    /// The method with that hook, in the form of frames, if a walk has shown the method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<u32>,
    /// Its BCI; negative if the record has none.
    pub bci: i32,
}

/// A judgement on a walk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedJudgement {
    /// `match`, `window`, `imprecise`, `error`, `truncated`, `wrong` or `unverifiable`.
    pub verdict: String,
    /// The reason, as a short phrase.
    pub reason: String,
    /// The first differing frame, as an index into the walk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_frame: Option<usize>,
    /// The cause, for mismatches of AsyncGetCallTrace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &usize) -> bool {
    *value == 0
}
