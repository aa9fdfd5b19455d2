//! The reference of `report.json`, written from the types that serde writes.
//!
//! The types are read line by line: rustfmt puts each field and each attribute on a line of its own.

use crate::workspace::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

/// The page, from the workspace's root on.
pub const PAGE: &str = "docs/reference/report.md";

/// Folders and files with the types of `report.json`.
const PLACES: [&str; 5] = [
    "oracle/src/record",
    "oracle/src/record/lines",
    "oracle/src/bias/pairs.rs",
    "oracle/src/bias/stacks.rs",
    "oracle/src/bias/sampler.rs",
];

/// Types that other pages describe.
const ELSEWHERE: [(&str, &str); 3] = [
    ("Layer", "name of a [layer](layers.md)"),
    ("Verdict", "[verdict](../glossary.md)"),
    ("Sampler", "name of a [layer](layers.md), or `safepoint`"),
];

/// A type: what its documentation says, and its parts.
#[derive(Debug, Default)]
pub(super) struct Type {
    pub(super) doc: String,
    attributes: String,
    pub(super) parts: Vec<Part>,
    /// The inner type of a tuple.
    inner: Option<String>,
}

/// A field of a struct, or a variant of an enum.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) doc: String,
    attributes: String,
    /// The type of a field.
    pub(super) of: Option<String>,
}

/// The page.
pub fn page() -> String {
    let types = types(&PLACES);
    let mut text = String::from(
        "# report.json\n\nWritten by `BLESS=1 cargo test --test architecture`, from the types in `oracle/src/record`. `schema` rises when a reader of the old\nformat would read wrong results. Readers ignore fields that they do not know. A field may be absent if its type says \"or\nabsent\": reports of earlier versions, and runs without such data, have no such field.\n",
    );
    let (mut open, mut done) = (vec!["Report".to_owned()], BTreeSet::new());
    while let Some(name) = open.pop() {
        let Some(of) = types.get(&name).filter(|_| done.insert(name.clone())) else {
            continue;
        };
        // Deeper types come in the order in which they are named.
        let named = of.parts.iter().filter_map(|part| part.of.as_deref());
        let named: Vec<String> = named.flat_map(|of| own_names(&types, of)).collect();
        open.extend(named.into_iter().rev());
        section(&mut text, &types, &name, of);
    }
    text
}

fn section(text: &mut String, types: &BTreeMap<String, Type>, name: &str, of: &Type) {
    if of.parts.is_empty() {
        return;
    }
    let _ = write!(text, "\n## {name}\n\n{}\n", of.doc);
    let is_struct = of.parts.iter().all(|part| part.of.is_some());
    // What is written as a text of its own form has its form in its documentation.
    if !is_struct && of.attributes.contains("into") {
        return;
    }
    text.push_str(if is_struct {
        "\n| field | type | holds |\n| --- | --- | --- |\n"
    } else {
        "\n| value | means |\n| --- | --- |\n"
    });
    for part in &of.parts {
        let doc = part.doc.replace('|', "\\|");
        if let Some(type_of) = &part.of {
            let may_lack = type_of.starts_with("Option<") || part.attributes.contains("default");
            let lacks = if may_lack { ", or absent" } else { "" };
            let shown = shown(types, type_of);
            let key = if part.attributes.contains("flatten") {
                "(its fields)".to_owned()
            } else {
                format!("`{}`", renamed(part).unwrap_or(&part.name))
            };
            let _ = writeln!(text, "| {key} | {shown}{lacks} | {doc} |");
        } else {
            let plain = kebab(&part.name, &of.attributes);
            let value = renamed(part).map_or(plain, str::to_owned);
            let _ = writeln!(text, "| `{value}` | {doc} |");
        }
    }
}

/// The name that an attribute gives.
fn renamed(part: &Part) -> Option<&str> {
    let (_, rest) = part.attributes.split_once("rename = \"")?;
    rest.split('"').next()
}

/// A variant's name in JSON.
fn kebab(name: &str, attributes: &str) -> String {
    let separator = if attributes.contains("kebab-case") {
        '-'
    } else if attributes.contains("snake_case") {
        '_'
    } else {
        return name.to_owned();
    };
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push(separator);
        }
        text.extend(c.to_lowercase());
    }
    text
}

/// A type in words.
fn shown(types: &BTreeMap<String, Type>, of: &str) -> String {
    let inside = |outer: &str| {
        let rest = of.strip_prefix(outer)?.strip_prefix('<')?;
        rest.strip_suffix('>')
    };
    if let Some(inner) = inside("Option").or(inside("Box")) {
        return shown(types, inner);
    }
    if let Some(inner) = inside("Vec").or(inside("BTreeSet")) {
        return format!("list: {}", shown(types, inner));
    }
    if let Some((key, value)) = inside("BTreeMap").and_then(|inner| inner.split_once(", ")) {
        let (key, value) = (shown(types, key), shown(types, value));
        return format!("object: {key} to {value}");
    }
    if let Some((_, words)) = ELSEWHERE.iter().find(|(name, _)| *name == of) {
        return (*words).to_owned();
    }
    match of {
        "String" | "&'static str" => return "text".into(),
        "bool" => return "true or false".into(),
        "f64" | "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => return "number".into(),
        _ => {}
    }
    if let Some(inner) = of.strip_prefix('[').and_then(|of| of.strip_suffix(']')) {
        let (inner, count) = inner.split_once("; ").unwrap_or((inner, ""));
        return format!("list of {count}: {}", shown(types, inner));
    }
    match types.get(of) {
        Some(found) if found.attributes.contains("into = \"String\"") => "text".into(),
        Some(found) if !found.parts.is_empty() => format!("[{of}](#{})", of.to_lowercase()),
        Some(Type {
            inner: Some(inner), ..
        }) => shown(types, inner),
        _ => format!("`{of}`"),
    }
}

