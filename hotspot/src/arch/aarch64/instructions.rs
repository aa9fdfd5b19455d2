//! Instructions: where they lead, and what they do to general registers and to the stack.
//!
//! Encodings are those of the Arm Architecture Reference Manual, C4.1. An instruction that is not known has no answer.

use crate::arch::Register;
use crate::memory::Memory;

/// One instruction.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Op {
    /// The first register becomes the second plus a number.
    Add(Register, Register, i64),
    /// The first register becomes the second, whose lowest four bits are cleared.
    Align(Register, Register),
    /// The register becomes a number, or an address of the code.
    Set(Register, usize),
    /// It replaces 16 bits of a register.
    Insert(Register, u16, u32),
    /// It loads or stores.
    Access(Access),
    /// It changes registers in ways that are not followed.
    Write([Option<Register>; 3]),
    /// No effect on the general registers.
    Nothing,
    /// `bl`.
    Call(usize),
    /// `blr`.
    CallRegister,
    /// `ret`.
    Return(Register),
    /// `b`.
    Jump(usize),
    /// `br`.
    JumpRegister(Register),
    /// A conditional branch.
    Branch(usize),
    /// The instruction behind is not executed.
    Trap,
}

/// A load or a store.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Access {
    /// Whether it loads.
    pub loads: bool,
    /// The general registers that have or get the words, from the address on. A load into vectors has none.
    pub registers: [Option<Register>; 2],
    /// Whether the registers have whole words.
    pub is_words: bool,
    /// The number of bytes.
    pub bytes: usize,
    /// The register with the address.
    pub base: Register,
    /// The distance of the address from it.
    pub offset: i64,
    /// By how much the register changes behind the access.
    pub moves: i64,
}

const SP: Register = Register::STACK_POINTER;

/// The register in the five bits of `word` from `at` on, where 31 is the stack pointer.
fn or_sp(word: u32, at: u32) -> Register {
    Register::new((word >> at & 31) as u8)
}

/// As [`or_sp`], where 31 is no register.
fn or_zero(word: u32, at: u32) -> Option<Register> {
    Some(or_sp(word, at)).filter(|&register| register != SP)
}

/// The `bits` bits of `word` from `at` on, as a number with a sign.
fn signed(word: u32, at: u32, bits: u32) -> i64 {
    let shifted = (word >> at) << (32 - bits);
    i64::from(shifted.cast_signed() >> (32 - bits))
}

fn write(register: Option<Register>) -> Op {
    match register {
        Some(_) => Op::Write([register, None, None]),
        None => Op::Nothing,
    }
}

/// The instruction at `pc`.
pub(super) fn instruction(memory: &impl Memory, pc: usize) -> Option<Op> {
    if !pc.is_multiple_of(4) {
        return None;
    }
    decode(memory.u32(pc)?, pc)
}

/// The instruction `word` at `pc`.
pub(super) fn decode(word: u32, pc: usize) -> Option<Op> {
    let near = |at, bits| pc.wrapping_add_signed(4 * signed(word, at, bits) as isize);
    match word >> 25 & 15 {
        0b0000 if word >> 16 == 0 => Some(Op::Trap),
        0b0010 => scalable(word),
        0b1000 | 0b1001 => immediate(word, pc),
        0b1010 | 0b1011 => match word {
            _ if word & 0xfc00_0000 == 0x1400_0000 => Some(Op::Jump(near(0, 26))),
            _ if word & 0xfc00_0000 == 0x9400_0000 => Some(Op::Call(near(0, 26))),
            // Of the conditions, the last two always hold.
            _ if word & 0xff00_000e == 0x5400_000e => Some(Op::Jump(near(5, 19))),
            _ if word & 0xff00_0000 == 0x5400_0000 => Some(Op::Branch(near(5, 19))),
            _ if word & 0x7e00_0000 == 0x3400_0000 => Some(Op::Branch(near(5, 19))),
            _ if word & 0x7e00_0000 == 0x3600_0000 => Some(Op::Branch(near(5, 14))),
            _ if word & 0xffff_fc1f == 0xd61f_0000 => Some(Op::JumpRegister(or_sp(word, 5))),
            _ if word & 0xffff_fc1f == 0xd63f_0000 => Some(Op::CallRegister),
            _ if word & 0xffff_fc1f == 0xd65f_0000 => Some(Op::Return(or_sp(word, 5))),
            _ if word & 0xff00_0000 == 0xd400_0000 => Some(Op::Trap),
            // Hints, among them those that sign and authenticate the link register; barriers.
            _ if word & 0xffff_f01f == 0xd503_201f => Some(Op::Nothing),
            _ if word & 0xffff_f01f == 0xd503_301f => Some(Op::Nothing),
            // `mrs`, `sysl`; `msr`, `sys`.
            _ if word & 0xffe0_0000 == 0xd520_0000 => Some(write(or_zero(word, 0))),
            _ if word & 0xffe0_0000 == 0xd500_0000 => Some(Op::Nothing),
            _ => None,
        },
        0b0100 | 0b0110 | 0b1100 | 0b1110 => access(word),
        0b0101 | 0b1101 => register(word),
        0b0111 | 0b1111 => {
            // Conversions, `fmov`; `umov` and `smov`.
            let is_conversion = word & 0x5f00_0000 == 0x1e00_0000
                && (word & 0x0020_fc00 == 0x0020_0000 || word & 0x0020_0000 == 0);
            let is_move = matches!(word & 0xbfe0_fc00, 0x0e00_3c00 | 0x0e00_2c00);
            Some(if is_conversion || is_move {
                write(or_zero(word, 0))
            } else {
                Op::Nothing
            })
        }
        _ => None,
    }
}

