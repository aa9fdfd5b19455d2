//! Old spellings, which this release still understands. They are turned into those of today before the parser reads
//! them, so that nothing else knows them.

use std::ffi::OsString;
use std::path::Path;

/// Old commands, and the words that took their place.
const COMMANDS: [(&str, &[&str]); 4] = [
    ("edges", &["judge"]),
    ("listing", &["dev", "listing"]),
    ("rewrite", &["dev", "rewrite"]),
    ("publish", &["dev", "publish"]),
];

/// Old options of a command, and what took their place: another option, or nothing where the value alone is left.
const OPTIONS: [(&str, &str, Option<&str>); 5] = [
    ("edges", "--json", Some("-o")),
    ("gate", "--report", None),
    ("gate", "--alarm", Some("--alpha")),
    ("run", "--alarm", Some("--alpha")),
    ("baseline", "--from", None),
];

/// The words of today for a command line, and a hint if it had old ones.
pub fn today(words: Vec<OsString>) -> (Vec<OsString>, Option<String>) {
    let Some(at) = command(&words) else {
        return (words, None);
    };
    let name = words[at].to_string_lossy().into_owned();
    // What stands behind `--` is another program's.
    let end = words.iter().position(|word| word == "--");
    let (ours, others) = words.split_at(end.unwrap_or(words.len()));
    let mut today = ours[..at].to_vec();
    match COMMANDS.iter().find(|(old, _)| *old == name) {
        Some((_, new)) => today.extend(new.iter().map(OsString::from)),
        None => today.push(words[at].clone()),
    }
    let is_new_baseline = name == "baseline" && ours.iter().any(|word| word == "--from");
    if is_new_baseline && ours.get(at + 1).is_none_or(|word| word != "update") {
        today.push("create".into());
    }
    for word in &ours[at + 1..] {
        today.extend(option(&name, word));
    }
    today.extend_from_slice(others);
    let hint = (today != words).then(|| {
        let (old, new) = (line(&words), line(&today));
        format!("`{old}` is now `{new}`; the next release will not know the old spelling")
    });
    (today, hint)
}

/// The place of the command: the first word that is no option. The first word is the program.
fn command(words: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at)?.to_str() {
        match word {
            "--color" => at += 2,
            _ if word.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
    None
}

/// A word of a command, as it is spelled today.
fn option(command: &str, word: &OsString) -> Vec<OsString> {
    let as_it_is = || vec![word.clone()];
    let Some(text) = word.to_str() else {
        return as_it_is();
    };
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let old = OPTIONS
        .iter()
        .find(|(of, old, _)| *of == command && *old == name);
    old.map_or_else(as_it_is, |(_, _, new)| {
        new.iter().copied().chain(value).map(Into::into).collect()
    })
}

/// The words as a line, with the program's name alone in place of its path.
fn line(words: &[OsString]) -> String {
    let mut words = words.iter();
    let program = words.next().and_then(|word| Path::new(word).file_name());
    let shown = program.into_iter().chain(words.map(OsString::as_os_str));
    let shown: Vec<_> = shown.map(|word| word.to_string_lossy()).collect();
    shown.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn today_of(line: &str) -> (String, bool) {
        let (words, hint) = today(line.split(' ').map(OsString::from).collect());
        let parsed = Cli::try_parse_from(&words);
        assert!(parsed.is_ok(), "{words:?}: {parsed:?}");
        (super::line(&words), hint.is_some())
    }

    #[test]
    fn old_spellings_become_those_of_today() {
        for (old, new) in [
            ("sw edges --json a.json b.jfr", "sw judge -o a.json b.jfr"),
            ("sw edges --json=a.json b.jfr", "sw judge -o a.json b.jfr"),
            ("sw listing run", "sw dev listing run"),
            ("sw publish run", "sw dev publish run"),
            (
                "sw --color never rewrite a b",
                "sw --color never dev rewrite a b",
            ),
            ("sw gate --report out", "sw gate out"),
            (
                "sw gate --baseline b --alarm 0.1",
                "sw gate --baseline b --alpha 0.1",
            ),
            (
                "sw baseline --from a b --output c",
                "sw baseline create a b --output c",
            ),
            ("sw baseline update c --from a", "sw baseline update c a"),
        ] {
            assert_eq!(today_of(old), (new.into(), true));
            assert_eq!(today_of(new), (new.into(), false));
        }
    }

    #[test]
    fn the_words_of_a_program_stay() {
        let line = "sw run -- Main edges --alarm";
        assert_eq!(today_of(line), (line.into(), false));
    }
}
