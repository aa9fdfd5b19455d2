//! Room for the frames of samples, which the handler of a signal fills.

use crate::walk::frame::Frame;
use std::ops::Range;

/// For how many frames of each element there is room, on average.
const FRAMES_OF_ELEMENT: usize = 64;

/// The largest room of a queue, in frames.
const MOST: usize = 1 << 18;

/// The frames of all elements of a queue. It never grows, so nothing is allocated in a handler.
pub struct Room {
    frames: Vec<Frame>,
}

/// The frames of one element.
pub struct Kept<'r> {
    room: &'r mut Room,
    from: usize,
    is_whole: bool,
}

impl Room {
    /// Room for the frames of this many elements; `None` if there is no memory for it.
    pub fn of(capacity: usize) -> Option<Room> {
        let count = capacity.saturating_mul(FRAMES_OF_ELEMENT).min(MOST);
        let mut frames = vec![];
        frames.try_reserve_exact(count).ok()?;
        Some(Room { frames })
    }

    /// No room. Does not allocate.
    pub fn none() -> Room {
        Room { frames: vec![] }
    }

    /// All frames.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Removes all frames.
    pub fn clear(&mut self) {
        self.frames.clear();
    }

    /// The frames of the next element, of which there are none yet.
    pub fn begin(&mut self) -> Kept<'_> {
        Kept {
            from: self.frames.len(),
            room: self,
            is_whole: true,
        }
    }
}

impl Kept<'_> {
    /// Keeps a frame, if there is room.
    pub fn push(&mut self, frame: Frame) {
        let frames = &mut self.room.frames;
        // A Vec allocates only if it is full.
        self.is_whole = self.is_whole && frames.len() < frames.capacity();
        if self.is_whole {
            frames.push(frame);
        }
    }

    /// Where all frames are; `None` if there was no room for all, and then none is kept.
    pub fn finish(mut self) -> Option<Range<usize>> {
        let to = self.room.frames.len();
        let all = self.is_whole.then_some(self.from..to);
        // What is dropped without an answer is not kept.
        if all.is_some() {
            self.from = to;
        }
        all
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.room.frames.truncate(self.from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotspot::layout::method::Method;

    fn frame(pc: usize) -> Frame {
        Frame {
            pc,
            ..Frame::of_native(Method(1))
        }
    }

    #[test]
    fn all_frames_of_an_element_are_kept_or_none() {
        let mut room = Room::of(1).expect("memory");
        let capacity = room.frames.capacity();
        let keep = |room: &mut Room, count: usize| {
            let mut kept = room.begin();
            (0..count).for_each(|pc| kept.push(frame(pc)));
            kept.finish()
        };
        assert_eq!(keep(&mut room, 3), Some(0..3));
        assert_eq!(keep(&mut room, capacity - 2), None);
        assert_eq!(keep(&mut room, capacity - 3), Some(3..capacity));
        assert_eq!(keep(&mut room, 1), None);
        assert_eq!(room.frames.capacity(), capacity, "nothing was allocated");
        assert_eq!(room.frames()[4].pc, 1);
        room.clear();
        // A walk that fails keeps nothing.
        room.begin().push(frame(1));
        assert!(room.frames().is_empty());
    }
}
