//! The truth by steps, with the keys of walkers.

use super::names::Names;
use crate::jvm::Jvm;
use hotspot::steps::Place;
use hotspot::steps::shadow::{Call, Interpreted};
use hotspot::steps::truth::{Bci, Line, lines};
use oracle::judge::{StepFrame, StepTop, StepTruth};
use oracle::trace::Location;

/// The truth at `place` with these `calls`, the oldest first; `None` if the VM's data do not show it.
pub fn truth(
    jvm: &Jvm,
    names: &mut Names,
    (place, interpreted): (&Place, Interpreted),
    calls: &[Call],
) -> Option<StepTruth> {
    let found = lines(place, interpreted, calls, &names.kept.facts(jvm)?).ok()?;
    let mut frame = |line: &Line| {
        let location = match line.bci {
            Bci::At(bci) => Some(Location(bci)),
            Bci::Native => Some(Location::NATIVE),
            Bci::Any => None,
        };
        let method = names.method(jvm, line.method)?;
        Some(StepFrame { method, location })
    };
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
