//! Many real classes: what is checked of each, and the judges of what was written.

use super::jdk::{Jdk, run};
use cafebabe::constant_pool::NameAndType;
use instrumenter::class::ClassFile;
use instrumenter::code::Code;
use instrumenter::outline::{Outline, Refers};
use instrumenter::{Choice, HookId, MethodInfo, identity, rewrite};
use std::fs;
use std::path::{Path, PathBuf};

/// The class that the hooks call.
pub const OWNER: &str = "java/lang/StackwitnessTrace";

/// All class files below a folder.
pub fn classes(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "class") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Round trip, rewrite and cross-reading of every class below `from`, every so manieth read by the
/// other readers; writes the hooked classes to `to`.
pub fn rewrite_all(label: &str, from: &Path, to: &Path, read_every: usize) {
    let (mut next, mut hooked, mut left, mut read) = (0u32, 0, Vec::new(), 0);
    let all = classes(from);
    for (n, path) in all.iter().enumerate() {
        let bytes = fs::read(path).expect("a file");
        let same = identity(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(
            same == bytes,
            "{} is not written back identical",
            path.display()
        );
        let mut plan = |_: &MethodInfo<'_>| {
            next += 1;
            Choice::Hook {
                id: HookId(next),
                check: next % 16 == 0,
            }
        };
        let r =
            rewrite(&bytes, OWNER, &mut plan).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        hooked += r.hooked.len();
        left.extend(
            r.left
                .iter()
                .map(|m| format!("{}.{}{}: {}", r.class_name, m.name, m.descriptor, m.reason)),
        );
        let new = to.join(path.strip_prefix(from).expect("below"));
        fs::create_dir_all(new.parent().expect("a folder")).expect("a folder");
        if let Some(bytes) = &r.bytes
            && n % read_every == 0
        {
            read += 1;
            others_agree(bytes);
        }
        fs::write(new, r.bytes.as_deref().unwrap_or(&bytes)).expect("a file");
    }
    println!(
        "{label}: {} classes identical, {hooked} methods hooked, {} left, {read} read by others",
        all.len(),
        left.len()
    );
    assert!(hooked > 1000 && left.len() * 1000 < hooked, "{left:#?}");
}

/// `cafebabe` sees the instructions and calls that our outline has.
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

/// `cafebabe` and `classfile-parser` read the class, and see what our reader sees.
fn others_agree(bytes: &[u8]) {
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

    // It does not know the newer constants: dynamic, module, package.
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

/// The Java sources of the tests.
pub fn java() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java")
}

/// `ClassFile.verify` rejects nothing below `hooked` that it does not reject below `plain`.
pub fn verify(label: &str, plain: &Path, hooked: &Path, minutes: u64) {
    let all = Jdk::all();
    let Some(judge) = all.iter().find(|j| j.feature >= 24) else {
        println!("skipped: ClassFile.verify needs a JDK 24 or later");
        return;
    };
    let tools = tempfile::tempdir().expect("a temporary folder");
    judge.javac(&[], tools.path(), &[&java().join("Verify.java")]);
    let mut c = judge.tool("java");
    c.args(["-Xmx3g", "-cp"]).arg(tools.path());
    let result = run(c.arg("Verify").arg(plain).arg(hooked), minutes).ok();
    println!("{label} by ClassFile.verify: {}", result.trim());
}

/// Compiles the class that the hooks call, with hooks that do nothing, to patch `java.base` with.
pub fn compile_owner(jdk: &Jdk, to: &Path) {
    let owner = java().join("owner");
    let patch = format!("java.base={}", owner.display());
    let source = owner.join("StackwitnessTrace.java");
    jdk.javac(&["--patch-module", &patch], to, &[&source]);
}
