//! Frames of methods that have no key any more: of an old version of a redefined method, or of an
//! unloaded class.

use crate::trace::{Frame, HookId, Methods, Presence, TraceSnapshot};

/// What is known of versions of methods. Each version has a hook of its own.
pub trait Versions {
    /// Whether the frame may be of a version that has no key: its key stands for nothing, or stands for
    /// another version than at the instant of the walk.
    fn may_be_old(&self, frame: &Frame) -> bool;

    /// What the frame's location proves in the version that has the hook, if no key stands for this
    /// version, and the frame names no other method.
    fn old(&self, hook: HookId, frame: &Frame) -> Option<Presence>;
}

/// Which frames of `walk` must be of versions without a key for the walk to agree with the trace stack: the
/// number of each such frame, from the bottom up, and the hook of its version.
///
/// Such a frame is taken for the entry that the trace stack has in its place, if the entry is of such a
/// version. No other frame is: whatever else differs is a difference.
pub fn old_frames(
    walk: &[Frame],
    truth: &TraceSnapshot<'_>,
    methods: &impl Methods,
    versions: &impl Versions,
) -> Vec<(usize, HookId)> {
    let mut old = vec![];
    let mut expected = truth.entries[truth.checked_entries..].iter().copied();
    let mut next = expected.next();
    for (at, frame) in walk.iter().enumerate().rev().skip(truth.checked.len()) {
        let Some(hook) = next else { break };
        let may_be_old = versions.may_be_old(frame);
        let as_old = may_be_old.then(|| versions.old(hook, frame)).flatten();
        let as_named = || {
            let known = methods.hook(frame.method, frame.location);
            known.filter(|known| known.0 == hook).map(|known| known.1)
        };
        if as_old
            .or_else(as_named)
            .is_none_or(|is| is == Presence::Absent)
        {
            continue;
        }
        old.extend(as_old.map(|_| (at, hook)));
        next = expected.next();
    }
    old
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::toy::InOwnCode;
    use crate::trace::{Location, MethodKey};

    /// Methods 1 to 9 have the hooks 1 to 9; hooks from 10 on are of old versions. The key 0 stands for
    /// nothing. Method 9 was redefined, and its old version has the hook 90.
    const TOY: InOwnCode = InOwnCode(|method| (1..10).contains(&method));

    const NONE: usize = 0;
    const REDEFINED: usize = 9;
    const UNHOOKED: usize = 200;

    impl Versions for InOwnCode {
        fn may_be_old(&self, frame: &Frame) -> bool {
            frame.method.0 == NONE || frame.method.0 == REDEFINED
        }

        fn old(&self, hook: HookId, frame: &Frame) -> Option<Presence> {
            let presence = match frame.location.0 {
                0 => Presence::Absent,
                _ => Presence::Present,
            };
            let is_other = frame.method.0 == REDEFINED && hook.0 != 10 * REDEFINED as u32;
            (hook.0 >= 10 && !is_other).then_some(presence)
        }
    }

    /// Bottom first: the places of old frames, from the bottom.
    fn old(walk: &[(usize, i32)], entries: &[u32]) -> Vec<(usize, u32)> {
        let frame = |&(method, location): &(usize, i32)| Frame {
            method: MethodKey(method),
            location: Location(location),
        };
        let frames: Vec<_> = walk.iter().rev().map(frame).collect();
        let entries: Vec<_> = entries.iter().copied().map(HookId).collect();
        let truth = TraceSnapshot {
            entries: &entries,
            ..TraceSnapshot::default()
        };
        let found = old_frames(&frames, &truth, &TOY, &TOY).into_iter();
        found
            .map(|(at, hook)| (walk.len() - 1 - at, hook.0))
            .collect()
    }

    #[test]
    fn a_frame_without_a_key_is_of_the_old_version_in_its_place() {
        let walk = [(1, 5), (NONE, 5), (UNHOOKED, 5), (2, 5), (NONE, 5)];
        assert_eq!(old(&walk, &[1, 10, 2, 11]), [(1, 10), (4, 11)]);
        // Frames without hooks have no key either.
        let walk = [(NONE, 5), (NONE, 5), (1, 5)];
        assert_eq!(old(&walk, &[10, 1]), [(0, 10)]);
        // Its entry is not there yet.
        assert_eq!(old(&[(1, 5), (NONE, 0)], &[1]), []);
        assert_eq!(old(&[(NONE, 0), (NONE, 5)], &[10]), [(1, 10)]);
    }

    #[test]
    fn a_name_may_stand_for_two_versions_of_its_method_alone() {
        let walk = [(REDEFINED, 5), (REDEFINED, 5), (NONE, 5)];
        assert_eq!(old(&walk, &[90, 9, 11]), [(0, 90), (2, 11)]);
        assert_eq!(old(&[(REDEFINED, 5)], &[10]), []);
    }

    /// Walkers that lose a method ID, or name the newest version where an old version runs.
    #[test]
    fn no_other_frame_is_excused() {
        assert_eq!(old(&[(1, 5), (NONE, 5)], &[1, 2]), [], "not an old version");
        assert_eq!(old(&[(1, 5), (2, 5)], &[1, 10]), [], "named, and not old");
    }
}
