//! Decodes x86-64 instructions as far as frames depend on them: their lengths, and their effects on
//! the stack pointer and on the general registers (Intel SDM, volume 2, appendix A).
//!
//! Long because: this is one decoder, and its opcode maps share the cursor, prefixes and operands.

use crate::arch::{Effect, Instruction, Register};

/// A decoded instruction.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Decoded {
    /// Its length in bytes, 1 to 15.
    pub length: usize,
    /// Its effect.
    pub effect: Effect,
    /// The place of its ModRM byte, if it has one.
    pub modrm: Option<usize>,
    /// Its prefixes.
    pub prefixes: Prefixes,
}

impl From<Decoded> for Instruction {
    fn from(decoded: Decoded) -> Instruction {
        let Decoded { length, effect, .. } = decoded;
        Instruction { length, effect }
    }
}

/// The prefixes before an opcode.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Prefixes {
    /// Operands of 16 bits.
    pub operand_16: bool,
    /// Addresses of 32 bits.
    pub address_32: bool,
    /// `rep` or `repne`, which some opcodes take as a part of their own.
    pub repeats: bool,
    /// The prefix of a segment with a base of its own: `fs` or `gs`.
    pub segment: Option<u8>,
    /// The prefix REX; 0 without one.
    pub rex: u8,
    /// The place of the opcode, or of a prefix VEX or EVEX.
    pub end: usize,
}

/// Decodes the instruction at the start of `code`; `None` if no instruction of 64-bit mode begins
/// there.
pub fn decode(code: &[u8; 16]) -> Option<Decoded> {
    let mut bytes = Bytes {
        code,
        at: 0,
        modrm: None,
    };
    let prefixes = prefixes(&mut bytes)?;
    let effect = effect(&mut bytes, prefixes)?;
    let Bytes {
        at: length, modrm, ..
    } = bytes;
    (length <= 15).then_some(Decoded {
        length,
        effect,
        modrm,
        prefixes,
    })
}

/// Whether `code` begins with an instruction that does nothing (`nop`, Intel SDM, volume 2).
pub fn is_padding(code: &[u8]) -> bool {
    let is_prefix = |byte: &&u8| matches!(**byte, 0x66 | 0x2e);
    let prefixes = code.iter().take_while(is_prefix).count();
    matches!(code[prefixes..], [0x90, ..] | [0x0f, 0x1f, ..])
}

struct Bytes<'a> {
    code: &'a [u8; 16],
    at: usize,
    modrm: Option<usize>,
}

impl Bytes<'_> {
    fn peek(&self) -> Option<u8> {
        self.code.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, count: usize) {
        self.at += count;
    }

    fn i8(&mut self) -> Option<i32> {
        Some(i32::from(self.next()?.cast_signed()))
    }

    fn i32(&mut self) -> Option<i32> {
        let bytes = self.code.get(self.at..self.at + 4)?;
        self.at += 4;
        Some(i32::from_le_bytes(bytes.try_into().ok()?))
    }
}

impl Prefixes {
    fn is_wide(self) -> bool {
        self.rex & 8 != 0
    }

    /// Length of an immediate operand that depends on the operand size, in bytes.
    fn immediate(self) -> usize {
        if self.operand_16 { 2 } else { 4 }
    }

    /// The register of three bits in the opcode, or of the `rm` field.
    fn base(self, bits: u8) -> Register {
        Register::new((bits & 7) | ((self.rex & 1) << 3))
    }
}

/// The operands that a ModRM byte names.
struct Operands {
    /// The field `reg`, as a number of an opcode's group or as a register.
    group: u8,
    reg: Register,
    place: Place,
}

enum Place {
    Register(Register),
    /// A register plus a number.
    Based(Register, i32),
    Elsewhere,
}

fn operands(bytes: &mut Bytes<'_>, prefixes: Prefixes) -> Option<Operands> {
    bytes.modrm = Some(bytes.at);
    let modrm = bytes.next()?;
    let (mode, group, rm) = (modrm >> 6, (modrm >> 3) & 7, modrm & 7);
    let place = match (mode, rm) {
        (3, _) => Place::Register(prefixes.base(rm)),
        (0, 5) => {
            bytes.skip(4);
            Place::Elsewhere
        }
        (_, 4) => {
            let sib = bytes.next()?;
            let is_plain = (sib >> 3) & 7 == 4 && prefixes.rex & 2 == 0;
            if mode == 0 && sib & 7 == 5 {
                bytes.skip(4);
                Place::Elsewhere
            } else {
                let distance = displacement(bytes, mode)?;
                if is_plain {
                    Place::Based(prefixes.base(sib), distance)
                } else {
                    Place::Elsewhere
                }
            }
        }
        _ => Place::Based(prefixes.base(rm), displacement(bytes, mode)?),
    };
    let reg = Register::new(group | ((prefixes.rex & 4) << 1));
    Some(Operands { group, reg, place })
}

