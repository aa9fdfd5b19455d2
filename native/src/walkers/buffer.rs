//! The answers of walkers: frames in a buffer, or an error code.

use crate::jvm::os::memory::Reserved;
use oracle::trace::Frame;
use std::io;

/// The largest depth of a stack. Deeper stacks are not compared, but counted as dropped.
pub const MAX_FRAMES: usize = 1 << 14;

/// An error code of a walker: the walker's own code, 0 or below. JVMTI's codes, which are positive,
/// are negated.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct ErrorCode(pub i32);

/// The room that a walker gets for its frames.
#[derive(Copy, Clone)]
pub enum Room {
    /// The whole buffer.
    Ample,
    /// For so many frames, which are all that the stack has.
    Exactly(usize),
}

/// Whether the buffer now has a stack.
pub type Walk = Result<(), ErrorCode>;

/// The frames of one stack, top first. The memory is reserved, and takes real memory only where it
/// is used.
pub struct FrameBuffer {
    memory: Reserved<Frame>,
    capacity: usize,
    count: usize,
    is_cut: bool,
    /// The number of the walk whose frames the walker gives later.
    awaited: usize,
}

impl FrameBuffer {
    /// A buffer for this many frames.
    pub fn new(capacity: usize) -> io::Result<FrameBuffer> {
        Ok(FrameBuffer {
            memory: Reserved::new(capacity)?,
            capacity,
            count: 0,
            is_cut: false,
            awaited: 0,
        })
    }

    /// The frames of the last walk; none if it failed.
    pub fn frames(&self) -> &[Frame] {
        // SAFETY: `walk` wrote so many.
        unsafe { std::slice::from_raw_parts(self.memory.start().as_ptr(), self.count) }
    }

    /// Forgets the last walk.
    pub fn clear(&mut self) {
        (self.count, self.is_cut) = (0, false);
    }

    /// The walker gives the frames later, for this number. Async-signal-safe.
    pub(super) fn await_answer(&mut self, number: usize) {
        self.clear();
        self.awaited = number;
    }

    /// The number of the newest walk whose frames the walker gives later.
    pub(super) fn awaited(&self) -> usize {
        self.awaited
    }

    /// How many frames fit.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether the buffer is full, or the walker cut the stack: the stack may have more frames.
    pub fn is_full(&self) -> bool {
        self.is_cut || self.count == self.capacity
    }

    /// Lets `walk` use this room only. A stack that fills the room exactly does not count as cut.
    pub fn with_room<T>(&mut self, room: Room, walk: impl FnOnce(&mut FrameBuffer) -> T) -> T {
        let whole = self.capacity;
        if let Room::Exactly(frames) = room {
            self.capacity = frames.min(whole);
        }
        let walked = walk(self);
        self.capacity = whole;
        walked
    }

    /// Stores frames from a walker's own memory, as far as they fit. `is_cut` says whether the
    /// walker may have left frames out.
    pub(super) fn set(&mut self, frames: impl Iterator<Item = Frame>, is_cut: bool) {
        (self.count, self.is_cut) = (0, is_cut);
        let start = self.memory.start().as_ptr();
        for frame in frames.take(self.capacity) {
            // SAFETY: below the capacity.
            unsafe { start.add(self.count).write(frame) };
            self.count += 1;
        }
    }

    /// Stores the frames of `other`, as far as they fit. Async-signal-safe.
    pub fn copy_from(&mut self, other: &FrameBuffer) {
        self.set(other.frames().iter().copied(), other.is_cut);
    }

    /// Lets `walk` write frames in its walker's layout, at most the given number. `walk` returns
    /// how many frames it wrote. Then `convert` converts each frame. Async-signal-safe if both
    /// functions are.
    ///
    /// # Safety
    /// All that `walk` counts must have been written.
    pub(super) unsafe fn walk<Raw: Copy>(
        &mut self,
        walk: impl FnOnce(*mut Raw, usize) -> Result<usize, ErrorCode>,
        convert: impl Fn(Raw) -> Frame,
    ) -> Walk {
        const {
            assert!(size_of::<Raw>() == size_of::<Frame>());
            assert!(align_of::<Raw>() == align_of::<Frame>());
        }
        (self.count, self.is_cut) = (0, false);
        let frames = self.memory.start().as_ptr();
        let count = walk(frames.cast::<Raw>(), self.capacity)?.min(self.capacity);
        for index in 0..count {
            // SAFETY: within the memory; a raw frame has been written there, and a frame has the
            // same size and alignment.
            unsafe {
                let frame = frames.add(index);
                frame.write(convert(frame.cast::<Raw>().read()));
            }
        }
        self.count = count;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::trace::{Location, MethodKey};

    #[test]
    fn frames_are_converted_where_they_lie() {
        let mut buffer = FrameBuffer::new(3).expect("memory");
        let mut walk = |count: usize| {
            let write = |raw: *mut (usize, usize), capacity| {
                assert_eq!(capacity, 3);
                for index in 0..count {
                    // SAFETY: the buffer has room for three.
                    unsafe { raw.add(index).write((index, 7 * index)) };
                }
                match count {
                    0 => Err(ErrorCode(-5)),
                    _ => Ok(count),
                }
            };
            let convert = |(method, location)| Frame {
                method: MethodKey(method),
                location: Location(location as i32),
            };
            // SAFETY: all that is counted was written.
            let walked = unsafe { buffer.walk(write, convert) };
            let frames = buffer.frames().iter();
            let frames: Vec<_> = frames.map(|f| (f.method.0, f.location.0)).collect();
            (walked, frames, buffer.is_full())
        };
        assert_eq!(walk(2), (Ok(()), vec![(0, 0), (1, 7)], false));
        assert_eq!(walk(0), (Err(ErrorCode(-5)), vec![], false));
        assert!(walk(3).2);
    }

    #[test]
    fn a_stack_that_fills_the_room_exactly_is_whole() {
        let mut buffer = FrameBuffer::new(3).expect("memory");
        let frame = |raw: (usize, usize)| Frame {
            method: MethodKey(raw.0),
            location: Location(0),
        };
        let walk = |room: Room, seen: &mut FrameBuffer| {
            let write = |_: *mut (usize, usize), capacity| Ok(capacity);
            // SAFETY: memory that was reserved is zero, so all of it has been written.
            let walked = |buffer: &mut FrameBuffer| unsafe { buffer.walk(write, frame) };
            assert_eq!(seen.with_room(room, walked), Ok(()));
            (seen.frames().len(), seen.is_full())
        };
        assert_eq!(walk(Room::Exactly(2), &mut buffer), (2, false));
        assert_eq!(walk(Room::Ample, &mut buffer), (3, true));
    }
}
