//! Relations of known classes.

use super::names::ClassName;
use super::world::World;
use std::collections::HashSet;

/// An answer that can depend on a missing class.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Tristate {
    Yes,
    No,
    /// A class that decides the answer is not known.
    Unknown,
}

impl World {
    /// Whether [`World::distrust`] was called for the class, or the runtime rewrites the class.
    pub(super) fn is_distrusted(&self, class: ClassName) -> bool {
        let is_below = |above: &&str| {
            let above = self.find(above.as_bytes());
            above.is_some_and(|above| self.is_subtype(class, above) == Tristate::Yes)
        };
        self.was_distrusted(class) || self.runtime().rewritten().iter().any(is_below)
    }

    /// Whether `class` is `above` or has it as a supertype (JVMS 5.4.5, 6.5.instanceof).
    pub(super) fn is_subtype(&self, class: ClassName, above: ClassName) -> Tristate {
        if class == above || self.name(above) == b"java/lang/Object" {
            return Tristate::Yes;
        }
        let name = self.name(class);
        if name.first() == Some(&b'[') {
            let all: [&[u8]; 2] = [b"java/lang/Cloneable", b"java/io/Serializable"];
            return match all.contains(&self.name(above)) {
                true => Tristate::Yes,
                // Arrays of subclasses declare no methods of their own.
                false => Tristate::No,
            };
        }
        let (mut open, mut seen) = (vec![class], HashSet::new());
        let mut answer = Tristate::No;
        while let Some(class) = open.pop() {
            if class == above {
                return Tristate::Yes;
            }
            if !seen.insert(class) {
                continue;
            }
            match self.above(class) {
                Some(above) => open.extend(above),
                None => answer = Tristate::Unknown,
            }
        }
        answer
    }

    /// Whether a known class is a subtype of both.
    pub(super) fn have_common_subtype(&self, one: ClassName, other: ClassName) -> bool {
        // From the class with fewer subclasses. Most classes have none.
        let count = |name| self.below(name).len();
        let (start, goal) = if count(one) <= count(other) {
            (one, other)
        } else {
            (other, one)
        };
        let (mut open, mut seen) = (vec![start], HashSet::new());
        while let Some(class) = open.pop() {
            if !seen.insert(class) {
                continue;
            }
            if self.is_subtype(class, goal) == Tristate::Yes {
                return true;
            }
            open.extend(self.below(class));
        }
        false
    }
}
