//! `moved-stack-pointer`: compiled code has moved its stack pointer within its body (mid-body SP
//! adjustment), and the walker uses another word as the return address.

use super::cause::{Cause, Program, Source};
use crate::capability::Capability;
use crate::case::{Facts, TopFrame};

pub(super) const CAUSE: Cause = Cause {
    name: "moved-stack-pointer",
    meaning: "compiled code has moved its stack pointer",
    why: "Compiled code has moved its stack pointer within the method. The size of the frame no longer leads to the return address.",
    sources: &[Source {
        file: "src/hotspot/cpu/x86/frame_x86.cpp",
        function: "frame::safe_for_sender",
        fault: "Takes `sender_sp = unextended_sp + frame_size` for compiled code. Compiled code moves the stack pointer within its body, for example `C2_MacroAssembler::string_indexof` and `LIR_Assembler::emit_typecheck_helper`, or saves registers around a call of a collector's barrier: then the return address is further up, and an old return address in that word is accepted as the caller's.",
    }],
    proof: "The word to which the frame's size leads is no return address of this code, and one further up is: the call before a return address names the code that it calls (`hotspot::return_address`). Where words of old calls fit, too, the code is followed to its call or return, which says where the stack pointer is. Or the next instruction is a `pop` of any register but the frame pointer, or a call with such a `pop` behind it, because compiled code pops only what it has pushed. If a library runs, all this is asked of the compiled code that has called it, to which the library's frame pointers lead.",
    notes: "C1's type checks push two registers while they call a stub, and C2's intrinsic of `String.indexOf` copies short strings to the stack. C2's load barriers of ZGC save the registers in use (`ZSaveLiveRegisters`) and call the VM without an anchor: while `ZRelocate::relocate_object` copies an object for the thread, the walk has the compiled method's own frame at BCI 0, and ends there. Mostly the wrong word is no return address, and the walker returns error -5. Where an older call has left its return address, the walk continues with a caller that is not on the stack. The fixture leaves return addresses of calls from frames of many sizes. Compilers do not always generate the same code, so a run may show only error -5.",
    recognise,
    needs: &[Capability::CodeCache, Capability::ThreadStates],
    since: 0,
    programs: Ok(&[
        Program {
            note: "Searches in short strings, which C2 copies to the stack.",
            fixture: "moved-stack-pointer",
            hooks: "none",
            jvm_args: &[
                "-XX:CompileCommand=quiet",
                "-XX:CompileCommand=dontinline,stackwitness.fixtures.MovedStackPointer::*",
            ],
            ..Program::USUAL
        },
        Program {
            variant: "c1",
            note: "Type checks, for which C1 pushes registers.",
            fixture: "moved-stack-pointer",
            hooks: "none",
            jvm_args: &["-XX:TieredStopAtLevel=1"],
            ..Program::USUAL
        },
    ]),
};

fn recognise(facts: &Facts<'_>) -> bool {
    facts.top_frame == TopFrame::StackPointerMoved
}
