//! How many injected faults the judge finds: each kind of fault is injected once into each stack.

use super::stack::Stack;
use oracle::edge::{EdgeFrame, Finding, Judge, MethodId, World};
use oracle::mutants::{FaultKind, Material, WalkerAnswer, inject};
use oracle::trace;
use std::collections::HashMap;
use std::fmt::Write;

/// How the faults of one kind ended.
#[derive(Copy, Clone, Debug, Default)]
struct FaultTally {
    faults: u64,
    impossible: u64,
    unknown: u64,
}

/// Injects each kind of fault into each stack that is possible, and shows how many faults are
/// found.
pub fn inject_all(stacks: &[Stack], judge: &mut Judge) -> String {
    let mut kinds = FaultKind::ALL.map(|kind| (kind, FaultTally::default()));
    let mut last: HashMap<Option<&str>, &Stack> = HashMap::new();
    let mut before: Option<&Stack> = None;
    let mut found = Vec::new();
    let mut random = 1u64;
    for stack in stacks {
        let thread = stack.thread.as_deref();
        let previous = last.insert(thread, stack).map(keyed);
        let other = before
            .filter(|before| before.thread != stack.thread)
            .map(keyed);
        before = Some(stack);
        judge.stack(&stack.frames, stack.bottom, &mut found);
        if found.iter().any(|finding| finding.is_impossible()) {
            continue;
        }
        for (kind, counts) in &mut kinds {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            let material = Material {
                previous: previous.as_deref(),
                other: other.as_deref(),
                sibling: &|method| sibling(judge.world(), method, random >> 7),
                inside: &|_| None,
                strangers: None,
                code_of_other_state: None,
            };
            let Some(WalkerAnswer::Stack(faulty)) =
                inject(*kind, &keyed(stack), 0, &material, random >> 3)
            else {
                continue;
            };
            let frames: Vec<EdgeFrame> = faulty.into_iter().map(unkeyed).collect();
            judge.stack(&frames, stack.bottom, &mut found);
            let any = |wanted: fn(&Finding) -> bool| u64::from(found.iter().any(wanted));
            counts.faults += 1;
            counts.impossible += any(|finding| finding.is_impossible());
            counts.unknown += any(|finding| matches!(finding, Finding::Unknown(_)));
        }
    }
    let mut text = String::new();
    for (kind, counts) in kinds.iter().filter(|(_, counts)| counts.faults > 0) {
        let share = counts.impossible as f64 * 100.0 / counts.faults as f64;
        let FaultTally {
            faults,
            impossible,
            unknown,
        } = counts;
        let _ = writeln!(
            text,
            "{kind:<16} {faults:>8} faults, {impossible:>8} impossible ({share:.1} %), {unknown:>8} with unknown edges"
        );
    }
    text
}

/// The frames with methods as numbers, as fault injection takes them.
fn keyed(stack: &Stack) -> Vec<trace::Frame> {
    let frames = stack.frames.iter().map(|frame| trace::Frame {
        method: trace::MethodKey(frame.method.index()),
        location: frame.location,
    });
    frames.collect()
}

fn unkeyed(frame: trace::Frame) -> EdgeFrame {
    EdgeFrame {
        method: MethodId::from_index(frame.method.0),
        location: frame.location,
    }
}

/// Another method of the same class.
fn sibling(world: &World, method: trace::MethodKey, random: u64) -> Option<trace::MethodKey> {
    let siblings = world.siblings(MethodId::from_index(method.0));
    let choice = random as usize % siblings.len().max(1);
    siblings.get(choice).map(|id| trace::MethodKey(id.index()))
}
