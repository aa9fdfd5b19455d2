//! Leaves: short methods that do a few steps and call nothing, such as getters and setters.
//!
//! Programs call such methods most often, and a hook costs many times what such a method does. The
//! frame of a leaf is the newest frame of its thread: no frame is above it.

use classfile::access::SYNCHRONIZED;
use classfile::file::{Attribute, ClassFile, Code, Member};
use classfile::instruction::{Instruction, Instructions};
use classfile::operators::{Effect, Flow, ValueKind};
use classfile::pool::tag;
use classfile::{Opcode, Result};

/// The longest code array of a leaf, in bytes.
const LONGEST: usize = 24;

const CONSTRUCTOR: &[u8] = b"<init>";
const OBJECT: &[u8] = b"java/lang/Object";

/// Whether the method is a leaf: at most [`LONGEST`] bytes of code that runs forward only, has
/// no handler, takes no monitor, allocates nothing, throws nothing by itself and calls nothing. It
/// uses static fields of its own class only, because other classes may be initialised by the use.
///
/// A constructor is a leaf if it calls `Object.<init>` alone, and sets fields of `this` to constants
/// and parameters. So no exception leaves the constructor, apart from errors of the VM. An exception
/// that leaves `super(...)` must meet a hook in the constructor that was called (see
/// `cover::constructor`).
pub(crate) fn is_leaf(
    class: &ClassFile<'_>,
    method: &Member<'_>,
    attribute: &Attribute<'_>,
) -> Result<bool> {
    // The fields around the code array.
    const AROUND: usize = 12;
    let is_short = attribute.info.len() >= AROUND && !class.short_code();
    if !is_short || method.access_flags & SYNCHRONIZED != 0 || method.name == b"finalize" {
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
        _ => instructions.iter().all(|step| is_step(class, step)),
    })
}

/// Whether a leaf may have this instruction.
fn is_step(class: &ClassFile<'_>, step: &Instruction<'_>) -> bool {
    let forward = || step.targets().all(|target| target > step.bci);
    let flows = match step.opcode.flow() {
        Flow::Next | Flow::Return => true,
        Flow::Conditional | Flow::Jump | Flow::Switch => forward(),
        Flow::Subroutine | Flow::Throw => false,
    };
    flows
        && match step.opcode.effect() {
            Effect::Constant => is_plain_constant(class, step),
            Effect::GetStatic | Effect::PutStatic => is_own_field(class, step),
            Effect::Invoke(_)
            | Effect::New
            | Effect::NewPrimitiveArray
            | Effect::NewArray
            | Effect::NewNestedArray
            | Effect::Cast => false,
            _ => !matches!(
                step.opcode,
                Opcode::Monitorenter | Opcode::Monitorexit | Opcode::Instanceof
            ),
        }
}

/// Whether the constant is a number or a string: others may need Java code.
fn is_plain_constant(class: &ClassFile<'_>, step: &Instruction<'_>) -> bool {
    let constant = step.constant().and_then(|index| class.pool.tag(index));
    matches!(
        constant,
        Some(tag::INTEGER | tag::FLOAT | tag::LONG | tag::DOUBLE | tag::STRING)
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
