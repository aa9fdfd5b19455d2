//! Faulty answers, made of true ones.

use super::fault::FaultKind;
use crate::trace::{Frame, Location, MethodKey};

/// What a walker answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum WalkerAnswer {
    /// A stack, top frame first.
    Stack(Vec<Frame>),
    /// An error code, 0 or below.
    Error(i32),
}

/// What a faulty answer may be made of.
pub struct Material<'a> {
    /// What the walker said of the same thread before.
    pub previous: Option<&'a [Frame]>,
    /// What the walker said of another thread.
    pub other: Option<&'a [Frame]>,
    /// Another method of the same class.
    pub sibling: &'a dyn Fn(MethodKey) -> Option<MethodKey>,
}

/// Makes a faulty answer of `walk`, whose top `own` frames are those of our own hooks: they are
/// no part of the program, and stay. `None` if the stack would not change, which would be
/// no fault, or if the stack or the material does not suffice. No faulty answer is an empty stack,
/// which is an error by another name.
pub fn inject(
    kind: FaultKind,
    walk: &[Frame],
    own: usize,
    material: &Material<'_>,
    random: u64,
) -> Option<WalkerAnswer> {
    let faulty = match kind {
        // AsyncGetCallTrace's codes go down to -10; 0 would be "no Java frame".
        FaultKind::Error => return Some(WalkerAnswer::Error(-1 - (random % 10) as i32)),
        FaultKind::PreviousTrace => material.previous?.to_vec(),
        FaultKind::OtherThread => material.other?.to_vec(),
        _ => change(kind, walk, own, material, random)?,
    };
    (faulty != walk && !faulty.is_empty()).then_some(WalkerAnswer::Stack(faulty))
}

fn change(
    kind: FaultKind,
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
    let mut faulty = walk.to_vec();
    match kind {
        FaultKind::DropTop if frames > 1 => _ = faulty.remove(own),
        FaultKind::DropTop => return None,
        FaultKind::DropBottom => faulty.truncate(place(1, 0)?),
        FaultKind::DropMiddle => _ = faulty.remove(place(1, 1)?),
        FaultKind::Repeat => {
            let at = place(0, 0)?;
            faulty.insert(at, faulty[at]);
        }
        FaultKind::Swap => {
            let at = place(0, 1)?;
            let further = 1 + (random >> 40) as usize % (walk.len() - 1 - at);
            faulty.swap(at, at + further);
        }
        FaultKind::Sibling => {
            let frame = &mut faulty[place(0, 0)?];
            frame.method = (material.sibling)(frame.method)?;
        }
        FaultKind::ShiftBci => {
            let frame = &mut faulty[place(0, 0)?];
            let bci = frame.location.bci()? as i32;
            let up = bci == 0 || random & 1 == 0;
            frame.location = Location(if up { bci + 1 } else { bci - 1 });
        }
        FaultKind::PhantomTop => {
            let seen = material.previous.or(material.other)?;
            let phantom = seen.get((random >> 8) as usize % seen.len().max(1))?;
            faulty.insert(own, *phantom);
        }
        FaultKind::PreviousTrace | FaultKind::OtherThread | FaultKind::Error => return None,
    }
    Some(faulty)
}
