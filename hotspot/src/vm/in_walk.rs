//! The mark that a thread walks (`Thread::_in_asgct`, `ThreadInAsgct` in `share/prims/forte.cpp`).
//!
//! AsyncGetCallTrace keeps the mark of the calling thread in a register, sets the mark, and puts the kept value back
//! where it ends. No table of the VM has the place of the mark, so it is read from this code.

use crate::steps::instructions::bytes_at;
use crate::unwind::instruction::decode;
use std::collections::BTreeSet;

/// The offset of the mark in the VM's `Thread`, by the code of AsyncGetCallTrace; `None` if the code does not show
/// one place.
pub fn offset_of_mark(code: &[u8]) -> Option<u32> {
    let (mut loaded, mut set, mut stored) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut at = 0;
    while at < code.len() {
        let bytes = bytes_at(code, at);
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
        assert_eq!(offset_of_mark(&code), Some(0x448));
        assert_eq!(offset_of_mark(&[&LOAD[..], &SET].concat()), None);
        assert_eq!(offset_of_mark(&[&SET[..], &STORE].concat()), None);
    }
}
