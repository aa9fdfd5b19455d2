//! Which methods are leaves: short methods that call nothing.

use classfile_testing::assemble::{Class, Code};
use instrumenter::{Choice, HookClass, MethodInfo, Tokens, rewrite};

const STATIC: u16 = 8;
const SYNCHRONIZED: u16 = 0x20;

/// Whether the only method of the class is a leaf.
fn is_leaf(class: Class) -> bool {
    let mut leaves = vec![];
    let mut look = |method: &MethodInfo<'_>| {
        leaves.push(method.is_leaf);
        Choice::Leave
    };
    let hooks = HookClass {
        name: "java/lang/StackwitnessTrace",
        tokens: Tokens::Always,
    };
    rewrite(&class.bytes(), hooks, &mut look).expect("a class file");
    assert_eq!(leaves.len(), 1);
    leaves[0]
}

/// Whether a method with this code is a leaf.
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
    is_leaf(class)
}

fn of(write: impl FnOnce(&mut Class, &mut Code)) -> bool {
    method(STATIC, "m", "(II)I", write)
}

fn constructor(write: impl FnOnce(&mut Class, &mut Code)) -> bool {
    method(0, "<init>", "(I)V", write)
}

#[test]
fn a_few_steps_forward_are_a_leaf() {
    assert!(of(|_, code| {
        code.op(26).op(27).op(96).op(172);
    }));
    assert!(of(|_, code| {
        let other = code.label();
        code.op(26).branch(153, other).op(4).op(172);
        code.frame(other, vec![], vec![]);
        code.bind(other).op(3).op(172);
    }));
}

#[test]
fn what_calls_or_loops_is_no_leaf() {
    assert!(!of(|class, code| {
        code.op_u2(184, class.pool.method("T", "f", "()I")).op(172);
    }));
    assert!(!of(|class, code| {
        code.op_u2(187, class.pool.class("java/lang/Object"))
            .op(87)
            .op(3)
            .op(172);
    }));
    assert!(!of(|_, code| {
        let start = code.here();
        code.branch(167, start);
    }));
    assert!(!of(|_, code| {
        // Thirteen times `iload_0; pop`.
        code.raw(&[26, 87].repeat(13)).op(26).op(172);
    }));
    assert!(!method(STATIC | SYNCHRONIZED, "m", "(II)I", |_, code| {
        code.op(26).op(172);
    }));
    assert!(!method(STATIC, "<clinit>", "()V", |_, code| {
        code.op(177);
    }));
}

#[test]
fn a_class_that_may_have_to_be_initialised_is_no_part_of_a_leaf() {
    let static_of = |owner: &'static str| {
        of(move |class, code| {
            code.op_u2(178, class.pool.field(owner, "x", "I")).op(172);
        })
    };
    assert!(static_of("T"));
    assert!(!static_of("U"));
}

#[test]
fn constructors_that_no_exception_leaves_are_leaves() {
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
