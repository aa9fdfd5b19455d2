//! From class files to the facts that call edges are judged by: the one place that knows both
//! `instrumenter`, which reads, and `oracle`, which judges. No I/O, no JVM.
#![forbid(unsafe_code)]

mod parts;

pub use parts::{MethodParts, Parts};

use instrumenter::Malformed;
use instrumenter::outline::{CodeOutline, MethodOutline, Outline, Refers as Outlined};
use instrumenter::pool::MemberRef;
use oracle::edge::{ClassFacts, CodeFacts, MethodFacts, Named, Refers};

/// The facts of a class file.
///
/// # Errors
/// If the file breaks a rule of the JVMS that it is read by.
pub fn read(class_file: &[u8]) -> Result<ClassFacts<'_>, Malformed> {
    let outline = Outline::read(class_file)?;
    Ok(ClassFacts {
        name: outline.name,
        super_name: outline.super_name,
        interfaces: outline.interfaces,
        access_flags: outline.access_flags,
        methods: outline.methods.into_iter().map(method).collect(),
    })
}

fn method(outline: MethodOutline<'_>) -> MethodFacts<'_> {
    MethodFacts {
        access_flags: outline.access_flags,
        name: outline.name,
        descriptor: outline.descriptor,
        code: outline.code.map(code),
    }
}

fn code(outline: CodeOutline<'_>) -> CodeFacts<'_> {
    let sites = outline.sites.iter();
    CodeFacts {
        starts: outline.starts.words().into(),
        throwing: outline.throwing.words().into(),
        sites: sites.map(|site| (site.bci, refers(site.refers))).collect(),
    }
}

fn refers(outlined: Outlined<'_>) -> Refers<'_> {
    match outlined {
        Outlined::Virtual(member) => Refers::Virtual(named(member)),
        Outlined::Special(member) => Refers::Special(named(member)),
        Outlined::Static(member) => Refers::Static(named(member)),
        Outlined::Interface(member) => Refers::Interface(named(member)),
        Outlined::Dynamic => Refers::Dynamic,
        Outlined::Initialises(class) => Refers::Initialises(class),
        Outlined::Links => Refers::Links,
    }
}

fn named(member: MemberRef<'_>) -> Named<'_> {
    Named {
        class: member.class,
        name: member.name,
        descriptor: member.descriptor,
    }
}