/// Instructions with numbers in them.
fn immediate(word: u32, pc: usize) -> Option<Op> {
    let is_wide = word >> 31 == 1;
    Some(match word & 0x1f80_0000 {
        0x1000_0000 | 0x1080_0000 => {
            let number = signed(word, 5, 19) << 2 | i64::from(word >> 29 & 3);
            let to = or_zero(word, 0)?;
            Op::Set(
                to,
                if is_wide {
                    (pc & !0xfff).wrapping_add_signed((number << 12) as isize)
                } else {
                    pc.wrapping_add_signed(number as isize)
                },
            )
        }
        0x1100_0000 if word >> 29 & 1 == 1 => write(or_zero(word, 0)),
        0x1100_0000 if is_wide => {
            let number = i64::from(word >> 10 & 0xfff) << (12 * (word >> 22 & 1));
            let subtracts = word >> 30 & 1 == 1;
            Op::Add(
                or_sp(word, 0),
                or_sp(word, 5),
                if subtracts { -number } else { number },
            )
        }
        // `and …, …, #-16`.
        0x1200_0000 if word & 0xffff_fc00 == 0x927c_ec00 => {
            Op::Align(or_sp(word, 0), or_zero(word, 5)?)
        }
        0x1200_0000 if word >> 29 & 3 == 3 => write(or_zero(word, 0)),
        0x1100_0000 | 0x1180_0000 | 0x1200_0000 => write(Some(or_zero(word, 0)?)),
        0x1280_0000 => {
            let (number, shift) = (word >> 5 & 0xffff, 16 * (word >> 21 & 3));
            match (or_zero(word, 0), word >> 29 & 3) {
                (Some(to), 2) if is_wide => Op::Set(to, (number as usize) << shift),
                (Some(to), 3) if is_wide => Op::Insert(to, number as u16, shift),
                (to, _) => write(to),
            }
        }
        0x1300_0000 | 0x1380_0000 => write(or_zero(word, 0)),
        _ => return None,
    })
}

/// Instructions between registers.
fn register(word: u32) -> Option<Op> {
    let sets_flags = word >> 29 & 1 == 1;
    Some(match word {
        // `mov`.
        _ if word & 0xffe0_ffe0 == 0xaa00_03e0 => match (or_zero(word, 0), or_zero(word, 16)) {
            (Some(to), Some(from)) => Op::Add(to, from, 0),
            (Some(to), None) => Op::Set(to, 0),
            (None, _) => Op::Nothing,
        },
        // To the stack pointer, by a register.
        _ if word & 0x1f20_0000 == 0x0b20_0000 && !sets_flags => write(Some(or_zero(word, 0)?)),
        // `ccmp`, `ccmn`.
        _ if word & 0x1fe0_0000 == 0x1a40_0000 => Op::Nothing,
        _ => write(or_zero(word, 0)),
    })
}

