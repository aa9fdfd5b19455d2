//! What a user can do after a run.

use oracle::outcome::Outcome;
use std::path::Path;

/// Lines that say what to do next, for the end of a run's output.
pub fn steps(outcome: Outcome, out: &Path) -> String {
    let out = out.display();
    let steps: &[(String, &str)] = match outcome {
        Outcome::Within => &[
            (
                format!("stackwitness gate --report {out}"),
                "is the run long enough to prove the budgets?",
            ),
            (
                "stackwitness run -- -jar your.jar".into(),
                "any program of yours",
            ),
        ],
        Outcome::Over => &[
            (
                format!("stackwitness render {out} --format html -o report.html"),
                "the evidence of each mismatch, for a browser",
            ),
            (
                "stackwitness run --scenario causes".into(),
                "a small program for each known cause",
            ),
        ],
        Outcome::NotMeasured => &[
            ("stackwitness doctor".into(), "what this machine lacks"),
            (format!("ls {out}/runs/*"), "the output of the programs"),
        ],
        Outcome::Crashed => &[
            (
                format!("ls {out}/runs/*"),
                "the JVM's report of the crash, or its threads",
            ),
            (
                format!("stackwitness render {out} --from-records"),
                "what was counted before the end",
            ),
        ],
    };
    let width = steps
        .iter()
        .map(|(command, _)| command.chars().count())
        .max();
    let width = width.unwrap_or_default();
    let lines = steps
        .iter()
        .map(|(command, meaning)| format!("  {command:width$}  # {meaning}\n"));
    format!("\nnext:\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_has_commands_that_exist() {
        use crate::cli::Cli;
        use clap::Parser;
        for outcome in Outcome::ALL {
            let text = steps(outcome, Path::new("out"));
            let commands = text.lines().filter_map(|line| line.split("  # ").next());
            let ours: Vec<&str> = commands.filter(|c| c.contains("stackwitness ")).collect();
            assert!(!ours.is_empty(), "{text}");
            for command in ours {
                let parsed = Cli::try_parse_from(command.split_whitespace());
                assert!(parsed.is_ok(), "{command}: {parsed:?}");
            }
        }
    }
}
