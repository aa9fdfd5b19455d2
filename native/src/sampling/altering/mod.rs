//! Asks walkers from contexts that are altered at random, in the signal handler (docs/stability.md).

mod changes;

use crate::arch::REGISTERS;
use crate::jvm::os::clock;
use crate::jvm::os::shared_words;
use crate::jvm::os::thread_owned::ThreadOwned;
use crate::truth::interrupted::Interrupted;
use crate::walkers::buffer::{ErrorCode, FrameBuffer};
use crate::walkers::guarded::walk_altered;
use crate::walkers::walker::WalksAltered;
use changes::Changes;
use hotspot::arch::{Arch, Native};
use oracle::Layer;
use oracle::random::mix;
use oracle::record::altered::{ALTERED_FILE, Altering, name_to_word, slot};
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::compiler_fence;

/// Each register that may be altered has a name, and a slot for it.
const _: () =
    assert!(Native::REGISTER_NAMES.len() == REGISTERS && REGISTERS <= slot::MOST_REGISTERS);

/// The longest stack that a walker may give.
const DEPTH: usize = 1024;

/// A walk of this length, in nanoseconds, is slow.
const SLOW: u64 = 1_000_000;

/// How often a walk that took longer than all before is repeated.
const REPETITIONS: usize = 8;

/// The walkers by their layers.
type Walkers = [Option<&'static dyn WalksAltered>; Layer::ALL.len()];

/// Asks walkers from altered contexts.
pub struct Alterations {
    with: Altering,
    seed: u64,
    walkers: Walkers,
    words: &'static [AtomicU64; slot::WORDS],
    /// One thread at a time makes such walks: the file has one last walk.
    work: ThreadOwned<Work>,
}

struct Work {
    turn: u64,
    frames: FrameBuffer,
}

impl Alterations {
    /// The counts go to a file in `run_dir`.
    pub fn new(
        with: Altering,
        seed: u64,
        walkers: Walkers,
        run_dir: &Path,
    ) -> io::Result<Alterations> {
        let frames = FrameBuffer::new(DEPTH)?;
        let words: &[AtomicU64; slot::WORDS] = shared_words::map(&run_dir.join(ALTERED_FILE))?;
        for (number, name) in Native::REGISTER_NAMES.iter().enumerate() {
            words[slot::register(number)].store(name_to_word(name), Relaxed);
        }
        Ok(Alterations {
            with,
            seed,
            walkers,
            words,
            work: ThreadOwned::new(Work { turn: 0, frames }),
        })
    }

    /// Asks the walker of `layer` from altered contexts of the interrupted thread, unless another thread does so at this
    /// moment. `is_in_java` says whether the thread runs Java code: nobody else changes its stack then. Async-signal-safe,
    /// as far as the walker is.
    pub fn walk(&self, thread: Interrupted<'_>, layer: Layer, is_in_java: bool) {
        let Some(walker) = self.walkers[layer.index()] else {
            return;
        };
        if !self.work.take() {
            return;
        }
        self.work.with(|work| {
            work.turn += 1;
            let with_stack = self.with.stack && is_in_java && work.turn % 2 == 1;
            let mut changes = Changes::new(self.words, layer, mix(self.seed ^ mix(work.turn)));
            for _ in 0..self.with.walks.get() {
                let mut context = thread.context().copy();
                let overwritten = if with_stack {
                    changes.registers_and_stack(&mut context, thread)
                } else {
                    changes.registers(&mut context)
                };
                let options = changes.random() as u32;
                self.ask(layer, &mut work.frames, |frames| {
                    walk_altered(walker, thread, &mut context, options, frames)
                });
                overwritten.restore(thread);
            }
        });
        self.work.give_back();
    }

    fn ask(
        &self,
        layer: Layer,
        frames: &mut FrameBuffer,
        mut walk: impl FnMut(&mut FrameBuffer) -> Result<(), ErrorCode>,
    ) {
        let count = |slot: usize| _ = self.words[slot].fetch_add(1, Relaxed);
        let (mut nanos, walked) = self.timed(|| walk(frames));
        if nanos > SLOW {
            count(slot::slow(layer));
        }
        let longest = &self.words[slot::longest(layer)];
        // What interrupts a walk does not interrupt each of its repetitions.
        for _ in 0..REPETITIONS {
            if nanos <= longest.load(Relaxed) {
                break;
            }
            nanos = nanos.min(self.timed(|| walk(frames)).0);
        }
        longest.fetch_max(nanos, Relaxed);
        count(slot::walks(layer));
        count(match walked {
            Ok(()) => slot::answers(layer),
            Err(ErrorCode(code)) => slot::error(layer, code),
        });
    }

    /// The CPU time of `walk` in nanoseconds, and its answer.
    fn timed<T>(&self, walk: impl FnOnce() -> T) -> (u64, T) {
        let under_way = &self.words[slot::UNDER_WAY];
        let now = || clock::thread_cpu_time().as_nanos() as u64;
        under_way.store(1, Relaxed);
        // The walk may end the process: all that was stored is stored before.
        compiler_fence(SeqCst);
        let start = now();
        let walked = walk();
        let nanos = now().saturating_sub(start);
        compiler_fence(SeqCst);
        under_way.store(0, Relaxed);
        (nanos, walked)
    }
}
