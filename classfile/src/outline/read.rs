//! From a class file to its outline.

use super::bcis::Bcis;
use super::model::{CodeOutline, Heading, MethodOutline, Outline, Refers, Site};
use crate::error::{Malformed, Result};
use crate::file::{ClassFile, Code, Member};
use crate::instruction::{Instruction, fingerprint};
use crate::operators::{Call, Effect};
use crate::pool::{ConstantPool, MemberRef, tag};

impl<'a> Heading<'a> {
    /// Reads a class file, without the code of its methods.
    ///
    /// # Errors
    /// If the file breaks a rule of the JVMS that it is read by.
    pub fn read(class_file: &'a [u8]) -> Result<Heading<'a>> {
        let class = ClassFile::parse(class_file)?;
        Ok(Heading {
            name: class.name,
            super_name: class.super_name,
            interfaces: interfaces(&class)?,
        })
    }
}

impl<'a> Outline<'a> {
    /// Reads a class file.
    ///
    /// # Errors
    /// If the file breaks a rule of the JVMS that it is read by.
    pub fn read(class_file: &'a [u8]) -> Result<Outline<'a>> {
        let class = ClassFile::parse(class_file)?;
        let methods = class.methods.iter().map(|method| outline(&class, method));
        Ok(Outline {
            name: class.name,
            super_name: class.super_name,
            interfaces: interfaces(&class)?,
            access_flags: class.access_flags,
            methods: methods.collect::<Result<_>>()?,
        })
    }
}

fn interfaces<'a>(class: &ClassFile<'a>) -> Result<Vec<&'a [u8]>> {
    let interfaces = class.interfaces.as_chunks::<2>().0.iter();
    let interfaces = interfaces.map(|bytes| {
        let name = class.pool.class_name(u16::from_be_bytes(*bytes));
        name.ok_or(Malformed {
            offset: class.pool.end(),
            rule: "JVMS 4.1: each superinterface is a CONSTANT_Class",
        })
    });
    interfaces.collect()
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
        fingerprint: fingerprint(code.code),
        starts: Bcis::up_to(length),
        throwing: Bcis::up_to(length),
        ..CodeOutline::default()
    };
    for instruction in code.instructions() {
        let instruction = instruction?;
        outline.starts.insert(instruction.bci);
        if instruction.opcode.throws() {
            outline.throwing.insert(instruction.bci);
        }
        let refers = refers(&class.pool, &instruction).map_err(|WrongConstant| Malformed {
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

/// The constant is not of the kind that the instruction takes.
struct WrongConstant;

/// The referent of an instruction; `None` if the instruction calls, initialises and links nothing.
fn refers<'a>(
    pool: &ConstantPool<'a>,
    instruction: &Instruction<'a>,
) -> Result<Option<Refers<MemberRef<'a>, &'a [u8]>>, WrongConstant> {
    let constant = || instruction.constant().ok_or(WrongConstant);
    let member = || pool.member(constant()?).ok_or(WrongConstant);
    Ok(Some(match instruction.opcode.effect() {
        Effect::Invoke(Call::Virtual) => Refers::Virtual(member()?),
        Effect::Invoke(Call::Special) => Refers::Special(member()?),
        Effect::Invoke(Call::Static) => Refers::Static(member()?),
        Effect::Invoke(Call::Interface) => Refers::Interface(member()?),
        Effect::Invoke(Call::Dynamic) => Refers::Dynamic,
        Effect::New => Refers::Initialises(pool.class_name(constant()?).ok_or(WrongConstant)?),
        Effect::GetStatic | Effect::PutStatic => Refers::Initialises(member()?.class),
        Effect::Constant => match pool.tag(constant()?).ok_or(WrongConstant)? {
            tag::METHOD_HANDLE | tag::METHOD_TYPE | tag::DYNAMIC => Refers::Links,
            _ => return Ok(None),
        },
        _ => return Ok(None),
    }))
}
