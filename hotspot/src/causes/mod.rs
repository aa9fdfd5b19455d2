//! Why HotSpot's walkers go wrong: the cause of a mismatch, told by the instant of its sample.
//!
//! The causes and how each was found are in `docs/findings.md`. What is told here is which of
//! them an instant points to; the evidence beside it lets a reader check.

use crate::arch::x86_64;
use crate::return_address::ReturnAddress;
use oracle::Verdict;
use oracle::edge::is_called_by_vm;
use oracle::record::{CauseName, ShownFrame};
use std::fmt;

/// Reason of a mismatch: the walker reports a record of other inlined code as its top frames.
pub const OTHER_RECORD: &str = "inlined frames of the next debug record";

/// Reason of a mismatch: the walker reports a compiled method at BCI 0, without the frames that
/// are inlined in it.
pub const NO_RECORD: &str = "the start of a compiled method, for want of a debug record";

/// Between the frames of a virtual thread and those of its carrier lies one of this method.
const ENTER_SPECIAL: &str = "jdk.internal.vm.Continuation.enterSpecial(";

/// A known cause.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub enum Cause {
    /// The walk ends below a method that the VM itself called.
    CalledByVm,
    /// The walk ends where a frame's caller has a program counter that the walker refuses: that
    /// of a frame to be deoptimised, or of a stub.
    UnwalkableCaller,
    /// Compiled code has entered a stub of the VM, and the walker takes the debug record behind
    /// the call for that of the call.
    BelowStub,
    /// The interpreter has not built its frame yet, or has removed it.
    InterpreterFrame,
    /// Compiled code has removed its frame, and is about to return.
    FrameRemoved,
    /// A function of the VM or another library was called without an anchor.
    LeafCall,
    /// The program counter lies in inlined code without a debug record of its own.
    NoRecord,
    /// Compiled code has moved its stack pointer, and the walker takes another word for the return
    /// address.
    MovedStackPointer,
    /// A virtual thread's callers are still in the heap, where it left them when it yielded.
    FrozenFrames,
    /// None of these.
    Unexplained,
}

impl From<Cause> for CauseName {
    fn from(cause: Cause) -> CauseName {
        CauseName::new(cause.name())
    }
}

impl Cause {
    /// All causes, as they are shown.
    pub const ALL: [Cause; 10] = [
        Cause::CalledByVm,
        Cause::UnwalkableCaller,
        Cause::BelowStub,
        Cause::InterpreterFrame,
        Cause::FrameRemoved,
        Cause::LeafCall,
        Cause::NoRecord,
        Cause::MovedStackPointer,
        Cause::FrozenFrames,
        Cause::Unexplained,
    ];

    /// The cause of this name.
    pub fn named(name: &CauseName) -> Option<Cause> {
        Cause::ALL
            .into_iter()
            .find(|cause| cause.name() == name.as_str())
    }

    /// As `report.json` has it.
    pub fn name(self) -> &'static str {
        match self {
            Cause::CalledByVm => "called-by-vm",
            Cause::UnwalkableCaller => "unwalkable-caller",
            Cause::BelowStub => "below-stub",
            Cause::InterpreterFrame => "interpreter-frame",
            Cause::FrameRemoved => "frame-removed",
            Cause::LeafCall => "leaf-call",
            Cause::NoRecord => "no-record",
            Cause::MovedStackPointer => "moved-stack-pointer",
            Cause::FrozenFrames => "frozen-frames",
            Cause::Unexplained => "unexplained",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a program counter lies in.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Code {
    /// The interpreter.
    Interpreter,
    /// A compiled Java method.
    Compiled,
    /// The wrapper of a native method.
    NativeWrapper,
    /// Other generated code.
    Stub,
    /// A library, the VM's own among them.
    Library,
}

/// The instant of a sample.
#[derive(Copy, Clone, Debug)]
pub struct Instant<'a> {
    /// Whether the VM sees the thread in Java code, and no anchor has a program counter.
    pub in_java: bool,
    /// What the program counter lies in.
    pub code: Code,
    /// The same of the anchor to the last Java frame, where there is one.
    pub anchor: Option<Code>,
    /// The bytes at the program counter.
    pub bytes: &'a [u8],
    /// Where the return address of compiled code is.
    pub return_address: ReturnAddress,
}

/// A mismatch whose cause is asked for.
#[derive(Copy, Clone, Debug)]
pub struct Case<'a> {
    /// `truncated` or `wrong`.
    pub verdict: Verdict,
    /// What was found.
    pub reason: &'a str,
    /// The first differing frame of the walk, where it has one.
    pub at: Option<&'a ShownFrame>,
    /// The lowest frame of the walk.
    pub lowest: Option<&'a ShownFrame>,
    /// The lowest frame of the truth, where there is any.
    pub true_lowest: Option<&'a ShownFrame>,
    /// The instant; none for a walk that a thread made of itself, at a safepoint.
    pub instant: Option<Instant<'a>>,
}

