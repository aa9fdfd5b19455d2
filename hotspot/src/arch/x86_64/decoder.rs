//! Decodes x86-64 instructions as far as frames depend on them: their lengths, and their effects on
//! the stack pointer and on the general registers (Intel SDM, volume 2, appendix A).
//!
//! Whoever follows code rests on this alone, so a mistake here would confirm itself. `tests/decoder` compares each opcode, any
//! bytes, and the code caches of JVMs with another decoder.
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
    /// The last of `rep` (f3) and `repne` (f2), which some opcodes take as a part of their own.
    pub repeat: Option<u8>,
    /// The prefix of a segment with a base of its own: `fs` or `gs`.
    pub segment: Option<u8>,
    /// The prefix REX; 0 without one.
    pub rex: u8,
    /// The place of the opcode, or of a prefix VEX or EVEX.
    pub end: usize,
}

/// Decodes the instruction at the start of `code`; `None` if the instruction is not known. That is so for all that only the
/// kernel may run, for words of two bytes that are pushed or popped, and for loops. Some bytes decode that the processor
/// refuses, such as a lock before an instruction that takes none: no code runs there.
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

/// `rep`.
const REP: Option<u8> = Some(0xf3);

/// `repne`.
const REPNE: Option<u8> = Some(0xf2);

impl Prefixes {
    fn is_wide(self) -> bool {
        self.rex & 8 != 0
    }

    /// Whether operands have 16 bits: a bit of REX for 64 bits comes first.
    fn is_narrow(self) -> bool {
        self.operand_16 && !self.is_wide()
    }

    /// These prefixes without that of a segment, for `lea`.
    fn without_segment(self) -> Prefixes {
        Prefixes {
            segment: None,
            ..self
        }
    }

    /// Length of an immediate operand that depends on the operand size, in bytes.
    fn immediate(self) -> usize {
        if self.is_narrow() { 2 } else { 4 }
    }

    /// The register of three bits in the opcode, or of the `rm` field.
    fn base(self, bits: u8) -> Register {
        Register::new((bits & 7) | ((self.rex & 1) << 3))
    }

    /// The register of the `reg` field.
    fn reg(self, bits: u8) -> Register {
        Register::new((bits & 7) | ((self.rex & 4) << 1))
    }

