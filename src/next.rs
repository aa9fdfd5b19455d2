//! What a user can do after a run.

use oracle::outcome::Outcome;
use std::path::{Path, absolute};

/// The page beside `report.json`.
pub const PAGE: &str = "report.html";

/// What was done.
#[derive(Copy, Clone, Debug)]
pub struct After {
    /// The outcome of the run.
    pub outcome: Outcome,
    /// Whether the user's own program ran.
    pub of_user: bool,
    /// Whether the question was which profiles can be trusted.
    pub is_about_profiles: bool,
    /// Whether the report was judged as `gate` does.
    pub is_judged_by_gate: bool,
    /// Whether the user interrupted the run.
    pub is_interrupted: bool,
    /// Whether the user gave flags of the VM.
    pub has_flags: bool,
    /// Whether at least one JVM has started with the agent.
    pub has_runs: bool,
}

/// Largest number of hints: a run's output fits on one screen.
const MOST: usize = 2;

/// Lines that say what to do next, for the end of a run's output. The last one leads to the page.
pub fn steps(after: After, out: &Path) -> String {
    let folder = quoted(out);
    let all = (
        "All numbers",
        format!("stackwitness render {folder} --format table"),
    );
    let mut steps = match after.outcome {
        Outcome::Within if !after.is_judged_by_gate && !after.is_about_profiles => vec![
            all,
            (
                "Enough checks for the budgets?",
                format!("stackwitness gate {folder}"),
            ),
        ],
        Outcome::Within => vec![all],
        Outcome::Over => vec![
            all,
            (
                "The known causes",
                "stackwitness run --scenario causes".into(),
            ),
        ],
        Outcome::NotMeasured if after.is_interrupted => vec![all],
        Outcome::NotMeasured if after.has_runs => vec![all],
        Outcome::NotMeasured if after.of_user => vec![(
            "Does it run without Stackwitness?",
            "the same command with `java` in place of `stackwitness run --`".into(),
        )],
        Outcome::NotMeasured if after.has_flags => vec![
            (
                "Does this JDK know the flags?",
                "java with the same flags, and -version".into(),
            ),
            ("Output of the programs", format!("ls {folder}/runs/*")),
        ],
        Outcome::NotMeasured => vec![
            ("What this machine lacks", "stackwitness doctor".into()),
            ("Output of the programs", format!("ls {folder}/runs/*")),
        ],
        Outcome::Crashed => vec![
            (
                "The JVM's report of the crash",
                format!("ls {folder}/runs/*"),
            ),
            (
                "What was counted before",
                format!("stackwitness render {folder} --from-records"),
            ),
        ],
    };
    steps.truncate(MOST);
    steps.push(("Report", address(out)));
    let width = steps.iter().map(|(what, _)| what.chars().count()).max();
    let width = width.unwrap_or_default();
    let lines = steps
        .iter()
        .map(|(what, how)| format!("{what:width$}  {how}\n"));
    format!("\n{}", lines.collect::<String>())
}

/// The address of the page in a folder of results.
pub fn address(out: &Path) -> String {
    address_of(&out.join(PAGE))
}

/// The address of a page.
pub fn address_of(page: &Path) -> String {
    let page = absolute(page).unwrap_or_else(|_| page.into());
    format!("file://{}", page.display())
}

/// The path as a word for a POSIX shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_has_commands_that_exist_and_ends_with_the_page() {
        use crate::cli::Cli;
        use clap::Parser;
        for outcome in Outcome::ALL {
            for flags in 0..64 {
                let after = After {
                    outcome,
                    of_user: flags & 1 > 0,
                    is_judged_by_gate: flags & 2 > 0,
                    is_interrupted: flags & 4 > 0,
                    has_flags: flags & 16 > 0,
                    has_runs: flags & 8 > 0,
                    is_about_profiles: flags & 32 > 0,
                };
                let text = steps(after, Path::new("out"));
                assert!(text.lines().count() <= MOST + 2, "{text}");
                let last = text.lines().last().expect("the page");
                assert!(
                    last.contains("file:///") && last.ends_with("/out/report.html"),
                    "{text}"
                );
                let commands = text.lines().filter_map(|line| {
                    let at = line.find("stackwitness ")?;
                    (!line[..at].ends_with('`')).then(|| &line[at..])
                });
                for command in commands.filter(|command| !command.contains("NAME")) {
                    let parsed = Cli::try_parse_from(command.split_whitespace());
                    assert!(parsed.is_ok(), "{command}: {parsed:?}");
                }
            }
        }
    }
}
