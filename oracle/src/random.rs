//! Random numbers, and the mixing of words.

/// 2^64 divided by the golden ratio: the step between the states of SplitMix64.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Steele, Lea and Flood's SplitMix64 ("Fast splittable pseudorandom number generators",
/// 2014): one multiplication chain, no state beyond a word. Hooks of the agent call the function.
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
