//! Which methods are short, and have frames that class files prove.

use classfile_testing::assemble::{Class, Code};
use instrumenter::{Choice, HookClass, MethodInfo, Tokens, rewrite};

const STATIC: u16 = 8;
const SYNCHRONIZED: u16 = 0x20;

/// Whether the only method of the class is short.
fn is_short(class: Class) -> bool {
    let mut found = vec![];
    let mut look = |method: &MethodInfo<'_>| {
        found.push(method.is_short);
        Choice::Leave
    };
    let hooks = HookClass {
        name: "java/lang/StackwitnessTrace",
        tokens: Tokens::Always,
    };
    rewrite(&class.bytes(), hooks, &mut look).expect("a class file");
    assert_eq!(found.len(), 1);
    found[0]
}

/// Whether a method with this code is short.
fn method(
    flags: u16,
    name: &str,
    descriptor: &str,
    write: impl FnOnce(&mut Class, &mut Code),
) -> bool {
    let mut class = Class::new("T", 61);
    let mut code = Code::new(4, 4);
    write(&mut class, &mut code);
    class.method(flags, name, descriptor, &code);
    is_short(class)
}

fn of(write: impl FnOnce(&mut Class, &mut Code)) -> bool {
    method(STATIC, "m", "(II)I", write)
}

fn constructor(write: impl FnOnce(&mut Class, &mut Code)) -> bool {
    method(0, "<init>", "(I)V", write)
}

#[test]
fn a_few_steps_forward_are_short() {
    assert!(of(|_, code| {
        code.op(26).op(27).op(96).op(172);
    }));
    assert!(of(|_, code| {
        let other = code.label();
        code.op(26).branch(153, other).op(4).op(172);
        code.frame(other, vec![], vec![]);
        code.bind(other).op(3).op(172);
    }));
    // Allocation, and the start of another class, run what class files and the VM's occasions name.
    assert!(of(|class, code| {
        code.op_u2(187, class.pool.class("java/lang/Object"))
            .op(87)
            .op_u2(178, class.pool.field("U", "x", "I"))
            .op(172);
    }));
}

#[test]
fn what_is_long_or_loops_or_locks_is_not_short() {
    assert!(!of(|_, code| {
        let start = code.here();
        code.branch(167, start);
    }));
    // `iload_0; pop`, and two instructions more.
    let long = |pairs| {
        of(move |_, code| {
            code.raw(&[26, 87].repeat(pairs)).op(26).op(172);
        })
    };
    assert!(long(16));
    assert!(!long(17));
    assert!(!of(|_, code| {
        code.op(42).op(194).op(3).op(172);
    }));
    assert!(!method(STATIC | SYNCHRONIZED, "m", "(II)I", |_, code| {
        code.op(26).op(172);
    }));
    assert!(!method(STATIC, "<clinit>", "()V", |_, code| {
        code.op(177);
    }));
}

#[test]
fn calls_are_those_that_class_files_name() {
    let calling = |owner: &'static str, name: &'static str, descriptor: &'static str| {
        of(move |class, code| {
            code.op(26).op(27);
            code.op_u2(184, class.pool.method(owner, name, descriptor))
                .op(172);
        })
    };
    assert!(calling("U", "f", "(II)I"));
    assert!(calling("U", "m", "(JI)I"));
    // A recursion, or one object that passes the call on to another.
    assert!(!calling("T", "m", "(II)I"));
    assert!(!calling("U", "m", "(II)I"));
    for anything in ["MethodHandle", "VarHandle"] {
        assert!(!of(move |class, code| {
            let owner = format!("java/lang/invoke/{anything}");
            code.op(42).op(27);
            code.op_u2(182, class.pool.method(&owner, "invoke", "(I)I"))
                .op(172);
        }));
    }
}

#[test]
fn constructors_that_no_exception_leaves_are_short() {
    let calling = |called: &'static str| {
        constructor(move |class, code| {
            let called = class.pool.method(called, "<init>", "()V");
            let field = class.pool.field("T", "x", "I");
            code.op(42).op_u2(183, called);
            code.op(42).op(27).op_u2(181, field).op(177);
        })
    };
    assert!(calling("java/lang/Object"));
    assert!(!calling("U"));
    // The field of another object: it may be null.
    assert!(!constructor(|class, code| {
        let called = class.pool.method("java/lang/Object", "<init>", "()V");
        let field = class.pool.field("T", "x", "I");
        code.op(42).op_u2(183, called);
        code.op(1).op(27).op_u2(181, field).op(177);
    }));
    assert!(!constructor(|class, code| {
        let called = class.pool.method("java/lang/Object", "<init>", "()V");
        code.op(42).op_u2(183, called);
        code.op(27).op(3).op(108).op(87).op(177);
    }));
}
