//! Code of the VM itself that shows what no table of the VM has.

use super::decoder::decode;
use std::collections::BTreeSet;

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

/// Whether the instruction at the start of `code` is such a read.
pub(super) fn is_safe_fetch(code: &[u8]) -> bool {
    READS.iter().any(|read| code.starts_with(read))
}

/// The offset of the mark in the VM's `Thread`, by the code of AsyncGetCallTrace; `None` if the code does not show
/// one place.
pub(super) fn walk_mark(code: &[u8]) -> Option<u32> {
    // AsyncGetCallTrace keeps the mark of the calling thread in a register, sets the mark, and puts the kept value back where
    // it ends (GCC; other compilers choose other registers):
    //
    //         movzx r15d, byte [r12 + 0x448]
    //         mov   byte [r12 + 0x448], 1
    //         …
    //         mov   [r12 + 0x448], r15b
    //
    // One place alone is loaded, set to 1, and stored.
    let (mut loaded, mut set, mut stored) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut at = 0;
    while at < code.len() {
        let mut bytes = [0; 16];
        let rest = &code[at..code.len().min(at + bytes.len())];
        bytes[..rest.len()].copy_from_slice(rest);
        let Some(instruction) = decode(&bytes) else {
            break;
        };
        at += instruction.length;
        let Some(modrm) = instruction.modrm else {
            continue;
        };
        // A base register with a distance of 32 bits, perhaps with a byte for the base.
        let (mode, base) = (bytes[modrm] >> 6, bytes[modrm] & 7);
        let distance = modrm + 1 + usize::from(base == 4);
        let Some(&[a, b, c, d]) = bytes.get(distance..distance + 4).filter(|_| mode == 2) else {
            continue;
        };
        let place = u32::from_le_bytes([a, b, c, d]);
        let opcode = &bytes[..modrm];
        if opcode.ends_with(&[0x0f, 0xb6]) {
            loaded.insert(place);
        } else if opcode.ends_with(&[0xc6]) && bytes[distance + 4] == 1 {
            set.insert(place);
        } else if opcode.ends_with(&[0x88]) {
            stored.insert(place);
        }
    }
    let mut places = loaded
        .iter()
        .filter(|&at| set.contains(at) && stored.contains(at));
    match (places.next(), places.next()) {
        (Some(&place), None) => Some(place),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // movzx r15d, byte [r12+0x448]; mov byte [r12+0x448], 1; mov [r12+0x448], r15b
    const LOAD: [u8; 9] = [0x45, 0x0f, 0xb6, 0xbc, 0x24, 0x48, 4, 0, 0];
    const SET: [u8; 9] = [0x41, 0xc6, 0x84, 0x24, 0x48, 4, 0, 0, 1];
    const STORE: [u8; 8] = [0x45, 0x88, 0xbc, 0x24, 0x48, 4, 0, 0];

    #[test]
    fn the_mark_is_kept_set_and_put_back() {
        let code = [&LOAD[..], &SET, &[0x90], &STORE, &[0xc3]].concat();
        assert_eq!(walk_mark(&code), Some(0x448));
        assert_eq!(walk_mark(&[&LOAD[..], &SET].concat()), None);
        assert_eq!(walk_mark(&[&SET[..], &STORE].concat()), None);
    }

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
