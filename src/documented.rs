//! Each command that the documentation names is one that the command line knows, and each page that README names is
//! there.

use crate::cli::Cli;
use clap::Parser;
use clap::error::ErrorKind;
use std::fs;
use std::path::{Path, PathBuf};

/// How commands begin, before and after an installation.
const STARTS: [&str; 3] = [
    "stackwitness ",
    "cargo run --release -- ",
    "target/release/stackwitness ",
];

/// The page of all commands is made from their definitions: it has usages, and no commands.
const GENERATED: &str = "reference/cli.md";

/// Words that stand for one of several.
const PLACEHOLDERS: [(&str, &str); 3] = [("COMMAND", "run"), ("SHELL", "bash"), ("N", "1")];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All pages for users and contributors.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") && !path.ends_with(GENERATED)
            {
                pages.push(path);
            }
        }
    }
    pages
}

/// The commands on a page: lines of its blocks of code, and what stands between backticks.
fn commands(page: &str) -> Vec<String> {
    let mut found = vec![];
    let mut text = String::new();
    let mut in_block = false;
    let lines = page.replace("\\\n", " ");
    for line in lines.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            found.push(line.trim().to_owned());
        } else {
            text.push_str(line.trim());
            text.push(' ');
        }
    }
    found.extend(text.split('`').skip(1).step_by(2).map(str::to_owned));
    let start = |line: &String| {
        let rest = STARTS.iter().find_map(|start| line.strip_prefix(start))?;
        // The summary of a report begins with the name of the program, too, and so does an arrow of a picture.
        (!rest.starts_with('0') && !rest.starts_with("-->")).then(|| rest.to_owned())
    };
    found.iter().filter_map(start).collect()
}

/// The words of a command as a shell has them, up to a comment or another command.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::from("stackwitness")];
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in command.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#' | '|' | '>' | '<' | ';' | '&' | '…') if word.is_none() => break,
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    for word in &mut words {
        // A variable of the shell.
        if word.starts_with('$') {
            *word = "1".into();
        }
        if let Some((_, one)) = PLACEHOLDERS.iter().find(|(name, _)| name == word) {
            *word = (*one).into();
        }
    }
    words
}

#[test]
fn each_command_of_the_documentation_is_known() {
    let mut number = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for command in commands(&text) {
            number += 1;
            let words = words(&command);
            let (today, hint) = crate::spelling::today(words.iter().map(Into::into).collect());
            let page = page.display();
            assert_eq!(hint, None, "{page}: {command}");
            if let Err(e) = Cli::try_parse_from(today) {
                let is_help =
                    matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
                // A text may name a command without what the command needs.
                let is_named = !words.iter().any(|word| word.starts_with('-'))
                    && e.kind() == ErrorKind::MissingRequiredArgument
                    || e.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
                assert!(is_help || is_named, "{page}: {command}: {e}");
            }
        }
    }
    assert!(number > 40, "{number} commands");
}

#[test]
fn scenarios_of_the_documentation_are_there() {
    let known: Vec<&str> = scenarios::scenario::BUILT_IN
        .iter()
        .map(|(name, _)| *name)
        .collect();
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for command in commands(&text) {
            let words = words(&command);
            for (option, name) in words.iter().zip(&words[1..]) {
                let is_file = name.ends_with(".toml") || name.contains("NAME");
                if option == "--scenario" && !is_file {
                    let is_known = known.contains(&name.as_str()) || name == crate::cli::CAUSES;
                    assert!(is_known, "{}: {command}", page.display());
                }
            }
        }
    }
}

#[test]
fn readme_is_short_and_its_pages_are_there() {
    let readme = fs::read_to_string(root().join("README.md")).expect("README");
    assert!(readme.lines().count() <= 110, "{}", readme.lines().count());
    let targets = readme
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    for target in targets.filter(|target| !target.starts_with("http")) {
        let file = target.split('#').next().unwrap_or_default();
        assert!(root().join(file).exists(), "{target}");
    }
}

#[test]
fn commands_are_found_in_blocks_and_between_backticks() {
    let page =
        "`stackwitness\nrun`\n```sh\nstackwitness run --flags \"-X a\" \\\n  --quick  # why\n```\n";
    let found = commands(page);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(
        words(&found[0]),
        ["stackwitness", "run", "--flags", "-X a", "--quick"]
    );
    assert_eq!(words(&found[1]), ["stackwitness", "run"]);
}
