//! Walks from contexts that are altered at random: what a run asks for, and the file that tells what was done.
//!
//! The agent writes to a file that is mapped into its memory, before each walk. So the file survives a crash of the
//! walker, and has the context from which the walker crashed.

use super::Address;
use crate::Layer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU16;

/// Name of the file in a run's folder: little-endian `u64`, as [`slot`] has them.
pub const ALTERED_FILE: &str = "altered.bin";

/// How many walks from altered contexts are made, and what is altered.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Altering {
    /// So many walks from altered contexts follow each sample.
    pub walks: NonZeroU16,
    /// Whether words of the stack are altered too, while the thread runs Java code.
    #[serde(default)]
    pub stack: bool,
}

/// How a value is altered.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alteration {
    /// Up by less than 16: within an instruction, or to the next.
    Up,
    /// Down by less than 16.
    Down,
    /// Up by less than 512 words: to another frame.
    WordsUp,
    /// Down by less than 512 words.
    WordsDown,
    /// One bit is inverted.
    Bit,
    /// The value of another register.
    OtherRegister,
    /// By up to 8 MB.
    Far,
    /// Any number of any length.
    Random,
}

impl Alteration {
    /// All kinds, in the order of their slots.
    pub const ALL: [Alteration; 8] = [
        Alteration::Up,
        Alteration::Down,
        Alteration::WordsUp,
        Alteration::WordsDown,
        Alteration::Bit,
        Alteration::OtherRegister,
        Alteration::Far,
        Alteration::Random,
    ];

    /// `value`, altered. `random` gives random numbers; `other` is the value of another register.
    pub fn apply(self, value: u64, other: u64, mut random: impl FnMut() -> u64) -> u64 {
        const FAR: u64 = 8 << 20;
        match self {
            Alteration::Up => value.wrapping_add(random() % 16),
            Alteration::Down => value.wrapping_sub(random() % 16),
            Alteration::WordsUp => value.wrapping_add(8 * (random() % 512)),
            Alteration::WordsDown => value.wrapping_sub(8 * (random() % 512)),
            Alteration::Bit => value ^ (1 << (random() % 64)),
            Alteration::OtherRegister => other,
            Alteration::Far => value.wrapping_add(random() % (2 * FAR)).wrapping_sub(FAR),
            Alteration::Random => random() >> (random() % 64),
        }
    }
}

/// The place of an altered value.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum AlteredPlace {
    /// A register, by its number. The file has the names of the registers, so that they are those of the machine that wrote
    /// the file ([`slot::register`]).
    Register(usize),
    /// The word so many bytes above the stack pointer.
    Stack(u64),
}

/// Lower words are numbers of registers.
const STACK: u64 = 0x1000;

impl AlteredPlace {
    /// The word of the file.
    pub fn to_word(self) -> u64 {
        match self {
            AlteredPlace::Register(number) => number as u64,
            AlteredPlace::Stack(distance) => STACK.saturating_add(distance),
        }
    }

    fn from_word(word: u64) -> AlteredPlace {
        match word.checked_sub(STACK) {
            Some(distance) => AlteredPlace::Stack(distance),
            None => AlteredPlace::Register(word as usize),
        }
    }

    /// Its name, by the `words` of the file.
    fn name(self, words: &[u64]) -> String {
        match self {
            AlteredPlace::Register(number) if number < slot::MOST_REGISTERS => {
                name_from_word(words[slot::register(number)])
            }
            AlteredPlace::Register(_) => "?".into(),
            AlteredPlace::Stack(distance) => format!("stack + {distance}"),
        }
    }
}

/// The word of the file that has the `name` of a register. The first eight bytes count.
pub fn name_to_word(name: &str) -> u64 {
    let mut bytes = [0; size_of::<u64>()];
    let named = name.bytes().zip(&mut bytes);
    named.for_each(|(from, to)| *to = from);
    u64::from_le_bytes(bytes)
}

fn name_from_word(word: u64) -> String {
    let bytes = word.to_le_bytes();
    let name = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}

/// The places of the words in the file.
pub mod slot {
    use super::{Alteration, Layer};

    /// At most so many values are altered for a walk.
    pub const MOST_CHANGES: usize = 8;
    /// Error codes from 0 down have a slot each; the last has all lower codes.
    pub(super) const CODES: usize = 64;

