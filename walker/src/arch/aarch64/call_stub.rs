//! The stub through which the VM calls Java methods (`StubGenerator::generate_call_stub` in `cpu/aarch64`).

/// Whether `code` begins with the instruction by which the stub keeps its first argument, the wrapper, in its frame: so far
/// from its frame pointer.
pub fn keeps_wrapper(code: [u8; 16], distance: usize) -> bool {
    let [a, b, c, d, ..] = code;
    let word = u32::from_le_bytes([a, b, c, d]);
    let signed = |at: u32, bits: u32| (word << (32 - at - bits)).cast_signed() >> (32 - bits);
    let kept = match word {
        // str x0, [x29, #distance]
        _ if word & 0xffe0_0fff == 0xf800_03a0 => signed(12, 9),
        // stp x0, …, [x29, #distance]: HotSpot's assembler joins two stores.
        _ if word & 0xffc0_03ff == 0xa900_03a0 => 8 * signed(15, 7),
        _ => return false,
    };
    0_usize.wrapping_add_signed(kept as isize) == distance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wrapper_is_kept_at_its_distance_only() {
        let below = |bytes| 0_usize.wrapping_sub(bytes);
        // str x0, [x29, #-64]; stp x0, x1, [x29, #-64]
        for word in [0xf81c_03a0_u32, 0xa93c_07a0] {
            let mut code = [0; 16];
            code[..4].copy_from_slice(&word.to_le_bytes());
            assert!(keeps_wrapper(code, below(64)));
            assert!(!keeps_wrapper(code, below(56)));
        }
        assert!(!keeps_wrapper([0; 16], below(64)));
    }
}
