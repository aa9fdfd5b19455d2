//! Reads a class file whole and writes it back.

use crate::error::Result;
use crate::file::{Attribute, ClassFile, Code, CodeTable};
use crate::types::RawFrames;

/// Reads a class file into the model, with every instruction, frame and table, and writes the
/// model. The bytes are the same if the reader understands the file correctly.
pub fn identity(class_file: &[u8]) -> Result<Vec<u8>> {
    let class = ClassFile::parse(class_file)?;
    let mut out = Vec::with_capacity(class_file.len());
    out.extend_from_slice(&0xCAFE_BABE_u32.to_be_bytes());
    for n in [class.minor, class.major, class.pool.count()] {
        out.extend_from_slice(&n.to_be_bytes());
    }
    out.extend_from_slice(&class_file[10..class.pool.end()]);
    for n in [
        class.access_flags,
        class.this_class,
        class.super_class,
        (class.interfaces.len() / 2) as u16,
    ] {
        out.extend_from_slice(&n.to_be_bytes());
    }
    out.extend_from_slice(class.interfaces);
    for members in [&class.fields, &class.methods] {
        out.extend_from_slice(&(members.len() as u16).to_be_bytes());
        for member in members {
            let code = member.code()?.map(|a| a.offset);
            let mut result = Ok(());
            member.write_with(&mut out, |attribute, out| {
                if Some(attribute.offset) == code {
                    if let Err(e) = write_code(&class, attribute, out) {
                        result = Err(e);
                    }
                } else {
                    attribute.write(out);
                }
            });
            result?;
        }
    }
    out.extend_from_slice(&(class.attributes.len() as u16).to_be_bytes());
    for attribute in &class.attributes {
        attribute.write(&mut out);
    }
    Ok(out)
}

fn write_code(class: &ClassFile<'_>, attribute: &Attribute<'_>, out: &mut Vec<u8>) -> Result<()> {
    let code = Code::parse(class, attribute)?;
    out.extend_from_slice(&attribute.name_index.to_be_bytes());
    let length_at = out.len();
    out.extend_from_slice(&[0; 4]);
    if code.short {
        out.extend_from_slice(&[code.max_stack as u8, code.max_locals as u8]);
        out.extend_from_slice(&(code.code.len() as u16).to_be_bytes());
    } else {
        out.extend_from_slice(&code.max_stack.to_be_bytes());
        out.extend_from_slice(&code.max_locals.to_be_bytes());
        out.extend_from_slice(&(code.code.len() as u32).to_be_bytes());
    }
    for instruction in code.instructions() {
        instruction?.write(out);
    }
    out.extend_from_slice(&(code.exceptions().len() as u16).to_be_bytes());
    for entry in code.exceptions() {
        entry.write(out);
    }
    out.extend_from_slice(&(code.attributes.len() as u16).to_be_bytes());
    for a in &code.attributes {
        match CodeTable::of(a.name) {
            CodeTable::StackMap => {
                out.extend_from_slice(&a.name_index.to_be_bytes());
                out.extend_from_slice(&(a.info.len() as u32).to_be_bytes());
                let mut frames = RawFrames::new(a.reader(class.file))?;
                out.extend_from_slice(&frames.left().to_be_bytes());
                while let Some(frame) = frames.next_frame()? {
                    frame.write(out);
                }
            }
            table => {
                table.places(a, class.file, |_| Ok(()))?;
                a.write(out);
            }
        }
    }
    let n = (out.len() - length_at - 4) as u32;
    out[length_at..length_at + 4].copy_from_slice(&n.to_be_bytes());
    Ok(())
}
