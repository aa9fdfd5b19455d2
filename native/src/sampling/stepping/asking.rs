//! A walker is asked at each instant, and new answers are passed on to be judged.

use super::callers::{Below, KnownCalls};
use super::counts::{COUNTS, Counts};
use super::instant::{AtInstant, Instant, MOST_CALLS, Reached};
use super::judged_pairs::{Found, JudgedPairs, key};
use crate::jvm::Jvm;
use crate::jvm::os::clock;
use crate::jvm::os::trap::Next;
use crate::records::Records;
use crate::sampling::sample::Reply;
use crate::walkers::buffer::{FrameBuffer, MAX_FRAMES};
use crate::walkers::walker::{WalksInterrupted, walk_guarded};
use oracle::Layer;
use std::io;
use std::time::Duration;
use vm::ring::Writer;

/// A thread waits so often for the judge at most, for [`PAUSE`] each time, if too many instants wait for their
/// judgement.
///
/// Handlers wait for no thread: this wait is the only exception. Where a thread ended its turn instead, 40 s of javac (`-Xcomp`, C1
/// alone, JDK 25.0.3) visited 3,923 and 4,889 different instructions in place of 58,956 and 56,644.
/// The wait is safe because it needs nobody's progress. The judge itself may wait for the thread, at a safepoint, and then
/// the wait ends by its length. The thread holds no lock of the VM or of ours in generated code, where it is asked. A
/// VM operation comes up to 5 ms later, once until there is room again (`is_judge_late`).
const MOST_PAUSES: u32 = 100;

/// How long a thread waits for the judge at once.
const PAUSE: Duration = Duration::from_micros(50);

/// Whom to ask, and what was seen.
pub struct Means {
    /// The VM.
    pub jvm: &'static Jvm,
    /// The place of the counts.
    pub records: &'static Records,
    /// The layer of the walker.
    pub layer: Layer,
    /// The walker.
    pub walker: &'static dyn WalksInterrupted,
    /// What was seen.
    pub seen: &'static JudgedPairs,
    /// The calls whose frames are known.
    pub calls: &'static KnownCalls,
}

/// Asks a walker.
pub struct Asking {
    means: Means,
    below: Below,
    /// Whether the judge did not make room in time.
    is_judge_late: bool,
    frames: FrameBuffer,
    writer: Writer<Instant>,
}

impl Asking {
    /// Nobody was asked yet.
    pub fn new(means: Means, writer: Writer<Instant>) -> io::Result<Asking> {
        Ok(Asking {
            means,
            below: Below::new(MOST_CALLS),
            is_judge_late: false,
            frames: FrameBuffer::new(MAX_FRAMES)?,
            writer,
        })
    }

    /// Whether there is room for an instant, perhaps after a while. Async-signal-safe.
    fn has_room(&mut self) -> bool {
        let mut pauses = 0;
        while !self.writer.has_room() {
            if self.is_judge_late || pauses == MOST_PAUSES {
                self.is_judge_late = true;
                return false;
            }
            pauses += 1;
            clock::pause(PAUSE);
        }
        self.is_judge_late = false;
        true
    }
}

impl AtInstant for Asking {
    fn reach(&mut self, at: &Reached<'_>) -> Next {
        self.ask(at);
        Next::Step
    }
}

impl Asking {
    /// Asks the walker, and passes the answer on if it is new.
    fn ask(&mut self, at: &Reached<'_>) {
        let Reached {
            thread,
            place,
            interpreted,
            calls,
        } = *at;
        Counts::add(&COUNTS.instants);
        let (walked, crashed) = walk_guarded(self.means.walker, thread, &mut self.frames);
        // How many frames at the end of the walk are the true frames of all calls.
        let of_calls = self
            .below
            .at_end(calls, self.means.calls, self.frames.frames());
        let answer = walked.map(|()| self.frames.frames());
        let key = key(place, interpreted, answer, calls, of_calls);
        let of_calls = of_calls.unwrap_or(0);
        match self.means.seen.look(key, self.means.layer, of_calls) {
            Found::Judged(count) => self.means.records.slots.add_all(count.slots()),
            Found::Waiting => {}
            Found::Full => Counts::add(&COUNTS.unjudged),
            Found::New if !self.has_room() => Counts::add(&COUNTS.unjudged),
            Found::New => {
                self.means.seen.add(key);
                let frames = &self.frames;
                let threads = self.means.jvm.java_threads.as_ref().ok();
                self.writer.pass(|instant| {
                    instant.key = key;
                    instant.tid = thread.state().tid();
                    instant.place = *place;
                    instant.interpreted = interpreted;
                    instant.of_calls = of_calls;
                    instant.crashed = crashed;
                    instant.copy_calls(calls);
                    let sample = &mut instant.sample;
                    sample.reply = Reply::Walked(walked);
                    sample.frames.copy_from(frames);
                    sample.at.copy(thread, threads);
                });
            }
        }
    }
}
