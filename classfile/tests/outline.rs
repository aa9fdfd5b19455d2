//! The outlines of small methods.

use classfile::Opcode;
use classfile::outline::{Bcis, Outline, Refers, Site};
use classfile::pool::MemberRef;
use classfile_testing::assemble::{Class, Code};

fn member(class: &'static str, name: &'static str, descriptor: &'static str) -> MemberRef<'static> {
    MemberRef {
        class: class.as_bytes(),
        name: name.as_bytes(),
        descriptor: descriptor.as_bytes(),
    }
}

#[test]
fn calls_and_what_the_vm_may_do() {
    let mut class = Class::new("T", 61);
    let mut code = Code::new(3, 2);
    let start = code.here();
    code.op_u2(Opcode::New.byte(), class.pool.class("p/X"));
    code.op(Opcode::Dup.byte());
    code.op_u2(
        Opcode::Invokespecial.byte(),
        class.pool.method("p/X", "<init>", "()V"),
    );
    let end = code.here();
    code.op_u2(Opcode::Getfield.byte(), class.pool.field("p/X", "f", "I"));
    code.op_u2(Opcode::Putstatic.byte(), class.pool.field("p/Y", "g", "I"));
    code.op_u2(Opcode::LdcW.byte(), class.pool.int(70000));
    code.op(Opcode::Pop.byte());
    code.op_u2(Opcode::LdcW.byte(), class.pool.class("p/Z"));
    code.op_u2(
        Opcode::Invokevirtual.byte(),
        class.pool.method("p/X", "m", "()V"),
    );
    code.op(Opcode::Return.byte());
    let handler = code.here();
    code.op(Opcode::Athrow.byte());
    code.exception(start, end, handler, class.pool.class("java/lang/Error"));
    code.exception(start, handler, handler, 0);
    class.method(0x0009, "m", "()V", &code);
    let bytes = class.bytes();

    let outline = Outline::read(&bytes).expect("a class file");
    assert_eq!(outline.name, b"T");
    assert_eq!(outline.super_name, Some(&b"java/lang/Object"[..]));
    let method = &outline.methods[0];
    assert_eq!(
        (method.access_flags, method.name, method.descriptor),
        (0x0009, &b"m"[..], &b"()V"[..])
    );
    let code = method.code.as_ref().expect("it has code");
    let sites = [
        (0, Refers::Initialises(&b"p/X"[..])),
        (4, Refers::Special(member("p/X", "<init>", "()V"))),
        (10, Refers::Initialises(b"p/Y")),
        (20, Refers::Virtual(member("p/X", "m", "()V"))),
    ];
    assert_eq!(code.sites, sites.map(|(bci, refers)| Site { bci, refers }));
    let set = |bcis: &Bcis| -> Vec<u32> { (0..200).filter(|&bci| bcis.contains(bci)).collect() };
    assert_eq!(set(&code.starts), [0, 3, 4, 7, 10, 13, 16, 17, 20, 23, 24]);
    assert_eq!(set(&code.throwing), [0, 4, 7, 10, 13, 17, 20, 23, 24]);
}

#[test]
fn a_wrong_constant_is_malformed() {
    let mut class = Class::new("T", 61);
    let mut code = Code::new(1, 1);
    code.op_u2(Opcode::Invokestatic.byte(), class.pool.class("p/X"));
    code.op(Opcode::Return.byte());
    class.method(0x0009, "m", "()V", &code);
    let bytes = class.bytes();
    let error = Outline::read(&bytes).expect_err("it names no method");
    assert!(error.rule.contains("4.9.1"), "{error}");
}
