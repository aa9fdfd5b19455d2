//! What a thread does, as the VM sees it: `JavaThreadState` (`share/utilities/globalDefinitions.hpp`).

use super::fields::Fields;

/// What a thread does.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub enum Doing {
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
    pub doing: Doing,
    /// Whether the thread is about to do something else (`_trans`): the VM checks for safepoints there. JDK 28 has no such
    /// states.
    pub is_leaving: bool,
}

/// The numbers that a VM gives to the states. Releases number them differently.
#[derive(Copy, Clone, Debug)]
pub struct States([(Option<i32>, ThreadState); NAMES.len()]);

/// The names of the states in HotSpot, and whether each VM has them.
const NAMES: [(&str, Doing, bool); 8] = [
    ("_thread_in_native", Doing::Native, false),
    ("_thread_in_vm", Doing::Vm, false),
    ("_thread_in_Java", Doing::Java, false),
    ("_thread_blocked", Doing::Blocked, false),
    ("_thread_in_native_trans", Doing::Native, true),
    ("_thread_in_vm_trans", Doing::Vm, true),
    ("_thread_in_Java_trans", Doing::Java, true),
    ("_thread_blocked_trans", Doing::Blocked, true),
];

impl States {
    /// `None` if this VM does not publish the numbers.
    pub fn find(fields: &impl Fields) -> Option<States> {
        let mut states = [(None, ThreadState::default()); NAMES.len()];
        for (state, (name, doing, is_leaving)) in states.iter_mut().zip(NAMES) {
            let number = fields.constant(name);
            if number.is_none() && !is_leaving {
                return None;
            }
            *state = (number, ThreadState { doing, is_leaving });
        }
        Some(States(states))
    }

    /// The state that this VM numbers so. Async-signal-safe.
    pub fn of(&self, number: i32) -> ThreadState {
        let known = self.0.iter().find(|(known, _)| *known == Some(number));
        known.map_or(ThreadState::default(), |&(_, state)| state)
    }
}

impl ThreadState {
    /// The state of a thread that does this, and goes on with it.
    pub const fn of(doing: Doing) -> ThreadState {
        ThreadState {
            doing,
            is_leaving: false,
        }
    }

    /// The state in words.
    pub fn name(self) -> &'static str {
        match (self.doing, self.is_leaving) {
            (Doing::New, _) => "starting or ending",
            (Doing::Native, false) => "in native",
            (Doing::Native, true) => "in native, leaving",
            (Doing::Vm, false) => "in the VM",
            (Doing::Vm, true) => "in the VM, leaving",
            (Doing::Java, false) => "in Java",
            (Doing::Java, true) => "in Java, leaving",
            (Doing::Blocked, false) => "blocked",
            (Doing::Blocked, true) => "blocked, leaving",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Constants(&'static [(&'static str, i32)]);

    impl Fields for Constants {
        fn field(&self, _: &[&str], _: &str) -> Option<usize> {
            None
        }

        fn type_of(&self, _: &[&str], _: &str) -> Option<&str> {
            None
        }

        fn size(&self, _: &str) -> Option<usize> {
            None
        }

        fn constant(&self, name: &str) -> Option<i32> {
            let found = self.0.iter().find(|(known, _)| *known == name);
            found.map(|&(_, number)| number)
        }

        fn long_constant(&self, _: &str) -> Option<u64> {
            None
        }
    }

    #[test]
    fn a_state_is_what_the_vm_says_it_is() {
        // JDK 17 to 27, and JDK 28.
        let before = States::find(&Constants(&[
            ("_thread_in_native", 4),
            ("_thread_in_native_trans", 5),
            ("_thread_in_vm", 6),
            ("_thread_in_vm_trans", 7),
            ("_thread_in_Java", 8),
            ("_thread_in_Java_trans", 9),
            ("_thread_blocked", 10),
            ("_thread_blocked_trans", 11),
        ]));
        let since = States::find(&Constants(&[
            ("_thread_in_native", 2),
            ("_thread_in_vm", 3),
            ("_thread_in_Java", 4),
            ("_thread_blocked", 5),
        ]));
        let names = |states: Option<States>, numbers: &[i32]| -> Vec<&str> {
            let states = states.expect("all are there");
            numbers.iter().map(|&n| states.of(n).name()).collect()
        };
        let expected = ["in native", "in native, leaving", "in Java", "blocked"];
        assert_eq!(names(before, &[4, 5, 8, 10]), expected);
        let expected = ["in native", "in the VM", "in Java", "blocked"];
        assert_eq!(names(since, &[2, 3, 4, 5]), expected);
        assert_eq!(names(since, &[0, 1, 8, -1]), ["starting or ending"; 4]);
    }

    #[test]
    fn a_vm_that_does_not_name_a_state_is_not_understood() {
        let some = Constants(&[("_thread_in_Java", 8), ("_thread_blocked", 10)]);
        assert!(States::find(&some).is_none());
    }
}
