//! Walkers that lie on purpose, so that tests can see every lie caught.
//!
//! * [`LieKind`] and [`tell`]: the lies;
//! * [`Sight`]: what the truth of a layer says of a lie before the judge is asked: which
//!   verdict is right, or why nobody could see it;
//! * [`Outcome`]: whether the judge's verdict is that one.

mod mounted;
mod sight;
#[cfg(test)]
mod tests;

pub use mounted::Boundary;
pub use sight::{Edges, Expected, Sight, Unseen};

use crate::Verdict;
use crate::trace::{Frame, Location, MethodKey};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Ways to lie about a stack.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LieKind {
    /// The top frame is left out.
    DropTop,
    /// The stack is cut at a random depth.
    DropBottom,
    /// A frame between top and bottom is left out.
    DropMiddle,
    /// A frame appears twice.
    Repeat,
    /// Two frames change places.
    Swap,
    /// A frame names another method of its class.
    Sibling,
    /// A frame's BCI is one higher or lower.
    ShiftBci,
    /// What the walker said of the same thread before.
    PreviousTrace,
    /// What the walker said of another thread.
    OtherThread,
    /// A frame lies on top that is not there.
    PhantomTop,
    /// An error code instead of a stack.
    Error,
}

impl LieKind {
    /// All kinds.
    pub const ALL: [LieKind; 11] = [
        LieKind::DropTop,
        LieKind::DropBottom,
        LieKind::DropMiddle,
        LieKind::Repeat,
        LieKind::Swap,
        LieKind::Sibling,
        LieKind::ShiftBci,
        LieKind::PreviousTrace,
        LieKind::OtherThread,
        LieKind::PhantomTop,
        LieKind::Error,
    ];

    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            LieKind::DropTop => "drop-top",
            LieKind::DropBottom => "drop-bottom",
            LieKind::DropMiddle => "drop-middle",
            LieKind::Repeat => "repeat",
            LieKind::Swap => "swap",
            LieKind::Sibling => "sibling",
            LieKind::ShiftBci => "shift-bci",
            LieKind::PreviousTrace => "previous-trace",
            LieKind::OtherThread => "other-thread",
            LieKind::PhantomTop => "phantom-top",
            LieKind::Error => "error",
        }
    }
}

impl fmt::Display for LieKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for LieKind {
    type Err = String;

    fn from_str(name: &str) -> Result<LieKind, String> {
        LieKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| {
                let known = LieKind::ALL.map(LieKind::name).join(", ");
                format!("unknown lie `{name}`; known: {known}")
            })
    }
}

/// What a walker answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// A stack, top frame first.
    Stack(Vec<Frame>),
    /// An error code, 0 or below.
    Error(i32),
}

/// What a lie may be made of.
pub struct Material<'a> {
    /// What the walker said of the same thread before.
    pub previous: Option<&'a [Frame]>,
    /// What the walker said of another thread.
    pub other: Option<&'a [Frame]>,
    /// Another method of the same class.
    pub sibling: &'a dyn Fn(MethodKey) -> Option<MethodKey>,
}

/// Tells a lie about `walk`, whose top `own` frames are those of our own hooks: they are
/// no part of the program, and stay. `None` if the stack would not change, which would be
/// no lie, or if the stack or the material does not suffice. No lie is an empty stack,
/// which is an error by another name.
pub fn tell(
    kind: LieKind,
    walk: &[Frame],
    own: usize,
    material: &Material<'_>,
    random: u64,
) -> Option<Answer> {
    let told = match kind {
        // AsyncGetCallTrace's codes go down to -10; 0 would be "no Java frame".
        LieKind::Error => return Some(Answer::Error(-1 - (random % 10) as i32)),
        LieKind::PreviousTrace => material.previous?.to_vec(),
        LieKind::OtherThread => material.other?.to_vec(),
        _ => change(kind, walk, own, material, random)?,
    };
    (told != walk && !told.is_empty()).then_some(Answer::Stack(told))
}

fn change(
    kind: LieKind,
    walk: &[Frame],
    own: usize,
    material: &Material<'_>,
    random: u64,
) -> Option<Vec<Frame>> {
    let frames = walk.len().checked_sub(own).filter(|&n| n > 0)?;
    // A place among those at least `above` frames below the top and `below` above the bottom.
    let place = |above: usize, below: usize| {
        let choices = frames.checked_sub(above + below).filter(|&n| n > 0)?;
        Some(own + above + (random >> 8) as usize % choices)
    };
    let mut told = walk.to_vec();
    match kind {
        LieKind::DropTop if frames > 1 => _ = told.remove(own),
        LieKind::DropTop => return None,
        LieKind::DropBottom => told.truncate(place(1, 0)?),
        LieKind::DropMiddle => _ = told.remove(place(1, 1)?),
        LieKind::Repeat => {
            let at = place(0, 0)?;
            told.insert(at, told[at]);
        }
        LieKind::Swap => {
            let at = place(0, 1)?;
            let further = 1 + (random >> 40) as usize % (walk.len() - 1 - at);
            told.swap(at, at + further);
        }
        LieKind::Sibling => {
            let frame = &mut told[place(0, 0)?];
            frame.method = (material.sibling)(frame.method)?;
        }
        LieKind::ShiftBci => {
            let frame = &mut told[place(0, 0)?];
            let bci = frame.location.bci()? as i32;
            let up = bci == 0 || random & 1 == 0;
            frame.location = Location(if up { bci + 1 } else { bci - 1 });
        }
        LieKind::PhantomTop => {
            let seen = material.previous.or(material.other)?;
            let phantom = seen.get((random >> 8) as usize % seen.len().max(1))?;
            told.insert(own, *phantom);
        }
        LieKind::PreviousTrace | LieKind::OtherThread | LieKind::Error => return None,
    }
    Some(told)
}

/// What came of one lie.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It was reported under the right verdict.
    Caught,
    /// It was reported under another verdict than the right one.
    Misjudged,
    /// It was not reported, and could not be, for this reason.
    Explained(Unseen),
    /// It was not reported.
    Missed,
}

impl Outcome {
    /// Compares the verdict that a lie was given with the right one.
    pub fn of(expected: Expected, given: Verdict) -> Outcome {
        let reported = !matches!(
            given,
            Verdict::Match | Verdict::Window | Verdict::Unverifiable
        );
        match expected {
            Expected::Verdict(right) if right == given => Outcome::Caught,
            Expected::Unseen(reason) if !reported => Outcome::Explained(reason),
            _ if reported => Outcome::Misjudged,
            _ => Outcome::Missed,
        }
    }
}
