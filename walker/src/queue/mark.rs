//! What an element keeps of the stack at the instant of the sample, and whether the stack is still there later.
//!
//! All frames are kept where there is room. Else only those of the physical frame on top are, which change as soon as the
//! thread runs on. The frames below are at calls: as long as the thread does not return to them, nothing of them changes. A
//! digest of them shows whether the thread has returned in between.

use crate::layout::stamp::Stamped;
use crate::queue::room::Room;
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
    /// Where the room of the queue has all frames, if there was room for them.
    kept: Option<(usize, usize)>,
    /// The lowest frame of the physical frame on top.
    lowest: Frame,
    /// The methods that are inlined above, callees first.
    inlined: [Inlined; MOST_ON_TOP],
    inlined_count: usize,
    /// The frames below; `None` if there are none.
    below: Option<Below>,
}

/// What an inlined frame has of its own.
#[derive(Copy, Clone, Debug)]
struct Inlined {
    method: Option<Stamped>,
    bci: Option<u16>,
}

/// The frames below the physical frame on top.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
struct Below {
    pc: usize,
    sp: usize,
    digest: u64,
    /// How many frames there are.
    count: usize,
    /// The digest of the methods and BCIs alone.
    content: u64,
    /// Whether there is the frame by which a virtual thread was mounted.
    enters: bool,
}

impl Mark {
    /// The mark of the stack that `walk` is about to walk. Its frames go into `room`, those of C among them if they are
    /// wanted.
    pub fn of(mut walk: Walk<'_>, with_c: bool, room: &mut Room) -> Result<Mark, Failure> {
        let mut kept = room.begin();
        let mut keep = |frame: Frame| {
            if with_c || frame.is_of_method() {
                kept.push(frame);
            }
        };
        let mut inlined = [Inlined {
            method: None,
            bci: None,
        }; MOST_ON_TOP];
        let mut inlined_count = 0;
        let lowest = loop {
            let frame = next_of_method(&mut walk, &mut keep)?.ok_or(Failure::NoJavaFrame)?;
            if walk.is_at_physical_frame() {
                break frame;
            }
            let place = inlined.get_mut(inlined_count).ok_or(Failure::Top)?;
            let Frame { method, bci, .. } = frame;
            *place = Inlined { method, bci };
            inlined_count += 1;
        };
        let below = Below::of(walk, &mut keep)?;
        Ok(Mark {
            kept: kept.finish().map(|range| (range.start, range.end)),
            lowest,
            inlined,
            inlined_count,
            below,
        })
    }

    /// All frames of the stack at the instant of the sample, in the frames of the room; `None` if there was no room.
    pub fn kept<'a>(&self, frames: &'a [Frame]) -> Option<&'a [Frame]> {
        let (from, to) = self.kept?;
        frames.get(from..to)
    }

    /// Whether there are frames that are only on the stack of the thread.
    pub fn needs_stack(&self) -> bool {
        self.kept.is_none() && !self.is_whole()
    }

    /// The frame of the top at this index, callees first.
    pub fn on_top(&self, index: usize) -> Option<Frame> {
        if index == self.inlined_count {
            return Some(self.lowest);
        }
        let &Inlined { method, bci } = self.inlined[..self.inlined_count].get(index)?;
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

    /// Whether a virtual thread was mounted.
    pub fn is_of_virtual_thread(&self) -> bool {
        self.below.is_some_and(|below| below.enters)
    }

    /// The walk of the frames below the top, if they are the frames of the stack that `now` is about to walk.
    /// [`Failure::Left`] if the thread has returned to them since, or if there are none.
    pub fn below<'a>(&self, mut now: Walk<'a>) -> Result<Walk<'a>, Failure> {
        let marked = self.below.ok_or(Failure::Left)?;
        for _ in 0..MOST_FRAMES {
            let here = now.clone();
            let frame = next_of_method(&mut now, |_| {})?.ok_or(Failure::Left)?;
            if (frame.pc, frame.sp) == (marked.pc, marked.sp) {
                let is_same = Below::of(here.clone(), |_| {})? == Some(marked);
                return is_same.then_some(here).ok_or(Failure::Left);
            }
            if frame.sp > marked.sp {
                break;
            }
        }
        Err(Failure::Left)
    }

    /// The frames below the top, if the stack that has `now`, callees first, ends with them.
    pub fn below_in<'a>(&self, now: &'a [Frame]) -> Option<&'a [Frame]> {
        let marked = self.below?;
        let below = &now[now.len().checked_sub(marked.count)?..];
        (below.iter().fold(0, content) == marked.content).then_some(below)
    }
}

impl Below {
    fn of(mut walk: Walk<'_>, mut keep: impl FnMut(Frame)) -> Result<Option<Below>, Failure> {
        let mut found: Option<Below> = None;
        for _ in 0..MOST_FRAMES {
            let Some(frame) = next_of_method(&mut walk, &mut keep)? else {
                return Ok(found);
            };
            let Frame { pc, sp, .. } = frame;
            let below = found.get_or_insert(Below {
                pc,
                sp,
                digest: 0,
                count: 0,
                content: 0,
                enters: false,
            });
            below.enters |= walk.enters_continuation(&frame);
            below.count += 1;
            below.content = content(below.content, &frame);
            let words = [pc, sp].map(|word| word as u64);
            below.digest = words
                .into_iter()
                .fold(mixed(below.digest, below.content), mixed);
        }
        Err(Failure::Caller)
    }
}

/// The digest of frames of which the last is `frame`.
fn content(before: u64, frame: &Frame) -> u64 {
    let method = frame.method.map_or(0, Stamped::address);
    let bci = frame.bci.map_or(usize::MAX, usize::from);
    mixed(mixed(before, method as u64), bci as u64)
}

/// The next frame of a method, with its stamp: the class may be gone when the frame is asked for. All frames up to it are
/// given to `keep`.
fn next_of_method(
    walk: &mut Walk<'_>,
    mut keep: impl FnMut(Frame),
) -> Result<Option<Frame>, Failure> {
    while let Some(mut frame) = walk.next_frame()? {
        walk.stamp(&mut frame);
        keep(frame);
        if frame.is_of_method() {
            return Ok(Some(frame));
        }
    }
    Ok(None)
}
