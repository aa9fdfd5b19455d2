//! `upcall-stub`: the walk ends where C code called Java through an upcall stub.

use super::cause::{Cause, Program, Source};
use crate::capability::Capability;
use crate::case::Facts;

/// The VM's name for the stub. Debug builds add the signature.
const STUB: &str = "upcall_stub";

pub(super) const CAUSE: Cause = Cause {
    name: "upcall-stub",
    meaning: "the walk ends at an upcall stub, through which C code called Java",
    why: "C code called Java through an upcall stub of the foreign function interface. The walk ends at the stub.",
    sources: &[
        Source {
            file: "src/hotspot/cpu/x86/frame_x86.cpp",
            function: "frame::safe_for_sender",
            fault: "Returns false if the sender is an upcall stub (`sender_blob->is_upcall_stub()`), although `sender_for_upcall_stub_frame` can walk such a frame.",
        },
        Source {
            file: "src/hotspot/share/prims/forte.cpp",
            function: "vframeStreamForte::forte_next",
            fault: "Sets `at_end_mode` if `safe_for_sender` returns false. The caller gets the stack that was found so far, without an error code.",
        },
    ],
    proof: "A return address into an upcall stub (`stack_stubs` in `report.json`) on the stack, where the walk is cut.",
    notes: "The walk ends at the method that the stub called, mostly a `LambdaForm$MH.invoke`, without an error code. GetStackTrace has the frames that called the C code. The verdict is `truncated`, or `wrong` where no frame of the trace stack is left.",
    recognise,
    needs: &[Capability::CodeCache],
    since: 22,
    programs: Ok(&[Program {
        note: "The C function bsearch calls a Java method to compare.",
        fixture: "foreign-upcalls",
        jvm_args: &["--enable-native-access=ALL-UNNAMED"],
        ..Program::USUAL
    }]),
};

fn recognise(facts: &Facts<'_>) -> bool {
    facts.is_cut() && facts.has_on_stack(STUB)
}