/// The types of the table that a type names, those inside of tuples too.
fn own_names(types: &BTreeMap<String, Type>, of: &str) -> Vec<String> {
    let words = of.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut names = vec![];
    for word in words.filter(|word| !ELSEWHERE.iter().any(|(name, _)| name == word)) {
        if let Some(found) = types.get(word) {
            names.push(word.to_owned());
            let inner = found.inner.as_deref();
            names.extend(inner.map_or(vec![], |inner| own_names(types, inner)));
        }
    }
    names
}

/// All types in the places.
pub(super) fn types(places: &[&str]) -> BTreeMap<String, Type> {
    let mut types = BTreeMap::new();
    for place in places {
        let path = root().join(place);
        let mut files = vec![path.clone()];
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("the folder can be read");
            files = entries
                .map(|entry| entry.expect("an entry").path())
                .collect();
            files.retain(|file| file.extension().is_some_and(|end| end == "rs"));
            files.sort();
        }
        for file in files {
            let text = fs::read_to_string(&file).expect("the file can be read");
            read(&text, &mut types);
        }
    }
    types
}

/// Adds the types in a file.
fn read(text: &str, types: &mut BTreeMap<String, Type>) {
    let (mut doc, mut attributes) = (String::new(), String::new());
    let mut inside: Option<String> = None;
    for line in text.lines() {
        let code = line.trim();
        if let Some(words) = code.strip_prefix("/// ") {
            doc += if doc.is_empty() { "" } else { " " };
            doc += &without_links(words);
        } else if code.starts_with("#[") {
            attributes += code;
        } else if line == "}" {
            inside = None;
        } else if let Some(of) = &inside {
            let part = part(code, &doc, &attributes, of == EVIDENCE);
            let known = types.get_mut(of).expect("its type has begun");
            known.parts.extend(part);
            (doc, attributes) = Default::default();
        } else {
            let begun = begun(line);
            let (doc, attributes) = (std::mem::take(&mut doc), std::mem::take(&mut attributes));
            let Some((name, rest)) = begun else { continue };
            let inner = rest
                .strip_prefix('(')
                .and_then(|rest| rest.split(')').next());
            let inner = inner.map(|inner| inner.trim_start_matches("pub ").to_owned());
            inside = inner.is_none().then(|| name.to_owned());
            let of = Type {
                doc,
                attributes,
                inner,
                parts: vec![],
            };
            types.insert(name.to_owned(), of);
        }
    }
}

/// The name of the type that begins on a line, and what follows the name.
fn begun(line: &str) -> Option<(&str, &str)> {
    // The kinds of evidence are rows of a macro.
    if line == "evidence! {" {
        return Some((EVIDENCE, ""));
    }
    let line = without_visibility(line);
    let rest = line
        .strip_prefix("struct ")
        .or(line.strip_prefix("enum "))?;
    let end = rest.find(|c: char| !c.is_alphanumeric())?;
    let (name, rest) = rest.split_at(end);
    (rest == " {" || rest.starts_with('(')).then_some((name, rest))
}

/// The rows of a macro that are fields of this type.
const EVIDENCE: &str = "Evidence";

fn without_visibility(code: &str) -> &str {
    let inner = code.strip_prefix("pub(super) ");
    inner.or(code.strip_prefix("pub ")).unwrap_or(code)
}

/// The field or variant on a line.
fn part(code: &str, doc: &str, attributes: &str, is_evidence: bool) -> Option<Part> {
    let code = code.trim_end_matches([',', ';']);
    let field = without_visibility(code);
    let (name, of) = match field.split_once(": ") {
        // A row of evidence may be absent.
        Some((name, of)) if is_evidence => (name, Some(format!("Option<{of}>"))),
        Some((name, of)) => (name, Some(of.to_owned())),
        None => (field.split('(').next()?, None),
    };
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then(|| Part {
        name: name.to_owned(),
        doc: doc.to_owned(),
        attributes: attributes.to_owned(),
        of,
    })
}

/// Documentation without links to code.
fn without_links(words: &str) -> String {
    let mut text = String::new();
    let mut rest = words;
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((name, after)) = after.split_once("`]") else {
            break;
        };
        text += before;
        text += &format!("`{name}`");
        let target = after
            .strip_prefix('(')
            .and_then(|after| after.split_once(')'));
        rest = target.map_or(after, |(_, after)| after);
    }
    text + rest
}

#[test]
fn types_are_read_as_serde_writes_them() {
    let mut types = BTreeMap::new();
    let text = "/// All, see [`Other`](crate::Other).\n#[derive(Serialize)]\npub struct All {\n    /// One\n    /// of many.\n    #[serde(rename = \"one\")]\n    pub first: Vec<Inner>,\n    /// Maybe.\n    pub second: Option<Number>,\n}\n\n/// Inner.\n#[serde(rename_all = \"kebab-case\")]\npub enum Inner {\n    /// First.\n    NoAnswer,\n}\npub struct Number(pub u64);\n";
    read(text, &mut types);
    let mut page = String::new();
    section(&mut page, &types, "All", &types["All"]);
    section(&mut page, &types, "Inner", &types["Inner"]);
    let expected = "\n## All\n\nAll, see `Other`.\n\n| field | type | holds |\n| --- | --- | --- |\n| `one` | list: [Inner](#inner) | One of many. |\n| `second` | number, or absent | Maybe. |\n\n## Inner\n\nInner.\n\n| value | means |\n| --- | --- |\n| `no-answer` | First. |\n";
    assert_eq!(page, expected);
    assert_eq!(own_names(&types, "Vec<Inner>"), ["Inner"]);
}
