//! The code by which the VM reads memory that may be absent (`SafeFetch`). A fault there is no mistake: the
//! VM's signal handler goes on behind the read.

/// The bytes of the read and of what follows. Older VMs generate the code (`generate_safefetch` in
/// `stubGenerator_x86_64.cpp`), newer ones have a file of assembly (`safefetch_linux_x86_64.S`).
const READS: [&[u8]; 4] = [
    // movl (%rdi), %eax; ret; movl %esi, %eax; ret
    &[0x8b, 0x07, 0xc3, 0x89, 0xf0, 0xc3],
    // movq (%rdi), %rax; ret; movq %rsi, %rax; ret
    &[0x48, 0x8b, 0x07, 0xc3, 0x48, 0x89, 0xf0, 0xc3],
    // movl (%rdi), %esi; movq %rsi, %rax; ret
    &[0x8b, 0x37, 0x48, 0x8b, 0xc6, 0xc3],
    // movq (%rdi), %rsi; movq %rsi, %rax; ret
    &[0x48, 0x8b, 0x37, 0x48, 0x8b, 0xc6, 0xc3],
];

/// Whether the instruction at the start of `code` is such a read, on x86-64.
pub fn is_safe_fetch(code: &[u8]) -> bool {
    READS.iter().any(|read| code.starts_with(read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_read_with_its_way_out_counts() {
        assert!(is_safe_fetch(&[
            0x48, 0x8b, 0x07, 0xc3, 0x48, 0x89, 0xf0, 0xc3
        ]));
        // A function that returns what its argument points to: a fault there is a mistake of the caller.
        assert!(!is_safe_fetch(&[
            0x48, 0x8b, 0x07, 0xc3, 0x90, 0x90, 0x90, 0x90
        ]));
        assert!(!is_safe_fetch(&[]));
    }
}
