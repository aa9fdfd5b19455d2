//! Frames of callers that are known to be true.
//!
//! The judge compares a whole walk with the truth once, and notes which frames stand for each call
//! ([`KnownCalls`]). While a method runs, its callers stay. So the handler knows which frames a true walk ends
//! with, if all older calls are known ([`Below`]). Where a walk ends with just these frames, only the frames above
//! are still to be judged, and instants with other callers are judged together.

use hotspot::steps::shadow::{Call, mixed};
use oracle::trace::Frame;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};

/// Room for so many calls: a power of two.
const PLACES: usize = 1 << 18;

/// So many places are tried for a call.
const TRIES: usize = 16;

/// Room for the frames of all calls.
const FRAMES: usize = 1 << 20;

/// The calls whose frames are known. The judge adds calls, and handlers look them up.
pub struct KnownCalls {
    calls: Box<[KnownCall]>,
    /// The numbers of the frames of all calls, one call behind the other.
    frames: Box<[AtomicU64]>,
    /// How many of `frames` are in use.
    used: AtomicUsize,
}

/// A call. The entry is written once, its number last.
#[derive(Default)]
struct KnownCall {
    /// The number of the call ([`Call::own_hash`]); 0 if the place is free.
    call: AtomicU64,
    /// Where its frames are.
    start: AtomicUsize,
    /// How many frames it has.
    count: AtomicUsize,
}

impl KnownCalls {
    /// No call is known.
    pub fn new() -> KnownCalls {
        KnownCalls {
            calls: (0..PLACES).map(|_| KnownCall::default()).collect(),
            frames: (0..FRAMES).map(|_| AtomicU64::new(0)).collect(),
            used: AtomicUsize::new(0),
        }
    }

    fn places(&self, call: u64) -> impl Iterator<Item = &KnownCall> {
        let first = call as usize;
        (0..TRIES).map(move |step| &self.calls[(first + step) & (PLACES - 1)])
    }

    /// The numbers of the frames of `call`, innermost first, if they are known. Async-signal-safe.
    fn frames(&self, call: &Call) -> Option<&[AtomicU64]> {
        if call.is_of_same_frame || !call.has_frames() {
            return Some(&[]);
        }
        let mut places = self.places(call.own_hash);
        let known = places.find(|known| known.call.load(Acquire) == call.own_hash)?;
        let start = known.start.load(Relaxed);
        self.frames.get(start..start + known.count.load(Relaxed))
    }

    /// How many frames `call` has, if they are known.
    pub fn count(&self, call: &Call) -> Option<usize> {
        self.frames(call).map(<[_]>::len)
    }

    /// `call` has these `frames`. Without room nothing is noted. Only one thread at a time calls this function.
    pub fn add(&self, call: &Call, frames: &[Frame]) {
        let mut places = self.places(call.own_hash);
        let free = places.find(|known| known.call.load(Relaxed) == 0);
        let start = self.used.load(Relaxed);
        let room = self.frames.get(start..start + frames.len());
        if let (Some(known), Some(room)) = (free, room) {
            for (place, frame) in room.iter().zip(frames) {
                place.store(number(frame), Relaxed);
            }
            self.used.store(start + frames.len(), Relaxed);
            known.start.store(start, Relaxed);
            known.count.store(frames.len(), Relaxed);
            known.call.store(call.own_hash, Release);
        }
    }
}

/// The frames of a thread's calls, as far as they are known. Kept from instant to instant.
pub struct Below {
    levels: Box<[Level]>,
    /// How many levels are known, from the oldest call on.
    known: usize,
}

/// The frames of a call and of all older calls.
#[derive(Copy, Clone, Default)]
struct Level {
    /// The number of the calls ([`Call::hash`]).
    calls: u64,
    /// How many frames they have.
    count: usize,
    /// A number for the frames.
    frames: u64,
}

impl Below {
    /// For up to so many calls.
    pub fn new(capacity: usize) -> Below {
        Below {
            levels: vec![Level::default(); capacity].into_boxed_slice(),
            known: 0,
        }
    }

