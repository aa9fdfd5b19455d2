//! Makes faulty answers from true answers.

use super::fault::FaultKind;
use crate::trace::{Frame, Location, MethodKey};

/// An answer of a walker.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum WalkerAnswer {
    /// A stack, top frame first.
    Stack(Vec<Frame>),
    /// An error code, 0 or below.
    Error(i32),
}

/// Material for faulty answers.
pub struct Material<'a> {
    /// An earlier answer on the same thread.
    pub previous: Option<&'a [Frame]>,
    /// An answer on another thread.
    pub other: Option<&'a [Frame]>,
    /// Another method of the same class.
    pub sibling: &'a dyn Fn(MethodKey) -> Option<MethodKey>,
    /// A location of the frame's method that lies inside an instruction.
    pub inside: &'a dyn Fn(Frame) -> Option<Location>,
    /// Keys without a method, if such keys exist.
    pub strangers: Option<Strangers>,
    /// An error code that the walker has, and never gives in the thread's state, if there is one.
    pub code_of_other_state: Option<i32>,
}

/// Keys without a method.
#[derive(Copy, Clone, Debug)]
pub struct Strangers {
    /// The key that a walker returns if it does not know the method.
    pub none: MethodKey,
    /// A key that the VM has never given out.
    pub unknown: MethodKey,
}

/// How many frames are left if a stack is cut at a fixed depth.
const CUT: usize = 16;

/// No method has this much code (JVMS 4.7.3).
const PAST_END: Location = Location(0xFFFF);

/// Makes a faulty answer from `walk`. Its top `own` frames are frames of the hooks, which are no
/// part of the program and stay, apart from [`FaultKind::DropNativeTop`]. `None` if the stack would not change, which is no fault, or if the
/// stack or the material is not enough. No faulty answer is an empty stack, because that is an
/// error.
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
        FaultKind::CodeOfOtherState => {
            return material.code_of_other_state.map(WalkerAnswer::Error);
        }
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
    // A random index, at least `above` frames below the top and `below` frames above the bottom.
    let place = |above: usize, below: usize| {
        let choices = frames.checked_sub(above + below).filter(|&n| n > 0)?;
        Some(own + above + (random >> 8) as usize % choices)
    };
    let mut faulty = walk.to_vec();
    match kind {
        FaultKind::DropTop if frames > 1 => _ = faulty.remove(own),
        FaultKind::DropTop => return None,
        // A frame of a hook is one, too.
        FaultKind::DropNativeTop if walk[0].location == Location::NATIVE && walk.len() > 1 => {
            _ = faulty.remove(0);
        }
        FaultKind::DropNativeTop => return None,
        FaultKind::DropBottom => faulty.truncate(place(1, 0)?),
        FaultKind::CutAtDepth => faulty.truncate(own + CUT),
        FaultKind::CutAtNative => {
            let is_native = |frame: &Frame| frame.location == Location::NATIVE;
            let below_top = walk[own..].iter().skip(1);
            faulty.truncate(own + 1 + below_top.clone().position(is_native)?);
        }
        FaultKind::TopOnly => faulty.truncate(own + 1),
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
        FaultKind::SwapNeighbours => {
            let at = place(0, 1)?;
            faulty.swap(at, at + 1);
        }
        FaultKind::InsertAtStart => {
            let seen = material.other.or(material.previous)?;
            let inserted = seen.get((random >> 40) as usize % seen.len().max(1))?;
            inserted.location.bci()?;
            let location = Location(0);
            faulty.insert(
                place(1, 0)?,
                Frame {
                    location,
                    ..*inserted
                },
            );
        }
        FaultKind::EveryBci => {
            let java = faulty[own..].iter_mut();
            for frame in java.filter(|frame| frame.location.bci().is_some()) {
                frame.location.0 += 1;
            }
        }
        FaultKind::Sibling
        | FaultKind::NoMethod
        | FaultKind::UnknownMethod
        | FaultKind::ShiftBci
        | FaultKind::InsideInstruction
        | FaultKind::PastEnd
        | FaultKind::NativeLocation => {
            let at = place(0, 0)?;
            faulty[at] = changed(kind, faulty[at], material, random)?;
        }
        FaultKind::PhantomTop => {
            let seen = material.previous.or(material.other)?;
            let phantom = seen.get((random >> 8) as usize % seen.len().max(1))?;
            faulty.insert(own, *phantom);
        }
        FaultKind::PreviousTrace
        | FaultKind::OtherThread
        | FaultKind::Error
        | FaultKind::CodeOfOtherState
        | FaultKind::StartDepth
        | FaultKind::FrameCount
        | FaultKind::AnyDepth => return None,
    }
    Some(faulty)
}

/// A frame that differs from `frame` as `kind` says, for the kinds that change one frame.
fn changed(kind: FaultKind, frame: Frame, material: &Material<'_>, random: u64) -> Option<Frame> {
    let Frame { method, location } = frame;
    let method = match kind {
        FaultKind::Sibling => (material.sibling)(method)?,
        FaultKind::NoMethod => material.strangers?.none,
        FaultKind::UnknownMethod => material.strangers?.unknown,
        _ => method,
    };
    let location = match (kind, location.bci()) {
        (FaultKind::ShiftBci, Some(bci)) if bci == 0 || random & 1 == 0 => Location(location.0 + 1),
        (FaultKind::ShiftBci, Some(_)) => Location(location.0 - 1),
        (FaultKind::InsideInstruction, Some(_)) => (material.inside)(frame)?,
        (FaultKind::PastEnd, Some(_)) => PAST_END,
        (FaultKind::NativeLocation, Some(_)) => Location::NATIVE,
        (FaultKind::Sibling | FaultKind::NoMethod | FaultKind::UnknownMethod, _) => location,
        // A native frame has no BCI to change.
        _ => return None,
    };
    Some(Frame { method, location })
}
