//! What the walker has answered at which stacks, and how each pair was judged. Pairs with equal numbers have equal judgements.

use super::callers::hash_of;
use crate::walkers::buffer::ErrorCode;
use hotspot::steps::shadow::{Call, Interpreted, mixed};
use hotspot::steps::{Code, Place};
use oracle::trace::Frame;
use oracle::{Judgement, Layer, Reason, Verdict, tally};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// Room for so many pairs of stack and answer: a power of two.
const PLACES: usize = 1 << 21;

/// So many places are tried for a pair.
const TRIES: usize = 16;

/// The pairs of stack and answer that were seen.
pub struct JudgedPairs(Box<[Pair]>);

/// A pair of stack and answer.
#[derive(Default)]
struct Pair {
    /// The number of the pair; 0 if the place is free.
    key: AtomicU64,
    /// What to count for each further instant, once the pair is judged; 0 before.
    judged: AtomicU64,
    /// Instants that are not counted yet.
    waiting: AtomicU64,
    /// The frames of known calls at these instants.
    of_calls: AtomicU64,
}

/// What a handler finds.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Found {
    /// Nobody has seen the pair.
    New,
    /// The pair was judged: count this.
    Judged(Count),
    /// The pair is still to be judged, and will be counted then.
    Waiting,
    /// There is no room for the pair: all pairs in its places are still to be judged.
    Full,
}

/// What to count: a slot of the layer, and the strength of a match.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Count {
    /// How often.
    pub times: u64,
    /// The frames of known calls in all, which were compared by method and BCI.
    of_calls: u64,
    slots: [(usize, u64); 5],
}

impl Count {
    /// The slots, and what to add to each.
    pub fn slots(&self) -> [(usize, u64); 5] {
        let mut slots = self.slots.map(|(slot, n)| (slot, n * self.times));
        for (_, frames) in &mut slots[1..4] {
            *frames += self.of_calls;
        }
        slots
    }

    /// The bits of a judgement: the slot of the verdict, plus 1, whether the answer is flagged, and three
    /// numbers of frames, without the last `of_calls` frames.
    fn pack(judgement: &Judgement, layer: Layer, of_calls: usize) -> u64 {
        let [(slot, _), strength @ .., (_, flagged)] = tally::slots_of(layer, judgement);
        let limited = |n: u64| n.saturating_sub(of_calls as u64).min(0xffff);
        let first = (slot + 1) as u64 * 2 + flagged;
        strength
            .iter()
            .fold(first, |bits, &(_, n)| bits << 16 | limited(n))
    }

    fn unpack(bits: u64, layer: Layer, times: u64, of_calls: u64) -> Count {
        let none = Judgement::plain(Verdict::Match, Reason::SameFrames);
        let mut slots = tally::slots_of(layer, &none);
        let slot = (bits >> 49) as usize - 1;
        // Only matches have a strength.
        let is_match = slot == slots[0].0;
        slots[0] = (slot, 1);
        for (at, slot) in slots[1..4].iter_mut().enumerate() {
            slot.1 = bits >> (16 * (2 - at)) & 0xffff;
        }
        slots[4].1 = bits >> 48 & 1;
        Count {
            times,
            of_calls: if is_match { of_calls } else { 0 },
            slots,
        }
    }
}

impl JudgedPairs {
    /// Nothing was seen yet.
    pub fn new() -> JudgedPairs {
        JudgedPairs((0..PLACES).map(|_| Pair::default()).collect())
    }

    fn places(&self, key: u64) -> impl Iterator<Item = &Pair> {
        let first = key as usize;
        (0..TRIES).map(move |step| &self.0[(first + step) & (PLACES - 1)])
    }

