//! Tests of trace stacks.

mod by_java;
mod programs;

use super::*;
use by_java::{Words, enter_plainly, exit_plainly, in_java};
use oracle::tally::Drop;
use oracle::trace::{Frame, HookId, Location, MethodKey};
use proptest::prelude::*;

fn stack() -> TraceStack {
    TraceStack::new(1 << 16).expect("memory")
}

fn copy_of(stack: &TraceStack) -> StackCopy {
    let mut copy = StackCopy::new(1 << 12).expect("memory");
    stack.copy_to(&mut copy).expect("it fits");
    copy
}

proptest! {
    #[test]
    fn hooks_that_ran_in_java_are_counted(
        below in 0u32..5,
        wanted in 0u32..40,
        pushes in proptest::collection::vec(any::<bool>(), 0..60),
    ) {
        let stack = stack();
        (0..below).for_each(|hook| { stack.push(HookId(hook + 1)); });
        stack.allow(Left(wanted));
        let (mut pushed, mut popped) = (0, 0);
        for push in pushes {
            let push = push || stack.depth() == 0;
            if !in_java(&stack, push) {
                break;
            }
            pushed += u32::from(push);
            popped += u32::from(!push);
        }
        let (ran, left) = stack.ran_in_java();
        prop_assert_eq!((ran.pushes, ran.pops), (pushed, popped));
        prop_assert_eq!(left, Left(wanted - pushed - popped));
        prop_assert_eq!(stack.depth(), below + pushed - popped);
        stack.allow(left);
        prop_assert_eq!(stack.ran_in_java().0.pushes, 0);
    }
}

#[test]
fn light_hooks_run_in_java_outside_of_a_doubt_only() {
    let stack = stack();
    let token = stack.push(HookId(1));
    assert!(!stack.is_closed());
    stack.doubt();
    assert!(stack.is_closed());
    stack.open();
    assert!(stack.is_closed(), "the doubt lasts");
    stack.pop(token);
    stack.open();
    assert!(!stack.is_closed(), "an empty stack ends the doubt");
}

#[test]
fn unusable_entries_are_above_their_limit() {
    static UNUSABLE: Unusable = Unusable::new();
    let words = Words::at(UNUSABLE.entries_address());
    assert!(words.get("DEPTH") > words.get("LIMIT") && words.get("LIMIT") == 0);
    assert_eq!(words.get("MASK"), 0, "of plain hooks there is one entry");
}

#[test]
fn hooks_run_in_java_neither_in_doubt_nor_beyond_the_capacity() {
    let stack = stack();
    stack.push(HookId(1));
    stack.doubt();
    stack.allow(Left(9));
    assert!(!in_java(&stack, true));
    stack.clear();
    stack.allow(Left(u32::MAX));
    while in_java(&stack, true) {}
    assert_eq!(copy_of_large(&stack), (1 << 13) - 1);
}

#[test]
fn a_plain_pop_of_anothers_entry_is_noticed_by_all() {
    let stack = stack();
    let outer = stack.push(HookId(1));
    for hook in [2, 3] {
        enter_plainly(&stack, hook);
    }
    assert_eq!(
        copy_of(&stack).hooks().collect::<Vec<_>>(),
        [1, 2, 3].map(HookId)
    );
    // The frame of 3 has ended without a hook.
    exit_plainly(&stack, 2);
    let mut copy = StackCopy::new(1 << 12).expect("memory");
    assert_eq!(stack.copy_to(&mut copy), Err(Drop::InDoubt));
    enter_plainly(&stack, 4);
    exit_plainly(&stack, 4);
    assert_eq!(stack.copy_to(&mut copy), Err(Drop::InDoubt), "for good");
    assert!(stack.notice() && stack.is_doubtful() && !stack.notice());
    assert_eq!(stack.pop(outer), Balance::TooMany(1));
    assert!(!stack.is_doubtful(), "an empty stack ends the doubt");
}

#[test]
fn an_entry_that_came_after_plain_pops_in_doubt_proves_nothing() {
    let stack = stack();
    let outer = stack.push(HookId(1));
    for hook in [2, 2, 2] {
        enter_plainly(&stack, hook);
    }
    // The newest frame of 2 has ended without a hook. Which entry is that of the frame that the error leaves next?
    stack.doubt();
    let guessed = stack.newest(HookId(2)).expect("an entry");
    stack.pop(guessed);
    // The oldest frame of 2 returns, and takes the entry of another. Its own stays.
    exit_plainly(&stack, 2);
    let later = stack.push(HookId(3));
    assert_eq!(later.depth, 2);
    assert_eq!(stack.pop(later), Balance::Even);
    assert!(stack.is_doubtful(), "the entry below is of no frame");
    assert_eq!(stack.pop(outer), Balance::TooMany(1));
    assert!(!stack.is_doubtful());
}

