//! The types of a chunk, which its metadata event describes.

use crate::bytes::Bytes;
use std::collections::HashMap;

/// A type: of events, of constants or of a part of these.
#[derive(Clone, Debug, Default)]
pub(super) struct Type {
    pub name: String,
    pub fields: Vec<Field>,
}

/// A field of a type.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub name: String,
    pub of: i64,
    /// The value is the key of a constant.
    pub constant: bool,
    pub array: bool,
}

/// All types by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Types(pub HashMap<i64, Type>);

/// How deep elements, and types within types, may be nested.
pub(super) const DEPTH: usize = 32;

impl Types {
    pub fn get(&self, id: i64) -> Option<&Type> {
        self.0.get(&id)
    }

    /// The number of the type with this name.
    pub fn find(&self, name: &str) -> Option<i64> {
        let mut types = self.0.iter();
        types.find(|(_, of)| of.name == name).map(|(&id, _)| id)
    }

    /// The types that have a stack, by number, with their names.
    pub fn with_stacks(&self) -> impl Iterator<Item = (i64, &str)> {
        let stacks = self.find("jdk.types.StackTrace");
        self.0.iter().filter_map(move |(&id, of)| {
            let mut fields = of.fields.iter();
            let has = fields.any(|field| Some(field.of) == stacks && field.constant);
            has.then_some((id, of.name.as_str()))
        })
    }

    /// Reads a metadata event, from behind its event type.
    pub fn parse(mut event: Bytes<'_>) -> Option<Types> {
        for _start_duration_id in 0..3 {
            event.jfr_number()?;
        }
        let count = event.jfr_number()?;
        let mut strings = vec![];
        for _ in 0..count {
            strings.push(text(&mut event)?);
        }
        let mut types = Types::default();
        element(&mut event, &strings, &mut types, None, 0)?;
        Some(types)
    }
}

/// Reads an element of the tree with all its children. `class` is the number of the class around
/// the element.
fn element(
    bytes: &mut Bytes<'_>,
    strings: &[Option<String>],
    types: &mut Types,
    class: Option<i64>,
    depth: usize,
) -> Option<()> {
    if depth > DEPTH {
        return None;
    }
    let string = |bytes: &mut Bytes<'_>| {
        let at = usize::try_from(bytes.jfr_number()?).ok()?;
        Some(strings.get(at)?.as_deref().unwrap_or_default())
    };
    let name = string(bytes)?;
    let mut attributes: HashMap<&str, &str> = HashMap::new();
    for _ in 0..bytes.jfr_number()? {
        attributes.insert(string(bytes)?, string(bytes)?);
    }
    let number = |key| attributes.get(key)?.parse::<i64>().ok();
    let text = |key| attributes.get(key).copied().unwrap_or_default().to_owned();
    let mut inside = class;
    match (name, class) {
        ("class", _) => {
            let id = number("id")?;
            types.0.entry(id).or_default().name = text("name");
            inside = Some(id);
        }
        ("field", Some(class)) => types.0.entry(class).or_default().fields.push(Field {
            name: text("name"),
            of: number("class")?,
            constant: attributes.get("constantPool") == Some(&"true"),
            array: number("dimension").is_some_and(|n| n > 0),
        }),
        _ => {}
    }
    for _ in 0..bytes.jfr_number()? {
        element(bytes, strings, types, inside, depth + 1)?;
    }
    Some(())
}

/// A text in place; `None` for null, and for a text that is a constant.
pub(super) fn text(bytes: &mut Bytes<'_>) -> Option<Option<String>> {
    Some(match bytes.byte()? {
        0 => None,
        1 => Some(String::new()),
        2 => {
            bytes.jfr_number()?;
            None
        }
        3 => {
            let n = usize::try_from(bytes.jfr_number()?).ok()?;
            Some(String::from_utf8_lossy(bytes.take(n)?).into_owned())
        }
        4 => {
            let n = usize::try_from(bytes.jfr_number()?).ok()?;
            let mut units = vec![];
            for _ in 0..n {
                units.push(bytes.jfr_number()? as u16);
            }
            Some(String::from_utf16_lossy(&units))
        }
        5 => {
            let n = usize::try_from(bytes.jfr_number()?).ok()?;
            Some(
                bytes
                    .take(n)?
                    .iter()
                    .map(|&byte| char::from(byte))
                    .collect(),
            )
        }
        _ => return None,
    })
}