    /// Looks a pair up, at an instant with so many frames of known calls. If the pair is new, the caller
    /// passes it on to be judged, and then calls [`JudgedPairs::add`]. Only one thread at a time calls this function
    /// and that. Async-signal-safe.
    pub fn look(&self, key: u64, layer: Layer, of_calls: usize) -> Found {
        let mut places = self.places(key).take_while(|pair| !pair.is_empty());
        if let Some(pair) = places.find(|pair| pair.key.load(Relaxed) == key) {
            pair.of_calls.fetch_add(of_calls as u64, SeqCst);
            pair.waiting.fetch_add(1, SeqCst);
            return pair.take(layer).map_or(Found::Waiting, Found::Judged);
        }
        if self.places(key).any(Pair::is_free) {
            Found::New
        } else {
            Found::Full
        }
    }

    /// Adds a pair that is new, with its first instant. An older pair, which was judged, may lose its place,
    /// and is judged again when it comes again. Async-signal-safe.
    pub fn add(&self, key: u64) {
        let empty = self.places(key).find(|pair| pair.is_empty());
        if let Some(pair) = empty.or_else(|| self.places(key).find(|pair| pair.is_free())) {
            pair.judged.store(0, SeqCst);
            pair.of_calls.store(0, SeqCst);
            pair.key.store(key, SeqCst);
        }
    }

    /// The pair was judged, at an instant with so many frames of known calls. Returns what to count of the
    /// instants that came since its first.
    pub fn judged(
        &self,
        key: u64,
        judgement: &Judgement,
        layer: Layer,
        of_calls: usize,
    ) -> Option<Count> {
        let mut places = self.places(key);
        let pair = places.find(|pair| pair.key.load(Relaxed) == key)?;
        pair.judged
            .store(Count::pack(judgement, layer, of_calls), SeqCst);
        pair.take(layer)
    }
}

impl Pair {
    fn is_empty(&self) -> bool {
        self.key.load(Relaxed) == 0
    }

    /// Whether the place can be had: what came of an earlier pair was counted.
    fn is_free(&self) -> bool {
        let is_done = self.judged.load(SeqCst) != 0 && self.waiting.load(SeqCst) == 0;
        self.is_empty() || is_done
    }

    /// Takes the instants that are not counted yet, if the pair was judged.
    fn take(&self, layer: Layer) -> Option<Count> {
        let bits = self.judged.load(SeqCst);
        if bits == 0 {
            return None;
        }
        let times = self.waiting.swap(0, SeqCst);
        (times > 0).then(|| {
            let of_calls = self.of_calls.swap(0, SeqCst);
            Count::unpack(bits, layer, times, of_calls)
        })
    }
}

/// A number for the thread at `place` with these `calls`, and for what the walker has answered. The places of frames
/// on the stack do not count, except that of the newest return address. If the answer ends with `of_calls` true frames
/// of all calls, neither they nor the calls count. Async-signal-safe.
pub fn key(
    place: &Place,
    interpreted: Interpreted,
    answer: Result<&[Frame], ErrorCode>,
    calls: &[Call],
    of_calls: Option<usize>,
) -> u64 {
    let newest = calls.last().copied().unwrap_or_default();
    let depth = match (newest.slot, place.code) {
        (0, _) => usize::MAX,
        (_, Code::Interpreter) => usize::from(newest.fp == place.fp),
        (slot, _) => slot.wrapping_sub(place.sp),
    };
    let (stage, method) = match interpreted {
        Interpreted::No => (0, 0),
        Interpreted::InPart(method) => (1, method),
        Interpreted::Whole(method) => (2, method),
    };
    let code = match answer {
        Ok(_) => 1,
        Err(code) => code.0 as usize,
    };
    let (below, frames) = match (answer, of_calls) {
        (Ok(frames), Some(count)) => match (&frames[..frames.len() - count], interpreted) {
            // The BCI of an interpreted top frame is not compared.
            ([top], Interpreted::Whole(_)) => (top.method.0 as u64, &[][..]),
            (above, _) => (newest.code as u64, above),
        },
        (Ok(frames), None) => (newest.hash, frames),
        // An error is an error with any callers.
        (Err(_), _) => (newest.code as u64, &[][..]),
    };
    let id = place.piece.id as usize;
    let words = [place.pc, depth, stage, method, code, id];
    let hash = words
        .iter()
        .fold(below, |hash, &word| mixed(hash, word as u64));
    mixed(hash, hash_of(frames)) | 1
}
