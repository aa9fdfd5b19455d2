//! Short methods, whose frames class files prove: getters, tests of a character, methods that pass a call on.
//!
//! Programs call such methods most often, and a hook costs many times what such a method does. Class files say which
//! method the caller's instruction can call, and which method an instruction of the short method can call. So a walk that
//! lacks the frame of a short method in the middle of a stack, or has one too many, has an impossible edge, without a
//! hook in the method. What nobody sees is a missing frame at the top, or a missing cycle of such methods.

use classfile::access::SYNCHRONIZED;
use classfile::file::{Attribute, ClassFile, Code, Member};
use classfile::instruction::{Instruction, Instructions};
use classfile::operators::{Effect, Flow, ValueKind};
use classfile::pool::tag;
use classfile::{Opcode, Result};

/// The longest code array of a short method, in bytes: HotSpot's `MaxInlineSize`, up to which both compilers inline a
/// method wherever it is called.
const LONGEST: usize = 35;

const CONSTRUCTOR: &[u8] = b"<init>";
const OBJECT: &[u8] = b"java/lang/Object";

/// Classes with signature-polymorphic methods (JVMS 2.9.3): their call may run any method.
const POLYMORPHIC: [&[u8]; 2] = [
    b"java/lang/invoke/MethodHandle",
    b"java/lang/invoke/VarHandle",
];

/// Whether the method is short: at most [`LONGEST`] bytes of code that runs forward only, has no handler,
/// takes no monitor, and calls only what its class file names.
///
/// A method that calls a method of its own name and descriptor is none. In a recursion, and where one
/// object passes a call on to another, the instruction of the lowest frame can call each method above: a walk that lacks
/// one of them has no impossible edge.
///
/// A constructor is short if it calls `Object.<init>` alone, and sets fields of `this` to constants
/// and parameters. So no exception leaves the constructor, apart from errors of the VM. An exception
/// that leaves `super(...)` must meet a hook in the constructor that was called (see
/// `cover::constructor`).
pub(crate) fn is_short(
    class: &ClassFile<'_>,
    method: &Member<'_>,
    attribute: &Attribute<'_>,
) -> Result<bool> {
    // The fields around the code array.
    const AROUND: usize = 12;
    let has_length = attribute.info.len() >= AROUND && !class.short_code();
    if !has_length || method.access_flags & SYNCHRONIZED != 0 || method.name == b"finalize" {
        return Ok(false);
    }
    let [.., a, b, c, d] = attribute.info[..8] else {
        return Ok(false);
    };
    if u32::from_be_bytes([a, b, c, d]) as usize > LONGEST {
        return Ok(false);
    }
    let code = Code::parse(class, attribute)?;
    if code.exceptions().len() > 0 {
        return Ok(false);
    }
    let instructions: Vec<_> = Instructions::new(code.code, code.offset).collect::<Result<_>>()?;
    Ok(match method.name {
        b"<clinit>" => false,
        CONSTRUCTOR => sets_fields(class, &instructions),
        _ => instructions
            .iter()
            .all(|step| runs_forward(step) && is_provable(class, method, step)),
    })
}

fn runs_forward(step: &Instruction<'_>) -> bool {
    match step.opcode.flow() {
        Flow::Next | Flow::Return | Flow::Throw => true,
        Flow::Conditional | Flow::Jump | Flow::Switch => {
            step.targets().all(|target| target > step.bci)
        }
        Flow::Subroutine => false,
    }
}

/// Whether class files say which methods can run above a frame of `method` at this instruction.
fn is_provable(class: &ClassFile<'_>, method: &Member<'_>, step: &Instruction<'_>) -> bool {
    match step.opcode.effect() {
        Effect::Constant => is_plain_constant(class, step),
        Effect::Invoke(_) => is_provable_call(class, method, step),
        _ => !matches!(step.opcode, Opcode::Monitorenter | Opcode::Monitorexit),
    }
}

fn is_provable_call(class: &ClassFile<'_>, method: &Member<'_>, step: &Instruction<'_>) -> bool {
    let called = step.constant().and_then(|index| class.pool.member(index));
    step.opcode != Opcode::Invokedynamic
        && called.is_some_and(|called| {
            let is_own = (called.name, called.descriptor) == (method.name, method.descriptor);
            !is_own && !POLYMORPHIC.contains(&called.class)
        })
}

/// Whether the constant is a number, a string or a class: others call bootstrap methods, or link method handles.
fn is_plain_constant(class: &ClassFile<'_>, step: &Instruction<'_>) -> bool {
    let constant = step.constant().and_then(|index| class.pool.tag(index));
    matches!(
        constant,
        Some(tag::INTEGER | tag::FLOAT | tag::LONG | tag::DOUBLE | tag::STRING | tag::CLASS)
    )
}

fn is_own_field(class: &ClassFile<'_>, step: &Instruction<'_>) -> bool {
    let field = step.constant().and_then(|index| class.pool.member(index));
    field.is_some_and(|field| field.class == class.name)
}

/// Whether this is the code of a constructor that only calls `Object.<init>` and sets fields of
/// `this`.
fn sets_fields(class: &ClassFile<'_>, mut code: &[Instruction<'_>]) -> bool {
    let mut calls = 0;
    loop {
        code = match code {
            [end] if end.opcode == Opcode::Return => {
                return calls == usize::from(class.name != OBJECT);
            }
            // `Object.<init>` itself calls no other constructor.
            [this, call, rest @ ..] if is_this(this) && is_call_of_object(class, call) => {
                calls += 1;
                rest
            }
            [this, value, put, rest @ ..]
                if is_this(this)
                    && is_value(value)
                    && put.opcode == Opcode::Putfield
                    && is_own_field(class, put) =>
            {
                rest
            }
            _ => return false,
        }
    }
}

fn is_this(step: &Instruction<'_>) -> bool {
    step.opcode == Opcode::Aload0
}

/// A parameter, or a constant without an entry in the constant pool.
fn is_value(step: &Instruction<'_>) -> bool {
    match step.opcode.effect() {
        Effect::Load(_) => true,
        Effect::Values { takes: [], gives } => {
            matches!(
                gives,
                [ValueKind::Int
                    | ValueKind::Long
                    | ValueKind::Float
                    | ValueKind::Double
                    | ValueKind::Null]
            )
        }
        _ => false,
    }
}

fn is_call_of_object(class: &ClassFile<'_>, step: &Instruction<'_>) -> bool {
    let called = step.constant().and_then(|index| class.pool.member(index));
    step.opcode == Opcode::Invokespecial
        && called.is_some_and(|called| called.class == OBJECT && called.name == CONSTRUCTOR)
}