impl Case<'_> {
    /// The cause that it points to.
    pub fn cause(&self) -> Cause {
        if [OTHER_RECORD, NO_RECORD].contains(&self.reason) {
            return Cause::NoRecord;
        }
        if self
            .at
            .is_some_and(|at| at.method.starts_with(ENTER_SPECIAL))
        {
            return Cause::FrozenFrames;
        }
        if self.is_cut() && self.lowest.is_some_and(|low| is_called_by_vm(&low.method)) {
            return Cause::CalledByVm;
        }
        if self.instant.is_some_and(|at| at.is_returning()) {
            return Cause::FrameRemoved;
        }
        if self.instant.is_some_and(|at| at.has_moved_stack_pointer()) {
            return Cause::MovedStackPointer;
        }
        if self.verdict == Verdict::Truncated {
            return Cause::UnwalkableCaller;
        }
        if self.instant.is_some_and(|at| at.is_below_stub()) {
            return Cause::BelowStub;
        }
        match self.instant {
            Some(Instant {
                in_java: true,
                code: Code::Interpreter,
                ..
            }) => Cause::InterpreterFrame,
            Some(Instant {
                in_java: true,
                code: Code::Library,
                ..
            }) => Cause::LeafCall,
            // Nothing is left of the walk that the truth could agree with.
            _ if self.is_cut() => Cause::UnwalkableCaller,
            _ => Cause::Unexplained,
        }
    }

    /// Whether the walk does not reach the thread's lowest frame.
    fn is_cut(&self) -> bool {
        let other_bottom = |low: &ShownFrame| {
            let lowest = self.true_lowest;
            lowest.is_some_and(|lowest| lowest.method != low.method)
        };
        self.verdict == Verdict::Truncated || self.lowest.is_some_and(other_bottom)
    }
}

