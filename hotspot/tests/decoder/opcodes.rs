//! All opcodes of the maps that the decoder knows, with all ModRM bytes.

use super::Found;
use super::compare::Comparison;

/// What follows an opcode and its ModRM byte: the bytes SIB of a plain base, of an index, and of no base; numbers of any
/// value.
const TAILS: [[u8; 9]; 3] = [
    [0x24, 0x85, 0x13, 0xf7, 0x22, 0x7f, 0x80, 0x01, 0xfe],
    [0x98, 0x05, 0xff, 0xff, 0xff, 0xff, 0x10, 0x20, 0x30],
    [0x25, 0x00, 0x00, 0x00, 0x80, 0x00, 0x01, 0x02, 0x03],
];

/// Compares the instructions with these bytes before the opcode, all opcodes and all ModRM bytes.
fn all_behind(comparison: &mut Comparison, found: &mut Found, before: &[&[u8]], tails: usize) {
    let before = before.concat();
    for opcode in 0..=u8::MAX {
        for modrm in 0..=u8::MAX {
            for tail in &TAILS[..tails] {
                let mut code = [0; 16];
                let rest = [opcode, modrm];
                let all = before.iter().chain(&rest).chain(tail);
                code.iter_mut().zip(all).for_each(|(to, &from)| *to = from);
                found.add(comparison, &code);
            }
        }
    }
}

#[test]
fn every_opcode_without_vex_is_decoded_as_iced_decodes_it() {
    const PREFIXES: [&[u8]; 8] = [
        &[],
        &[0x66],
        &[0xf2],
        &[0xf3],
        &[0xf0],
        &[0x64],
        &[0x67],
        &[0x66, 0xf2],
    ];
    const REX: [&[u8]; 6] = [&[], &[0x40], &[0x41], &[0x44], &[0x48], &[0x4f]];
    const MAPS: [&[u8]; 4] = [&[], &[0x0f], &[0x0f, 0x38], &[0x0f, 0x3a]];
    let (mut found, mut comparison) = (Found::default(), Comparison::new());
    for map in MAPS {
        // The third and fourth map have no operands that differ from those of the second.
        let tails = if map.len() < 2 { TAILS.len() } else { 1 };
        for prefix in PREFIXES {
            for rex in REX {
                all_behind(&mut comparison, &mut found, &[prefix, rex, map], tails);
            }
        }
    }
    found.check("opcodes without VEX");
    assert!(found.same > 5_000_000, "{found:?}");
}

#[test]
fn every_opcode_with_vex_is_decoded_as_iced_decodes_it() {
    let (mut found, mut comparison) = (Found::default(), Comparison::new());
    // The second byte has R, the second source, the length and the prefix.
    for second in [0xf8, 0x78, 0xc0, 0xfc] {
        for prefix in 0..4 {
            all_behind(&mut comparison, &mut found, &[&[0xc5, second | prefix]], 1);
        }
    }
    for map in 1..=3 {
        for bits in [0xe0, 0x00, 0xc0] {
            for last in [0x78, 0xf8, 0x7c, 0x40, 0xb8] {
                for prefix in 0..4 {
                    let vex = [0xc4, bits | map, last | prefix];
                    all_behind(&mut comparison, &mut found, &[&vex], 1);
                }
            }
        }
    }
    found.check("opcodes with VEX");
    assert!(found.same > 1_000_000, "{found:?}");
}

#[test]
fn every_opcode_with_evex_is_decoded_as_iced_decodes_it() {
    let (mut found, mut comparison) = (Found::default(), Comparison::new());
    for map in [1, 2, 3, 5, 6] {
        for bits in [0xf0, 0x10] {
            for last in [0x7c, 0xfc] {
                for prefix in 0..4 {
                    for length in [0x08, 0x48, 0x18] {
                        let evex = [0x62, bits | map, last | prefix, length];
                        all_behind(&mut comparison, &mut found, &[&evex], 1);
                    }
                }
            }
        }
    }
    found.check("opcodes with EVEX");
    assert!(found.same > 500_000, "{found:?}");
}
