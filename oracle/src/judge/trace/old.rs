//! Frames of methods that have no key any more: of an old version of a redefined method, or of an
//! unloaded class.

use crate::trace::{Frame, HookId, Location, Methods, Presence, Truth};

/// What is known of versions of methods. Each version has a hook of its own.
pub trait Versions {
    /// Whether the frame may be of a version that has no key: its key stands for nothing, or stands for
    /// another version than at the instant of the walk.
    fn may_be_old(&self, frame: &Frame) -> bool;

    /// What `location` proves in the version that has the hook, if no key stands for this version.
    fn old(&self, hook: HookId, location: Location) -> Option<Presence>;
}

/// Which frames of `walk` must be of versions without a key for the walk to agree with the trace stack: the
/// number of each such frame, from the bottom up, and the hook of its version.
///
/// Such a frame is taken for the entry that the trace stack has in its place, if the entry is of such a
/// version. No other frame is: whatever else differs is a difference.
pub fn old_frames(
    walk: &[Frame],
    truth: &Truth<'_>,
    methods: &impl Methods,
    versions: &impl Versions,
) -> Vec<(usize, HookId)> {
    let mut old = vec![];
    let mut expected = truth.entries[truth.checked_entries..].iter().copied();
    let mut next = expected.next();
    for (at, frame) in walk.iter().enumerate().rev().skip(truth.checked.len()) {
        let Some(hook) = next else { break };
        let presence = match versions.may_be_old(frame) {
            true => {
                let presence = versions.old(hook, frame.location);
                old.extend(
                    presence
                        .filter(|&is| is != Presence::Absent)
                        .map(|_| (at, hook)),
                );
                presence
            }
            false => {
                let known = methods.hook(frame.method, frame.location);
                known.filter(|known| known.0 == hook).map(|known| known.1)
            }
        };
        if presence.is_some_and(|presence| presence != Presence::Absent) {
            next = expected.next();
        }
    }
    old
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::trace::toy::InOwnCode;
    use crate::trace::MethodKey;

    /// Methods 1 to 9 have the hooks 1 to 9; hooks from 10 on are of old versions. The key 0 stands for
    /// nothing.
    const TOY: InOwnCode = InOwnCode(|method| (1..10).contains(&method));

    const NONE: usize = 0;
    const UNHOOKED: usize = 200;

    impl Versions for InOwnCode {
        fn may_be_old(&self, frame: &Frame) -> bool {
            frame.method.0 == NONE
        }

        fn old(&self, hook: HookId, location: Location) -> Option<Presence> {
            let presence = match location.0 {
                0 => Presence::Absent,
                _ => Presence::Present,
            };
            (hook.0 >= 10).then_some(presence)
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
        let truth = Truth {
            entries: &entries,
            ..Truth::default()
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

    /// Walkers that lose a method ID, or name the newest version where an old version runs.
    #[test]
    fn no_other_frame_is_excused() {
        assert_eq!(old(&[(1, 5), (NONE, 5)], &[1, 2]), [], "not an old version");
        assert_eq!(old(&[(1, 5), (2, 5)], &[1, 10]), [], "named, and not old");
    }
}
