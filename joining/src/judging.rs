//! Judges the stack of an event by what was true at the instant of its request.

use crate::instant::Instant;
use crate::methods::NamedMethods;
use crate::unnamed;
use oracle::trace::{Frame, Location, MethodKey, Methods, Presence};
use oracle::{Judgement, Reason, Verdict};
use recordings::FramePosition;
use recordings::samples::{TimedSamples, TimedStack};

/// A stack of a recording as judges take it.
#[derive(Clone, Debug, Default)]
pub struct OwnedWalk {
    /// The frames, top first.
    pub frames: Vec<Frame>,
    /// The line of each frame, where the recording has one.
    pub lines: Vec<Option<u32>>,
    /// Whether the recording says that frames at the bottom are missing.
    pub truncated: bool,
    /// Whether the profiler says so by a mark in place of the frames.
    pub marked: bool,
    /// Where frames are missing whose methods the profiler could not name: for each the number of the frames above.
    pub unnamed: Vec<usize>,
    /// The name of the lowest frame, if that is no frame of Java and so not among the frames.
    pub end: Option<String>,
}

impl OwnedWalk {
    /// The stack `stack`, whose methods have `keys`.
    pub fn new(stack: &TimedStack, keys: &[MethodKey], methods: &NamedMethods) -> OwnedWalk {
        let location = |method: MethodKey, place: FramePosition| match place {
            FramePosition::Native => Location::NATIVE,
            FramePosition::Bci(bci) => Location(bci),
            // Profilers write no place of a native method: its frame has BCI 0 and no line, as that of a Java method without
            // lines that stands at its first instruction.
            FramePosition::Unknown(_) => match methods.is_native(method) {
                Some(true) => Location::NATIVE,
                Some(false) => Location(0),
                None => Location::UNKNOWN,
            },
        };
        let frame = |&(method, place, _): &(u32, FramePosition, i64)| Frame {
            method: keys[method as usize],
            location: location(keys[method as usize], place),
        };
        // A class file has lines up to 65,535 (JVMS 4.7.12). Of a method without lines JFR writes -1.
        let line = |&(_, _, line): &(u32, FramePosition, i64)| match u16::try_from(line) {
            Ok(line) if line > 0 => Some(u32::from(line)),
            _ => None,
        };
        OwnedWalk {
            frames: stack.frames.iter().map(frame).collect(),
            lines: stack.frames.iter().map(line).collect(),
            truncated: stack.truncated || stack.mark.is_some(),
            marked: stack.mark.is_some(),
            unnamed: stack.unnamed.clone(),
            end: stack.end.clone(),
        }
    }
}

/// Judges a walk of a recording: frames, BCIs, lines, and what the recording says about its completeness.
pub fn judge(walk: &OwnedWalk, instant: &Instant<'_>, methods: &NamedMethods) -> Judgement {
    let filled = walk.filled(instant, methods);
    let walk = filled.as_ref().unwrap_or(walk);
    let found = instant.see(methods, |truth| truth.judge(&walk.frames));
    let right = match (found.verdict, walk.truncated) {
        (Verdict::Truncated, true) => Judgement::plain(Verdict::Unverifiable, Reason::CutAsSaid),
        (Verdict::Wrong, true) if has_no_entry(walk, methods) => {
            Judgement::plain(Verdict::Unverifiable, Reason::CutAsSaid)
        }
        (Verdict::Match | Verdict::Window | Verdict::Imprecise, _) => found,
        // Any method may be in a frame without a name: what is missing here may be there, unless more frames are missing.
        _ if (filled.is_some() || !walk.unnamed.is_empty())
            && walk.frames.len() + walk.unnamed.len() >= instant.truth.depth() =>
        {
            Judgement::plain(Verdict::Unverifiable, Reason::Unnamed)
        }
        _ => return found,
    };
    other_line(walk, methods).unwrap_or(right)
}

/// Whether no frame needs an entry on the trace stack: none is hooked but the newest, whose hook has not run or runs now. So
/// the trace stack cannot speak against a walk that stops at the method which is being called.
fn has_no_entry(walk: &OwnedWalk, methods: &NamedMethods) -> bool {
    let frames = &walk.frames;
    let mut hooked = (0..frames.len()).filter_map(|at| methods.presence(frames, at));
    let is_open = |(_, presence)| {
        matches!(
            presence,
            Presence::Absent | Presence::Pushing | Presence::Popping
        )
    };
    hooked.next().is_none_or(is_open) && hooked.next().is_none()
}

impl OwnedWalk {
    /// The walk with methods in place of those that the profiler could not name, as far as the truth confirms them.
    fn filled(&self, instant: &Instant<'_>, methods: &NamedMethods) -> Option<OwnedWalk> {
        let shown: Vec<_> = self
            .frames
            .iter()
            .copied()
            .zip(self.lines.iter().copied())
            .collect();
        let filled = unnamed::filled(&shown, &self.unnamed, instant.truth, methods)?;
        let (frames, lines) = filled.into_iter().unzip();
        Some(OwnedWalk {
            frames,
            lines,
            truncated: self.truncated,
            marked: self.marked,
            unnamed: vec![],
            end: self.end.clone(),
        })
    }

    /// The part above the frames of the carrier, if the stack is that of a virtual thread and goes on in its carrier.
    pub fn of_virtual_thread(&self, methods: &NamedMethods) -> OwnedWalk {
        let mut frames = self.frames.iter();
        let end = frames.position(|frame| methods.is_enter_special(frame.method));
        let end = end.map_or(self.frames.len(), |at| at + 1);
        OwnedWalk {
            frames: self.frames[..end].to_vec(),
            lines: self.lines[..end].to_vec(),
            truncated: self.truncated && end == self.frames.len(),
            marked: self.marked,
            unnamed: self
                .unnamed
                .iter()
                .copied()
                .filter(|&at| at < end)
                .collect(),
            end: self.end.clone(),
        }
    }
}

/// The first frame with a line that is not the line of its BCI.
fn other_line(walk: &OwnedWalk, methods: &NamedMethods) -> Option<Judgement> {
    let mut frames = walk.frames.iter().zip(&walk.lines).enumerate();
    frames.find_map(|(at, (frame, line))| {
        let expected = methods.line(frame.method, frame.location.bci()?)?;
        let differs = (*line)? != expected;
        differs.then(|| Judgement::at(Verdict::Wrong, at, Reason::OtherLine))
    })
}

/// The keys of a recording's methods, and its stacks.
pub fn walks(samples: &TimedSamples, methods: &mut NamedMethods) -> Vec<OwnedWalk> {
    let names = samples.methods.iter();
    let keys: Vec<_> = names
        .map(|(class, name, descriptor)| methods.key(class, name, descriptor))
        .collect();
    let stacks = samples.stacks.iter();
    stacks
        .map(|stack| OwnedWalk::new(stack, &keys, methods))
        .collect()
}
