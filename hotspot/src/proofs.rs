//! What code, stack and debug info show at the instant of a mismatch. Causes rest on these proofs.

use crate::code::CodeKind;
use serde::{Deserialize, Serialize};
use std::ops::Not;

/// The proofs. Facts that could not be read are absent, so that no cause can rest on them.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Proofs {
    /// The VM's names for the stubs into which words of the stack point, from the newest Java frame
    /// on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stubs: Vec<String>,
    /// The methods of the compiled frames on the stack that are to be deoptimised and that the walk
    /// lacks, newest first: `package.Class.name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deoptimised: Vec<String>,
    /// The methods of the compiled frames on the stack that are larger than their code says, newest first: `package.Class.name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extended: Vec<String>,
    /// The kind of the code that had called the VM below each JavaCalls entry on the stack, newest
    /// first, as far as the copied words reach.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<CodeKind>,
    /// Whether a frame on the stack returns to the barrier behind which the frames of a virtual thread are still in the heap
    /// (`StubRoutines::cont_returnBarrier`).
    #[serde(skip_serializing_if = "Not::not")]
    pub is_return_barrier: bool,
    /// Whether the true caller's instruction names the method of the walk's lowest frame, so that the VM need
    /// not have called the method. Asked only if a stub had called the VM.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_lowest_named: bool,
    /// Whether the top frames of the walk are those of the debug info record behind the record of
    /// the call into the running stub, and the frame that differs is one of them.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_next_record: bool,
    /// Whether the top frame of the walk is at an instruction that can call, as the frame of a
    /// caller is.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_top_at_call: bool,
    /// The state of the interpreter's newest frame, if the interpreter runs.
    #[serde(skip_serializing_if = "InterpreterFrame::is_intact")]
    pub interpreter: InterpreterFrame,
    /// Whether generated code has called the library that runs, while the frame pointer belongs to
    /// an older frame: the return address lies below the frame to which the frame pointer leads. Or the VM's own code around a
    /// call of a Java method runs.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_leaf_call: bool,
    /// Whether the walk begins and ends with the frames of the code to which the frame pointer leads, and this code has
    /// another stack pointer than the walker computes; or whether the walk does not begin with the native method from which
    /// the VM is calling a method.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_caller_misplaced: bool,
    /// Whether a profiler's own walker made the walk, and not a function of the JVM.
    #[serde(skip_serializing_if = "Not::not")]
    pub by_profiler: bool,
    /// Whether the thread runs a stub whose frames have no known size, or a library that such a stub has called without an
    /// anchor.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_in_unsized_stub: bool,
    /// Whether a library runs that is the handler of a signal, and generated code was interrupted by it.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_in_signal_handler: bool,
    /// Whether the lowest frame of the walk is of a method that the VM called, and the JavaCalls entry of this call keeps an
    /// anchor without a program counter.
    #[serde(skip_serializing_if = "Not::not")]
    pub ends_without_pc: bool,
    /// Whether the frame that differs, or the one above, is at BCI 0 and of a method with a compiled frame on the stack that
    /// is to be deoptimised.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_deoptimised_at_start: bool,
}

/// A sample with its proofs, as a line of a file.
pub type RecordedSample = oracle::recorded::RecordedSample<Proofs>;

/// The state of the frame of the method that the interpreter runs.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterpreterFrame {
    /// Nothing shows that the frame is missing, or the interpreter does not run.
    #[default]
    Intact,
    /// The frame is not complete.
    NotBuilt,
    /// The frame was removed.
    Removed,
}

impl InterpreterFrame {
    pub(crate) fn is_intact(&self) -> bool {
        *self == InterpreterFrame::Intact
    }
}