    /// The register that `register` is a byte of: without REX, numbers 4 to 7 are the second bytes of rax, rcx, rdx and
    /// rbx.
    fn of_byte(self, register: Register) -> Register {
        match register.number() {
            number @ 4..=7 if self.rex == 0 => Register::new(number - 4),
            _ => register,
        }
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

impl Operands {
    /// These operands where their registers have one byte.
    fn of_bytes(self, prefixes: Prefixes) -> Operands {
        Operands {
            reg: prefixes.of_byte(self.reg),
            place: match self.place {
                Place::Register(register) => Place::Register(prefixes.of_byte(register)),
                place => place,
            },
            ..self
        }
    }

    /// These operands where bit 0 of `opcode` says whether their registers have one byte.
    fn of_size(self, opcode: u8, prefixes: Prefixes) -> Operands {
        if opcode & 1 == 0 {
            self.of_bytes(prefixes)
        } else {
            self
        }
    }
}

fn operands(bytes: &mut Bytes<'_>, prefixes: Prefixes) -> Option<Operands> {
    bytes.modrm = Some(bytes.at);
    let modrm = bytes.next()?;
    let (mode, group, rm) = (modrm >> 6, (modrm >> 3) & 7, modrm & 7);
    // The base of a segment counts too, and short addresses are cut.
    let is_simple = prefixes.segment.is_none() && !prefixes.address_32;
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
    let place = match place {
        Place::Based(..) if !is_simple => Place::Elsewhere,
        place => place,
    };
    let reg = prefixes.reg(group);
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
            repeat @ (0xf2 | 0xf3) => prefixes.repeat = Some(repeat),
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
        0xc5 => vex_2(bytes),
        0xc4 => vector(bytes, false),
        0x62 => vector(bytes, true),
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
    let is_byte = opcode & 1 == 0;
    // An immediate operand: of one byte, or as long as the operands.
    let immediate = if is_byte { 1 } else { prefixes.immediate() };
    Some(match opcode {
        // cmp and test change no register.
        0x38..=0x3b | 0x84 | 0x85 => {
            operands(bytes, prefixes)?;
            Effect::Nothing
        }
        0x00..=0x3f => match opcode & 7 {
            0 | 1 => written(&operands(bytes, prefixes)?.of_size(opcode, prefixes).place),
            2 | 3 => Effect::Write(operands(bytes, prefixes)?.of_size(opcode, prefixes).reg),
            4 | 5 => {
                bytes.skip(immediate);
                match opcode {
                    0x3c | 0x3d => Effect::Nothing,
                    _ => Effect::Write(Register::RAX),
                }
            }
            _ => return None,
        },
        // HotSpot pushes and pops whole words alone.
        0x50..=0x5f | 0x68 | 0x6a | 0x8f | 0x9c | 0x9d | 0xc9 if prefixes.is_narrow() => {
            return None;
        }
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
        // `jrcxz`. Loops, which count in rcx, are before it.
        0x70..=0x7f | 0xe3 => Effect::Branch(bytes.i8()?),
        0x80 | 0x81 | 0x83 => arithmetic(bytes, prefixes, opcode)?,
        0x86 | 0x87 => exchanged(&operands(bytes, prefixes)?.of_size(opcode, prefixes)),
        0x88 => written(&operands(bytes, prefixes)?.of_bytes(prefixes).place),
        0x89 | 0x8b => moved(bytes, prefixes, opcode)?,
        0x8a => Effect::Write(operands(bytes, prefixes)?.of_bytes(prefixes).reg),
        0x8c => written(&operands(bytes, prefixes)?.place),
        0x8e => {
            operands(bytes, prefixes)?;
            Effect::Nothing
        }
        0x8d => {
            let Operands { reg, place, .. } = operands(bytes, prefixes.without_segment())?;
            match place {
                Place::Based(base, distance) if prefixes.is_wide() => {
                    Effect::Lea(reg, base, distance)
                }
                Place::Register(_) => return None,
                _ => Effect::Write(reg),
            }
        }
        0x8f => match operands(bytes, prefixes)? {
            Operands {
                group: 0,
                place: Place::Register(register),
                ..
            } => Effect::Pop(Some(register)),
            Operands { group: 0, .. } => Effect::Pop(None),
            _ => return None,
        },
        // `nop` is an exchange of rax with itself.
        0x90 if prefixes.rex & 1 == 0 || prefixes.repeat == REP => Effect::Nothing,
        0x90..=0x97 => Effect::WriteBoth(Register::RAX, prefixes.base(opcode)),
        0x9b | 0x9e | 0xf5 | 0xf8..=0xfd => Effect::Nothing,
        0x98 | 0x9f => Effect::Write(Register::RAX),
        0x99 => Effect::Write(Register::RDX),
        // Strings: rsi, rdi, rcx and rax.
        0xa4..=0xa7 | 0xaa..=0xaf => Effect::Clobber,
        0x9c => Effect::Push(None),
        0x9d => Effect::Pop(None),
        0xa0..=0xa3 => {
            bytes.skip(if prefixes.address_32 { 4 } else { 8 });
            if opcode < 0xa2 {
                Effect::Write(Register::RAX)
            } else {
                Effect::Nothing
            }
        }
        0xa8 | 0xa9 => {
            bytes.skip(immediate);
            Effect::Nothing
        }
        0xb0..=0xb7 => {
            bytes.skip(1);
            Effect::Write(prefixes.of_byte(prefixes.base(opcode)))
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
            let place = operands(bytes, prefixes)?.of_size(opcode, prefixes).place;
            bytes.skip(1);
            written(&place)
        }
        0xd0..=0xd3 => written(&operands(bytes, prefixes)?.of_size(opcode, prefixes).place),
        0xc2 => {
            bytes.skip(2);
            Effect::Return
        }
        0xc3 => Effect::Return,
        0xc6 | 0xc7 => {
            let Operands { group, place, .. } =
                operands(bytes, prefixes)?.of_size(opcode, prefixes);
            bytes.skip(immediate);
            // The other numbers of the group are transactions.
            if group != 0 {
                return None;
            }
            written(&place)
        }
        0xc9 => Effect::Leave,
        0xcc | 0xf4 => Effect::Trap,
        0xcd => {
            bytes.skip(1);
            Effect::Nothing
        }
        0xd8..=0xdf => match (opcode, operands(bytes, prefixes)?) {
            // `fnstsw ax`.
            (
                0xdf,
                Operands {
                    group: 4,
                    place: Place::Register(_),
                    ..
                },
            ) => Effect::Write(Register::RAX),
            _ => Effect::Nothing,
        },
        0xe8 => {
            bytes.skip(4);
            Effect::Call
        }
        0xe9 => Effect::Jump(bytes.i32()?),
        0xeb => Effect::Jump(bytes.i8()?),
        0xf6 | 0xf7 => {
            let Operands { group, place, .. } =
                operands(bytes, prefixes)?.of_size(opcode, prefixes);
            match group {
                0 | 1 => {
                    bytes.skip(immediate);
                    Effect::Nothing
                }
                2 | 3 => written(&place),
                // Products and quotients of bytes are in rax alone.
                _ if is_byte => Effect::Write(Register::RAX),
                _ => Effect::WriteBoth(Register::RAX, Register::RDX),
            }
        }
        0xfe => match operands(bytes, prefixes)?.of_bytes(prefixes) {
            Operands {
                group: 0 | 1,
                place,
                ..
            } => written(&place),
            _ => return None,
        },
        0xff => {
            let Operands { group, place, .. } = operands(bytes, prefixes)?;
            match (group, place) {
                (0, Place::Register(register)) if prefixes.is_wide() => Effect::Add(register, 1),
                (1, Place::Register(register)) if prefixes.is_wide() => Effect::Add(register, -1),
                (0 | 1, place) => written(&place),
                (2, _) => Effect::Call,
                (4, Place::Register(register)) => Effect::JumpRegister(register),
                (5, Place::Register(_)) => return None,
                (4 | 5, _) => Effect::JumpMemory,
                (6, _) if prefixes.is_narrow() => return None,
                (6, Place::Register(register)) => Effect::Push(Some(register)),
                (6, _) => Effect::Push(None),
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// The effect of an instruction that writes both of its operands.
fn exchanged(operands: &Operands) -> Effect {
    match operands.place {
        Place::Register(register) => Effect::WriteBoth(register, operands.reg),
        Place::Based(..) | Place::Elsewhere => Effect::Write(operands.reg),
    }
}

/// The group of `add`, `or`, `adc`, `sbb`, `and`, `sub`, `xor` and `cmp` with a number.
fn arithmetic(bytes: &mut Bytes<'_>, prefixes: Prefixes, opcode: u8) -> Option<Effect> {
    let Operands { group, place, .. } = operands(bytes, prefixes)?.of_size(opcode, prefixes);
    let number = match (opcode, prefixes.is_narrow()) {
        (0x81, false) => bytes.i32()?,
        (0x81, true) => {
            bytes.skip(2);
            0
        }
        _ => bytes.i8()?,
    };
    let is_wide = prefixes.is_wide() && opcode != 0x80;
    Some(match (group, place) {
        (7, _) => Effect::Nothing,
        (0, Place::Register(register)) if is_wide => Effect::Add(register, number),
        // The least number has no opposite.
        (5, Place::Register(register)) if is_wide && number != i32::MIN => {
            Effect::Add(register, -number)
        }
        (4, Place::Register(register)) if is_wide => Effect::And(register, number),
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
        // `syscall`, which writes rax, rcx and r11, and `cpuid`.
        0x05 | 0xa2 => Effect::Clobber,
        0x31 => Effect::WriteBoth(Register::RAX, Register::RDX),
        0x0b => Effect::Trap,
        0x77 | 0x06 | 0x08 | 0x09 => Effect::Nothing,
        0x38 => {
            let opcode = bytes.next()?;
            let Operands { reg, place, .. } = operands(bytes, prefixes)?;
            match (opcode, place) {
                // `crc32`, and `movbe` from memory.
                (0xf0, _) => Effect::Write(reg),
                (0xf1, _) if prefixes.repeat == REPNE => Effect::Write(reg),
                // `movbe` to memory.
                (0xf1, _) => Effect::Nothing,
                // `adcx`, `adox`; without a prefix it writes to a shadow stack.
                (0xf6, _) if prefixes.operand_16 || prefixes.repeat == REP => Effect::Write(reg),
                (0x00..=0xdf, _) => Effect::Nothing,
                _ => return None,
            }
        }
        0x3a => {
            let opcode = bytes.next()?;
            let place = operands(bytes, prefixes)?.place;
            bytes.skip(1);
            extracted(opcode, &place)
        }
        0x80..=0x8f => Effect::Branch(bytes.i32()?),
        0xa0 | 0xa1 | 0xa8 | 0xa9 if prefixes.is_narrow() => return None,
        0xa0 | 0xa8 => Effect::Push(None),
        0xa1 | 0xa9 => Effect::Pop(None),
        0xc8..=0xcf => Effect::Write(prefixes.base(opcode)),
        // Without `rep` or `repne` these two write registers of MMX.
        0x2c | 0x2d if prefixes.repeat.is_none() => {
            operands(bytes, prefixes)?;
            Effect::Nothing
        }
        0x40..=0x4f | 0xaf | 0xb6..=0xb8 | 0xbc..=0xbf | 0x2c | 0x2d | 0x50 | 0xc5 | 0xd7 => {
            let reg = operands(bytes, prefixes)?.reg;
            bytes.skip(usize::from(opcode == 0xc5));
            Effect::Write(reg)
        }
        0x70..=0x73 | 0xa4 | 0xac | 0xba | 0xc2 | 0xc4 | 0xc6 => {
            let Operands { group, place, .. } = operands(bytes, prefixes)?;
            bytes.skip(1);
            match opcode {
                // `bt` changes no register.
                0xba if group == 4 => Effect::Nothing,
                0xa4 | 0xac | 0xba => written(&place),
                _ => Effect::Nothing,
            }
        }
        // `movq` between registers of vectors.
        0x7e if prefixes.repeat == REP => {
            operands(bytes, prefixes)?;
            Effect::Nothing
        }
        0x90..=0x9f => written(&operands(bytes, prefixes)?.of_bytes(prefixes).place),
        0x7e | 0xa5 | 0xab | 0xad | 0xb3 | 0xbb => written(&operands(bytes, prefixes)?.place),
        // `cmpxchg` writes rax or its first operand.
        0xb0 | 0xb1 => match operands(bytes, prefixes)?.of_size(opcode, prefixes).place {
            Place::Register(register) => Effect::WriteBoth(Register::RAX, register),
            Place::Based(..) | Place::Elsewhere => Effect::Write(Register::RAX),
        },
        0xc0 | 0xc1 => exchanged(&operands(bytes, prefixes)?.of_size(opcode, prefixes)),
        0xc7 => match operands(bytes, prefixes)? {
            // `cmpxchg8b`, `cmpxchg16b`.
            Operands {
                group: 1,
                place: Place::Based(..) | Place::Elsewhere,
                ..
            } => Effect::WriteBoth(Register::RAX, Register::RDX),
            // `rdrand`, `rdseed`, `rdpid`.
            Operands {
                group: 7,
                place: Place::Register(register),
                ..
            } => Effect::Write(register),
            Operands {
                group: 6,
                place: Place::Register(register),
                ..
            } if prefixes.repeat.is_none() => Effect::Write(register),
            // States of the processor.
            Operands {
                group: 3..=5,
                place: Place::Based(..) | Place::Elsewhere,
                ..
            } => Effect::Nothing,
            _ => return None,
        },
        0xae => match operands(bytes, prefixes)? {
            // Bases of segments, shadow stacks, waits.
            Operands {
                place: Place::Register(_),
                ..
            } if prefixes.repeat.is_some() || prefixes.operand_16 => return None,
            _ => Effect::Nothing,
        },
        // With `rep`, a shadow stack's pointer may be read.
        0x1e => match operands(bytes, prefixes)? {
            Operands {
                group: 1,
                place: Place::Register(register),
                ..
            } if prefixes.repeat == REP => Effect::Write(register),
            _ => Effect::Nothing,
        },
        0x0d | 0x10..=0x1d | 0x1f | 0x28..=0x2b | 0x2e | 0x2f | 0x51..=0x77 | 0x7a..=0x7d => {
            operands(bytes, prefixes)?;
            Effect::Nothing
        }
        0x7f | 0xa3 | 0xc3 | 0xd0..=0xfe => {
            operands(bytes, prefixes)?;
            Effect::Nothing
        }
        _ => return None,
    })
}

/// The effect of an instruction of the third map, which has a number: some extract a part of a vector, or compare
/// strings and give an index in rcx.
fn extracted(opcode: u8, place: &Place) -> Effect {
    match opcode {
        0x14..=0x17 => written(place),
        0x61 | 0x63 => Effect::Write(Register::RCX),
        _ => Effect::Nothing,
    }
}

/// The number of the map, the prefix that is a part of the opcode (1: 66, 2: f3, 3: f2), and the second source.
struct Vector {
    map: u8,
    prefix: u8,
    second: Register,
    is_evex: bool,
}

/// An instruction with a prefix VEX of two bytes.
fn vex_2(bytes: &mut Bytes<'_>) -> Option<Effect> {
    let last = bytes.next()?;
    let vector = Vector {
        map: 1,
        prefix: last & 3,
        second: Register::new(!last >> 3 & 15),
        is_evex: false,
    };
    // The short form has R alone, inverted.
    vector.effect(bytes, !last >> 5 & 4)
}

/// An instruction with a prefix VEX of three bytes, or EVEX.
fn vector(bytes: &mut Bytes<'_>, is_evex: bool) -> Option<Effect> {
    let (first, second) = (bytes.next()?, bytes.next()?);
    if is_evex {
        bytes.skip(1);
    }
    let vector = Vector {
        map: first & if is_evex { 7 } else { 31 },
        prefix: second & 3,
        second: Register::new(!second >> 3 & 15),
        is_evex,
    };
    // The bits of REX, inverted.
    vector.effect(bytes, !first >> 5 & 7)
}

impl Vector {
    fn effect(&self, bytes: &mut Bytes<'_>, rex: u8) -> Option<Effect> {
        let opcode = bytes.next()?;
        // `vzeroupper`, `vzeroall`.
        if (self.is_evex, self.map, opcode) == (false, 1, 0x77) {
            return Some(Effect::Nothing);
        }
        let prefixes = Prefixes {
            rex,
            ..Prefixes::default()
        };
        let Operands { reg, place, .. } = operands(bytes, prefixes)?;
        let has_number =
            self.map == 3 || self.map == 1 && matches!(opcode, 0x70..=0x73 | 0xc2 | 0xc4..=0xc6);
        bytes.skip(usize::from(has_number));
        Some(match (self.map, opcode) {
            (1 | 5, 0x2c | 0x2d) | (1, 0x50 | 0xc5 | 0xd7) => Effect::Write(reg),
            // `vcvttss2usi` and its kin.
            (1 | 5, 0x78 | 0x79) if self.is_evex && self.prefix >= 2 => Effect::Write(reg),
            // `kmov` to a general register.
            (1, 0x93) if !self.is_evex => Effect::Write(reg),
            // `vmovq` between registers of vectors has the prefix f3.
            (1 | 5, 0x7e) if self.prefix != 2 => written(&place),
            // `andn`, `bzhi`, `pext`, `pdep`, `bextr` and shifts.
            (2, 0xf2 | 0xf5 | 0xf7) if !self.is_evex => Effect::Write(reg),
            // `blsr`, `blsmsk`, `blsi`.
            (2, 0xf3) if !self.is_evex => Effect::Write(self.second),
            // `mulx`.
            (2, 0xf6) if !self.is_evex => Effect::WriteBoth(reg, self.second),
            // `rorx`.
            (3, 0xf0) if !self.is_evex => Effect::Write(reg),
            (3, _) => extracted(opcode, &place),
            // Tiles, and comparisons that add.
            (2, 0x49 | 0x4b | 0x5c..=0x5e | 0x6c | 0xe0..=0xef) if !self.is_evex => return None,
            (1 | 2, _) => Effect::Nothing,
            (5 | 6, _) if self.is_evex => Effect::Nothing,
            _ => return None,
        })
    }
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
