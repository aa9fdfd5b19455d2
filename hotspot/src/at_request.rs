//! What code, stack and debug info showed at a request of JFR or of a profiler.
//!
//! The agent looks at each request, before anybody knows the stack of its event. After the run the stack is judged, and what
//! was seen becomes the [`Proofs`] of a mismatch.

use crate::case::Instant;
use crate::code::CodeKind;
use crate::proofs::{InterpreterFrame, Proofs};
use crate::return_address::ReturnAddress;
use oracle::requests::RecordedAround;
use serde::{Deserialize, Serialize};

/// A line of the file of requests.
pub type RequestLine = oracle::requests::RequestLine<RequestProofs>;

/// A frame by `package.Class.name`, and its BCI.
pub type NamedFrame = (String, i32);

/// What was seen at a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestProofs {
    /// Whether the thread state is "in Java", and no anchor has a program counter.
    pub in_java: bool,
    /// The kind of code at the program counter.
    pub code: CodeKind,
    /// The kind of code at the program counter of the anchor, if the thread has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<CodeKind>,
    /// The place of the return address of compiled code.
    #[serde(default, skip_serializing_if = "ReturnAddress::is_usual")]
    pub return_address: ReturnAddress,
    /// The state of the interpreter's newest frame.
    #[serde(default, skip_serializing_if = "InterpreterFrame::is_intact")]
    pub interpreter: InterpreterFrame,
    /// As [`Proofs::is_leaf_call`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_leaf_call: bool,
    /// As [`Proofs::stubs`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stubs: Vec<String>,
    /// As [`Proofs::is_return_barrier`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_return_barrier: bool,
    /// The methods of all compiled frames on the stack that are to be deoptimised, newest first: `package.Class.name`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deoptimised: Vec<String>,
    /// The JavaCalls entries on the stack, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<Entry>,
    /// The debug info records around where the library or the stub that runs returns to, if compiled code has called it
    /// without an anchor and without a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf_call: Option<RecordedAround>,
    /// As [`Proofs::is_in_unsized_stub`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_in_unsized_stub: bool,
    /// As [`Proofs::is_in_signal_handler`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_in_signal_handler: bool,
    /// The frames of the records behind the calls that may have led to the stub that runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind_stub: Vec<Vec<NamedFrame>>,
    /// The frames of the code to which the frame pointer leads, if its stack pointer is another than the walker computes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misplaced: Vec<NamedFrame>,
}

/// A JavaCalls entry: the VM called a Java method.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The method: `package.Class.name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callee: Option<String>,
    /// The kind of the code that had called the VM, if there are Java frames below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<CodeKind>,
    /// Whether the anchor that the entry keeps has the stack pointer of these frames alone, and no program counter.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_pc: bool,
}

/// A profiler's stack and the true one, as far as proofs depend on them.
pub struct Compared<'a> {
    /// The profiler's frames, top first.
    pub walk: &'a [NamedFrame],
    /// The index of the frame that differs.
    pub at: Option<usize>,
    /// The methods of the true frames that are known.
    pub truth: &'a [String],
    /// Whether the top frame stands at an instruction that can call.
    pub is_top_at_call: bool,
    /// Whether the profiler has walked itself, and not asked a function of the JVM.
    pub by_profiler: bool,
}

impl RequestProofs {
    /// What is seen of a thread that has no Java frames. `code` is that at the program counter.
    pub fn outside(code: CodeKind) -> RequestProofs {
        RequestProofs {
            in_java: false,
            code,
            anchor: None,
            return_address: ReturnAddress::Usual,
            interpreter: InterpreterFrame::Intact,
            is_leaf_call: false,
            stubs: vec![],
            is_return_barrier: false,
            deoptimised: vec![],
            entries: vec![],
            leaf_call: None,
            is_in_unsized_stub: false,
            is_in_signal_handler: false,
            behind_stub: vec![],
            misplaced: vec![],
        }
    }