impl Instant<'_> {
    fn is_below_stub(&self) -> bool {
        self.anchor == Some(Code::Stub) || (self.in_java && self.code == Code::Stub)
    }

    fn has_moved_stack_pointer(&self) -> bool {
        self.is_own_code() && matches!(self.return_address, ReturnAddress::Beyond(_))
    }

    /// Whether the walk starts in code that was compiled from a method.
    fn is_own_code(&self) -> bool {
        self.in_java && matches!(self.code, Code::Compiled | Code::NativeWrapper)
    }

    /// Whether compiled code stands between the removal of its frame and its `ret`.
    fn is_returning(&self) -> bool {
        let leaves = match self.code {
            Code::Compiled => x86_64::leaves_compiled(self.bytes),
            Code::NativeWrapper => x86_64::leaves_native_wrapper(self.bytes),
            Code::Interpreter | Code::Stub | Code::Library => return false,
        };
        let is_gone = matches!(self.return_address, ReturnAddress::AtTop(_));
        self.in_java && (leaves || is_gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Instant<'_> = Instant {
        in_java: true,
        code: Code::Compiled,
        anchor: None,
        bytes: &[0x90],
        return_address: ReturnAddress::Usual,
    };

    fn frame(method: &str) -> ShownFrame {
        ShownFrame {
            method: method.into(),
            ..ShownFrame::default()
        }
    }

    fn cause(verdict: Verdict, lowest: &str, true_lowest: &str, instant: Instant<'_>) -> Cause {
        let (lowest, true_lowest) = (frame(lowest), frame(true_lowest));
        let case = Case {
            verdict,
            reason: "some reason",
            at: None,
            lowest: Some(&lowest),
            true_lowest: Some(&true_lowest),
            instant: Some(instant),
        };
        case.cause()
    }

    #[test]
    fn the_lowest_frame_tells_who_called_it() {
        let main = "a.Main.main([Ljava/lang/String;)V";
        let thrown = "java.lang.ArithmeticException.<init>()V";
        let loads = "a.Loader.loadClass(Ljava/lang/String;)Ljava/lang/Class;";
        for low in [thrown, loads, "a.B.<clinit>()V"] {
            assert_eq!(cause(Verdict::Truncated, low, main, AT), Cause::CalledByVm);
            assert_eq!(cause(Verdict::Wrong, low, main, AT), Cause::CalledByVm);
            assert_eq!(cause(Verdict::Wrong, low, low, AT), Cause::Unexplained);
        }
        let other = cause(Verdict::Truncated, "a.B.c()V", main, AT);
        assert_eq!(other, Cause::UnwalkableCaller);
    }

    #[test]
    fn frames_that_a_virtual_thread_left_in_the_heap_are_missing_above_its_carrier() {
        let boundary = frame(&format!(
            "{ENTER_SPECIAL}Ljdk/internal/vm/Continuation;ZZ)V"
        ));
        let worker = frame("java.util.concurrent.ForkJoinWorkerThread.run()V");
        let case = |at| Case {
            verdict: Verdict::Truncated,
            reason: "some reason",
            at,
            lowest: Some(&worker),
            true_lowest: None,
            instant: None,
        };
        assert_eq!(case(Some(&boundary)).cause(), Cause::FrozenFrames);
        assert_eq!(case(Some(&worker)).cause(), Cause::UnwalkableCaller);
        assert_eq!(case(None).cause(), Cause::UnwalkableCaller);
    }

    #[test]
    fn the_code_tells_what_it_was_doing() {
        let of = |instant| cause(Verdict::Wrong, "a.B.c()V", "a.B.c()V", instant);
        let interpreter = Code::Interpreter;
        let (native, stub) = (Some(Code::NativeWrapper), Some(Code::Stub));
        assert_eq!(of(AT), Cause::Unexplained);
        assert_eq!(
            of(Instant {
                code: interpreter,
                ..AT
            }),
            Cause::InterpreterFrame
        );
        assert_eq!(
            of(Instant {
                code: Code::Library,
                ..AT
            }),
            Cause::LeafCall
        );
        assert_eq!(
            of(Instant {
                code: Code::Stub,
                ..AT
            }),
            Cause::BelowStub
        );
        let anchored = Instant {
            in_java: false,
            code: Code::Library,
            ..AT
        };
        assert_eq!(
            of(Instant {
                anchor: stub,
                ..anchored
            }),
            Cause::BelowStub
        );
        assert_eq!(
            of(Instant {
                anchor: native,
                ..anchored
            }),
            Cause::Unexplained
        );
    }

    #[test]
    fn the_return_sequence_is_known_from_each_of_its_instructions() {
        let far = [
            0x5d, 0x49, 0x3b, 0xa7, 1, 2, 3, 4, 0x0f, 0x87, 5, 6, 7, 8, 0xc3,
        ];
        let near = [0x5d, 0x49, 0x3b, 0x67, 1, 0x0f, 0x87, 5, 6, 7, 8, 0xc3];
        let native = [
            0xc9, 0x49, 0x83, 0x7f, 8, 0, 0x0f, 0x85, 1, 0, 0, 0, 0xc3, 0x90,
        ];
        let of = |code, bytes| {
            let instant = Instant { code, bytes, ..AT };
            cause(Verdict::Wrong, "a.B.c()V", "a.B.c()V", instant)
        };
        for start in [0, 1, 8, 14] {
            assert_eq!(of(Code::Compiled, &far[start..]), Cause::FrameRemoved);
        }
        for start in [0, 1, 5, 11] {
            assert_eq!(of(Code::Compiled, &near[start..]), Cause::FrameRemoved);
        }
        assert_eq!(of(Code::Compiled, &[0x5d, 0xe9, 1]), Cause::FrameRemoved);
        assert_eq!(of(Code::Compiled, &[0xe9, 1]), Cause::Unexplained);
        for start in [0, 1, 6, 12] {
            let native = &native[start..];
            assert_eq!(of(Code::NativeWrapper, native), Cause::FrameRemoved);
        }
        for other in [&far[2..], &far[..9], &native, &[]] {
            assert_eq!(of(Code::Compiled, other), Cause::Unexplained);
        }
        assert_eq!(of(Code::NativeWrapper, &far), Cause::Unexplained);
    }

    #[test]
    fn a_return_address_out_of_place_tells_what_the_code_did() {
        let of = |verdict, instant| cause(verdict, "a.B.c()V", "a.B.c()V", instant);
        let moved = Instant {
            return_address: ReturnAddress::Beyond(2),
            ..AT
        };
        let removed = Instant {
            return_address: ReturnAddress::AtTop(1),
            ..AT
        };
        for verdict in [Verdict::Wrong, Verdict::Truncated] {
            assert_eq!(of(verdict, moved), Cause::MovedStackPointer);
            assert_eq!(of(verdict, removed), Cause::FrameRemoved);
        }
        let elsewhere = [
            Instant {
                in_java: false,
                ..moved
            },
            Instant {
                code: Code::Library,
                in_java: false,
                ..moved
            },
        ];
        for instant in elsewhere {
            assert_eq!(of(Verdict::Wrong, instant), Cause::Unexplained);
        }
    }

    #[test]
    fn a_reason_that_names_its_cause_is_believed() {
        let case = |reason| Case {
            verdict: Verdict::Wrong,
            reason,
            at: None,
            lowest: None,
            true_lowest: None,
            instant: None,
        };
        assert_eq!(case(OTHER_RECORD).cause(), Cause::NoRecord);
        assert_eq!(case(NO_RECORD).cause(), Cause::NoRecord);
        assert_eq!(case("other method").cause(), Cause::Unexplained);
    }
}
