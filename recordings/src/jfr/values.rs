//! Values of any type, in events and constants.

use super::metadata::{DEPTH, Field, Types, text};
use crate::bytes::Bytes;

/// A value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(i64),
    Text(Option<String>),
    /// The key of a constant, or of a text that is a constant.
    Key(i64),
    /// Any other value.
    Other,
}

/// Calls `see` with each field of a value of this type, and the field's index in the type.
pub(super) fn fields(
    types: &Types,
    id: i64,
    bytes: &mut Bytes<'_>,
    see: &mut dyn FnMut(usize, Value),
) -> Option<()> {
    for (at, field) in types.get(id)?.fields.iter().enumerate() {
        see(at, of_field(types, field, bytes)?);
    }
    Some(())
}

/// Skips a field.
pub(super) fn skip(types: &Types, field: &Field, bytes: &mut Bytes<'_>) -> Option<()> {
    of_field(types, field, bytes).map(|_| ())
}

fn of_field(types: &Types, field: &Field, bytes: &mut Bytes<'_>) -> Option<Value> {
    Some(match (field.array, field.constant) {
        (true, _) => {
            array(types, field.of, field.constant, bytes, 0)?;
            Value::Other
        }
        (false, true) => Value::Key(bytes.jfr_number()?),
        (false, false) => value(types, field.of, bytes, 0)?,
    })
}

fn array(
    types: &Types,
    of: i64,
    constant: bool,
    bytes: &mut Bytes<'_>,
    depth: usize,
) -> Option<()> {
    for _ in 0..bytes.jfr_number()? {
        let before = bytes.0.len();
        if constant {
            bytes.jfr_number()?;
        } else {
            value(types, of, bytes, depth + 1)?;
        }
        // The type has no fields. An array of very many such values would take too long.
        if bytes.0.len() == before {
            return None;
        }
    }
    Some(())
}

fn value(types: &Types, id: i64, bytes: &mut Bytes<'_>, depth: usize) -> Option<Value> {
    if depth > DEPTH {
        return None;
    }
    let of = types.get(id)?;
    Some(match of.name.as_str() {
        "boolean" | "byte" => Value::Number(i64::from(bytes.byte()? as i8)),
        "char" | "short" | "int" | "long" => Value::Number(bytes.jfr_number()?),
        "float" => {
            bytes.take(4)?;
            Value::Other
        }
        "double" => {
            bytes.take(8)?;
            Value::Other
        }
        "java.lang.String" if bytes.0.first() == Some(&2) => {
            bytes.byte()?;
            Value::Key(bytes.jfr_number()?)
        }
        "java.lang.String" => Value::Text(text(bytes)?),
        _ => {
            for field in &of.fields {
                let before = bytes.0.len();
                match (field.array, field.constant) {
                    (true, _) => array(types, field.of, field.constant, bytes, depth)?,
                    (false, true) => {
                        bytes.jfr_number()?;
                    }
                    (false, false) => {
                        value(types, field.of, bytes, depth + 1)?;
                    }
                }
                // The types within this type have no bytes. Very many such values would take too
                // long.
                if bytes.0.len() == before {
                    return None;
                }
            }
            Value::Other
        }
    })
}
