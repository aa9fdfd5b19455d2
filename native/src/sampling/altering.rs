//! Asks walkers from contexts that are altered at random, in the signal handler (docs/instants.md). Each change is written down
//! before the walk.

use crate::arch::{self, REGISTERS};
use crate::jvm::os::signal::ContextCopy;
use crate::jvm::os::thread_owned::ThreadOwned;
use crate::jvm::os::{clock, memory};
use crate::truth::interrupted::Interrupted;
use crate::walkers::buffer::{ErrorCode, FrameBuffer};
use crate::walkers::walker::{WalksAltered, walk_altered};
use hotspot::arch::{Arch, Native};
use oracle::Layer;
use oracle::random::{GOLDEN, mix};
use oracle::record::altered::{
    ALTERED_FILE, Alteration, AlteredPlace, Altering, name_to_word, slot,
};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU64, compiler_fence};

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
        let words: &[AtomicU64; slot::WORDS] = memory::map_shared(&run_dir.join(ALTERED_FILE))?;
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

/// At most so many registers are altered.
const MOST_REGISTERS: u64 = 4;

/// So many words of the stack are overwritten.
const OVERWRITTEN: usize = 4;

const _: () = assert!(MOST_REGISTERS as usize + OVERWRITTEN <= slot::MOST_CHANGES);

/// They are among so many words above the stack pointer.
const STACK_WORDS: u64 = 512;

/// The changes for one walk after the other.
struct Changes {
    words: &'static [AtomicU64; slot::WORDS],
    layer: Layer,
    state: u64,
}

/// Words of the stack as they were before: the distance from the stack pointer, and the value.
struct Overwritten([Option<(usize, usize)>; OVERWRITTEN]);

impl Changes {
    /// Random changes by `seed`, which are written to `words` as those of a walk of `layer`.
    pub fn new(words: &'static [AtomicU64; slot::WORDS], layer: Layer, seed: u64) -> Changes {
        words[slot::LAYER].store(layer.index() as u64, Relaxed);
        Changes {
            words,
            layer,
            state: seed,
        }
    }

    /// The next random number.
    pub fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// Changes one to four registers of `context`.
    pub fn registers(&mut self, context: &mut ContextCopy) -> Overwritten {
        self.words[slot::CHANGES].store(0, Relaxed);
        let count = 1 + self.random() % MOST_REGISTERS;
        self.change_registers(context, count);
        Overwritten([None; OVERWRITTEN])
    }

    /// Changes up to two registers of `context`, and four words of the stack of `thread`, whose context it is.
    pub fn registers_and_stack(
        &mut self,
        context: &mut ContextCopy,
        thread: Interrupted<'_>,
    ) -> Overwritten {
        self.words[slot::CHANGES].store(0, Relaxed);
        let count = self.random() % 3;
        self.change_registers(context, count);
        Overwritten([(); OVERWRITTEN].map(|()| {
            let distance = size_of::<usize>() * (self.random() % STACK_WORDS) as usize;
            let before = thread.frame_word(distance)?;
            let after = self.change(AlteredPlace::Stack(distance as u64), before as u64, context);
            thread.set_frame_word(distance, after as usize);
            Some((distance, before))
        }))
    }

    fn change_registers(&mut self, context: &mut ContextCopy, count: u64) {
        for _ in 0..count {
            // Half of the changes are of the most important registers.
            let [among, which] = [self.random(), self.random()];
            let main = arch::MAIN_REGISTERS;
            let number = match among % 2 {
                0 => main[which as usize % main.len()],
                _ => which as usize % arch::REGISTERS,
            };
            let before = *context.register(number);
            let after = self.change(AlteredPlace::Register(number), before, context);
            *context.register(number) = after;
        }
    }

    /// Alters `value`, and writes down how.
    fn change(&mut self, place: AlteredPlace, value: u64, context: &mut ContextCopy) -> u64 {
        let kind = Alteration::ALL[self.random() as usize % Alteration::ALL.len()];
        let other = *context.register(self.random() as usize % arch::REGISTERS);
        let after = kind.apply(value, other, || self.random());
        let number = self.words[slot::CHANGES].load(Relaxed);
        let written = [place.to_word(), kind as u64, value, after];
        for (at, word) in slot::change(number as usize).into_iter().zip(written) {
            self.words[at].store(word, Relaxed);
        }
        self.words[slot::CHANGES].store(number + 1, Relaxed);
        self.words[slot::alteration(self.layer, kind)].fetch_add(1, Relaxed);
        after
    }
}

impl Overwritten {
    /// Puts the words back, the last first: a word may have been overwritten twice.
    pub fn restore(self, thread: Interrupted<'_>) {
        for (distance, before) in self.0.into_iter().rev().flatten() {
            thread.set_frame_word(distance, before);
        }
    }
}
