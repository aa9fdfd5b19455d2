//! How input is broken: bytes are changed, removed, duplicated and moved; numbers and words are
//! replaced.

use oracle::random::{GOLDEN, mix};

/// Random numbers: SplitMix64, by Sebastiano Vigna.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        let number = mix(self.0);
        self.0 = self.0.wrapping_add(GOLDEN);
        number
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// The replacements of a number or a word.
const ODD: [&str; 14] = [
    "0",
    "-1",
    "1e308",
    "18446744073709551615",
    "4000000000",
    "nan",
    "null",
    "\"\"",
    "[]",
    "{}",
    "\u{0}",
    "\u{1b}[31m",
    "../../x",
    "true",
];

/// A number of changes to `bytes`, at least one.
pub fn broken(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + random.below(4) {
        change(&mut bytes, random);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    let end = (at + 1 + random.below(40)).min(bytes.len());
    match random.below(8) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let copy = bytes[at..end].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, copy);
        }
        3 | 4 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = [random.next() as u8, *byte ^ 1, 0, 0xff][at % 4];
            }
        }
        _ => {
            let word = word(bytes, at);
            let odd = ODD[random.below(ODD.len())];
            bytes.splice(word, odd.bytes());
        }
    }
}

/// The letters and digits around a place.
fn word(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    let start = at - bytes[..at].iter().rev().take_while(is_part).count();
    start..at + bytes[at..].iter().take_while(is_part).count()
}

/// The number of broken inputs of each kind.
pub const TIMES: u64 = 1000;

/// Calls `check` with a thousand broken copies of `whole`.
pub fn each(whole: &[u8], mut check: impl FnMut(&[u8])) {
    for seed in 0..TIMES {
        check(&broken(whole, &mut Random(seed)));
    }
}