/// Loads and stores.
fn access(word: u32) -> Option<Op> {
    let is_vector = word >> 26 & 1 == 1;
    let (base, first) = (or_sp(word, 5), or_zero(word, 0));
    let general = |register: Option<Register>| register.filter(|_| !is_vector);
    if word & 0x3a00_0000 == 0x2800_0000 {
        let size = match (is_vector, word >> 30) {
            (true, size @ 0..=2) => 4 << size,
            (false, 2) => 8,
            (false, 0 | 1) => 4,
            _ => return None,
        };
        let distance = signed(word, 15, 7) * size as i64;
        let (offset, moves) = match word >> 23 & 3 {
            1 => (0, distance),
            3 => (distance, distance),
            _ => (distance, 0),
        };
        return Some(Op::Access(Access {
            loads: word >> 22 & 1 == 1,
            registers: [general(first), general(or_zero(word, 10))],
            is_words: !is_vector && size == 8,
            bytes: 2 * size,
            base,
            offset,
            moves,
        }));
    }
    // A literal; prefetches have none.
    if word & 0x3b00_0000 == 0x1800_0000 {
        let loads = !is_vector && word >> 30 != 3;
        return Some(write(first.filter(|_| loads)));
    }
    if word & 0x3a00_0000 == 0x3800_0000 {
        return one(word, base, general(first));
    }
    // Exclusive and ordered accesses, `cas`; `ldapur` and its kin.
    if word & 0x3f00_0000 == 0x0800_0000 {
        return Some(Op::Write([first, or_zero(word, 16), or_zero(word, 10)]));
    }
    if word & 0x3f20_0c00 == 0x1900_0000 {
        return Some(write(first));
    }
    if word & 0xbe00_0000 == 0x0c00_0000 {
        return structures(word, base);
    }
    None
}

/// Loads and stores of one register.
fn one(word: u32, base: Register, register: Option<Register>) -> Option<Op> {
    let is_vector = word >> 26 & 1 == 1;
    let (size, kind) = (word >> 30, word >> 22 & 3);
    if !is_vector && (size, kind) == (3, 2) {
        return Some(Op::Nothing);
    }
    let loads = if is_vector { kind & 1 == 1 } else { kind != 0 };
    let bytes = if is_vector && kind & 2 == 2 {
        16
    } else {
        1 << size
    };
    let (offset, moves) = if word >> 24 & 1 == 1 {
        (i64::from(word >> 10 & 0xfff) * bytes as i64, 0)
    } else {
        let distance = signed(word, 12, 9);
        match (word >> 21 & 1, word >> 10 & 3) {
            (0, 0 | 2) => (distance, 0),
            (0, 1) => (0, distance),
            (0, _) => (distance, distance),
            // Atomic operations, and those at an address plus a register. Nobody stores to the stack so.
            (_, 0) => return Some(write(register)),
            (_, 2) => return Some(write(register.filter(|_| loads))),
            _ => return None,
        }
    };
    Some(Op::Access(Access {
        loads,
        registers: [register, None],
        is_words: !is_vector && size == 3,
        bytes,
        base,
        offset,
        moves,
    }))
}

/// Loads and stores of several vectors.
fn structures(word: u32, base: Register) -> Option<Op> {
    let moves = word >> 23 & 1 == 1;
    let is_multiple = word >> 24 & 1 == 0;
    let count = match word >> 12 & 15 {
        0b0000 | 0b0010 => 4,
        0b0100 | 0b0110 => 3,
        0b1000 | 0b1010 => 2,
        0b0111 => 1,
        _ if is_multiple => return None,
        _ => 0,
    };
    let by_number = word >> 16 & 31 == 31;
    if !is_multiple || moves && !by_number {
        return if moves {
            // By another register, or by a size that is not computed here.
            (base != SP).then(|| write(Some(base)))
        } else {
            Some(Op::Nothing)
        };
    }
    let bytes = count * if word >> 30 & 1 == 1 { 16 } else { 8 };
    Some(Op::Access(Access {
        loads: word >> 22 & 1 == 1,
        registers: [None, None],
        is_words: false,
        bytes,
        base,
        offset: 0,
        moves: if moves { bytes as i64 } else { 0 },
    }))
}