    /// How many frames at the end of `walk` are the true frames of `calls`. `None` if a call is not known, or if
    /// the walk ends with other frames. Async-signal-safe.
    pub fn at_end(&mut self, calls: &[Call], known: &KnownCalls, walk: &[Frame]) -> Option<usize> {
        let level = self.level(calls, known)?;
        let start = walk.len().checked_sub(level.count)?;
        (hash_of(&walk[start..]) == level.frames).then_some(level.count)
    }

    fn level(&mut self, calls: &[Call], known: &KnownCalls) -> Option<Level> {
        let is_same = |at: usize| self.levels[at].calls == calls[at].hash;
        let mut at = self.known.min(calls.len());
        while at > 0 && !is_same(at - 1) {
            at -= 1;
        }
        let mut below = match at {
            0 => Level::default(),
            at => self.levels[at - 1],
        };
        // What is above stays for the next instant.
        if at == calls.len() {
            return Some(below);
        }
        for call in &calls[at..] {
            let frames = known.frames(call)?;
            let of_call = frames.iter().rev().map(|frame| frame.load(Relaxed));
            below = Level {
                calls: call.hash,
                count: below.count + frames.len(),
                frames: of_call.fold(below.frames, mixed),
            };
            *self.levels.get_mut(at)? = below;
            at += 1;
            self.known = at;
        }
        Some(below)
    }
}

/// A number for these frames.
pub fn hash_of(frames: &[Frame]) -> u64 {
    frames.iter().rev().map(number).fold(0, mixed)
}

fn number(frame: &Frame) -> u64 {
    frame.method.0 as u64 ^ (frame.location.0 as u64) << 48
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotspot::steps::Code;
    use hotspot::steps::shadow::Shadow;
    use oracle::trace::{Location, MethodKey};

    fn frames(bcis: &[i32]) -> Vec<Frame> {
        let frame = |&bci: &i32| Frame {
            method: MethodKey(7),
            location: Location(bci),
        };
        bcis.iter().map(frame).collect()
    }

    /// Compiled calls with these return addresses, the oldest first.
    fn calls(rets: &[usize]) -> Vec<Call> {
        let mut shadow = Shadow::new(rets.len());
        for &ret in rets {
            let call = Call {
                ret,
                code: Code::Compiled,
                ..Call::default()
            };
            shadow.push(call).expect("room");
        }
        shadow.calls().to_vec()
    }

    #[test]
    fn walks_end_with_the_frames_of_known_calls_or_do_not() {
        let (known, mut below) = (KnownCalls::new(), Below::new(8));
        let stack = calls(&[1, 2]);
        let walk = frames(&[30, 20, 21, 10]);
        assert_eq!(below.at_end(&stack, &known, &walk), None);
        known.add(&stack[0], &walk[3..]);
        assert_eq!(below.at_end(&stack, &known, &walk), None);
        known.add(&stack[1], &walk[1..3]);
        assert_eq!(below.at_end(&stack, &known, &walk), Some(3));
        assert_eq!(below.at_end(&stack, &known, &walk[1..]), Some(3));
        assert_eq!(below.at_end(&stack, &known, &walk[2..]), None);
        let other = frames(&[30, 20, 22, 10]);
        assert_eq!(below.at_end(&stack, &known, &other), None);
    }

    #[test]
    fn calls_that_come_and_go_are_followed() {
        let (known, mut below) = (KnownCalls::new(), Below::new(8));
        let (one, two) = (calls(&[1, 2, 4]), calls(&[1, 3]));
        known.add(&one[0], &frames(&[10]));
        known.add(&one[1], &frames(&[20, 21]));
        known.add(&one[2], &frames(&[40]));
        known.add(&two[1], &frames(&[31]));
        for _ in 0..2 {
            let whole = frames(&[40, 20, 21, 10]);
            assert_eq!(below.at_end(&one, &known, &whole), Some(4));
            assert_eq!(below.at_end(&one[..1], &known, &whole), Some(1));
            assert_eq!(below.at_end(&one, &known, &whole), Some(4));
            assert_eq!(below.at_end(&two, &known, &frames(&[31, 10])), Some(2));
            assert_eq!(below.at_end(&[], &known, &whole), Some(0));
        }
    }
}