#[test]
fn plain_pops_pass_over_marks() {
    let stack = stack();
    for hook in [1, 2] {
        enter_plainly(&stack, hook);
    }
    stack.leave();
    exit_plainly(&stack, 2);
    stack.doubt();
    exit_plainly(&stack, 1);
    assert!(!stack.notice());
}

#[test]
fn plain_pushes_beyond_the_end_are_noticed_for_good() {
    let stack = stack();
    let capacity = (1 << 13) - 1;
    (0..capacity).for_each(|_| enter_plainly(&stack, 5));
    assert_eq!(copy_of_large(&stack), capacity);
    enter_plainly(&stack, 6);
    enter_plainly(&stack, 7);
    for hook in [7, 6, 5] {
        let mut copy = StackCopy::new(1 << 14).expect("memory");
        assert_eq!(stack.copy_to(&mut copy), Err(Drop::TraceStackFull));
        exit_plainly(&stack, hook);
    }
    let mut copy = StackCopy::new(1 << 14).expect("memory");
    assert_eq!(
        stack.copy_to(&mut copy),
        Err(Drop::TraceStackFull),
        "an entry below was overwritten"
    );
    assert!(stack.notice());
    assert_eq!(stack.copy_to(&mut copy), Err(Drop::InDoubt));
    stack.clear();
    assert_eq!(copy_of_large(&stack), 0);
}

#[test]
fn more_plain_pops_than_pushes_are_noticed() {
    let stack = stack();
    exit_plainly(&stack, 1);
    let mut copy = StackCopy::new(1 << 12).expect("memory");
    assert!(stack.copy_to(&mut copy).is_err());
    assert!(stack.notice());
    assert_eq!(stack.depth(), 0);
    let token = stack.push(HookId(1));
    assert_eq!(stack.pop(token), Balance::Even);
    assert!(stack.copy_to(&mut copy).is_ok());
}

/// How many entries fit: one for each eight bytes of the thread's stack, but for the last.
fn copy_of_large(stack: &TraceStack) -> usize {
    let mut copy = StackCopy::new(1 << 14).expect("memory");
    stack.copy_to(&mut copy).expect("it fits");
    copy.hooks().count()
}

#[test]
fn a_missing_pop_is_noticed_and_repaired() {
    let stack = stack();
    let outer = stack.push(HookId(1));
    stack.push(HookId(2));
    assert_eq!(stack.catch(outer), Balance::TooMany(1));
    assert_eq!(stack.pop(outer), Balance::Even);
    assert_eq!(stack.pop(outer), Balance::TooFew);
    assert_eq!(stack.depth(), 0);
}

#[test]
fn an_entry_that_was_popped_too_early_comes_back() {
    let stack = stack();
    let token = stack.push(HookId(5));
    stack.pop(token);
    assert_eq!(stack.catch(token), Balance::TooFew);
    assert_eq!(copy_of(&stack).hooks().collect::<Vec<_>>(), [HookId(5)]);
}

#[test]
fn an_exception_on_its_way_is_known_until_a_hook_has_caught_it() {
    let stack = stack();
    let leaving = || {
        // The ids from 10 on are constructors, and each calls the constructor with the next id.
        let calls = |above: Option<HookId>, hook: HookId| {
            hook.0 >= 10 && above.is_none_or(|above| above.0 == hook.0 + 1)
        };
        let runs = copy_of(&stack).leaving(calls);
        runs.iter()
            .map(|run| (run.upto, run.count))
            .collect::<Vec<_>>()
    };
    let outer = stack.push(HookId(1));
    stack.push(HookId(20));
    stack.push(HookId(10));
    let inner = stack.push(HookId(11));
    let callee = stack.push(HookId(2));
    assert_eq!(leaving(), []);
    stack.pop(callee);
    assert_eq!(leaving(), [], "it returned");
    stack.leave();
    assert_eq!(leaving(), [(4, 2)]);
    stack.push(HookId(2));
    assert_eq!(leaving(), [(4, 2)], "who caught it?");
    stack.record(
        &[Frame {
            method: MethodKey(2),
            location: Location(0),
        }; 5],
    );
    assert_eq!(leaving(), [], "they were seen");
    stack.pop(callee);
    assert_eq!(stack.catch(inner), Balance::Even);
    assert_eq!(leaving(), [], "the innermost");
    stack.leave();
    assert_eq!(stack.pop(outer), Balance::TooMany(3));
    stack.push(HookId(10));
    assert_eq!(leaving(), [], "another frame");
    stack.leave();
    assert_eq!(leaving(), [(1, 1)]);
}

