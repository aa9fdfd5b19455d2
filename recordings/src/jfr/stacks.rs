//! The bytes of stacks. A recording has millions of frames, so the fields of their types are looked up
//! once.

use super::metadata::{Field, Types};
use super::values;
use crate::bytes::Bytes;

/// A frame, by the keys of its constants.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct RawFrame {
    pub method: i64,
    pub bci: i64,
    pub line: i64,
    pub kind: i64,
}

/// The role of a field of a frame.
#[derive(Copy, Clone, Debug)]
enum Role<'a> {
    Method,
    Bci,
    Line,
    Kind,
    /// A number that is not needed.
    Number,
    /// A value that is not needed.
    Other(&'a Field),
}

/// The role of a field of a stack.
#[derive(Copy, Clone, Debug)]
enum Part<'a> {
    Truncated,
    Frames,
    Other(&'a Field),
}

/// The fields of stacks and of their frames.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    types: &'a Types,
    stack: Vec<Part<'a>>,
    frame: Vec<Role<'a>>,
}

impl<'a> Layout<'a> {
    pub fn new(types: &'a Types) -> Layout<'a> {
        let fields = |name| {
            let of = types.find(name).and_then(|id| types.get(id));
            of.into_iter().flat_map(|of| &of.fields)
        };
        let part = |field: &'a Field| match field.name.as_str() {
            "truncated" if !field.constant && !field.array => Part::Truncated,
            "frames" if field.array && !field.constant => Part::Frames,
            _ => Part::Other(field),
        };
        let role = |field: &'a Field| match (field.name.as_str(), field.constant) {
            _ if field.array => Role::Other(field),
            ("method", true) => Role::Method,
            ("type", true) => Role::Kind,
            (_, true) => Role::Number,
            (name, false) => match types.get(field.of).map(|of| of.name.as_str()) {
                Some("int" | "long") if name == "bytecodeIndex" => Role::Bci,
                Some("int" | "long") if name == "lineNumber" => Role::Line,
                Some("int" | "long") => Role::Number,
                _ => Role::Other(field),
            },
        };
        Layout {
            types,
            stack: fields("jdk.types.StackTrace").map(part).collect(),
            frame: fields("jdk.types.StackFrame").map(role).collect(),
        }
    }

    /// Reads a stack, and shows each of its frames to `see`. Returns whether the lowest frame is there;
    /// `None` if the stack is damaged.
    #[inline]
    pub fn each(&self, bytes: &mut Bytes<'_>, mut see: impl FnMut(RawFrame)) -> Option<bool> {
        let mut truncated = false;
        for part in &self.stack {
            match part {
                Part::Truncated => truncated = bytes.byte()? != 0,
                Part::Frames => {
                    for _ in 0..bytes.jfr_number()? {
                        let before = bytes.0.len();
                        see(self.frame(bytes)?);
                        // Frames have no fields. Very many of them would take too long.
                        if bytes.0.len() == before {
                            return None;
                        }
                    }
                }
                Part::Other(field) => values::skip(self.types, field, bytes)?,
            }
        }
        Some(!truncated)
    }

    #[inline]
    fn frame(&self, bytes: &mut Bytes<'_>) -> Option<RawFrame> {
        let mut frame = RawFrame::default();
        for role in &self.frame {
            match role {
                Role::Method => frame.method = bytes.jfr_number()?,
                Role::Bci => frame.bci = bytes.jfr_number()?,
                Role::Line => frame.line = bytes.jfr_number()?,
                Role::Kind => frame.kind = bytes.jfr_number()?,
                Role::Number => {
                    bytes.jfr_number()?;
                }
                Role::Other(field) => values::skip(self.types, field, bytes)?,
            }
        }
        Some(frame)
    }
}
