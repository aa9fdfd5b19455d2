//! What a thread does, as the VM sees it: `JavaThreadState` (`share/utilities/globalDefinitions.hpp`).

use super::fields::{Fields, Missing};

/// What a thread does, whether or not it is about to do something else.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub enum Activity {
    /// The thread has not begun to run Java code, or has ended.
    #[default]
    New,
    /// The thread runs native code.
    Native,
    /// The thread runs code of the VM.
    Vm,
    /// The thread runs Java code, or code that Java code calls without a change of the state.
    Java,
    /// The thread waits in code of the VM.
    Blocked,
}

/// The state of a thread.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct ThreadState {
    /// What the thread does.
    pub activity: Activity,
    /// Whether the thread is about to do something else (`_trans`): the VM checks for safepoints there. JDK 28 has no such
    /// states.
    pub in_transition: bool,
}

/// The numbers that a VM gives to the states. Releases number them differently.
#[derive(Copy, Clone, Debug)]
pub struct States([(Option<i32>, ThreadState); 2 * NAMES.len()]);

/// The states by their names in HotSpot, each with the name of the state of a thread that is about to leave it.
const NAMES: [(Activity, &str, &str); 4] = [
    (
        Activity::Native,
        "_thread_in_native",
        "_thread_in_native_trans",
    ),
    (Activity::Vm, "_thread_in_vm", "_thread_in_vm_trans"),
    (Activity::Java, "_thread_in_Java", "_thread_in_Java_trans"),
    (
        Activity::Blocked,
        "_thread_blocked",
        "_thread_blocked_trans",
    ),
];

/// States of threads that have not begun to run.
const EARLY: [&str; 2] = ["_thread_uninitialized", "_thread_new"];

impl Activity {
    /// What is wrong where the VM itself contradicts its number of this state.
    pub fn contradicted(self) -> Missing {
        let mut known = NAMES.iter().filter(|&&(activity, ..)| activity == self);
        let name = known.next().map_or(EARLY[1], |&(_, name, _)| name);
        Missing::Contradicted(name)
    }
}

impl States {
    /// Finds the numbers. They must not contradict each other.
    pub fn find(fields: &impl Fields) -> Result<States, Missing> {
        // Up to JDK 27 every state has one for threads that leave it; JDK 28 has no such states.
        let is_there = |name| fields.find_constant(name).is_some();
        let has_transitions = NAMES.iter().any(|&(_, _, leaving)| is_there(leaving));
        let mut states = [(None, ThreadState::default()); 2 * NAMES.len()];
        for (pair, (activity, name, leaving)) in states.chunks_exact_mut(2).zip(NAMES) {
            let number = fields.constant(name)?;
            pair[0] = (Some(number), ThreadState::of(activity));
            if has_transitions {
                let next = fields.constant(leaving)?;
                // `globalDefinitions.hpp`: "Given a state, the xxxx_trans state can always be found by adding 1."
                if number.checked_add(1) != Some(next) {
                    return Err(Missing::Disagreeing(vec![name, leaving]));
                }
                let in_transition = true;
                pair[1] = (
                    Some(next),
                    ThreadState {
                        activity,
                        in_transition,
                    },
                );
            }
        }
        if !has_transitions {
            check_all(fields)?;
        }
        Ok(States(states))
    }

    /// The state that this VM numbers so. Async-signal-safe.
    pub fn of(&self, number: i32) -> ThreadState {
        let known = self.0.iter().find(|(known, _)| *known == Some(number));
        known.map_or(ThreadState::default(), |&(_, state)| state)
    }
}

/// Whether the states, which have no others beside them, are numbered one by one from 0 on (`enum JavaThreadState` of
/// JDK 28).
fn check_all(fields: &impl Fields) -> Result<(), Missing> {
    let names = EARLY.into_iter().chain(NAMES.map(|(_, name, _)| name));
    let names: Vec<&str> = names.collect();
    let numbers: Result<Vec<i32>, Missing> =
        names.iter().map(|name| fields.constant(name)).collect();
    let mut numbers = numbers?;
    numbers.sort_unstable();
    if numbers.into_iter().eq(0..names.len() as i32) {
        Ok(())
    } else {
        Err(Missing::Disagreeing(names))
    }
}

