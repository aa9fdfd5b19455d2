//! What an element keeps of the stack at the instant of the sample, and whether the stack is still there later.
//!
//! The frames of the physical frame on top change as soon as the thread runs on, so they are kept. The frames
//! below are at calls: as long as the thread does not return to them, nothing of them changes. A digest of them
//! shows whether the thread has returned in between.

use crate::vm::method::Method;
use crate::walk::Walk;
use crate::walk::frame::{Failure, Frame, FrameKind};
use hotspot::steps::shadow::mixed;

/// The largest number of frames of the top that are kept: HotSpot inlines at most 15 methods into each
/// other (`MaxInlineLevel`).
const MOST_ON_TOP: usize = 16;

/// Deeper stacks are refused.
const MOST_FRAMES: usize = 1 << 12;

/// A mark of a stack.
#[derive(Copy, Clone, Debug)]
pub struct Mark {
    /// The lowest frame of the physical frame on top.
    lowest: Frame,
    /// The methods that are inlined above, callees first.
    inlined: [(Option<Method>, Option<u16>); MOST_ON_TOP],
    inlined_count: usize,
    /// The frames below; `None` if there are none.
    below: Option<Below>,
}

/// The frames below the physical frame on top.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
struct Below {
    pc: usize,
    sp: usize,
    digest: u64,
}

impl Mark {
    /// The mark of the stack that `walk` is about to walk.
    pub fn of(mut walk: Walk<'_>) -> Result<Mark, Failure> {
        let mut inlined = [(None, None); MOST_ON_TOP];
        let mut inlined_count = 0;
        let lowest = loop {
            let frame = next_of_method(&mut walk)?.ok_or(Failure::NoJavaFrame)?;
            if walk.is_at_physical_frame() {
                break frame;
            }
            let place = inlined.get_mut(inlined_count).ok_or(Failure::Top)?;
            *place = (frame.method, frame.bci);
            inlined_count += 1;
        };
        Ok(Mark {
            lowest,
            inlined,
            inlined_count,
            below: Below::of(walk)?,
        })
    }

    /// The frame of the top at this index, callees first.
    pub fn on_top(&self, index: usize) -> Option<Frame> {
        if index == self.inlined_count {
            return Some(self.lowest);
        }
        let &(method, bci) = self.inlined[..self.inlined_count].get(index)?;
        Some(Frame {
            kind: FrameKind::Inlined,
            method,
            bci,
            ..self.lowest
        })
    }

    /// The program counter, the stack pointer and the frame pointer on top.
    pub fn place(&self) -> [usize; 3] {
        [self.lowest.pc, self.lowest.sp, self.lowest.fp]
    }

    /// Whether there are no frames below the top.
    pub fn is_whole(&self) -> bool {
        self.below.is_none()
    }

    /// The walk of the frames below the top, if they are the frames of the stack that `now` is about to walk. An
    /// error if the thread has returned to them since, or if there are none.
    pub fn below<'a>(&self, mut now: Walk<'a>) -> Result<Walk<'a>, Failure> {
        let marked = self.below.ok_or(Failure::Caller)?;
        for _ in 0..MOST_FRAMES {
            let here = now.clone();
            let frame = next_of_method(&mut now)?.ok_or(Failure::Caller)?;
            if (frame.pc, frame.sp) == (marked.pc, marked.sp) {
                let is_same = Below::of(here.clone())? == Some(marked);
                return is_same.then_some(here).ok_or(Failure::Caller);
            }
            if frame.sp > marked.sp {
                break;
            }
        }
        Err(Failure::Caller)
    }
}

impl Below {
    fn of(mut walk: Walk<'_>) -> Result<Option<Below>, Failure> {
        let mut found: Option<Below> = None;
        for _ in 0..MOST_FRAMES {
            let Some(frame) = next_of_method(&mut walk)? else {
                return Ok(found);
            };
            let Frame { pc, sp, .. } = frame;
            let below = found.get_or_insert(Below { pc, sp, digest: 0 });
            let method = frame.method.map_or(0, |Method(address)| address);
            let words = [pc, sp, method, frame.bci.map_or(usize::MAX, usize::from)];
            below.digest = words
                .into_iter()
                .fold(below.digest, |digest, word| mixed(digest, word as u64));
        }
        Err(Failure::Caller)
    }
}

fn next_of_method(walk: &mut Walk<'_>) -> Result<Option<Frame>, Failure> {
    loop {
        match walk.next_frame()? {
            Some(frame) if !frame.is_of_method() => {}
            frame => return Ok(frame),
        }
    }
}
