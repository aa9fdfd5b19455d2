//! Cases of the judge of edges, in files: classes, and edges with the judge's findings.
//!
//! Each file of `cases/` is a test. A line `class FLAGS NAME extends SUPER INTERFACE…` declares a class;
//! the indented lines below the class are its methods, `FLAGS NAME(PARAMETERS)RESULT`. A line
//! `INSTRUCTION OPERAND -> CALLEE = FINDING` is an edge: `p/Caller`, which extends `p/Base`, has the
//! instruction, and `CALLEE` is the frame above. `BLESS=1` writes the findings into the files.

use super::{ABSTRACT, FINAL, INTERFACE, NATIVE, PRIVATE, Refers};
use super::{PUBLIC, STATIC, class, judge, named};
use classfile::outline::Outline;
use std::fs;
use std::path::Path;

/// A method as its line says: flags, name with descriptor, and no site.
type Method<'t> = (u16, &'t str, &'t [(u16, Refers<'t>)]);

/// A class as its lines say.
struct Declared<'t> {
    flags: u16,
    name: &'t str,
    above: Vec<&'t str>,
    methods: Vec<Method<'t>>,
}

impl<'t> Declared<'t> {
    fn outline(&'t self) -> Outline<'t> {
        class(self.flags, self.name, &self.above, &self.methods)
    }
}

/// Flags, and the words after them.
fn flags(line: &str) -> (u16, Vec<&str>) {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let mut flags = 0;
    while let Some(flag) = words.first().and_then(|word| flag(word)) {
        flags |= flag;
        words.remove(0);
    }
    (flags, words)
}

fn flag(word: &str) -> Option<u16> {
    Some(match word {
        "public" => PUBLIC,
        "private" => PRIVATE,
        "static" => STATIC,
        "final" => FINAL,
        "native" => NATIVE,
        "abstract" => ABSTRACT,
        "interface" => INTERFACE,
        _ => return None,
    })
}

fn declared(text: &str) -> Vec<Declared<'_>> {
    let mut classes: Vec<Declared> = vec![];
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("class ") {
            let (flags, words) = flags(rest);
            assert_eq!(words[1], "extends", "{line}");
            classes.push(Declared {
                flags,
                name: words[0],
                above: words[2..].to_vec(),
                methods: vec![],
            });
        } else if line.starts_with(' ') {
            let (flags, words) = flags(line);
            let class = classes.last_mut().expect("a class above its methods");
            class.methods.push((flags, words[0], &[]));
        }
    }
    classes
}

fn refers(text: &str) -> Refers<'_> {
    let (instruction, operand) = text.split_once(' ').unwrap_or((text, ""));
    match instruction {
        "invokevirtual" => Refers::Virtual(named(operand)),
        "invokespecial" => Refers::Special(named(operand)),
        "invokestatic" => Refers::Static(named(operand)),
        "invokeinterface" => Refers::Interface(named(operand)),
        "invokedynamic" => Refers::Dynamic,
        "new" => Refers::Initialises(operand.as_bytes()),
        "ldc" => Refers::Links,
        _ => panic!("no instruction: {text}"),
    }
}

/// The text with the judge's findings in place of the expected findings.
fn judged(text: &str) -> String {
    let classes = declared(text);
    let judge = |line: &str| {
        let (edge, _) = line.split_once(" = ")?;
        let (caller, callee) = edge.split_once(" -> ")?;
        let outlines: Vec<_> = classes.iter().map(Declared::outline).collect();
        let finding = judge(&outlines, refers(caller), callee);
        Some(format!("{edge} = {finding}\n"))
    };
    let lines = text.lines();
    let lines = lines.map(|line| judge(line).unwrap_or_else(|| format!("{line}\n")));
    lines.collect()
}

#[test]
fn files_say_what_the_judge_finds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edges/cases");
    let (mut files, mut edges) = (0, 0);
    for file in fs::read_dir(folder).expect("the cases") {
        let file = file.expect("a case").path();
        let text = fs::read_to_string(&file).expect("a text");
        let found = judged(&text);
        files += 1;
        edges += found.matches(" = ").count();
        if std::env::var_os("BLESS").is_some() {
            fs::write(&file, found).expect("the case can be written");
        } else {
            assert_eq!(found, text, "{file:?}; BLESS=1 writes what was found");
        }
    }
    assert!(files >= 3 && edges >= 60, "{files} files, {edges} edges");
}