impl ThreadState {
    /// The state of a thread that does this, and is not in transition.
    pub const fn of(activity: Activity) -> ThreadState {
        ThreadState {
            activity,
            in_transition: false,
        }
    }

    /// What the thread does, or has done until now if it is in transition.
    pub const fn activity(self) -> Activity {
        self.activity
    }

    /// The state in words.
    pub fn name(self) -> &'static str {
        match (self.activity, self.in_transition) {
            (Activity::New, _) => "starting or ending",
            (Activity::Native, false) => "in native",
            (Activity::Native, true) => "in native, leaving",
            (Activity::Vm, false) => "in the VM",
            (Activity::Vm, true) => "in the VM, leaving",
            (Activity::Java, false) => "in Java",
            (Activity::Java, true) => "in Java, leaving",
            (Activity::Blocked, false) => "blocked",
            (Activity::Blocked, true) => "blocked, leaving",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::fields::toy::Toy;

    /// JDK 17 to 27.
    const BEFORE: &[(&str, i64)] = &[
        ("_thread_in_native", 4),
        ("_thread_in_native_trans", 5),
        ("_thread_in_vm", 6),
        ("_thread_in_vm_trans", 7),
        ("_thread_in_Java", 8),
        ("_thread_in_Java_trans", 9),
        ("_thread_blocked", 10),
        ("_thread_blocked_trans", 11),
    ];

    /// JDK 28.
    const SINCE: &[(&str, i64)] = &[
        ("_thread_uninitialized", 0),
        ("_thread_new", 1),
        ("_thread_in_native", 2),
        ("_thread_in_vm", 3),
        ("_thread_in_Java", 4),
        ("_thread_blocked", 5),
    ];

    #[test]
    fn a_state_is_what_the_vm_says_it_is() {
        let (before, since) = (
            States::find(&Toy::of(BEFORE)),
            States::find(&Toy::of(SINCE)),
        );
        let names = |states: &Result<States, Missing>, numbers: &[i32]| -> Vec<&str> {
            let states = states.as_ref().expect("all are there");
            numbers.iter().map(|&n| states.of(n).name()).collect()
        };
        let expected = ["in native", "in native, leaving", "in Java", "blocked"];
        assert_eq!(names(&before, &[4, 5, 8, 10]), expected);
        let expected = ["in native", "in the VM", "in Java", "blocked"];
        assert_eq!(names(&since, &[2, 3, 4, 5]), expected);
        assert_eq!(names(&since, &[0, 1, 8, -1]), ["starting or ending"; 4]);
    }

    #[test]
    fn a_vm_that_does_not_name_a_state_is_not_understood() {
        let some = Toy::of(&[("_thread_in_native", 4), ("_thread_in_vm", 5)]);
        let missing = States::find(&some).expect_err("one is missing");
        assert_eq!(missing, Missing::Constant("_thread_in_Java"));
    }

    #[test]
    fn numbers_that_contradict_each_other_are_not_believed() {
        for described in [BEFORE, SINCE] {
            for at in 0..described.len() {
                for false_number in [-1, 0, 2, 3, 4, 6, 7, 9, 12, 77] {
                    let mut changed = described.to_vec();
                    let (name, number) = changed[at];
                    if number == false_number {
                        continue;
                    }
                    changed[at] = (name, false_number);
                    let found = States::find(&Toy::of(&changed));
                    let text = found.expect_err(name).to_string();
                    assert!(text.contains(name), "{name} as {false_number}: {text}");
                }
            }
        }
    }

    #[test]
    fn a_state_that_threads_leave_is_there_with_all_others_of_its_kind() {
        let mut some = BEFORE.to_vec();
        some.retain(|(name, _)| *name != "_thread_in_vm_trans");
        let missing = States::find(&Toy::of(&some)).expect_err("one is missing");
        assert_eq!(missing, Missing::Constant("_thread_in_vm_trans"));
    }
}
