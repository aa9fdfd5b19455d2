//! Compares `classfile` with readers that share no code with it.

use cafebabe::constant_pool::NameAndType;
use classfile::Outline;
use classfile::file::{ClassFile, Code};
use classfile::outline::Refers;

/// `cafebabe` finds the same instructions and calls as the outline.
fn outlines_agree(theirs: &cafebabe::ClassFile<'_>, bytes: &[u8]) {
    use cafebabe::bytecode::Opcode;
    let ours = Outline::read(bytes).expect("we read what we wrote");
    for (theirs, ours) in theirs.methods.iter().zip(&ours.methods) {
        let codes = theirs.attributes.iter().filter_map(|a| match &a.data {
            cafebabe::attributes::AttributeData::Code(code) => code.bytecode.as_ref(),
            _ => None,
        });
        let opcodes: Vec<_> = codes.flat_map(|code| &code.opcodes).collect();
        let outline = ours.code.clone().unwrap_or_default();
        let starts = (0..65536).filter(|&bci| outline.starts.contains(bci));
        assert!(starts.eq(opcodes.iter().map(|(at, _)| *at as u32)));
        let calls = opcodes.iter().filter_map(|(at, opcode)| match opcode {
            Opcode::Invokevirtual(m)
            | Opcode::Invokespecial(m)
            | Opcode::Invokestatic(m)
            | Opcode::Invokeinterface(m, _) => {
                let NameAndType { name, descriptor } = &m.name_and_type;
                Some((*at, format!("{}.{name}{descriptor}", m.class_name)))
            }
            _ => None,
        });
        let ours = outline.sites.iter().filter_map(|site| match site.refers {
            Refers::Virtual(m) | Refers::Special(m) | Refers::Static(m) | Refers::Interface(m) => {
                let [class, name, descriptor] =
                    [m.class, m.name, m.descriptor].map(String::from_utf8_lossy);
                Some((usize::from(site.bci), format!("{class}.{name}{descriptor}")))
            }
            _ => None,
        });
        assert!(calls.eq(ours));
    }
}

/// `cafebabe` and `classfile-parser` read the class, with the same results as `classfile`.
pub fn others_agree(bytes: &[u8]) {
    let ours = ClassFile::parse(bytes).expect("we read what we wrote");
    let ours: Vec<_> = ours
        .methods
        .iter()
        .map(|m| {
            m.code()
                .expect("well-formed")
                .map(|a| Code::parse(&ours, a).expect("well-formed"))
        })
        .collect();

    let theirs = cafebabe::parse_class(bytes).expect("cafebabe reads what we wrote");
    assert_eq!(theirs.methods.len(), ours.len());
    for (m, ours) in theirs.methods.iter().zip(&ours) {
        let code = m.attributes.iter().find_map(|a| match &a.data {
            cafebabe::attributes::AttributeData::Code(code) => Some(code),
            _ => None,
        });
        assert_eq!(code.is_some(), ours.is_some());
        let (Some(theirs), Some(ours)) = (code, ours) else {
            continue;
        };
        assert_eq!(
            (theirs.max_stack, theirs.max_locals, theirs.code),
            (ours.max_stack, ours.max_locals, ours.code)
        );
        let starts = theirs
            .bytecode
            .as_ref()
            .map(|b| b.opcodes.iter().map(|(at, _)| *at).collect::<Vec<_>>());
        let mine: Vec<_> = ours
            .instructions()
            .map(|i| i.expect("an instruction").bci as usize)
            .collect();
        assert_eq!(starts, Some(mine));
        let theirs = theirs
            .exception_table
            .iter()
            .map(|e| (e.start_pc, e.end_pc, e.handler_pc));
        assert!(theirs.eq(ours.exceptions().map(|e| (e.start, e.end, e.handler))));
    }
    outlines_agree(&theirs, bytes);

    // `classfile-parser` does not know the newer constants: dynamic, module, package.
    let Ok((rest, theirs)) = classfile_parser::class_parser(bytes) else {
        return;
    };
    assert!(rest.is_empty());
    for (m, ours) in theirs.methods.iter().zip(&ours) {
        let Some(ours) = ours else { continue };
        let codes: Vec<_> = m
            .attributes
            .iter()
            .filter_map(|a| classfile_parser::attribute_info::code_attribute_parser(&a.info).ok())
            .filter(|(rest, code)| rest.is_empty() && code.code == ours.code)
            .collect();
        assert!(!codes.is_empty(), "classfile-parser sees other code");
        let (_, code) = &codes[0];
        let theirs = code
            .exception_table
            .iter()
            .map(|e| (e.start_pc, e.end_pc, e.handler_pc, e.catch_type));
        assert!(
            theirs.eq(ours
                .exceptions()
                .map(|e| (e.start, e.end, e.handler, e.catch_type)))
        );
    }
}
