//! An issue about one kind of mismatch, for the people behind a JVM or a profiler: Markdown, which a tracker shows.

use crate::content::{signature, stacks};
use crate::model::{Aligned, AlignedRow, Frame, RowKind};
use crate::numbers::{count, share};
use crate::render::{fenced, markdown_line, visible};
use hotspot::causes::Cause;
use hotspot::walkers::Walker;
use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter};
use oracle::gate::{Seen, SoughtKind};
use oracle::record::{Mismatch, Origin};
use oracle::{Layer, TruthKind, Verdict};
use std::fmt::Write;

/// The evidence that helps somebody who debugs the JVM. The rest, mostly addresses, is in the report.
const EVIDENCE: [&str; 11] = [
    "walker",
    "at",
    "part",
    "edges",
    "state",
    "code",
    "last_java_code",
    "stack_stubs",
    "return_address_by_frame_size",
    "return_address",
    "bytes",
];

/// Largest number of instructions that are shown.
const INSTRUCTIONS: usize = 6;

/// Largest number of frames that are shown of a stack without a true one.
const FRAMES: usize = 12;

/// What an issue says.
#[derive(Debug)]
pub struct Issue<'a> {
    /// The kind.
    pub kind: &'a SoughtKind,
    /// Its cause, if it is known.
    pub cause: Option<&'static Cause>,
    /// The command that shows the kind, for a POSIX shell; `JDK` in it stands for the folder of a JDK.
    pub command: &'a str,
    /// What the program of the command does: a sentence.
    pub note: Option<&'static str>,
    /// How often the kind was seen, for each JDK.
    pub seen: &'a [Seen],
    /// A mismatch of the kind.
    pub example: Option<&'a Mismatch>,
    /// Whether several runs, one after another, have shown it.
    pub is_confirmed: bool,
    /// The version of Stackwitness.
    pub version: &'a str,
    /// Where the runs were made.
    pub origin: Option<&'a Origin>,
}

/// The issue as Markdown.
pub fn issue(issue: &Issue<'_>) -> String {
    let mut text = format!("# {}\n\n", title(issue));
    what(&mut text, issue);
    places(&mut text, issue);
    if let Some(example) = issue.example {
        shown(&mut text, example);
    }
    reproduction(&mut text, issue);
    jdks(&mut text, issue);
    text
}

/// The layer of the example, else the layer that was looked for.
fn layer(issue: &Issue<'_>) -> Option<Layer> {
    issue.example.map(|it| it.layer).or(issue.kind.layer)
}

