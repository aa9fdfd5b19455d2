//! The stub through which the VM calls Java methods (`StubGenerator::generate_call_stub` in `cpu/x86`).

/// Whether `code` begins with the instruction by which the stub keeps its first argument, the wrapper, in its frame: so far
/// from its frame pointer.
pub fn keeps_wrapper(code: [u8; 16], distance: usize) -> bool {
    match code {
        // mov [rbp + distance], rdi
        [0x48, 0x89, 0x7d, kept, ..] => {
            0_usize.wrapping_add_signed(isize::from(kept.cast_signed())) == distance
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wrapper_is_kept_at_its_distance_only() {
        let code = |kept| {
            let mut code = [0; 16];
            code[..4].copy_from_slice(&[0x48, 0x89, 0x7d, kept]);
            code
        };
        let below = 0_usize.wrapping_sub(24);
        assert!(keeps_wrapper(code(0xe8), below));
        assert!(!keeps_wrapper(code(0xe0), below));
        assert!(!keeps_wrapper([0; 16], below));
    }
}
