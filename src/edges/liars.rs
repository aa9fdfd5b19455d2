//! What the judge makes of stacks that are false on purpose: each stack once with each lie.

use super::stack::Stack;
use oracle::edge::{EdgeFrame, Finding, Judge, MethodId, World};
use oracle::mutants::{FaultKind, Material, WalkerAnswer, inject};
use oracle::trace;
use std::collections::HashMap;
use std::fmt::Write;

/// What came of the lies of one kind.
#[derive(Copy, Clone, Debug, Default)]
struct Told {
    lies: u64,
    impossible: u64,
    unknown: u64,
}

/// Tells each lie about each stack that is possible, and shows how many are found out.
pub fn lie(stacks: &[Stack], judge: &mut Judge) -> String {
    let mut told = FaultKind::ALL.map(|kind| (kind, Told::default()));
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
        for (kind, told) in &mut told {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            let material = Material {
                previous: previous.as_deref(),
                other: other.as_deref(),
                sibling: &|method| sibling(judge.world(), method, random >> 7),
            };
            let Some(WalkerAnswer::Stack(lie)) =
                inject(*kind, &keyed(stack), 0, &material, random >> 3)
            else {
                continue;
            };
            let frames: Vec<EdgeFrame> = lie.into_iter().map(unkeyed).collect();
            judge.stack(&frames, stack.bottom, &mut found);
            let any = |wanted: fn(&Finding) -> bool| u64::from(found.iter().any(wanted));
            told.lies += 1;
            told.impossible += any(|finding| finding.is_impossible());
            told.unknown += any(|finding| matches!(finding, Finding::Unknown(_)));
        }
    }
    let mut text = String::new();
    for (kind, told) in told.iter().filter(|(_, told)| told.lies > 0) {
        let share = told.impossible as f64 * 100.0 / told.lies as f64;
        let Told {
            lies,
            impossible,
            unknown,
        } = told;
        let _ = writeln!(
            text,
            "{kind:<16} {lies:>8} lies, {impossible:>8} impossible ({share:.1} %), {unknown:>8} with unknown edges"
        );
    }
    text
}

/// The frames as lies are told about: methods by number.
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
