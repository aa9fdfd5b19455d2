//! What a class file tells about calls: which methods there are, where their instructions start,
//! and what each instruction may call or have the VM call. Bytes of code are not kept.

use crate::class::{ClassFile, Member};
use crate::code::Code;
use crate::error::{Malformed, Result};
use crate::instruction::{Instruction, Operands};
use crate::opcode as op;
use crate::pool::{MemberRef, tag};

/// A class as far as calls go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline<'a> {
    /// Internal name.
    pub name: &'a [u8],
    /// Internal name of the superclass; none for `java/lang/Object`.
    pub super_name: Option<&'a [u8]>,
    /// Internal names of the direct superinterfaces.
    pub interfaces: Vec<&'a [u8]>,
    /// Access flags, JVMS table 4.1-B.
    pub access_flags: u16,
    /// The methods it declares, in order.
    pub methods: Vec<MethodOutline<'a>>,
}

/// A method as far as calls go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodOutline<'a> {
    /// Access flags, JVMS table 4.6-A.
    pub access_flags: u16,
    /// Name.
    pub name: &'a [u8],
    /// Descriptor.
    pub descriptor: &'a [u8],
    /// What its code does; none for native and abstract methods.
    pub code: Option<CodeOutline<'a>>,
}

/// What code calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeOutline<'a> {
    /// Where instructions start.
    pub starts: Bcis,
    /// Instructions that may throw by themselves (JVMS 6.5, "Run-time Exceptions" and "Linking
    /// Exceptions").
    pub throwing: Bcis,
    /// Instructions that call, initialise or link, in order.
    pub sites: Vec<Site<'a>>,
}

/// An instruction that calls, initialises or links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site<'a> {
    /// Where it starts.
    pub bci: u16,
    /// To what it refers.
    pub refers: Refers<'a>,
}

/// What an instruction refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refers<'a> {
    /// `invokevirtual`.
    Virtual(MemberRef<'a>),
    /// `invokespecial`.
    Special(MemberRef<'a>),
    /// `invokestatic`.
    Static(MemberRef<'a>),
    /// `invokeinterface`.
    Interface(MemberRef<'a>),
    /// `invokedynamic`.
    Dynamic,
    /// `new`, `getstatic`, `putstatic`: this class is initialised.
    Initialises(&'a [u8]),
    /// `ldc` of a method handle, method type or dynamic constant: Java code makes it.
    Links,
}

/// A set of BCIs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bcis(Box<[u64]>);

impl Bcis {
    fn up_to(length: usize) -> Bcis {
        Bcis(vec![0; length.div_ceil(64)].into())
    }

    fn insert(&mut self, bci: u32) {
        self.0[bci as usize / 64] |= 1 << (bci % 64);
    }

    /// Whether `bci` is in the set.
    pub fn contains(&self, bci: u32) -> bool {
        let word = self.0.get(bci as usize / 64);
        word.is_some_and(|word| word >> (bci % 64) & 1 == 1)
    }

    /// The set as bits, the lowest BCI in the lowest bit of the first word.
    pub fn words(&self) -> &[u64] {
        &self.0
    }
}

impl<'a> Outline<'a> {
    /// Reads a class file.
    pub fn read(class_file: &'a [u8]) -> Result<Outline<'a>> {
        let class = ClassFile::parse(class_file)?;
        let interfaces = class.interfaces.as_chunks::<2>().0.iter();
        let interfaces = interfaces.map(|bytes| {
            let name = class.pool.class_name(u16::from_be_bytes(*bytes));
            name.ok_or(Malformed {
                offset: class.pool.end(),
                rule: "JVMS 4.1: each superinterface is a CONSTANT_Class",
            })
        });
        let methods = class.methods.iter().map(|method| outline(&class, method));
        Ok(Outline {
            name: class.name,
            super_name: class.super_name,
            interfaces: interfaces.collect::<Result<_>>()?,
            access_flags: class.access_flags,
            methods: methods.collect::<Result<_>>()?,
        })
    }
}

fn outline<'a>(class: &ClassFile<'a>, method: &Member<'a>) -> Result<MethodOutline<'a>> {
    let code = match method.code()? {
        Some(attribute) => Some(code(class, &Code::parse(class, attribute)?)?),
        None => None,
    };
    Ok(MethodOutline {
        access_flags: method.access_flags,
        name: method.name,
        descriptor: method.descriptor,
        code,
    })
}

fn code<'a>(class: &ClassFile<'a>, code: &Code<'a>) -> Result<CodeOutline<'a>> {
    let length = code.code.len();
    let mut outline = CodeOutline {
        starts: Bcis::up_to(length),
        throwing: Bcis::up_to(length),
        ..CodeOutline::default()
    };
    for instruction in code.instructions() {
        let instruction = instruction?;
        outline.starts.insert(instruction.bci);
        if throws(instruction.opcode) {
            outline.throwing.insert(instruction.bci);
        }
        let refers = refers(class, &instruction).ok_or(Malformed {
            offset: code.offset + instruction.bci as usize,
            rule: "JVMS 4.9.1: an instruction's constant is of the kind that it takes",
        })?;
        if let Some(refers) = refers {
            let bci = instruction.bci as u16;
            outline.sites.push(Site { bci, refers });
        }
    }
    Ok(outline)
}

/// To what an instruction refers: `Some(None)` if to nothing of interest, `None` if it is
/// malformed.
#[allow(clippy::option_option)]
fn refers<'a>(class: &ClassFile<'a>, instruction: &Instruction<'a>) -> Option<Option<Refers<'a>>> {
    let pool = &class.pool;
    let (Operands::Pool(index) | Operands::PoolAnd1(index, _) | Operands::PoolAnd2(index, ..)) =
        instruction.operands
    else {
        return Some(None);
    };
    Some(Some(match instruction.opcode {
        op::INVOKEVIRTUAL => Refers::Virtual(pool.member(index)?),
        op::INVOKESPECIAL => Refers::Special(pool.member(index)?),
        op::INVOKESTATIC => Refers::Static(pool.member(index)?),
        op::INVOKEINTERFACE => Refers::Interface(pool.member(index)?),
        op::INVOKEDYNAMIC => Refers::Dynamic,
        op::NEW => Refers::Initialises(pool.class_name(index)?),
        op::GETSTATIC | op::PUTSTATIC => Refers::Initialises(pool.member(index)?.class),
        op::LDC | op::LDC_W | op::LDC2_W => match pool.tag(index)? {
            tag::METHOD_HANDLE | tag::METHOD_TYPE | tag::DYNAMIC => Refers::Links,
            _ => return Some(None),
        },
        _ => return Some(None),
    }))
}

/// Whether the instruction itself may throw: all but those that only move values, compute without
/// division, or jump.
fn throws(opcode: u8) -> bool {
    const IALOAD: u8 = 46;
    const SALOAD: u8 = 53;
    const IASTORE: u8 = 79;
    const SASTORE: u8 = 86;
    const IDIV: u8 = 108;
    const LDIV: u8 = 109;
    const IREM: u8 = 112;
    const LREM: u8 = 113;
    matches!(
        opcode,
        op::LDC
            | op::LDC_W
            | op::LDC2_W
            | IALOAD..=SALOAD
            | IASTORE..=SASTORE
            | IDIV
            | LDIV
            | IREM
            | LREM
            | op::IRETURN..=op::RETURN
            | op::GETSTATIC..=op::MONITOREXIT
            | op::MULTIANEWARRAY
    )
}