    /// 1 while a walk is under way.
    pub const UNDER_WAY: usize = 0;
    /// The layer of the last walk, by its index.
    pub const LAYER: usize = 1;
    /// How many values were altered for the last walk.
    pub const CHANGES: usize = 2;
    const FIRST_CHANGE: usize = 3;
    const OF_CHANGE: usize = 4;
    /// At most so many registers have a name.
    pub const MOST_REGISTERS: usize = 40;
    const FIRST_REGISTER: usize = FIRST_CHANGE + OF_CHANGE * MOST_CHANGES;
    const FIRST_LAYER: usize = FIRST_REGISTER + MOST_REGISTERS;
    const FIRST_CODE: usize = 4;
    const FIRST_ALTERATION: usize = FIRST_CODE + CODES;
    const OF_LAYER: usize = FIRST_ALTERATION + Alteration::ALL.len();

    /// All words.
    pub const WORDS: usize = FIRST_LAYER + OF_LAYER * Layer::ALL.len();

    /// The words of a change: the place, the kind, the value before, the value after.
    pub fn change(number: usize) -> [usize; OF_CHANGE] {
        let first = FIRST_CHANGE + OF_CHANGE * number.min(MOST_CHANGES - 1);
        [first, first + 1, first + 2, first + 3]
    }

    /// The name of the register of this number ([`name_to_word`](super::name_to_word)).
    pub fn register(number: usize) -> usize {
        FIRST_REGISTER + number.min(MOST_REGISTERS - 1)
    }

    fn of(layer: Layer, slot: usize) -> usize {
        FIRST_LAYER + OF_LAYER * layer.index() + slot
    }

    /// All walks of a layer.
    pub fn walks(layer: Layer) -> usize {
        of(layer, 0)
    }

    /// Of these, the walks that gave frames.
    pub fn answers(layer: Layer) -> usize {
        of(layer, 1)
    }

    /// The CPU time of the longest walk, in nanoseconds.
    pub fn longest(layer: Layer) -> usize {
        of(layer, 2)
    }

    /// Walks of more than 1 ms.
    pub fn slow(layer: Layer) -> usize {
        of(layer, 3)
    }

    /// Walks that ended in this error code.
    pub fn error(layer: Layer, code: i32) -> usize {
        let code = code.min(0).unsigned_abs() as usize;
        of(layer, FIRST_CODE + code.min(CODES - 1))
    }

    /// Values that were altered so.
    pub fn alteration(layer: Layer, kind: Alteration) -> usize {
        of(layer, FIRST_ALTERATION + kind as usize)
    }
}

/// The walks from altered contexts of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AlteredWalks {
    /// The walks of each layer's walker; layers without walks are left out.
    pub layers: Vec<LayerWalks>,
    /// The walk in which the program ended, if it ended in one: there the walker crashed or hung.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<UnfinishedWalk>,
}

/// The walks of a layer's walker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerWalks {
    /// The layer.
    pub layer: Layer,
    /// Walks that ended.
    pub walks: u64,
    /// Of these, walks that gave frames.
    pub answers: u64,
    /// The others, by their error codes.
    pub errors: BTreeMap<i32, u64>,
    /// The CPU time of the longest walk, in nanoseconds. A walk that took longer than all before is repeated a few
    /// times, and the shortest of the times counts, because an interrupt takes time too.
    pub longest_ns: u64,
    /// Walks of more than 1 ms of CPU time, without repetition.
    pub slow: u64,
    /// Values that were altered, by kind.
    pub alterations: BTreeMap<Alteration, u64>,
}

/// A walk that has not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnfinishedWalk {
    /// Its layer.
    pub layer: Layer,
    /// What was altered before it, in this order.
    pub changes: Vec<Change>,
}

/// An altered value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The register, or the word of the stack.
    pub place: String,
    /// How it was altered.
    pub how: Alteration,
    /// Its value before.
    pub before: Address,
    /// Its value after.
    pub after: Address,
}

impl AlteredWalks {
    /// What the bytes of a file say; `None` if they are not all there, or if the agent made no walk.
    pub fn read(bytes: &[u8]) -> Option<AlteredWalks> {
        let words: Vec<u64> = bytes
            .chunks_exact(size_of::<u64>())
            .map(|word| u64::from_le_bytes(word.try_into().expect("so many bytes")))
            .collect();
        if words.len() < slot::WORDS {
            return None;
        }
        let layers = Layer::ALL
            .iter()
            .map(|&layer| LayerWalks::read(&words, layer));
        let read = AlteredWalks {
            layers: layers.filter(|of| of.walks > 0).collect(),
            unfinished: UnfinishedWalk::read(&words),
        };
        let is_empty = read.layers.is_empty() && read.unfinished.is_none();
        (!is_empty).then_some(read)
    }
}

