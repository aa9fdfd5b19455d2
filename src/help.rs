//! The help of the whole program: examples first, then the commands in groups.

use clap::Command;
use std::fmt::Write;

/// All commands, by what a user wants.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Judge a JVM", &["run", "check", "profile", "judge"]),
    (
        "Reports",
        &["render", "compare", "gate", "baseline", "reduce", "merge"],
    ),
    ("Before a run", &["doctor", "scenarios", "plan", "export"]),
    ("More", &["dev", "completions", "man", "help"]),
];

/// How the parser prints a heading.
const HEADING: (&str, &str) = ("\x1b[1m\x1b[4m", "\x1b[0m");

/// The command line with the commands of its help in groups.
pub fn grouped(mut command: Command) -> Command {
    // The parser makes `help` when it builds the rest.
    command.build();
    let mut text = String::new();
    for (title, names) in GROUPS {
        let (on, off) = HEADING;
        let _ = writeln!(text, "{on}{title}:{off}");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  \x1b[1m{name:11}\x1b[0m  {about}");
        }
        text.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{before-help}}{{usage-heading}} {{usage}}\n\n{text}{}Options:{}\n{{options}}{{after-help}}",
        HEADING.0, HEADING.1
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn each_command_has_one_group_and_one_line() {
        let mut command = Cli::command();
        command.build();
        let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        let mut names: Vec<&str> = shown.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        names.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(names, grouped);
        let help = super::grouped(Cli::command()).render_help().to_string();
        for name in grouped {
            let start = format!("  {name} ");
            let line = help.lines().find(|line| line.starts_with(&start));
            let length = line.map_or(0, |line| line.chars().count());
            assert!(length > 20 && length <= 100, "{name}: {help}");
        }
    }
}