    /// The proofs of a mismatch.
    pub fn proofs(&self, stacks: &Compared<'_>) -> Proofs {
        let count = |names: &mut dyn Iterator<Item = &String>, method: &str| {
            names.filter(|name| *name == method).count()
        };
        let lacks = |method: &String| {
            let walked = count(&mut stacks.walk.iter().map(|(name, _)| name), method);
            count(&mut stacks.truth.iter(), method) > walked
        };
        // The record at a method's entry has BCI -1 (`SynchronizationEntryBCI`). Profilers record it as 0.
        let shows = |(frame, known): (&NamedFrame, &NamedFrame)| {
            frame.0 == known.0 && (frame.1 == known.1 || known.1 < 0 && frame.1 == 0)
        };
        let starts_with = |frames: &[NamedFrame]| {
            let is_long_enough = !frames.is_empty() && stacks.walk.len() >= frames.len();
            is_long_enough && stacks.walk.iter().zip(frames).all(shows)
        };
        let is_next = |frames: &Vec<NamedFrame>| {
            starts_with(frames) && stacks.at.is_some_and(|at| at < frames.len())
        };
        let is_at_start = |at: usize| {
            let frame = stacks.walk.get(at);
            frame.is_some_and(|(name, bci)| *bci == 0 && self.deoptimised.contains(name))
        };
        let lowest = stacks.walk.last().map(|(name, _)| name);
        let ends_at = |entry: &Entry| {
            entry.lacks_pc && entry.callee.is_some() && entry.callee.as_ref() == lowest
        };
        let is_called_by_stub = |entry: &Entry| {
            entry.caller == Some(CodeKind::Stub)
                && entry.callee.is_some()
                && entry.callee.as_ref() == lowest
        };
        Proofs {
            by_profiler: stacks.by_profiler,
            is_return_barrier: self.is_return_barrier,
            stubs: self.stubs.clone(),
            deoptimised: self
                .deoptimised
                .iter()
                .filter(|method| lacks(method))
                .cloned()
                .collect(),
            entries: self
                .entries
                .iter()
                .filter_map(|entry| entry.caller)
                .collect(),
            // The entry itself has the method that the VM called. Where the profiler has walked, the JVM is not to blame.
            is_lowest_named: stacks.by_profiler || !self.entries.iter().any(is_called_by_stub),
            is_next_record: self.behind_stub.iter().any(is_next),
            is_top_at_call: stacks.is_top_at_call,
            interpreter: self.interpreter,
            is_leaf_call: self.is_leaf_call,
            is_caller_misplaced: self.is_leaf_call
                && starts_with(&self.misplaced)
                && stacks.at == Some(self.misplaced.len()),
            is_in_unsized_stub: self.is_in_unsized_stub,
            is_in_signal_handler: self.is_in_signal_handler,
            ends_without_pc: self.entries.iter().any(ends_at),
            is_deoptimised_at_start: stacks
                .at
                .is_some_and(|at| is_at_start(at) || at > 0 && is_at_start(at - 1)),
            ..Proofs::default()
        }
    }

