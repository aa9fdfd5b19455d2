//! What code, stack and debug info show at the instant of a mismatch. Causes rest on these proofs.

use crate::code::CodeKind;
use oracle::recorded::RecordedProofs;

/// The proofs. Facts that could not be read are absent, so that no cause can rest on them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Proofs {
    /// The VM's names for the stubs into which words of the stack point, from the newest Java frame
    /// on.
    pub stubs: Vec<String>,
    /// The methods of the compiled frames on the stack that are to be deoptimised and that the walk
    /// lacks, newest first: `package.Class.name`.
    pub deoptimised: Vec<String>,
    /// The kind of the code that had called the VM below each JavaCalls entry on the stack, newest
    /// first, as far as the copied words reach.
    pub entries: Vec<CodeKind>,
    /// Whether the true caller's instruction names the method of the walk's lowest frame, so that the VM need
    /// not have called the method. Asked only if a stub had called the VM.
    pub is_lowest_named: bool,
    /// Whether the top frames of the walk are those of the debug info record behind the record of
    /// the call into the running stub, and the frame that differs is one of them.
    pub is_next_record: bool,
    /// Whether the top frame of the walk is at an instruction that can call, as the frame of a
    /// caller is.
    pub is_top_at_call: bool,
    /// The state of the interpreter's newest frame, if the interpreter runs.
    pub interpreter: InterpreterFrame,
    /// Whether generated code has called the library that runs, while the frame pointer belongs to
    /// an older frame: the return address lies below the frame to which the frame pointer leads.
    pub is_leaf_call: bool,
    /// Whether this older frame is that of an interpreted method, and the walk begins and ends with the frames of the
    /// compiled code that called this method: the walker does not know that an adapter has moved the stack
    /// pointer between them.
    pub is_caller_misplaced: bool,
}

impl From<&Proofs> for RecordedProofs {
    fn from(proofs: &Proofs) -> RecordedProofs {
        let entries = proofs.entries.iter();
        RecordedProofs {
            stubs: proofs.stubs.clone(),
            deoptimised: proofs.deoptimised.clone(),
            entries: entries.map(|kind| kind.name().into()).collect(),
            is_lowest_named: proofs.is_lowest_named,
            is_next_record: proofs.is_next_record,
            is_top_at_call: proofs.is_top_at_call,
            interpreter: match proofs.interpreter {
                InterpreterFrame::Intact => None,
                InterpreterFrame::NotBuilt => Some(NOT_BUILT.into()),
                InterpreterFrame::Removed => Some(REMOVED.into()),
            },
            is_leaf_call: proofs.is_leaf_call,
            is_caller_misplaced: proofs.is_caller_misplaced,
        }
    }
}

impl From<&RecordedProofs> for Proofs {
    /// A name that this version does not know proves nothing.
    fn from(recorded: &RecordedProofs) -> Proofs {
        let kind = |name: &String| {
            let mut names = CodeKind::NAMES.iter();
            names
                .find(|(_, known)| known == name)
                .map(|(kind, _)| *kind)
        };
        Proofs {
            stubs: recorded.stubs.clone(),
            deoptimised: recorded.deoptimised.clone(),
            entries: recorded.entries.iter().filter_map(kind).collect(),
            is_lowest_named: recorded.is_lowest_named,
            is_next_record: recorded.is_next_record,
            is_top_at_call: recorded.is_top_at_call,
            interpreter: match recorded.interpreter.as_deref() {
                Some(NOT_BUILT) => InterpreterFrame::NotBuilt,
                Some(REMOVED) => InterpreterFrame::Removed,
                _ => InterpreterFrame::Intact,
            },
            is_leaf_call: recorded.is_leaf_call,
            is_caller_misplaced: recorded.is_caller_misplaced,
        }
    }
}

const NOT_BUILT: &str = "not-built";
const REMOVED: &str = "removed";

/// The state of the frame of the method that the interpreter runs.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub enum InterpreterFrame {
    /// Nothing shows that the frame is missing, or the interpreter does not run.
    #[default]
    Intact,
    /// The frame is not complete.
    NotBuilt,
    /// The frame was removed.
    Removed,
}