fn displacement(bytes: &mut Bytes<'_>, mode: u8) -> Option<i32> {
    match mode {
        0 => Some(0),
        1 => bytes.i8(),
        _ => bytes.i32(),
    }
}

fn prefixes(bytes: &mut Bytes<'_>) -> Option<Prefixes> {
    let mut prefixes = Prefixes::default();
    loop {
        match bytes.peek()? {
            0x66 => prefixes.operand_16 = true,
            0x67 => prefixes.address_32 = true,
            0xf2 | 0xf3 => prefixes.repeats = true,
            segment @ (0x64 | 0x65) => prefixes.segment = Some(segment),
            0x26 | 0x2e | 0x36 | 0x3e | 0xf0 => {}
            _ => break,
        }
        bytes.skip(1);
    }
    if let rex @ 0x40..=0x4f = bytes.peek()? {
        prefixes.rex = rex;
        bytes.skip(1);
    }
    prefixes.end = bytes.at;
    Some(prefixes)
}

fn effect(bytes: &mut Bytes<'_>, prefixes: Prefixes) -> Option<Effect> {
    let opcode = bytes.next()?;
    match opcode {
        0x0f => two_byte(bytes, prefixes),
        0xc5 => vector(bytes, 1, 1),
        0xc4 => {
            let map = bytes.peek()? & 0x1f;
            vector(bytes, map, 2)
        }
        0x62 => {
            let map = bytes.peek()? & 7;
            vector(bytes, map, 3)
        }
        _ => one_byte(bytes, prefixes, opcode),
    }
}

/// The effect of an instruction that writes the operand `place` of its ModRM byte.
fn written(place: &Place) -> Effect {
    match *place {
        Place::Register(register) => Effect::Write(register),
        Place::Based(..) | Place::Elsewhere => Effect::Nothing,
    }
}

