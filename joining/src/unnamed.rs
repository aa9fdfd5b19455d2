//! Frames whose methods a profiler could not name.
//!
//! A profiler looks names up when it writes its recording, and a class may be unloaded before. async-profiler writes
//! `stale_jmethodID` for such a method. It says that a method of an unloaded class was there, which the truth may confirm.

use crate::methods::NamedMethods;
use crate::truths::OwnedTruth;
use oracle::trace::{Frame, HookId, Location, MethodKey, Methods, Presence};

/// A frame with its line, if the recording has it.
type Shown = (Frame, Option<u32>);

/// The frames of a walk, top first, with the truth's methods in place of those without a name, if each of them stands where the
/// truth has a method that is gone; `None` if all frames have a name, or if the truth does not confirm one. `unnamed` has for
/// each frame without a name the number of the frames above. The others are as they were, so that the judge compares them.
pub fn filled(
    frames: &[Shown],
    unnamed: &[usize],
    truth: &OwnedTruth,
    methods: &NamedMethods,
) -> Option<Vec<Shown>> {
    let highest = *unnamed.first()?;
    // From the bottom up: the frames that are hooked take the entries of the truth one after another.
    let mut entries = truth.entries()?.iter().copied();
    let mut filled = vec![];
    for at in (0..=frames.len()).rev() {
        for _ in unnamed.iter().filter(|&&unnamed| unnamed == at) {
            let method = entries.next().and_then(|hook| gone(hook, methods))?;
            let location = Location::UNKNOWN;
            filled.push((Frame { method, location }, None));
        }
        let Some(&shown) = at.checked_sub(1).and_then(|above| frames.get(above)) else {
            continue;
        };
        let needed = entry(shown.0, methods).filter(|_| at > highest);
        if needed.is_some_and(|hook| entries.next() != Some(hook)) {
            return None;
        }
        filled.push(shown);
    }
    filled.reverse();
    Some(filled)
}

/// The method of the hook, if it is gone.
fn gone(hook: HookId, methods: &NamedMethods) -> Option<MethodKey> {
    methods.of_hook(hook).filter(|&key| methods.is_gone(key))
}

/// The entry of a frame that has called another one, if it has one.
fn entry(frame: Frame, methods: &NamedMethods) -> Option<HookId> {
    match methods.hook(frame.method, frame.location)? {
        (_, Presence::Absent) => None,
        (hook, _) => Some(hook),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{Recorded, RequestsFile};
    use crate::truths::Truths;
    use oracle::recorded::RecordedTruth;
    use oracle::requests::{MethodFacts, letter};
    use oracle::trace::Site;
    use std::collections::HashMap;

    /// Methods `m0` to `m3` with hooks from 1 on, of which `m1` is gone; the truth has the entries of `stack`.
    fn filled_by(stack: &[u32], frames: &[usize], unnamed: &[usize]) -> Option<Vec<String>> {
        let mut file = RequestsFile::default();
        for number in 0..4 {
            let is_gone = number == 1;
            let facts = MethodFacts {
                class: "a/B".into(),
                name: format!("m{number}"),
                descriptor: "()V".into(),
                hook: Some(number + 1),
                code: if is_gone {
                    String::new()
                } else {
                    letter(Site::Calls, Some(Presence::Present)).into()
                },
                is_gone,
                ..MethodFacts::default()
            };
            file.methods.insert(number, facts);
        }
        let recorded = RecordedTruth {
            entries: stack.iter().map(|method| method + 1).collect(),
            ..RecordedTruth::default()
        };
        file.truths.insert(0, Recorded::Trace(recorded));
        let mut methods = NamedMethods::new(&file.methods);
        let frames = frames.iter().map(|number| Frame {
            method: methods.key("a/B", &format!("m{number}"), "()V"),
            location: Location(0),
        });
        let frames: Vec<Shown> = frames.map(|frame| (frame, None)).collect();
        let names = HashMap::new();
        let mut truths = Truths::new(&file, &names);
        let truth = truths.get(0, &methods).expect("all methods are known");
        let filled = filled(&frames, unnamed, truth, &methods)?;
        let shown = filled.iter().map(|(frame, _)| methods.shown(frame.method));
        Some(shown.collect())
    }

    #[test]
    fn a_method_that_is_gone_is_filled_in_where_the_truth_has_it() {
        let three = ["a.B.m2()V", "a.B.m1()V", "a.B.m0()V"].map(str::to_owned);
        // The truth is bottom first, frames are top first.
        assert_eq!(filled_by(&[0, 1, 2], &[2, 0], &[1]), Some(three.to_vec()));
        let on_top = filled_by(&[0, 1], &[0], &[0]);
        assert_eq!(on_top.as_deref(), Some(&three[1..]));
        let twice = filled_by(&[0, 1, 1], &[0], &[0, 0]);
        assert_eq!(twice.map(|frames| frames.len()), Some(3));
    }

    #[test]
    fn what_the_truth_does_not_confirm_stays_without_a_name() {
        assert_eq!(
            filled_by(&[0, 1, 2], &[2, 1, 0], &[]),
            None,
            "all have a name"
        );
        assert_eq!(filled_by(&[0, 3, 2], &[2, 0], &[1]), None, "it is not gone");
        assert_eq!(
            filled_by(&[3, 1, 2], &[2, 0], &[1]),
            None,
            "its caller is another"
        );
        assert_eq!(filled_by(&[0], &[0], &[0]), None, "there is no such frame");
    }
}
