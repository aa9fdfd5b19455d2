//! What a look at code, stack and debug info shows at the instant of a mismatch. Causes rest on it.

use crate::code::CodeKind;
use oracle::recorded::RecordedProofs;

/// What was found. What could not be read is not there, so that no cause can rest on it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Proofs {
    /// The VM's names for the stubs that the words of the stack point into, from the newest Java frame
    /// on.
    pub stubs: Vec<String>,
    /// The methods of the compiled frames on the stack that are to be deoptimised and that the walk
    /// lacks, newest first: `package.Class.name`.
    pub deoptimised: Vec<String>,
    /// What the code is of that had called the VM below each JavaCalls entry on the stack, newest
    /// first; as far as the words of the stack reach.
    pub entries: Vec<CodeKind>,
    /// Whether the top of the walk is the debug info record behind that of the call into the stub
    /// that runs.
    pub is_next_record: bool,
    /// Whether the top frame of the walk stands at an instruction that can call, as a caller does.
    pub is_top_at_call: bool,
    /// What the interpreter, which runs, had done with its frame.
    pub interpreter: InterpreterFrame,
    /// Whether a library runs that generated code has called, and the frame pointer belongs to an older
    /// frame: the return address lies below the frame that the frame pointer leads to.
    pub is_leaf_call: bool,
}

impl From<&Proofs> for RecordedProofs {
    fn from(proofs: &Proofs) -> RecordedProofs {
        let entries = proofs.entries.iter();
        RecordedProofs {
            stubs: proofs.stubs.clone(),
            deoptimised: proofs.deoptimised.clone(),
            entries: entries.map(|kind| kind.name().into()).collect(),
            is_next_record: proofs.is_next_record,
            is_top_at_call: proofs.is_top_at_call,
            interpreter: match proofs.interpreter {
                InterpreterFrame::Stands => None,
                InterpreterFrame::NotBuilt => Some(NOT_BUILT.into()),
                InterpreterFrame::Removed => Some(REMOVED.into()),
            },
            is_leaf_call: proofs.is_leaf_call,
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
            is_next_record: recorded.is_next_record,
            is_top_at_call: recorded.is_top_at_call,
            interpreter: match recorded.interpreter.as_deref() {
                Some(NOT_BUILT) => InterpreterFrame::NotBuilt,
                Some(REMOVED) => InterpreterFrame::Removed,
                _ => InterpreterFrame::Stands,
            },
            is_leaf_call: recorded.is_leaf_call,
        }
    }
}

const NOT_BUILT: &str = "not-built";
const REMOVED: &str = "removed";

/// What the interpreter had done with the frame of the method that it runs.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub enum InterpreterFrame {
    /// Nothing shows that there is no frame; or the interpreter does not run.
    #[default]
    Stands,
    /// The frame is not built, or not wholly.
    NotBuilt,
    /// The frame was removed.
    Removed,
}
