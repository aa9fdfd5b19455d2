//! `unexplained`: no known cause. This is the alarm.

use super::cause::Cause;

pub(super) const CAUSE: Cause = Cause {
    name: "unexplained",
    meaning: "none of the known ones",
    why: "",
    sources: &[],
    recognise: |_| true,
    needs: &[],
    since: 0,
    programs: Err("nobody knows one"),
};
