//! The table of the built-in scenarios: each says in its first sentence what it runs.

use crate::cli::CAUSES;
use reports::published::Part;
use scenarios::scenario::BUILT_IN;
use std::fmt::Write;

/// The generated part of the page.
pub fn part() -> Part {
    let mut text = String::from("| scenario | runs |\n| --- | --- |\n");
    let causes = hotspot::scenario::causes();
    let all = BUILT_IN.iter().copied();
    for (name, scenario) in all.chain([(CAUSES, causes.as_str())]) {
        let _ = writeln!(text, "| `{name}` | {} |", purpose(scenario));
    }
    Part::new("reference/scenarios.md", text)
}

/// The first sentence of a scenario's comment.
fn purpose(scenario: &str) -> String {
    let head = scenario.lines().take_while(|line| line.starts_with('#'));
    let head: Vec<_> = head
        .map(|line| line.trim_start_matches('#').trim())
        .collect();
    let head = head.join(" ");
    let end = head.find(". ").unwrap_or(head.len());
    let sentence = head[..end].trim_end_matches(['.', ':']).replace('|', "\\|");
    linked(&sentence)
}

/// A text in which pages are links: `docs/a.md` is `[a](../a.md)`.
fn linked(text: &str) -> String {
    let mut parts = text.split("docs/");
    let mut linked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        linked += &match part.split_once(".md") {
            Some((page, rest)) => format!("[{page}](../{page}.md){rest}"),
            None => format!("docs/{part}"),
        };
    }
    linked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scenario_says_what_it_runs() {
        assert_eq!(
            purpose("# One: two\n# three. Four.\nname = \"x\"\n"),
            "One: two three"
        );
        assert_eq!(linked("a (docs/b/c.md): d"), "a ([b/c](../b/c.md)): d");
        for (name, scenario) in BUILT_IN {
            assert!(
                !purpose(scenario).is_empty(),
                "{name} begins with no comment"
            );
        }
    }
}