#[test]
fn entries_beyond_the_capacity_are_counted_and_come_back() {
    let stack = TraceStack::new(0).expect("memory");
    let tokens: Vec<_> = (0..5000).map(|i| stack.push(HookId(i))).collect();
    let mut copy = StackCopy::new(1 << 13).expect("memory");
    assert_eq!(stack.copy_to(&mut copy), Err(Drop::TraceStackFull));
    for token in tokens.into_iter().rev() {
        assert_eq!(stack.pop(token), Balance::Even);
    }
}

#[test]
fn an_id_that_was_not_pushed_is_not_found() {
    let stack = stack();
    assert_eq!(stack.newest(HookId(1)), None);
    stack.push(HookId(2));
    assert_eq!(stack.newest(HookId(1)), None);
}

#[test]
fn in_doubt_nothing_is_claimed_until_a_hook_proves_its_entry() {
    let stack = stack();
    let claims = || stack.copy_to(&mut StackCopy::new(1 << 12).expect("memory"));
    let pop = |hook| stack.pop(stack.newest(HookId(hook)).expect("its entry"));
    let catcher = stack.push(HookId(1));
    for _ in 0..4 {
        stack.push(HookId(2));
    }
    // Two frames of the recursion have ended, and the third runs its hook.
    stack.doubt();
    assert_eq!(pop(2), Balance::Even, "as far as it can tell");
    assert_eq!(claims(), Err(Drop::InDoubt));
    assert_eq!(stack.catch(catcher), Balance::TooMany(3));
    assert_eq!(claims(), Ok(()));

    stack.push(HookId(2));
    stack.push(HookId(2));
    stack.doubt();
    stack.push(HookId(3));
    assert_eq!(pop(3), Balance::Even);
    assert_eq!(claims(), Err(Drop::InDoubt), "younger than the doubt");
    assert_eq!(pop(1), Balance::TooMany(2));
    assert_eq!(claims(), Ok(()), "no other entry has this id");
}

#[derive(Clone, Debug)]
enum Step {
    Push(u32),
    Pop,
    Check,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![3 => (0..50u32).prop_map(Step::Push), 2 => Just(Step::Pop), 1 => Just(Step::Check)]
}

proptest! {
    /// Compares the trace stack with a plain model: a list of hooks, with the checked frames of
    /// each. The "whole stack" has one unhooked frame between hooked frames.
    #[test]
    fn behaves_as_its_model(steps in prop::collection::vec(step(), 0..200)) {
        let stack = stack();
        let mut model: Vec<(u32, Token, Option<Vec<Frame>>)> = vec![];
        for (time, step) in steps.into_iter().enumerate() {
            match step {
                Step::Push(hook) => model.push((hook, stack.push(HookId(hook)), None)),
                Step::Pop => if let Some((_, token, _)) = model.pop() {
                    prop_assert_eq!(stack.pop(token), Balance::Even);
                },
                Step::Check => if !model.is_empty() {
                    // All frames except the top keep the location of their last check.
                    let known = model.iter().rev().find_map(|m| m.2.clone()).unwrap_or_default();
                    let mut whole = known.clone();
                    for (i, entry) in model.iter().enumerate().skip(known.len() / 2) {
                        let frame = |method, location| Frame { method: MethodKey(method), location: Location(location) };
                        whole.push(frame(1000 + i, time as i32));
                        whole.push(frame(entry.0 as usize, time as i32));
                    }
                    if let Some(moved) = known.len().checked_sub(1) {
                        whole[moved].location = Location(time as i32);
                    }
                    let top_first: Vec<_> = whole.iter().rev().copied().collect();
                    stack.record(&top_first);
                    model.last_mut().expect("not empty").2 = Some(whole);
                },
            }
            let copy = copy_of(&stack);
            let hooks: Vec<_> = model.iter().map(|m| HookId(m.0)).collect();
            prop_assert_eq!(copy.hooks().collect::<Vec<_>>(), hooks);
            let newest = model.iter().rposition(|m| m.2.is_some());
            prop_assert_eq!(copy.checked_entries(), newest.map_or(0, |i| i + 1));
            let expected = newest.and_then(|i| model[i].2.clone()).unwrap_or_default();
            let (copied, moved) = (copy.checked_frames(), expected.len().saturating_sub(1));
            prop_assert_eq!(copied.len(), expected.len());
            prop_assert_eq!(&copied[..moved], &expected[..moved]);
            prop_assert_eq!(copied.last().map(|f| f.method), expected.last().map(|f| f.method));
            prop_assert!(stack.is_consistent());
        }
    }
}
