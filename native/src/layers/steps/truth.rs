//! The truth by steps, with the keys of walkers.

use super::names::Names;
use crate::jvm::Jvm;
use hotspot::steps::Place;
use hotspot::steps::shadow::{Call, Interpreted};
use hotspot::steps::truth::{Bci, Line, lines, lines_of_call};
use oracle::trace::Location;
use oracle::{StepFrame, StepTop, StepTruth};

/// The truth at `place` with these `calls`, the oldest first; `None` if the VM's data do not show it.
pub fn truth(
    jvm: &Jvm,
    names: &mut Names,
    (place, interpreted): (&Place, Interpreted),
    calls: &[Call],
) -> Option<StepTruth> {
    let found = lines(place, interpreted, calls, &names.kept.facts(jvm)?).ok()?;
    let mut frame = |line: &Line| frame(jvm, names, line);
    let callers = found.callers.iter().map(&mut frame);
    let callers = callers.collect::<Option<Vec<_>>>()?;
    // A register that should have a method may have something else.
    let top = |top: &hotspot::steps::truth::Top| {
        let frames = top.lines.iter().map(&mut frame).collect::<Option<_>>()?;
        let is_certain = top.is_certain;
        Some(StepTop { frames, is_certain })
    };
    let tops: Vec<_> = found.tops.iter().filter_map(top).collect();
    (!tops.is_empty()).then_some(StepTruth { tops, callers })
}

/// The frames that stand for the caller of one call, innermost first; `None` if the VM's data do not show them.
pub fn frames_of_call(jvm: &Jvm, names: &mut Names, call: &Call) -> Option<Vec<StepFrame>> {
    let lines = lines_of_call(call, &names.kept.facts(jvm)?).ok()?;
    lines.iter().map(|line| frame(jvm, names, line)).collect()
}

fn frame(jvm: &Jvm, names: &mut Names, line: &Line) -> Option<StepFrame> {
    let location = match line.bci {
        Bci::At(bci) => Some(Location(bci)),
        Bci::Native => Some(Location::NATIVE),
        Bci::Any => None,
    };
    let method = names.method(jvm, line.method)?;
    Some(StepFrame { method, location })
}
