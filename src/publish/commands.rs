//! The commands and their options, as Markdown.

use crate::cli::Cli;
use crate::exit;
use clap::{Arg, Command, CommandFactory};
use reports::published::Part;
use std::fmt::Write;

/// The generated part of the page.
pub fn part() -> Part {
    let mut command = Cli::command();
    command.build();
    let mut text = exit_codes();
    for sub in shown(&command) {
        add(&mut text, sub, "stackwitness", 2);
    }
    Part::new("reference/cli.md", text)
}

/// The codes of runs, and how they are chosen.
fn exit_codes() -> String {
    let lines = exit::HELP.lines().skip(1).map(str::trim);
    let rows = lines.filter_map(|line| line.split_once("  "));
    let rows: String = rows
        .map(|(code, means)| format!("| {code} | {means} |\n"))
        .collect();
    format!(
        "## Exit codes\n\n| code | means |\n| --- | --- |\n{rows}\nWhere several codes apply, a crash weighs most, then a run that is worthless or was interrupted, then a budget, then missing\ndata. `run` judges observed rates. `gate` and `run --gate` judge the upper bounds of the rates, and say how many more checks a run\nneeds if it was too small. A budget of 0 allows no mismatch at all. The exit code of the program that was run is in the report, and\nis never that of `stackwitness`. The help of `check` and of `reduce` has their codes.\n"
    )
}

/// The commands below a command that its help shows.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    let all = command.get_subcommands();
    all.filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

fn add(text: &mut String, command: &Command, parent: &str, level: usize) {
    let name = format!("{parent} {}", command.get_name());
    let about = command.get_long_about().or(command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    let mut usage = command.clone();
    let usage = usage.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let hashes = "#".repeat(level);
    let _ = write!(
        text,
        "\n{hashes} `{name}`\n\n{about}\n\n```text\n{usage}\n```\n"
    );
    let arguments = command.get_arguments().filter(|argument| {
        let is_common = ["help", "version"].contains(&argument.get_id().as_str());
        !argument.is_hide_set() && !is_common
    });
    let rows: Vec<String> = arguments.map(row).collect();
    if !rows.is_empty() {
        text.push_str("\n| argument | says |\n| --- | --- |\n");
        text.push_str(&rows.concat());
    }
    for sub in shown(command) {
        add(text, sub, &name, level + 1);
    }
}

fn row(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let mut says = cell(&help);
    let values = argument.get_possible_values();
    let values = values.iter().filter(|value| !value.is_hide_set());
    let values: Vec<_> = values
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if argument.get_action().takes_values() && !values.is_empty() {
        let _ = write!(says, "<br>One of {}.", values.join(", "));
    }
    let defaults = argument.get_default_values().iter();
    let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        let _ = write!(says, "<br>Default: `{}`.", defaults.join(" "));
    }
    format!("| `{}` | {says} |\n", cell(&spelling(argument)))
}

/// How an argument is written: `REPORT`, `--jdk HOME`, `-v, --verbose`.
fn spelling(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let value = names
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" ");
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let option: Vec<String> = short.into_iter().chain(long).collect();
    let takes_value = argument.get_action().takes_values();
    match (option.is_empty(), takes_value) {
        (true, _) => value,
        (false, true) => format!("{} {value}", option.join(", ")),
        (false, false) => option.join(", "),
    }
}

/// A text on one line, which ends no cell.
fn cell(text: &str) -> String {
    let paragraphs = text.trim().split("\n\n");
    let lines: Vec<String> = paragraphs.map(|lines| lines.replace('\n', " ")).collect();
    lines
        .join("<br>")
        .replace('|', "\\|")
        .replace('<', "&lt;")
        .replace("&lt;br>", "<br>")
}
