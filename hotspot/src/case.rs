//! A mismatch, as the causes see it.

use crate::arch::Arch;
use crate::code::CodeKind;
use crate::proofs::Proofs;
use crate::return_address::ReturnAddress;
use oracle::{Reason, Verdict};

/// A mismatch with its evidence.
#[derive(Copy, Clone, Debug)]
pub struct Case<'a> {
    /// `truncated` or `wrong`.
    pub verdict: Verdict,
    /// The judge's reason.
    pub reason: Reason,
    /// The method of the walk's frame at the first difference, if the walk has a frame there, as
    /// `package.Class.name(descriptor)`.
    pub at: Option<&'a str>,
    /// The method of the lowest frame of the walk.
    pub lowest: Option<&'a str>,
    /// The method of the lowest frame of the truth, if the truth has a frame.
    pub true_lowest: Option<&'a str>,
    /// Whether the truth has all frames of an imprecise walk but the hooks at its top.
    pub is_hook_alone: bool,
    /// What code, stack and debug info show.
    pub proofs: &'a Proofs,
    /// The instant of the sample; `None` for a walk of a thread at a safepoint.
    pub instant: Option<Instant<'a>>,
}

/// The instant of a sample.
#[derive(Copy, Clone, Debug)]
pub struct Instant<'a> {
    /// Whether the thread state is "in Java", and no anchor has a program counter.
    pub in_java: bool,
    /// The kind of code at the program counter.
    pub code: CodeKind,
    /// The kind of code at the program counter of the anchor, if the thread has an anchor to its
    /// last Java frame.
    pub anchor: Option<CodeKind>,
    /// The bytes at the program counter.
    pub bytes: &'a [u8],
    /// Where the return address of a stub that runs is, or that of compiled code, which runs or has called the library that
    /// runs.
    pub return_address: ReturnAddress,
}

/// The state of the top frame at the instant of the sample.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum TopFrame {
    /// Nothing shows that the frame was changed, or the walk does not start in compiled code.
    Intact,
    /// The frame was removed: the code is about to return. Of a stub's frame, it may be a part, or not built yet.
    Removed,
    /// The code had moved its stack pointer within its body.
    StackPointerMoved,
}

/// A case, and the state of its top frame, on any processor.
#[derive(Copy, Clone, Debug)]
pub struct Facts<'a> {
    /// The case.
    pub case: Case<'a>,
    /// The state of the top frame.
    pub top_frame: TopFrame,
}

impl<'a> Case<'a> {
    /// Reads the machine code of the case as that of processor `A`.
    pub fn facts<A: Arch>(self) -> Facts<'a> {
        let top_frame = self.instant.map(|instant| instant.top_frame::<A>());
        Facts {
            case: self,
            top_frame: top_frame.unwrap_or(TopFrame::Intact),
        }
    }
}

impl Instant<'_> {
    fn top_frame<A: Arch>(&self) -> TopFrame {
        // In other code the walk does not start in an nmethod, or in a stub with a frame of known size.
        let is_removed = match self.code {
            CodeKind::Compiled if self.in_java => A::is_frame_removed(self.bytes),
            CodeKind::NativeWrapper if self.in_java => A::is_wrapper_frame_removed(self.bytes),
            // A stub's own code says where its return address is, at its start, too.
            CodeKind::Stub if self.in_java => false,
            // Compiled code calls barriers of collectors without an anchor, and saves registers on the stack before
            // (`ZSaveLiveRegisters` in `cpu/x86/gc/z/zBarrierSetAssembler_x86.cpp`).
            CodeKind::Library if self.in_java => {
                return match self.return_address {
                    ReturnAddress::Beyond(_) => TopFrame::StackPointerMoved,
                    _ => TopFrame::Intact,
                };
            }
            _ => return TopFrame::Intact,
        };
        match self.return_address {
            _ if is_removed => TopFrame::Removed,
            ReturnAddress::AtTop(_) => TopFrame::Removed,
            ReturnAddress::InLink if self.code == CodeKind::Stub || !A::is_prologue(self.bytes) => {
                TopFrame::Removed
            }
            ReturnAddress::Beyond(_) => TopFrame::StackPointerMoved,
            _ if self.code == CodeKind::Compiled && A::is_stack_pointer_moved(self.bytes) => {
                TopFrame::StackPointerMoved
            }
            ReturnAddress::Usual | ReturnAddress::InLink => TopFrame::Intact,
        }
    }
}

impl Facts<'_> {
    /// Whether the walk has false frames, and does not only lack true ones.
    pub fn is_wrong(&self) -> bool {
        self.case.verdict == Verdict::Wrong
    }

    /// Whether the walk ends above the lowest frame of the thread.
    pub fn is_cut(&self) -> bool {
        let bottoms = self.case.lowest.zip(self.case.true_lowest);
        let other_bottom = bottoms.is_some_and(|(lowest, truth)| lowest != truth);
        self.case.verdict == Verdict::Truncated || other_bottom
    }

    /// Whether only frames at the top are missing, or no frame agrees.
    pub fn lacks_top(&self) -> bool {
        let reason = self.case.reason;
        matches!(reason, Reason::TopMissing | Reason::NothingOfTruth)
    }

    /// Whether the methods of the walk are right, and a BCI is wrong.
    pub fn is_of_bci(&self) -> bool {
        let reason = self.case.reason;
        matches!(
            reason,
            Reason::OtherLocation | Reason::OtherLocationBelowChecked
        )
    }

    /// Whether the thread was in Java code, with the program counter in code of this kind.
    pub fn runs(&self, code: CodeKind) -> bool {
        let instant = self.case.instant;
        instant.is_some_and(|instant| instant.in_java && instant.code == code)
    }

    /// Whether a word of the stack points into a stub whose name starts with `name`.
    pub fn has_on_stack(&self, name: &str) -> bool {
        self.case
            .proofs
            .stubs
            .iter()
            .any(|stub| stub.starts_with(name))
    }

    /// Whether the anchor to the last Java frame points into code of this kind.
    pub fn is_anchored_in(&self, code: CodeKind) -> bool {
        self.case
            .instant
            .is_some_and(|instant| instant.anchor == Some(code))
    }
}
