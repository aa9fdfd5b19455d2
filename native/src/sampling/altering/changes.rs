//! What is altered for a walk, chosen at random. Each change is written down before the walk.

use crate::arch;
use crate::jvm::os::signal::ContextCopy;
use crate::truth::interrupted::Interrupted;
use oracle::Layer;
use oracle::random::{GOLDEN, mix};
use oracle::record::altered::{Alteration, AlteredPlace, slot};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// At most so many registers are altered.
const MOST_REGISTERS: u64 = 4;

/// So many words of the stack are overwritten.
const OVERWRITTEN: usize = 4;

const _: () = assert!(MOST_REGISTERS as usize + OVERWRITTEN <= slot::MOST_CHANGES);

/// They are among so many words above the stack pointer.
const STACK_WORDS: u64 = 512;

/// The changes for one walk after the other.
pub(super) struct Changes {
    words: &'static [AtomicU64; slot::WORDS],
    layer: Layer,
    state: u64,
}

/// Words of the stack as they were before: the distance from the stack pointer, and the value.
pub(super) struct Overwritten([Option<(usize, usize)>; OVERWRITTEN]);

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
