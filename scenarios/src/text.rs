//! Places in a text, and its hash.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// SHA-256 of a text, in hexadecimal digits.
pub(crate) fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let mut hex = String::with_capacity(2 * digest.len());
    for byte in digest {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// Line and column, from 1, of the byte at `at` in `text`.
pub(crate) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at.min(text.len()))];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (
        before.matches('\n').count() + 1,
        before[line_start..].chars().count() + 1,
    )
}

/// Two names are similar from here on: 1 if they are equal, 0 if nothing of them is.
const SIMILAR: f64 = 0.7;

/// The most similar name, as a part of a sentence; empty if none is similar.
pub(crate) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    // Jaro's distance does not see letters that have changed places in a short name.
    let score = |known| match strsim::osa_distance(name, known) {
        1 => 1.0,
        _ => strsim::jaro_winkler(name, known),
    };
    let best = known
        .map(|known| (score(known), known))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((score, known)) if score >= SIMILAR => format!("did you mean `{known}`? "),
        _ => String::new(),
    }
}

/// Where a TOML text is wrong, and what is wrong, in the words of a user: `LINE:COLUMN: MISTAKE`.
pub fn toml_mistake(text: &str, mistake: &toml::de::Error) -> String {
    let (line, column) = position(text, mistake.span().map_or(0, |span| span.start));
    format!("{line}:{column}: {}", plain(mistake.message()))
}

/// What serde says of an unknown name, in the words of a user, with the most similar name that is known.
pub(crate) fn plain(message: &str) -> String {
    let message = message.trim_end();
    if let Some(plain) = in_words(message) {
        return plain;
    }
    let [kind @ ("variant" | "field"), rest] = message
        .strip_prefix("unknown ")
        .and_then(|rest| rest.split_once(' '))
        .map_or(["", ""], |(kind, rest)| [kind, rest])
    else {
        return message.into();
    };
    let what = if kind == "variant" { "name" } else { "key" };
    let mut names = rest.split('`').skip(1).step_by(2);
    let unknown = names.next().unwrap_or_default();
    let known: Vec<&str> = names.collect();
    let nearest = nearest(unknown, known.iter().copied());
    format!(
        "unknown {what} `{unknown}`: {nearest}known here: {}",
        known.join(", ")
    )
}

/// What a message of serde means for a scenario, if it is one of those that name a remedy badly.
fn in_words(message: &str) -> Option<String> {
    if let Some(field) = message.strip_prefix("missing field ") {
        let remedy = match field {
            "`program`" => "add a `[[program]]`, as docs/scenarios.md shows",
            _ => "add it",
        };
        return Some(format!("{field} is missing: {remedy}"));
    }
    let is_list_missing = message.ends_with("expected a sequence");
    is_list_missing.then(|| format!("{message}: write a list, as in [\"a\", \"b\"]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_come_with_the_nearest() {
        let told = plain("unknown variant `gts`, expected one of `ground`, `gst`, `java`\n");
        assert_eq!(
            told,
            "unknown name `gts`: did you mean `gst`? known here: ground, gst, java"
        );
        let told = plain("unknown field `zzz`, expected `name` or `layers`");
        assert_eq!(told, "unknown key `zzz`: known here: name, layers");
        assert_eq!(plain("expected a string"), "expected a string");
    }

    #[test]
    fn what_is_missing_comes_with_its_remedy() {
        assert_eq!(
            plain("missing field `program`\n"),
            "`program` is missing: add a `[[program]]`, as docs/scenarios.md shows"
        );
        assert_eq!(
            plain("invalid type: string \"P\", expected a sequence"),
            "invalid type: string \"P\", expected a sequence: write a list, as in [\"a\", \"b\"]"
        );
    }
}