/// Instructions of the Scalable Vector Extension. Those that may write general registers are not known.
fn scalable(word: u32) -> Option<Op> {
    // `cntb` and `incb` with their kin, by which the VM checks the length of vectors behind calls.
    if word & 0xff20_f800 == 0x0420_e000 {
        return Some(write(or_zero(word, 0)));
    }
    let writes_vectors = match word >> 24 {
        0x04 => word >> 21 & 1 == 0,
        // `ptrue`, behind each call of C.
        0x25 => word & 0xff3f_fc10 == 0x2518_e000,
        0x05 => false,
        _ => true,
    };
    writes_vectors.then_some(Op::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(op: Option<Op>) -> Access {
        match op {
            Some(Op::Access(access)) => access,
            other => panic!("{other:?}"),
        }
    }

    // The words are those of an assembler.
    #[test]
    fn frames_are_pushed_and_popped() {
        let (fp, lr) = (Some(Register::RFP), Some(Register::LR));
        // stp x29, x30, [sp, #-16]!
        let push = access(decode(0xa9bf_7bfd, 0));
        assert_eq!((push.loads, push.registers), (false, [fp, lr]));
        assert_eq!((push.offset, push.moves, push.bytes), (-16, -16, 16));
        // ldp x29, x30, [sp], #16
        let pop = access(decode(0xa8c1_7bfd, 0));
        assert_eq!((pop.loads, pop.registers), (true, [fp, lr]));
        assert_eq!((pop.offset, pop.moves), (0, 16));
        // ldp x29, x30, [sp, #48]
        let load = access(decode(0xa943_7bfd, 0));
        assert_eq!((load.offset, load.moves, load.base), (48, 0, SP));
        // sub sp, sp, #64; mov sp, x29; and sp, x20, #-16
        assert_eq!(decode(0xd101_03ff, 0), Some(Op::Add(SP, SP, -64)));
        assert_eq!(decode(0x9100_03bf, 0), Some(Op::Add(SP, Register::RFP, 0)));
        assert_eq!(
            decode(0x927c_ee9f, 0),
            Some(Op::Align(SP, Register::new(20)))
        );
        // sub sp, sp, x1, lsl #3: the stack pointer is lost.
        assert_eq!(decode(0xcb21_6fff, 0), None);
        // str x0, [x29, #-64]
        let keep = access(decode(0xf81c_03a0, 0));
        assert_eq!((keep.base, keep.offset), (Register::RFP, -64));
        // ld1 {v0.2d-v3.2d}, [sp], #64
        assert_eq!(access(decode(0x4cdf_2fe0, 0)).moves, 64);
    }

    #[test]
    fn jumps_lead_from_their_own_addresses() {
        assert_eq!(decode(0x97ff_ffff, 0x1000), Some(Op::Call(0xffc)));
        assert_eq!(decode(0x1400_0004, 0x1000), Some(Op::Jump(0x1010)));
        // b.hi +24; cbnz x8, +16; tbz w0, #3, -8
        assert_eq!(decode(0x5400_00c8, 0x1000), Some(Op::Branch(0x1018)));
        assert_eq!(decode(0xb500_0088, 0x1000), Some(Op::Branch(0x1010)));
        assert_eq!(decode(0x361f_ffc0, 0x1000), Some(Op::Branch(0xff8)));
        assert_eq!(decode(0xd65f_03c0, 0), Some(Op::Return(Register::LR)));
        assert_eq!(
            decode(0xd61f_0100, 0),
            Some(Op::JumpRegister(Register::new(8)))
        );
        // b.al -32
        assert_eq!(decode(0x54ff_ff0e, 0x1000), Some(Op::Jump(0xfe0)));
        assert_eq!(decode(0, 0), Some(Op::Trap));
        // ptrue p7.b; addvl x8, x8, #1
        assert_eq!(decode(0x2518_e3e7, 0), Some(Op::Nothing));
        assert_eq!(decode(0x0428_5028, 0), None);
        // adrp x8, +1 page
        assert_eq!(
            decode(0xb000_0008, 0x1234),
            Some(Op::Set(Register::new(8), 0x2000))
        );
    }

    #[test]
    fn registers_that_are_written_are_known() {
        let writes = |word| match decode(word, 0) {
            Some(Op::Write([first, ..])) => first.map(Register::number),
            _ => None,
        };
        // add x3, x1, x2; ldr w5, [x1, x2]; fmov x7, d0; umov w9, v0.s[1]; fcvtzs x2, d1; csel x4, x1, x2, eq
        // And incb x8.
        for (word, expected) in [
            (0x0430_e3e8, 8),
            (0x8b02_0023, 3),
            (0xb862_6825, 5),
            (0x9e66_0007, 7),
            (0x0e0c_3c09, 9),
            (0x9e78_0022, 2),
            (0x9a82_0024, 4),
        ] {
            assert_eq!(writes(word), Some(expected), "{word:x}");
        }
        // fadd d30, d0, d1; str x1, [x2, x3]; cmp x1, x2; ccmp x1, #0, #4, eq; prfm
        for word in [
            0x1e61_281e,
            0xf823_6841,
            0xeb02_003f,
            0xfa40_0824,
            0xf980_0020,
        ] {
            assert_eq!(decode(word, 0), Some(Op::Nothing), "{word:x}");
        }
    }
}