impl LayerWalks {
    fn read(words: &[u64], layer: Layer) -> LayerWalks {
        let codes = (0..slot::CODES as i32).map(|code| -code);
        let errors = codes.map(|code| (code, words[slot::error(layer, code)]));
        let kinds = Alteration::ALL.into_iter();
        let kinds = kinds.map(|kind| (kind, words[slot::alteration(layer, kind)]));
        LayerWalks {
            layer,
            walks: words[slot::walks(layer)],
            answers: words[slot::answers(layer)],
            errors: errors.filter(|&(_, n)| n > 0).collect(),
            longest_ns: words[slot::longest(layer)],
            slow: words[slot::slow(layer)],
            alterations: kinds.filter(|&(_, n)| n > 0).collect(),
        }
    }
}

impl UnfinishedWalk {
    fn read(words: &[u64]) -> Option<UnfinishedWalk> {
        let layer = Layer::ALL.get(words[slot::LAYER] as usize)?;
        let count = (words[slot::CHANGES] as usize).min(slot::MOST_CHANGES);
        let change = |number| {
            let [place, kind, before, after] = slot::change(number).map(|at| words[at]);
            Some(Change {
                place: AlteredPlace::from_word(place).name(words),
                how: *Alteration::ALL.get(kind as usize)?,
                before: Address(before as usize),
                after: Address(after as usize),
            })
        };
        (words[slot::UNDER_WAY] == 1).then(|| UnfinishedWalk {
            layer: *layer,
            changes: (0..count).filter_map(change).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn no_two_numbers_share_a_slot() {
        let mut slots = vec![slot::UNDER_WAY, slot::LAYER, slot::CHANGES];
        slots.extend((0..slot::MOST_CHANGES).flat_map(slot::change));
        slots.extend((0..slot::MOST_REGISTERS).map(slot::register));
        for layer in Layer::ALL {
            slots.extend(
                [slot::walks, slot::answers, slot::longest, slot::slow].map(|of| of(layer)),
            );
            slots.extend((0..slot::CODES as i32).map(|code| slot::error(layer, -code)));
            slots.extend(Alteration::ALL.map(|kind| slot::alteration(layer, kind)));
        }
        slots.sort();
        assert_eq!(slots, (0..slot::WORDS).collect::<Vec<_>>());
    }

    #[test]
    fn a_walk_that_did_not_end_comes_back_with_its_changes() {
        let mut words = vec![0; slot::WORDS];
        assert_eq!(AlteredWalks::read(&bytes(&words)), None);
        words[slot::UNDER_WAY] = 1;
        words[slot::LAYER] = Layer::AsgctAsync.index() as u64;
        words[slot::CHANGES] = 2;
        words[slot::register(16)] = name_to_word("counter");
        let changes = [
            (AlteredPlace::Register(16), Alteration::Bit, 4, 6),
            (AlteredPlace::Stack(24), Alteration::Random, 1, u64::MAX),
        ];
        for (number, (place, kind, before, after)) in changes.into_iter().enumerate() {
            let values = [place.to_word(), kind as u64, before, after];
            for (at, value) in slot::change(number).into_iter().zip(values) {
                words[at] = value;
            }
        }
        let read = AlteredWalks::read(&bytes(&words)).expect("a walk was under way");
        assert!(read.layers.is_empty());
        let unfinished = read.unfinished.clone().expect("it did not end");
        let places: Vec<_> = unfinished.changes.iter().map(|it| &*it.place).collect();
        assert_eq!(places, ["counter", "stack + 24"]);
        assert_eq!(unfinished.changes[1].after, Address(usize::MAX));
        let json = serde_json::to_string(&read).expect("plain data");
        assert_eq!(
            serde_json::from_str::<AlteredWalks>(&json).expect("just written"),
            read
        );
    }

    proptest! {
        #[test]
        fn any_file_can_be_read(words in prop::collection::vec(any::<u64>(), 0..2 * slot::WORDS)) {
            let read = AlteredWalks::read(&bytes(&words));
            prop_assert_eq!(read.is_none(), words.len() < slot::WORDS);
        }

        #[test]
        fn a_value_is_altered_as_its_kind_says(value: u64, other: u64, number: u64) {
            let by = |kind: Alteration| kind.apply(value, other, || number);
            prop_assert!(by(Alteration::Up).wrapping_sub(value) < 16);
            prop_assert!(value.wrapping_sub(by(Alteration::Down)) < 16);
            prop_assert_eq!(by(Alteration::WordsUp).wrapping_sub(value) % 8, 0);
            prop_assert_eq!((by(Alteration::Bit) ^ value).count_ones(), 1);
            prop_assert_eq!(by(Alteration::OtherRegister), other);
            prop_assert!(by(Alteration::Far).wrapping_sub(value).wrapping_add(8 << 20) < 16 << 20);
        }
    }
}
