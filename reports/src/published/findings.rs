//! A section for each known cause: why the answer is false, where HotSpot's source has the fault, what proves the cause, and
//! the program that shows it.

use super::part::Part;
use hotspot::causes::{CAUSES, Cause, Program};
use std::fmt::Write;

/// The generated part of the page: the causes of the JVM's own walkers, then those of profilers.
pub(super) fn part() -> Part {
    let (profilers, jvm): (Vec<_>, Vec<_>) =
        CAUSES.iter().partition(|cause| cause.is_of_profilers());
    let sections = jvm.into_iter().chain(profilers).map(section);
    Part::new("findings.md", sections.collect::<Vec<_>>().join("\n"))
}

fn section(cause: &Cause) -> String {
    let mut text = format!(
        "<a id=\"{name}\"></a>\n## {} (`{name}`)\n",
        capital(cause.meaning),
        name = cause.name
    );
    for paragraph in [cause.why, cause.notes]
        .iter()
        .filter(|said| !said.is_empty())
    {
        let _ = writeln!(text, "\n{}", escaped(paragraph));
    }
    let shown = [sources(cause), proof(cause), try_it(cause)];
    let shown: Vec<String> = shown.into_iter().flatten().collect();
    if !shown.is_empty() {
        let _ = writeln!(text, "\n{}", shown.join("\n"));
    }
    text
}

/// The places in HotSpot's source.
fn sources(cause: &Cause) -> Option<String> {
    let one = cause.sources.iter().map(|source| {
        let (file, function) = (source.file, source.function);
        format!("- `{file}`, `{function}`: {}", escaped(source.fault))
    });
    let all: Vec<_> = one.collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

fn proof(cause: &Cause) -> Option<String> {
    (!cause.proof.is_empty()).then(|| format!("- *Proof.* {}", escaped(cause.proof)))
}

/// The command, the fixtures, and the issue.
fn try_it(cause: &Cause) -> Option<String> {
    let programs = cause.programs();
    if programs.is_empty() {
        return None;
    }
    let since = match cause.since {
        0 => String::new(),
        jdk => format!(" JDK {jdk} and later."),
    };
    let fixtures: Vec<_> = programs.iter().map(fixture).collect();
    // A cause with a place in HotSpot's source and a program has an issue.
    let issue = if cause.sources.is_empty() {
        String::new()
    } else {
        format!(" [The issue](reports/{}.md).", cause.name)
    };
    Some(format!(
        "- *Try it.* `stackwitness run --cause {}`: {}.{since}{issue}",
        cause.name,
        fixtures.join("; ")
    ))
}

fn fixture(program: &Program) -> String {
    let flags = match program.jvm_args {
        [] => String::new(),
        flags => format!(" and `{}`", flags.join(" ")),
    };
    format!(
        "fixture `{}` with hooks `{}`{flags}",
        program.fixture, program.hooks
    )
}

/// A sentence with a capital at its start.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// A text in which Markdown has no asterisks or links of its own.
fn escaped(text: &str) -> String {
    text.replace('*', "\\*")
}