    /// The instant of the request. `bytes` are those at the program counter.
    pub fn instant<'a>(&self, bytes: &'a [u8]) -> Instant<'a> {
        Instant {
            in_java: self.in_java,
            code: self.code,
            anchor: self.anchor,
            bytes,
            return_address: self.return_address,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::X86_64;
    use crate::case::Case;
    use crate::causes::Cause;
    use oracle::{Reason, Verdict};

    fn seen(code: CodeKind) -> RequestProofs {
        RequestProofs {
            in_java: true,
            ..RequestProofs::outside(code)
        }
    }

    fn entry(callee: &str, caller: CodeKind, lacks_pc: bool) -> Entry {
        Entry {
            callee: Some(callee.into()),
            caller: Some(caller),
            lacks_pc,
        }
    }

    /// The cause of a mismatch of the stack `walk`, top first, where the true stack is `truth`.
    fn cause(
        seen: &RequestProofs,
        by_profiler: bool,
        (verdict, reason): (Verdict, Reason),
        (walk, truth): (&[(&str, i32)], &[&str]),
    ) -> &'static str {
        let walk: Vec<NamedFrame> = walk
            .iter()
            .map(|&(name, bci)| (name.to_owned(), bci))
            .collect();
        let truth: Vec<String> = truth.iter().map(|&name| name.into()).collect();
        let at = Some(walk.len().saturating_sub(1));
        let proofs = seen.proofs(&Compared {
            walk: &walk,
            at,
            truth: &truth,
            is_top_at_call: false,
            by_profiler,
        });
        let lowest = walk.last().map(|(name, _)| format!("{name}()V"));
        let true_lowest = truth.last().map(|name| format!("{name}()V"));
        Cause::of::<X86_64>(Case {
            verdict,
            reason,
            at: None,
            lowest: lowest.as_deref(),
            true_lowest: true_lowest.as_deref(),
            is_hook_alone: false,
            proofs: &proofs,
            instant: Some(seen.instant(&[])),
        })
        .name
    }

    const CUT: (Verdict, Reason) = (Verdict::Truncated, Reason::BottomMissing);
    const INITIALISING: (&[(&str, i32)], &[&str]) = (
        &[("a.B.top", 3), ("a.C.<clinit>", 12)],
        &["a.B.top", "a.C.<clinit>", "a.B.main"],
    );

    #[test]
    fn a_cut_at_an_entry_without_a_program_counter_is_the_profilers() {
        let mut seen = seen(CodeKind::Library);
        let cause_of =
            |seen: &RequestProofs, by_profiler| cause(seen, by_profiler, CUT, INITIALISING);
        assert_eq!(cause_of(&seen, true), "unexplained");
        let initialiser = "a.C.<clinit>";
        seen.entries = vec![entry(initialiser, CodeKind::Stub, true)];
        assert_eq!(cause_of(&seen, true), "missing-pc");
        assert_eq!(cause_of(&seen, false), "called-by-vm");
        seen.entries = vec![entry(initialiser, CodeKind::Stub, false)];
        assert_eq!(cause_of(&seen, true), "unexplained", "the anchor is whole");
        seen.entries = vec![entry("a.B.another", CodeKind::Stub, true)];
        assert_eq!(cause_of(&seen, true), "unexplained", "another entry");
        assert_eq!(cause_of(&seen, false), "unexplained");
    }

    #[test]
    fn stubs_and_entries_of_the_interpreter_are_told() {
        let lost = (Verdict::Wrong, Reason::TopMissing);
        let alone: (&[(&str, i32)], &[&str]) = (&[("a.B.callee", 0)], &["a.B.caller", "a.B.main"]);
        let mut stub = seen(CodeKind::Stub);
        assert_eq!(cause(&stub, true, lost, alone), "unexplained");
        stub.is_in_unsized_stub = true;
        assert_eq!(cause(&stub, true, lost, alone), "unsized-stub");
        assert_ne!(cause(&stub, false, lost, alone), "unsized-stub");
        let mut entering = seen(CodeKind::Interpreter);
        assert_eq!(cause(&entering, true, lost, alone), "unexplained");
        entering.interpreter = InterpreterFrame::NotBuilt;
        assert_eq!(cause(&entering, true, lost, alone), "interpreter-entry");
        assert_ne!(cause(&entering, false, lost, alone), "interpreter-entry");
    }

    #[test]
    fn in_a_signal_handler_the_interrupted_code_is_lost() {
        let lost = (Verdict::Wrong, Reason::TopMissing);
        let walk: (&[(&str, i32)], &[&str]) = (&[("a.B.main", 7)], &["a.B.faults", "a.B.main"]);
        let mut seen = seen(CodeKind::Library);
        assert_eq!(cause(&seen, false, lost, walk), "unexplained");
        seen.is_in_signal_handler = true;
        for by_profiler in [false, true] {
            assert_eq!(cause(&seen, by_profiler, lost, walk), "signal-handler");
        }
        let other = (Verdict::Wrong, Reason::OtherMethod);
        assert_eq!(cause(&seen, false, other, walk), "unexplained");
    }

    #[test]
    fn a_walk_without_java_frames_ended_among_those_of_libraries() {
        let nothing = (Verdict::Wrong, Reason::NothingOfTruth);
        let none: (&[(&str, i32)], &[&str]) = (&[], &["a.B.caller", "a.B.main"]);
        let in_library = seen(CodeKind::Library);
        assert_eq!(cause(&in_library, true, nothing, none), "library-frames");
        assert_eq!(cause(&in_library, false, nothing, none), "library-frames");
        let in_java = seen(CodeKind::Compiled);
        assert_eq!(cause(&in_java, true, nothing, none), "unexplained");
    }

    #[test]
    fn a_frame_at_its_start_is_that_of_the_handler_of_its_own_code() {
        let other = (Verdict::Wrong, Reason::OtherLocation);
        let walk: (&[(&str, i32)], &[&str]) =
            (&[("a.B.top", 4), ("a.B.deep", 0)], &["a.B.top", "a.B.deep"]);
        let mut seen = seen(CodeKind::Library);
        seen.deoptimised = vec!["a.B.top".into()];
        assert_eq!(
            cause(&seen, true, other, walk),
            "unexplained",
            "not at its start"
        );
        seen.deoptimised = vec!["a.B.deep".into()];
        assert_eq!(cause(&seen, true, other, walk), "deoptimised-start");
    }

    #[test]
    fn the_entry_of_a_method_is_recorded_as_its_first_instruction() {
        let other = (Verdict::Wrong, Reason::OtherMethod);
        let walk: (&[(&str, i32)], &[&str]) = (
            &[("a.B.inner", 0), ("a.B.outer", 14)],
            &["a.B.caller", "a.B.main"],
        );
        let mut seen = seen(CodeKind::Library);
        seen.anchor = Some(CodeKind::Stub);
        let behind = |bci| vec![vec![("a.B.inner".into(), bci), ("a.B.outer".into(), 14)]];
        seen.behind_stub = behind(-1);
        assert_eq!(cause(&seen, false, other, walk), "below-stub");
        seen.behind_stub = behind(3);
        assert_eq!(cause(&seen, false, other, walk), "unexplained");
    }

    #[test]
    fn what_was_seen_comes_back_from_text() {
        let mut seen = seen(CodeKind::Compiled);
        seen.return_address = ReturnAddress::Beyond(2);
        seen.entries = vec![entry("a.B.m", CodeKind::Interpreter, true)];
        seen.leaf_call = Some(RecordedAround::default());
        let text = serde_json::to_string(&seen).expect("plain data");
        let read: RequestProofs = serde_json::from_str(&text).expect("just written");
        assert_eq!(read, seen, "{text}");
    }
}
