//! `unexplained`: no known cause. This is the alarm.

use super::cause::Cause;

pub(super) const CAUSE: Cause = Cause {
    name: "unexplained",
    meaning: "no known cause",
    why: "",
    sources: &[],
    proof: "",
    notes: "A mismatch that lacks the proof of every cause is the alarm: it has a cause that is not described yet, or it is a mistake of Stackwitness. If the system forbids `process_vm_readv` and `/proc/self/mem`, no proof can be found, and all mismatches are `unexplained`. The notes of the run and the evidence say why.",
    recognise: |_| true,
    needs: &[],
    since: 0,
    programs: Err("nobody knows one"),
};
