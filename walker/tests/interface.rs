//! The binary interface: the symbols that the library exports, and the layouts of the structs of `profile2.h`.
//!
//! `walker/library/interface.txt` has the layouts and constants of the released major version. A change there that is
//! no addition needs a new major version. `BLESS=1` writes the file.

#[path = "support/installed.rs"]
mod installed;

use classfile_testing::jdk::Jdk;
use installed::{compiler, install, shared_library, walker};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::mem::offset_of;
use std::process::Command;
use test_support::run;
use walker::api::abi::{CallTrace, IteratorFrame, JavaFrame, NonJavaFrame};
use walker::api::names::{ClassInfo, MethodInfo};
use walker::api::queue::{PublicElement, SizeInfo};

fn read(path: &str) -> String {
    let path = walker().join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The header without comments.
fn header() -> String {
    let text = read("include/profile2.h");
    let mut parts = text.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        all + part.split_once("*/").expect("a comment ends").1
    })
}

/// The functions that the header declares: names before a parenthesis in lines that begin a declaration.
fn declared(header: &str) -> BTreeSet<String> {
    let starts = header.lines().filter(|line| {
        line.starts_with(|c: char| c.is_ascii_alphabetic()) && !line.starts_with("typedef")
    });
    let names = starts.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    names.map(str::to_owned).collect()
}

#[test]
fn the_library_exports_what_the_header_declares_and_nothing_else() {
    let table = run(Command::new("readelf")
        .args(["--wide", "--dyn-syms"])
        .arg(shared_library()))
    .ok();
    let rows = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let exported: BTreeSet<String> = rows
        .filter(|row| row.len() > 7 && row[4] == "GLOBAL" && row[6] != "UND")
        .map(|row| row[7].to_owned())
        .collect();
    let declared = declared(&header());
    assert!(declared.len() > 20, "{declared:?}");
    assert_eq!(exported, declared);

    let script = read("library/asgst.map");
    let is_name = |word: &&str| word.starts_with("ASGST_") || word.starts_with("AsyncGet");
    let names = script
        .split_whitespace()
        .filter_map(|word| word.strip_suffix(';'));
    let versioned: BTreeSet<String> = names.filter(is_name).map(str::to_owned).collect();
    assert_eq!(versioned, declared, "library/asgst.map");
}

#[test]
fn the_loader_finds_the_library_by_its_major_version() {
    let table = run(Command::new("readelf")
        .args(["--wide", "-d"])
        .arg(shared_library()))
    .ok();
    let name = format!("[libasgst.so.{}]", env!("CARGO_PKG_VERSION_MAJOR"));
    let mut lines = table.lines().filter(|line| line.contains("(SONAME)"));
    assert!(lines.any(|line| line.ends_with(&name)), "{table}");
}

/// The structs of the header, and their fields.
fn structs(header: &str) -> Vec<(String, Vec<String>)> {
    let parts = header
        .split("typedef struct {")
        .chain(header.split("typedef union {"))
        .filter_map(|part| {
            let (body, rest) = part.split_once('}')?;
            let name = rest.split_once(';')?.0.trim();
            let fields = body
                .split(';')
                .filter_map(|field| field.trim().rsplit([' ', '*']).next());
            let fields = fields.filter(|field| !field.is_empty()).map(str::to_owned);
            name.starts_with("ASGST_")
                .then(|| (name.to_owned(), fields.collect()))
        });
    let mut structs: Vec<_> = parts.collect();
    structs.sort();
    structs.dedup();
    structs
}

/// The names of the constants of the header's enumerations.
fn constants(header: &str) -> Vec<String> {
    let bodies = header
        .split("enum ")
        .skip(1)
        .filter_map(|part| part.split_once('}'));
    let bodies = bodies.filter_map(|(part, _)| Some(part.split_once('{')?.1));
    let names = bodies
        .flat_map(|body| body.split(','))
        .filter_map(|one| one.split('=').next());
    let names = names
        .map(str::trim)
        .filter(|name| name.starts_with("ASGST_"));
    names.map(str::to_owned).collect()
}

/// A C program that prints the layouts and the constants.
fn printer(header: &str) -> String {
    let mut code = String::from(
        "#include \"profile2.h\"\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n",
    );
    for (name, fields) in structs(header) {
        _ = writeln!(code, "printf(\"{name} size %zu\\n\", sizeof({name}));");
        for field in fields {
            _ = writeln!(
                code,
                "printf(\"{name}.{field} at %zu\\n\", offsetof({name}, {field}));"
            );
        }
    }
    for name in constants(header) {
        _ = writeln!(code, "printf(\"{name} = %d\\n\", {name});");
    }
    code + "printf(\"version %d\\n\", ASGST_VERSION);\nreturn 0;\n}\n"
}

/// The layouts that Rust gives the structs.
fn layouts_of_rust() -> Vec<String> {
    macro_rules! layouts {
        ($($c:literal $type:ty { $($field:literal $name:tt,)* })*) => {
            vec![$(
                format!("{} size {}", $c, size_of::<$type>()),
                $(format!("{}.{} at {}", $c, $field, offset_of!($type, $name)),)*
            )*]
        };
    }
    layouts! {
        "ASGST_JavaFrame" JavaFrame {
            "type" kind, "comp_level" comp_level, "bci" bci, "flags" flags, "method_id" method_id,
        }
        "ASGST_NonJavaFrame" NonJavaFrame { "type" kind, "pc" pc, }
        "ASGST_CallTrace" CallTrace {
            "num_frames" num_frames, "kind" kind, "frames" frames, "frame_info" frame_info,
        }
        "ASGST_Frame" IteratorFrame {
            "type" kind, "flags" flags, "comp_level" comp_level, "bci" bci, "method" method, "pc" pc, "sp" sp,
            "fp" fp,
        }
        "ASGST_QueueElement" PublicElement {}
        "ASGST_QueueSizeInfo" SizeInfo { "size" size, "capacity" capacity, "attempts" attempts, }
        "ASGST_MethodInfo" MethodInfo {
            "method_name" method_name, "signature" signature, "generic_signature" generic_signature, "klass" klass,
        }
        "ASGST_ClassInfo" ClassInfo {
            "class_name" class_name, "generic_class_name" generic_class_name,
        }
    }
}

#[test]
fn layouts_and_constants_are_those_of_the_released_version_and_of_rust() {
    let Some(jdk) = Jdk::all().into_iter().next() else {
        return;
    };
    let dir = tempfile::tempdir().expect("a folder");
    install(dir.path());
    let (source, program) = (dir.path().join("print.c"), dir.path().join("print"));
    fs::write(&source, printer(&header())).expect("a source");
    let mut compile = compiler("cc", dir.path(), &jdk);
    run(compile.arg("-o").arg(&program).arg(&source)).ok();
    let printed = run(&mut Command::new(&program)).ok();
    let lines: BTreeSet<&str> = printed.lines().collect();

    for layout in layouts_of_rust() {
        assert!(lines.contains(layout.as_str()), "{layout}\n{printed}");
    }
    let library = walker::api::ASGST_Version();
    assert!(
        lines.contains(format!("version {library}").as_str()),
        "{library}\n{printed}"
    );

    let file = walker().join("library/interface.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &printed).expect("written");
    }
    let released = fs::read_to_string(&file).unwrap_or_default();
    for line in released
        .lines()
        .filter(|line| !line.starts_with("version "))
    {
        assert!(lines.contains(line), "no longer: {line}");
    }
    assert_eq!(printed, released, "BLESS=1 writes what is new");
}
