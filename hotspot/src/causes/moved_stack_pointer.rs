//! `moved-stack-pointer`: compiled code has moved its stack pointer within its body (mid-body SP
//! adjustment), and the walker takes another word for the return address.

use super::cause::{Cause, Program};
use crate::capability::Capability;
use crate::case::{Facts, TopFrame};

pub(super) const CAUSE: Cause = Cause {
    name: "moved-stack-pointer",
    meaning: "compiled code has moved its stack pointer",
    why: "Compiled code has moved its stack pointer within the method. The size of the frame no longer leads to the return address.",
    recognise,
    needs: &[Capability::CodeCache, Capability::ThreadStates],
    since: 0,
    programs: &[
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
    ],
};

fn recognise(facts: &Facts<'_>) -> bool {
    facts.top_frame == TopFrame::StackPointerMoved
}