/// The name of the walker's function.
fn walker(issue: &Issue<'_>) -> &'static str {
    let walker = layer(issue).and_then(Walker::of);
    walker.map_or("A stack walker", |walker| walker.title)
}

fn title(issue: &Issue<'_>) -> String {
    let meaning = match (issue.cause, issue.example) {
        (Some(cause), _) if !cause.why.is_empty() => cause.meaning.to_owned(),
        (_, Some(example)) => example.reason.clone(),
        _ => "false stacks".into(),
    };
    markdown_line(&format!("{}: {meaning}", walker(issue)))
}

fn what(text: &mut String, issue: &Issue<'_>) {
    let walker = walker(issue);
    let is = match issue.example.map(|example| example.verdict) {
        Some(Verdict::Truncated) => "returns a stack that is cut short, without an error code",
        Some(Verdict::Imprecise) => {
            "returns a stack whose inlined frames are those of another call"
        }
        _ => "returns a false stack, without an error code",
    };
    let _ = writeln!(text, "{walker} {is}.");
    if let Some(cause) = issue.cause.filter(|cause| !cause.why.is_empty()) {
        let _ = writeln!(text, "{}", markdown_line(cause.why));
    }
    if let Some(layer) = layer(issue) {
        let compares = layer.row().compares;
        let _ = writeln!(
            text,
            "\n[Stackwitness]({}) found it by comparing {compares} (layer `{layer}`).",
            env!("CARGO_PKG_REPOSITORY")
        );
    }
    if let Some(cause) = issue.cause.filter(|cause| !cause.why.is_empty()) {
        let _ = writeln!(
            text,
            "What proves the cause of each such stack: [{}]({}).",
            cause.name,
            cause.page()
        );
    }
    text.push('\n');
}

fn places(text: &mut String, issue: &Issue<'_>) {
    let sources = issue.cause.map_or(&[][..], |cause| cause.sources);
    if sources.is_empty() {
        return;
    }
    text.push_str("## Where\n\n");
    for source in sources {
        let _ = writeln!(
            text,
            "- `{}`, `{}`: {}",
            source.file, source.function, source.fault
        );
    }
    text.push('\n');
}

fn shown(text: &mut String, example: &Mismatch) {
    let both = stacks(example);
    let rows = Aligned::of(&both).rows;
    let _ = writeln!(
        text,
        "## Example\n\n{}\n",
        markdown_line(&signature(example))
    );
    // Class files know no other stack: they only forbid an edge, which the evidence names.
    let has_truth = !example.truth.is_empty();
    let legend = if !has_truth {
        "The walker's stack, the newest frame first. `edges` below says which call the class files forbid."
    } else if example.layer.rests_on(TruthKind::Next) {
        // There the thread has run on, so newer frames may differ on an honest JVM, too.
        "The newest frame is first. `-` is a frame of the walker alone, `+` one of GetStackTrace at the next safepoint alone. \
         The frames that were on the stack all the time must be in both."
    } else {
        "The newest frame is first. `-` is a frame that only the walker has, `+` one that only the thread has."
    };
    let _ = writeln!(text, "{legend}\n");
    if has_truth {
        let lines: String = rows.iter().map(line).collect();
        text.push_str(&fenced(&lines).replacen("```\n", "```diff\n", 1));
    } else {
        let frames = both.walker.iter().take(FRAMES);
        let lines: String = frames.map(|frame| visible(&frame.whole) + "\n").collect();
        text.push_str(&fenced(&lines));
    }
    let evidence = both.evidence.iter();
    let known = evidence.filter(|(name, _)| EVIDENCE.contains(&name.as_str()));
    let mut lines: String = known
        .map(|(name, value)| format!("{name}: {}\n", visible(value)))
        .collect();
    for instruction in instructions(example) {
        let _ = writeln!(lines, "  {instruction}");
    }
    if !lines.is_empty() {
        let _ = write!(text, "\n{}", fenced(&lines));
    }
    text.push('\n');
}

/// A row of both stacks as a line of a difference.
fn line(row: &AlignedRow) -> String {
    let whole = |frame: &Option<Frame>| frame.as_ref().map(|frame| visible(&frame.whole));
    match row {
        AlignedRow::Gap(1) => "  … 1 frame\n".into(),
        AlignedRow::Gap(frames) => format!("  … {frames} frames\n"),
        AlignedRow::Frames {
            walker,
            truth,
            says,
        } => {
            let (walker, truth) = (whole(walker), whole(truth));
            match (says, walker, truth) {
                (RowKind::OtherPlace, Some(walker), Some(truth)) => {
                    format!("- {walker}\n+ {truth}\n")
                }
                (RowKind::NoTruth, Some(walker), _) => format!("  {walker}\n"),
                (_, Some(_), Some(truth)) => format!("  {truth}\n"),
                (_, Some(walker), None) => format!("- {walker}\n"),
                (_, None, Some(truth)) => format!("+ {truth}\n"),
                (_, None, None) => String::new(),
            }
        }
    }
}

/// The instructions at the program counter: those that are whole in the bytes of the evidence.
fn instructions(example: &Mismatch) -> Vec<String> {
    let (Some(bytes), Some(pc)) = (&example.evidence.bytes, example.evidence.pc) else {
        return vec![];
    };
    let mut decoder = Decoder::with_ip(64, &bytes.0, pc.0 as u64, DecoderOptions::NONE);
    let mut formatter = IntelFormatter::new();
    let (mut instruction, mut shown) = (Instruction::default(), vec![]);
    while decoder.can_decode() && shown.len() < INSTRUCTIONS {
        decoder.decode_out(&mut instruction);
        if instruction.is_invalid() {
            break;
        }
        let mut text = String::new();
        formatter.format(&instruction, &mut text);
        shown.push(text);
    }
    shown
}

fn reproduction(text: &mut String, issue: &Issue<'_>) {
    text.push_str("## How to see it\n\n");
    if let Some(note) = issue.note {
        let _ = writeln!(text, "{note}\n");
    }
    let block = fenced(issue.command).replacen("```\n", "```sh\n", 1);
    text.push_str(&block);
    let often = if issue.is_confirmed {
        "Three runs of it, one after another, have shown it."
    } else {
        "Three runs in a row have not confirmed it: the time of the search was over, or it is rare."
    };
    let _ = writeln!(
        text,
        "\n{often} The program is one file and needs nothing but the JDK. `-v` prints all stacks.\n"
    );
}

fn jdks(text: &mut String, issue: &Issue<'_>) {
    text.push_str("## JDKs\n\n| JDK | runs that show it | layer | such stacks | of all |\n| --- | ---: | --- | ---: | ---: |\n");
    for seen in issue.seen {
        let name = format!("{} {}", seen.jdk.version, seen.jdk.vendor);
        let name = markdown_line(name.trim());
        let runs = match seen.runs {
            0 => "did not run".into(),
            runs => format!("{} of {runs}", seen.runs_with),
        };
        if seen.layers.is_empty() {
            let _ = writeln!(text, "| {name} | {runs} | | | |");
        }
        for (layer, (of_kind, of)) in &seen.layers {
            let share = share(*of_kind as f64 / (*of).max(1) as f64);
            let _ = writeln!(
                text,
                "| {name} | {runs} | {layer} | {} of {} | {share} |",
                count(*of_kind),
                count(*of)
            );
        }
    }
    let machine = issue.origin.map(|origin| {
        let parts = [&origin.system, &origin.arch, &origin.processor].map(String::as_str);
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(", ")
    });
    let machine = machine.map_or(String::new(), |machine| format!(" on {machine}"));
    let _ = writeln!(
        text,
        "\nStackwitness {}{}. Rates depend on the program and on the machine.",
        issue.version,
        markdown_line(&machine)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::record::CauseName;
    use oracle::report::Jdk;
    use std::collections::BTreeMap;

    fn written(change: impl FnOnce(&mut Mismatch)) -> String {
        let mut example = crate::sample::report().mismatches.swap_remove(0);
        example.cause = Some(CauseName::new("frame-removed"));
        example.evidence.bytes = Some("5d493ba748040000c3".parse().expect("bytes"));
        example.evidence.pc = Some("0x7f0000001000".parse().expect("an address"));
        change(&mut example);
        let seen = |version: &str, runs, runs_with, layers: &[(Layer, (u64, u64))]| Seen {
            jdk: Jdk {
                version: version.into(),
                vendor: "Debian".into(),
                ..Jdk::default()
            },
            runs,
            runs_with,
            layers: BTreeMap::from_iter(layers.iter().copied()),
        };
        let kind: SoughtKind = "frame-removed".parse().expect("a kind");
        let seen = [
            seen("25.0.3", 3, 3, &[(Layer::CallEdge, (31, 1200))]),
            seen("17.0.15", 3, 0, &[]),
            seen("11", 0, 0, &[]),
        ];
        issue(&Issue {
            kind: &kind,
            cause: Cause::named(&CauseName::new("frame-removed")),
            command: "stackwitness run --fixture mutual-recursion --jdk JDK",
            note: Some("Deep recursion."),
            seen: &seen,
            example: Some(&example),
            is_confirmed: true,
            version: "0.1.0",
            origin: None,
        })
    }

    #[test]
    fn an_issue_has_what_its_reader_needs() {
        insta::assert_snapshot!(written(|_| {}));
    }

    #[test]
    fn text_of_a_program_cannot_leave_its_block() {
        let text = written(|example| {
            example.truth[0].method = "a```\n# Injected\n<script>".into();
            example.reason = "a | b\n# Injected".into();
        });
        assert!(
            !text.lines().any(|line| line.starts_with("# Injected")),
            "{text}"
        );
    }
}
