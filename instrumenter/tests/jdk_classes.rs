//! Classes of every JDK found: written back identical, hooked, read by other readers, accepted by
//! `ClassFile.verify` and by the JVM's own verifier.
//!
//! The ordinary tests take `java.base`; `cargo test -- --ignored` takes every module. The example
//! `corpus` does the first half for any folder.

mod support;

use cafebabe::constant_pool::NameAndType;
use instrumenter::class::ClassFile;
use instrumenter::code::Code;
use instrumenter::outline::{Outline, Refers};
use instrumenter::{Choice, HookId, MethodInfo, identity, rewrite};
use std::fs;
use std::path::{Path, PathBuf};
use support::jdk::{Jdk, run};

const OWNER: &str = "java/lang/StackwitnessTrace";

fn classes(folder: &Path) -> Vec<PathBuf> {
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

/// Round trip, rewrite and cross-reading; writes the hooked classes to `to`.
fn rewrite_all(jdk: &Jdk, from: &Path, to: &Path, read_every: usize) {
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
        "JDK {}: {} classes identical, {hooked} methods hooked, {} left, {read} read by others",
        jdk.feature,
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

fn check(pattern: &str, read_every: usize, seconds: u64) {
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java");
    let all = Jdk::all();
    for jdk in &all {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        jdk.extract(pattern, &at("plain"));
        rewrite_all(jdk, &at("plain"), &at("hooked"), read_every);

        match all.iter().find(|j| j.feature >= 24) {
            None => println!("skipped: ClassFile.verify needs a JDK 24 or later"),
            Some(judge) => {
                judge.javac(&[], &at("tools-new"), &[&java.join("Verify.java")]);
                let mut c = judge.tool("java");
                c.arg("-cp")
                    .arg(at("tools-new"))
                    .arg("Verify")
                    .arg(at("plain"))
                    .arg(at("hooked"));
                let result = run(&mut c, seconds);
                result.expect_success();
                println!(
                    "JDK {} by ClassFile.verify: {}",
                    jdk.feature,
                    result.out.trim()
                );
            }
        }

        jdk.javac(&[], &at("tools"), &[&java.join("LinkAll.java")]);
        let owner = java.join("owner");
        jdk.javac(
            &["--patch-module", &format!("java.base={}", owner.display())],
            &at("hooked/java.base"),
            &[&owner.join("StackwitnessTrace.java")],
        );
        let mut names = String::new();
        let mut patches = Vec::new();
        for module in fs::read_dir(at("plain")).expect("modules").flatten() {
            for class in classes(&module.path()) {
                let name = class
                    .strip_prefix(module.path())
                    .expect("below")
                    .with_extension("");
                if name.as_os_str() != "module-info" {
                    names += &name.display().to_string().replace('/', ".");
                    names.push('\n');
                }
            }
            let name = module.file_name().to_string_lossy().into_owned();
            let hooked = at("hooked").join(&name);
            let _ = fs::remove_file(hooked.join("module-info.class"));
            patches.extend([
                "--patch-module".to_owned(),
                format!("{name}={}", hooked.display()),
            ]);
        }
        fs::write(at("names"), names).expect("a file");
        let link = |patches: &[String]| {
            let mut c = jdk.tool("java");
            c.args([
                "-Xverify:all",
                "-Xshare:off",
                "-XX:-UsePerfData",
                "--add-modules",
                "ALL-SYSTEM",
            ]);
            c.args(patches)
                .arg("-cp")
                .arg(at("tools"))
                .arg("LinkAll")
                .arg(at("names"))
                .arg("all");
            let result = run(&mut c, seconds);
            result.expect_success();
            result.out
        };
        let (plain, hooked) = (link(&[]), link(&patches));
        println!("JDK {} by -Xverify:all: {}", jdk.feature, hooked.trim());
        assert_eq!(plain, hooked);
    }
}

#[test]
fn classes_of_java_base() {
    check("/java\\.base/.*\\.class", 10, 60);
}

#[test]
#[ignore = "takes minutes"]
fn classes_of_every_module() {
    check("/.*\\.class", 10, 600);
}

/// The linking test would be worth nothing if the JVM let anything pass.
#[test]
fn the_verifier_rejects_a_wrong_frame() {
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java");
    let Some(jdk) = Jdk::all().pop() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = folder.path();
    jdk.javac(
        &[],
        at,
        &[&java.join("LinkAll.java"), &java.join("Trace.java")],
    );
    let trace = fs::read(at.join("Trace.class")).expect("a class");
    let mut plan = |_: &MethodInfo<'_>| Choice::Hook {
        id: HookId(1),
        check: false,
    };
    let r = rewrite(&trace, OWNER, &mut plan).expect("a class file");
    let mut bytes = r.bytes.expect("hooked");
    // The frame of a catch-all says that the hooks' local is an int; make it a float.
    let at_frame = bytes
        .windows(4)
        .rposition(|w| w[0] == 1 && w[1..4] == [0, 1, 7])
        .expect("a frame");
    bytes[at_frame] = 2;
    fs::write(at.join("Trace.class"), bytes).expect("a file");
    fs::write(at.join("names"), "Trace\n").expect("a file");
    let mut c = jdk.tool("java");
    c.args(["-Xverify:all", "-cp"])
        .arg(at)
        .arg("LinkAll")
        .arg(at.join("names"))
        .arg("all");
    let result = run(&mut c, 60);
    assert!(
        result.out.contains("rejected Trace: java.lang.VerifyError"),
        "{}",
        result.out
    );
}
