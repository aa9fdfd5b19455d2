//! What a walker named at an instant whose truth is known.

use crate::trace::{Frame, MethodKey, Methods, Presence};
use crate::{Judgement, Verdict};

/// What a walker named while a method ran.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Hash)]
pub enum Claim<T> {
    /// No method: the walker did not answer.
    Silent,
    /// No method, and the walker says so: its stack is true from some frame on, and inlined frames above may be missing
    /// ([`Judgement::FLAGGED`]).
    Unsure,
    /// Nobody can say whether it named the method that ran: the answer, or the instant, could not be judged. The profile
    /// loses such an instant as it loses one without an answer.
    Unjudged,
    /// The method that ran.
    Same,
    /// The method that ran, as far as can be told: the instant is in a window ([`Verdict::Window`]). The truth has no
    /// entry yet, or no longer, of the frame that the walker names.
    InWindow,
    /// This method.
    Named(T),
}

impl<T> Claim<T> {
    /// The claim with a borrowed name.
    pub fn as_ref(&self) -> Claim<&T> {
        match self {
            Claim::Silent => Claim::Silent,
            Claim::Unsure => Claim::Unsure,
            Claim::Unjudged => Claim::Unjudged,
            Claim::Same => Claim::Same,
            Claim::InWindow => Claim::InWindow,
            Claim::Named(name) => Claim::Named(name),
        }
    }

    /// The claim with another kind of name.
    pub fn map<U>(self, name: impl FnOnce(T) -> U) -> Claim<U> {
        match self {
            Claim::Silent => Claim::Silent,
            Claim::Unsure => Claim::Unsure,
            Claim::Unjudged => Claim::Unjudged,
            Claim::Same => Claim::Same,
            Claim::InWindow => Claim::InWindow,
            Claim::Named(named) => Claim::Named(name(named)),
        }
    }
}

/// What the walker named with `walk`, on which the judge of the trace stack gave `judgement`. A walk without frames names
/// the method `None`.
pub fn claim(
    judgement: &Judgement,
    walk: &[Frame],
    methods: &impl Methods,
) -> Claim<Option<MethodKey>> {
    match judgement.verdict {
        Verdict::Error(_) => Claim::Silent,
        Verdict::Unverifiable if judgement.is_flagged() => Claim::Unsure,
        Verdict::Unverifiable => Claim::Unjudged,
        Verdict::Match => Claim::Same,
        Verdict::Window => Claim::InWindow,
        Verdict::Imprecise | Verdict::Truncated | Verdict::Wrong => {
            Claim::Named(newest(walk, methods))
        }
    }
}

/// The newest hooked method of a walk, or else the method of its top frame. The hooks' own methods do not count, and
/// neither does a frame whose location proves that it has no entry: such a frame is of the program, but the truth does
/// not show it.
pub fn newest(walk: &[Frame], methods: &impl Methods) -> Option<MethodKey> {
    let has_entry = |frame: &&Frame| {
        let hook = methods.hook(frame.method, frame.location);
        hook.is_some_and(|(_, presence)| presence != Presence::Absent)
    };
    let frame = walk.iter().find(has_entry).or(walk.first());
    frame.map(|frame| frame.method)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;
    use crate::trace::{HookId, Location, Site};

    /// Method 9 has no hook; a frame at BCI 0 has no entry.
    struct Toy;

    impl Methods for Toy {
        fn hook(&self, method: MethodKey, location: Location) -> Option<(HookId, Presence)> {
            let presence = match location {
                Location(0) => Presence::Absent,
                _ => Presence::Present,
            };
            (method.0 != 9).then_some((HookId(method.0 as u32), presence))
        }

        fn is_hook_call(&self, _: MethodKey) -> bool {
            false
        }

        fn is_constructor(&self, _: HookId) -> bool {
            false
        }

        fn site(&self, _: MethodKey, _: Location) -> Site {
            Site::Unknown
        }
    }

    #[test]
    fn a_false_walk_names_its_newest_hooked_method() {
        let frame = |method, bci| Frame {
            method: MethodKey(method),
            location: Location(bci),
        };
        let walk = [frame(9, 4), frame(1, 0), frame(2, 7), frame(3, 7)];
        let judged = |verdict| Judgement::plain(verdict, Reason::OtherMethod);
        let named = |verdict| claim(&judged(verdict), &walk, &Toy);
        assert_eq!(named(Verdict::Wrong), Claim::Named(Some(MethodKey(2))));
        assert_eq!(named(Verdict::Match), Claim::Same);
        assert_eq!(named(Verdict::Window), Claim::InWindow);
        assert_eq!(named(Verdict::Error(-3)), Claim::Silent);
        assert_eq!(named(Verdict::Unverifiable), Claim::Unjudged);
        let flagged = claim(&Judgement::FLAGGED, &walk, &Toy);
        assert_eq!(flagged, Claim::Unsure, "it says that it does not know");
        assert_eq!(newest(&walk[..2], &Toy), Some(MethodKey(9)), "no entry");
        assert_eq!(newest(&[], &Toy), None);
    }
}
