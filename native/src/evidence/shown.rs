//! The truth in the form of reports.

use crate::jvm::jni::Env;
use crate::truth::methods::registry::Registry;
use oracle::judge::Stack;
use oracle::record::ShownFrame;
use oracle::trace::{Frame, Location, TraceSnapshot};
use oracle::{StepFrame, StepTruth};

/// The frames of the stacks of a truth, top first.
pub fn truth(methods: &Registry, env: Env<'_>, stacks: &[Stack<'_>]) -> Vec<ShownFrame> {
    let show = |stack: &Stack<'_>| match *stack {
        Stack::Trace(truth) => of_trace_stack(methods, env, truth),
        Stack::Walked(frames) => frames.iter().map(|f| methods.show(env, f)).collect(),
        Stack::Steps(truth) => of_steps(methods, env, truth),
    };
    stacks.iter().flat_map(show).collect()
}

/// The method of the lowest frame that [`truth`] shows.
pub fn lowest(methods: &Registry, env: Env<'_>, stacks: &[Stack<'_>]) -> Option<String> {
    let of_frame = |frame: &Frame| methods.name(env, frame.method);
    let of_stack = |stack: &Stack<'_>| match *stack {
        Stack::Trace(truth) => match truth.checked.first() {
            Some(frame) => Some(of_frame(frame)),
            None => {
                let hook = truth.entries.first();
                hook.map(|&hook| methods.show_entry(hook).method)
            }
        },
        Stack::Walked(frames) => frames.last().map(of_frame),
        Stack::Steps(truth) => {
            let lowest = truth.callers.last();
            lowest.map(|frame| methods.name(env, frame.method))
        }
    };
    stacks.iter().rev().find_map(of_stack)
}

/// The frames whose locations are known and that called `callee`, which may be on these stacks several times.
pub fn callers(stacks: &[Stack<'_>], callee: &Frame) -> Vec<Frame> {
    let of_stack = |stack: &Stack<'_>| -> Vec<Frame> {
        match *stack {
            Stack::Trace(truth) => {
                // The newest checked frame may have moved on.
                let newest = truth.checked.len().saturating_sub(1);
                let pairs = truth.checked.windows(2).enumerate();
                let of_callee = pairs.filter(|(at, pair)| {
                    pair[1].method == callee.method
                        && (at + 1 == newest || pair[1].location == callee.location)
                });
                of_callee.map(|(_, pair)| pair[0]).collect()
            }
            Stack::Walked(frames) => {
                let of_callee = frames.windows(2).filter(|pair| pair[0] == *callee);
                of_callee.map(|pair| pair[1]).collect()
            }
            Stack::Steps(truth) => {
                let pairs = truth.callers.windows(2);
                let of_callee = pairs.filter(|pair| pair[0].allows(callee));
                let located = of_callee.filter_map(|pair| {
                    Some(Frame {
                        method: pair[1].method,
                        location: pair[1].location?,
                    })
                });
                located.collect()
            }
        }
    };
    stacks.iter().flat_map(of_stack).collect()
}

/// The names of the methods that [`truth`] shows, without a name for old versions of redefined methods; `None`
/// if the truth has no stack.
pub fn names(
    methods: &Registry,
    env: Env<'_>,
    stacks: &[Stack<'_>],
) -> Option<Vec<Option<String>>> {
    let of_method = |method| methods.dotted(env, method);
    let of_frame = |frame: &Frame| of_method(frame.method);
    let of_stack = |stack: &Stack<'_>| -> Vec<Option<String>> {
        match *stack {
            Stack::Trace(truth) => {
                let above = truth.entries[truth.checked_entries..].iter();
                let of_entry = |&hook| Some(methods.by_hook(hook)?.dotted());
                let checked = truth.checked.iter().map(of_frame);
                checked.chain(above.map(of_entry)).collect()
            }
            Stack::Walked(frames) => frames.iter().map(of_frame).collect(),
            Stack::Steps(truth) => {
                let callers = truth.callers.iter();
                callers.map(|frame| of_method(frame.method)).collect()
            }
        }
    };
    (!stacks.is_empty()).then(|| stacks.iter().flat_map(of_stack).collect())
}

/// The first of the stacks that are true.
fn of_steps(methods: &Registry, env: Env<'_>, truth: &StepTruth) -> Vec<ShownFrame> {
    let (stack, _) = truth.stacks().next().unwrap_or_default();
    let show = |frame: &StepFrame| {
        let location = frame.location.unwrap_or(Location(0));
        let mut shown = methods.show(
            env,
            &Frame {
                method: frame.method,
                location,
            },
        );
        if frame.location.is_none() {
            (shown.bci, shown.line, shown.rewritten_bci) = (None, None, None);
        }
        shown
    };
    stack.iter().map(show).collect()
}

fn of_trace_stack(methods: &Registry, env: Env<'_>, truth: &TraceSnapshot<'_>) -> Vec<ShownFrame> {
    let above = truth.entries[truth.checked_entries..].iter().rev();
    let mut shown: Vec<_> = above.map(|&hook| methods.show_entry(hook)).collect();
    let checked = truth.checked.iter().rev();
    let mut whole: Vec<_> = checked.map(|frame| methods.show(env, frame)).collect();
    if let Some(moves) = whole.first_mut() {
        (moves.bci, moves.line, moves.rewritten_bci) = (None, None, None);
    }
    shown.append(&mut whole);
    shown
}
