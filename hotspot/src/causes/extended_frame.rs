//! `extended-frame`: compiled code has extended its frame to unpack value objects, and the walker uses the size of the frame
//! as compiled.

use super::cause::{Cause, Source};
use crate::capability::Capability;
use crate::case::Facts;

pub(super) const CAUSE: Cause = Cause {
    name: "extended-frame",
    meaning: "the walk ends at a frame that was extended for the fields of value objects",
    why: "A caller passed value objects, and the callee unpacked their fields into its own frame, which it extended for them. The walker looks for the return address where it would be without this.",
    sources: &[Source {
        file: "src/hotspot/cpu/x86/frame_x86.cpp",
        function: "frame::safe_for_sender",
        fault: "Reads the return address at `unextended_sp + frame_size`. In a frame that `MacroAssembler::unpack_inline_args` has extended there is a field: the return address is where the frame's own word for its size leads, as `repair_sender_sp` knows.",
    }],
    proof: "A compiled frame on the stack whose word for its size is larger than the size in the code blob, with a return address into generated code where this word leads. Its method is the lowest of the walk.",
    notes: "C2 passes the fields of a value object instead of the object (JEP 401, a preview). If they need more room than the caller has left for arguments, the callee extends its frame, keeps its size in a word of it, and its code ends by adding that word to the stack pointer. AsyncGetCallTrace of 28-ea cuts stacks of a program that passes value records through recursive methods (`cargo test --test layers values`); AsyncGetStackTrace reads the word.",
    recognise,
    needs: &[
        Capability::CodeCache,
        Capability::CompiledMethods,
        Capability::MethodNames,
    ],
    since: 28,
    // Its programs need classes that only a preview of JDK 28 compiles: `tests/layers/Values.java`.
    programs: Err(
        "only a preview of the JDK compiles its classes: `tests/layers/values.rs` runs them",
    ),
};

fn recognise(facts: &Facts<'_>) -> bool {
    let lowest = facts.case.lowest.and_then(|name| name.split('(').next());
    let extended = &facts.case.proofs.extended;
    facts.is_cut() && lowest.is_some_and(|lowest| extended.iter().any(|of| of == lowest))
}