fn one_byte(bytes: &mut Bytes<'_>, prefixes: Prefixes, opcode: u8) -> Option<Effect> {
    Some(match opcode {
        // cmp and test change no register.
        0x38..=0x3b | 0x84 | 0x85 => {
            operands(bytes, prefixes)?;
            Effect::Nothing
        }
        0x00..=0x3f => match opcode & 7 {
            0 | 1 => written(&operands(bytes, prefixes)?.place),
            2 | 3 => Effect::Write(operands(bytes, prefixes)?.reg),
            4 | 5 => {
                bytes.skip(if opcode & 1 == 0 {
                    1
                } else {
                    prefixes.immediate()
                });
                match opcode {
                    0x3c | 0x3d => Effect::Nothing,
                    _ => Effect::Write(Register::new(0)),
                }
            }
            _ => return None,
        },
        0x50..=0x57 => Effect::Push(Some(prefixes.base(opcode))),
        0x58..=0x5f => Effect::Pop(Some(prefixes.base(opcode))),
        0x63 => Effect::Write(operands(bytes, prefixes)?.reg),
        0x68 => {
            bytes.skip(4);
            Effect::Push(None)
        }
        0x6a => {
            bytes.skip(1);
            Effect::Push(None)
        }
        0x69 | 0x6b => {
            let reg = operands(bytes, prefixes)?.reg;
            bytes.skip(if opcode == 0x6b {
                1
            } else {
                prefixes.immediate()
            });
            Effect::Write(reg)
        }
        0x70..=0x7f | 0xe0..=0xe3 => Effect::Branch(bytes.i8()?),
        0x80 | 0x81 | 0x83 => arithmetic(bytes, prefixes, opcode)?,
        0x86 | 0x87 => {
            operands(bytes, prefixes)?;
            Effect::Clobber
        }
        0x88 => operands(bytes, prefixes).map(|operands| written(&operands.place))?,
        0x89 | 0x8b => moved(bytes, prefixes, opcode)?,
        0x8a => Effect::Write(operands(bytes, prefixes)?.reg),
        0x8c | 0x8e => written(&operands(bytes, prefixes)?.place),
        0x8d => {
            let Operands { reg, place, .. } = operands(bytes, prefixes)?;
            match place {
                Place::Based(base, distance) if prefixes.is_wide() => {
                    Effect::Lea(reg, base, distance)
                }
                _ => Effect::Write(reg),
            }
        }
        0x8f => {
            operands(bytes, prefixes)?;
            Effect::Pop(None)
        }
        0x90 | 0x9b | 0x9e | 0xa6 | 0xa7 | 0xae | 0xaf | 0xf5 | 0xf8..=0xfd => Effect::Nothing,
        0x91..=0x99 | 0x9f | 0xa4 | 0xa5 | 0xaa..=0xad => Effect::Clobber,
        0x9c => Effect::Push(None),
        0x9d => Effect::Pop(None),
        0xa0..=0xa3 => {
            bytes.skip(if prefixes.address_32 { 4 } else { 8 });
            Effect::Write(Register::new(0))
        }
        0xa8 => {
            bytes.skip(1);
            Effect::Nothing
        }
        0xa9 => {
            bytes.skip(prefixes.immediate());
            Effect::Nothing
        }
        0xb0..=0xb7 => {
            bytes.skip(1);
            Effect::Clobber
        }
        0xb8..=0xbf => {
            bytes.skip(if prefixes.is_wide() {
                8
            } else {
                prefixes.immediate()
            });
            Effect::Write(prefixes.base(opcode))
        }
        0xc0 | 0xc1 => {
            let place = operands(bytes, prefixes)?.place;
            bytes.skip(1);
            written(&place)
        }
        0xd0..=0xd3 => written(&operands(bytes, prefixes)?.place),
        0xc2 => {
            bytes.skip(2);
            Effect::Return
        }
        0xc3 => Effect::Return,
        0xc6 | 0xc7 => {
            let place = operands(bytes, prefixes)?.place;
            bytes.skip(if opcode == 0xc6 {
                1
            } else {
                prefixes.immediate()
            });
            written(&place)
        }
        0xc9 => Effect::Leave,
        0xcc | 0xf4 => Effect::Trap,
        0xcd => {
            bytes.skip(1);
            Effect::Nothing
        }
        0xd8..=0xdf => {
            operands(bytes, prefixes)?;
            Effect::Nothing
        }
        0xe8 => {
            bytes.skip(4);
            Effect::Call
        }
        0xe9 => Effect::Jump(bytes.i32()?),
        0xeb => Effect::Jump(bytes.i8()?),
        0xf6 | 0xf7 => {
            let Operands { group, place, .. } = operands(bytes, prefixes)?;
            match group {
                0 | 1 => {
                    bytes.skip(if opcode == 0xf6 {
                        1
                    } else {
                        prefixes.immediate()
                    });
                    Effect::Nothing
                }
                2 | 3 => written(&place),
                _ => Effect::Clobber,
            }
        }
        0xfe => written(&operands(bytes, prefixes)?.place),
        0xff => {
            let Operands { group, place, .. } = operands(bytes, prefixes)?;
            match (group, place) {
                (0, Place::Register(register)) => Effect::Add(register, 1),
                (1, Place::Register(register)) => Effect::Add(register, -1),
                (0 | 1, _) => Effect::Nothing,
                (2 | 3, _) => Effect::Call,
                (4, Place::Register(register)) => Effect::JumpRegister(register),
                (4 | 5, _) => Effect::JumpMemory,
                (6, _) => Effect::Push(None),
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// The group of `add`, `or`, `adc`, `sbb`, `and`, `sub`, `xor` and `cmp` with a number.
fn arithmetic(bytes: &mut Bytes<'_>, prefixes: Prefixes, opcode: u8) -> Option<Effect> {
    let Operands { group, place, .. } = operands(bytes, prefixes)?;
    let number = match (opcode, prefixes.operand_16) {
        (0x81, false) => bytes.i32()?,
        (0x81, true) => {
            bytes.skip(2);
            return Some(written(&place));
        }
        _ => bytes.i8()?,
    };
    Some(match (group, place) {
        (7, _) => Effect::Nothing,
        (0, Place::Register(register)) if prefixes.is_wide() => Effect::Add(register, number),
        (5, Place::Register(register)) if prefixes.is_wide() => {
            Effect::Add(register, number.checked_neg()?)
        }
        (4, Place::Register(register)) if prefixes.is_wide() => Effect::And(register, number),
        (_, place) => written(&place),
    })
}

/// `mov` between registers, or between a register and memory.
fn moved(bytes: &mut Bytes<'_>, prefixes: Prefixes, opcode: u8) -> Option<Effect> {
    let Operands { reg, place, .. } = operands(bytes, prefixes)?;
    let is_load = opcode == 0x8b;
    Some(match (place, is_load, prefixes.is_wide()) {
        (Place::Register(from), true, true) => Effect::Move(reg, from),
        (Place::Register(to), false, true) => Effect::Move(to, reg),
        (Place::Based(base, distance), true, true) => Effect::Load(reg, base, distance),
        (Place::Based(base, distance), false, true) => Effect::Store(base, distance, reg),
        (_, true, _) => Effect::Write(reg),
        (place, false, _) => written(&place),
    })
}

fn two_byte(bytes: &mut Bytes<'_>, prefixes: Prefixes) -> Option<Effect> {
    let opcode = bytes.next()?;
    Some(match opcode {
        0x05 | 0x31 | 0xa2 => Effect::Clobber,
        0x0b => Effect::Trap,
        0x77 | 0x06 | 0x08 | 0x09 => Effect::Nothing,
        0x38 => {
            let opcode = bytes.next()?;
            let reg = operands(bytes, prefixes)?.reg;
            // movbe, crc32, adcx and adox write general registers. The other instructions write
            // vectors.
            match opcode {
                0xf0 | 0xf1 | 0xf6 => Effect::Write(reg),
                _ => Effect::Nothing,
            }
        }
        0x3a => {
            bytes.skip(1);
            let place = operands(bytes, prefixes)?.place;
            bytes.skip(1);
            written(&place)
        }
        0x80..=0x8f => Effect::Branch(bytes.i32()?),
        0xa0 | 0xa8 => Effect::Push(None),
        0xa1 | 0xa9 => Effect::Pop(None),
        0xc8..=0xcf => Effect::Write(prefixes.base(opcode)),
        0x40..=0x4f | 0xaf | 0xb6..=0xb8 | 0xbc..=0xbf | 0x2c | 0x2d | 0x50 | 0xc5 | 0xd7 => {
            let reg = operands(bytes, prefixes)?.reg;
            bytes.skip(usize::from(opcode == 0xc5));
            Effect::Write(reg)
        }
        0x70..=0x73 | 0xa4 | 0xac | 0xba | 0xc2 | 0xc4 | 0xc6 => {
            let place = operands(bytes, prefixes)?.place;
            bytes.skip(1);
            match opcode {
                0xa4 | 0xac | 0xba => written(&place),
                _ => Effect::Nothing,
            }
        }
        0x7e | 0x90..=0x9f | 0xa5 | 0xab | 0xad | 0xb3 | 0xbb => {
            written(&operands(bytes, prefixes)?.place)
        }
        0xb0 | 0xb1 | 0xc0 | 0xc1 | 0xc7 => {
            operands(bytes, prefixes)?;
            Effect::Clobber
        }
        0x0d | 0x10..=0x1f | 0x28..=0x2f | 0x51..=0x7f | 0xa3 | 0xae | 0xc3 | 0xd0..=0xff => {
            operands(bytes, prefixes)?;
            Effect::Nothing
        }
        _ => return None,
    })
}

/// An instruction with a VEX or EVEX prefix, of which `rest` bytes are left.
fn vector(bytes: &mut Bytes<'_>, map: u8, rest: usize) -> Option<Effect> {
    let first = bytes.peek()?;
    bytes.skip(rest);
    let opcode = bytes.next()?;
    if (map, opcode) == (1, 0x77) {
        return Some(Effect::Nothing);
    }
    // The first byte has the bits of REX, inverted; the short form has R alone.
    let rex = match rest {
        1 => (!first >> 5) & 4,
        _ => (!first >> 5) & 7,
    };
    let prefixes = Prefixes {
        rex,
        ..Prefixes::default()
    };
    let reg = operands(bytes, prefixes)?.reg;
    let has_number = map == 3 || map == 1 && matches!(opcode, 0x70..=0x73 | 0xc2 | 0xc4..=0xc6);
    bytes.skip(usize::from(has_number));
    Some(match (rest, map, opcode) {
        // Of VEX alone: andn, bextr, shifts, mulx, rorx and the like write general registers.
        (1 | 2, 2, 0xf2..=0xf7) | (1 | 2, 3, 0xf0) => Effect::Clobber,
        (_, 1, 0x2c | 0x2d | 0x50 | 0xc5 | 0xd7 | 0x93) => Effect::Write(reg),
        (_, 1, 0x7e) | (_, 3, 0x14..=0x17) => Effect::Clobber,
        _ => Effect::Nothing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes all of `code`, which must end with an instruction.
    fn all(code: &[u8]) -> Vec<(usize, Effect)> {
        let mut at = 0;
        let mut found = vec![];
        while at < code.len() {
            let mut bytes = [0; 16];
            let rest = &code[at..code.len().min(at + 16)];
            bytes[..rest.len()].copy_from_slice(rest);
            let Decoded { length, effect, .. } = decode(&bytes).expect("an instruction");
            found.push((length, effect));
            at += length;
        }
        assert_eq!(at, code.len());
        found
    }

    #[test]
    fn the_interpreter_removes_its_frame() {
        // From `ireturn` of JDK 25, as objdump reads it.
        let code = [
            0xc9, // leave
            0x41, 0xc6, 0x87, 0xbe, 0x03, 0x00, 0x00, 0x00, // mov byte ptr [r15+0x3be], 0
            0x41, 0x5d, // pop r13
            0x48, 0x8b, 0xe3, // mov rsp, rbx
            0x49, 0x3b, 0xa7, 0x20, 0x06, 0x00, 0x00, // cmp rsp, [r15+0x620]
            0x72, 0x0b, // jb
            0x49, 0xc7, 0x87, 0x20, 0x06, 0x00, 0x00, 0x00, 0x00, 0x00,
            0x00, // mov [r15+…], 0
            0x41, 0xff, 0xe5, // jmp r13
        ];
        let r13 = Register::R13;
        let expected = [
            (1, Effect::Leave),
            (8, Effect::Nothing),
            (2, Effect::Pop(Some(r13))),
            (3, Effect::Move(Register::RSP, Register::RBX)),
            (7, Effect::Nothing),
            (2, Effect::Branch(11)),
            (11, Effect::Nothing),
            (3, Effect::JumpRegister(r13)),
        ];
        assert_eq!(all(&code), expected);
    }

    #[test]
    fn compiled_code_builds_and_removes_its_frame() {
        let code = [
            0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, // mov [rsp-0x14000], eax
            0x55, // push rbp
            0x48, 0x83, 0xec, 0x30, // sub rsp, 48
            0x48, 0x81, 0xec, 0x00, 0x01, 0x00, 0x00, // sub rsp, 256
            0x48, 0x89, 0x6c, 0x24, 0x10, // mov [rsp+16], rbp
            0xc5, 0xfb, 0x10, 0x44, 0x24, 0x08, // vmovsd xmm0, [rsp+8]
            0xc5, 0xf8, 0x77, // vzeroupper
            0x48, 0x8b, 0x45, 0xf8, // mov rax, [rbp-8]
            0xf6, 0x44, 0x24, 0x08, 0x01, // test byte ptr [rsp+8], 1
            0x48, 0x83, 0xc4, 0x30, // add rsp, 48
            0x5d, // pop rbp
            0x0f, 0x87, 0x01, 0x00, 0x00, 0x00, // ja
            0xc3, // ret
            0xe9, 0x00, 0x00, 0x00, 0x00, // jmp
        ];
        let (rsp, rbp) = (Register::RSP, Register::RBP);
        let expected = [
            (7, Effect::Nothing),
            (1, Effect::Push(Some(rbp))),
            (4, Effect::Add(rsp, -48)),
            (7, Effect::Add(rsp, -256)),
            (5, Effect::Store(rsp, 16, rbp)),
            (6, Effect::Nothing),
            (3, Effect::Nothing),
            (4, Effect::Load(Register::new(0), rbp, -8)),
            (5, Effect::Nothing),
            (4, Effect::Add(rsp, 48)),
            (1, Effect::Pop(Some(rbp))),
            (6, Effect::Branch(1)),
            (1, Effect::Return),
            (5, Effect::Jump(0)),
        ];
        assert_eq!(all(&code), expected);
    }

    #[test]
    fn invalid_instructions_are_refused() {
        for code in [[0x06; 16], [0x66; 16], [0x0f; 16]] {
            assert_eq!(decode(&code), None);
        }
    }
}
