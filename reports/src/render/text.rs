//! Text for a terminal or a log: tables whose lines `grep` finds, and the answer at the end.

use super::escape::visible;
use super::limits::left_out;
use super::wrap::{WIDTH, cut, lines, shell_lines};
use crate::model::{Answer, Block, Document, Groups, Kind, Room, Stacks, Table, Tone};
use std::fmt::Write;

/// How many groups are shown where there may be many.
const GROUPS: usize = 5;

/// How many frames of each stack are shown around the first difference.
const FRAMES: usize = 8;

/// Whether what matters is coloured.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Style {
    /// For files and pipes.
    Plain,
    /// For a terminal.
    Coloured,
}

impl Style {
    pub(super) fn paint(self, tone: Tone, text: &str) -> String {
        let colour = match (self, tone) {
            (Style::Coloured, Tone::Bad) => "31",
            (Style::Coloured, Tone::Good) => "32",
            (Style::Coloured, Tone::Plain) | (Style::Plain, _) => return text.into(),
        };
        format!("\x1b[{colour}m{text}\x1b[0m")
    }
}

/// Renders a document for a log: each sentence is a line, which `grep` finds.
pub fn text(document: &Document, style: Style) -> String {
    let wraps = false;
    rendered(document, Look { style, wraps })
}

/// Renders a document for a terminal, which need not break its sentences.
pub fn screen(document: &Document, style: Style) -> String {
    let wraps = true;
    rendered(document, Look { style, wraps })
}

/// How a document looks.
#[derive(Copy, Clone)]
struct Look {
    style: Style,
    /// Whether long sentences are broken.
    wraps: bool,
}

fn rendered(document: &Document, look: Look) -> String {
    let style = look.style;
    let mut out = String::new();
    for warning in &document.warnings {
        prose(&mut out, style, Tone::Bad, 0, warning);
    }
    if let Some((answer, headline)) = document
        .answer
        .as_ref()
        .and_then(|a| Some((a, a.headline.as_ref()?)))
    {
        prose(&mut out, style, answer.outcome.into(), 0, headline);
    }
    let sections = document.sections.iter();
    for section in sections.filter(|section| section.room == Room::Terminal) {
        if !out.is_empty() {
            out.push('\n');
        }
        if !section.title.is_empty() {
            let _ = writeln!(out, "{}:", section.title);
        }
        blocks(&mut out, &section.blocks, 0, look);
    }
    if let Some(answer) = &document.answer {
        answered(&mut out, answer, style);
    }
    out
}

fn answered(out: &mut String, answer: &Answer, style: Style) {
    let outcome = style.paint(answer.outcome.into(), &answer.verdict);
    let _ = writeln!(out, "\nverdict: {outcome}");
    for reason in &answer.reasons {
        prose(out, style, Tone::Plain, 2, reason);
    }
}

/// Writes a sentence on lines that a terminal need not break.
fn prose(out: &mut String, style: Style, tone: Tone, indent: usize, text: &str) {
    for line in lines(&visible(text), WIDTH - indent) {
        let _ = writeln!(out, "{:indent$}{}", "", style.paint(tone, &line));
    }
}

fn blocks(out: &mut String, blocks: &[Block], indent: usize, look: Look) {
    for block in blocks {
        match block {
            Block::Note(text) if look.wraps => prose(out, look.style, Tone::Plain, indent, text),
            Block::Note(text) => {
                let _ = writeln!(out, "{:indent$}{}", "", visible(text));
            }
            Block::Link(text, page) => {
                let (text, page) = (visible(text), visible(page));
                let is_long = text.chars().count() + page.chars().count() + 2 > WIDTH - indent;
                let between = if look.wraps && is_long { "\n" } else { " " };
                let _ = writeln!(out, "{:indent$}{text}:{between}{page}", "");
            }
            Block::Alone(command) => alone(out, &visible(command), indent, look),
            Block::Table(whole) => table(out, whole, look.style),
            Block::Groups(all) => groups(out, all, indent, look),
            Block::Example(example) if look.wraps => {
                for line in self::example(example).lines() {
                    let _ = writeln!(out, "{}", cut(line, WIDTH));
                }
            }
            Block::Example(example) => out.push_str(&self::example(example)),
            // There is no room for these.
            Block::Code(_) | Block::Stacks(_) | Block::Flame(_) | Block::TwoFlames(_) => {}
        }
    }
}

/// The command that shows something alone.
fn alone(out: &mut String, command: &str, indent: usize, look: Look) {
    const NAME: &str = "alone: ";
    let indent = indent + NAME.len();
    let lines = if look.wraps {
        shell_lines(command, WIDTH - indent)
    } else {
        vec![command.into()]
    };
    for (at, line) in lines.iter().enumerate() {
        let name = if at == 0 { NAME } else { "" };
        let _ = writeln!(out, "{name:>indent$}{line}");
    }
}

fn groups(out: &mut String, all: &Groups, indent: usize, look: Look) {
    let shown = if all.cut { GROUPS } else { usize::MAX };
    for group in all.groups.iter().take(shown) {
        let count = group.count.map_or(String::new(), |n| format!("{n} x "));
        let title = format!("{count}{}", group.title);
        if look.wraps {
            prose(out, look.style, Tone::Plain, indent, &title);
        } else {
            let _ = writeln!(out, "{:indent$}{}", "", visible(&title));
        }
        blocks(out, &group.blocks, indent + 2, look);
    }
    if all.groups.len() > shown {
        let left = left_out(all.groups.len() - shown, "kinds");
        let _ = writeln!(out, "{:indent$}{left}", "");
    }
}

fn table(out: &mut String, table: &Table, style: Style) {
    let kept: Vec<usize> = (0..table.columns.len())
        .filter(|&column| table.columns[column].kind != Kind::Drawings)
        .collect();
    let head: Vec<String> = table.columns.iter().map(|c| c.name.into()).collect();
    let mut rows = vec![(Tone::Plain, head)];
    for row in &table.rows {
        let cells = row.cells.iter().map(|cell| visible(&cell.plain()));
        rows.push((row.tone, cells.collect()));
    }
    let width = |column: usize| {
        let widths = rows.iter().map(|(_, row)| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
    for (tone, row) in &rows {
        let cells = kept.iter().map(|&column| {
            let (cell, width) = (&row[column], widths[column]);
            match table.columns[column].kind {
                Kind::Numbers => format!("{cell:>width$}"),
                Kind::Words | Kind::Drawings => format!("{cell:width$}"),
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        out.push_str(&style.paint(*tone, line.trim_end()));
        out.push('\n');
    }
}

/// What evidence of an example a log has room for.
const EVIDENCE: [&str; 4] = ["part", "state", "code", "bytes"];

/// An example: the stacks, the code and its bytes.
pub(crate) fn example(example: &Stacks) -> String {
    let mut out = stacks(example);
    let evidence = example.evidence.iter();
    for (name, value) in evidence.filter(|(name, _)| EVIDENCE.contains(&name.as_str())) {
        let _ = writeln!(out, "{name}: {}", visible(value));
    }
    out
}

/// The part of both stacks around the first difference, which is marked.
pub(crate) fn stacks(stacks: &Stacks) -> String {
    let title = visible(&stacks.title);
    let mut out = format!("{title} on thread {}\n", visible(&stacks.thread));
    let first = stacks.differs.unwrap_or(0).saturating_sub(FRAMES / 2);
    for (name, frames) in [("walker", &stacks.walker), ("truth", &stacks.truth)] {
        let _ = writeln!(out, "{name} ({} frames):", frames.len());
        for (i, frame) in frames.iter().enumerate().skip(first).take(FRAMES) {
            let mark = match stacks.differs {
                Some(differs) if differs == i => ">",
                _ => " ",
            };
            let _ = writeln!(out, "{mark} {i:>3} {}", visible(&frame.whole));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Frame, Group, Section};

    /// A document with an example, a command and a title that are wider than a terminal.
    fn wide() -> Document {
        let long = "a reason that goes on and on ".repeat(6);
        let frame = Frame {
            short: "A.b @1".into(),
            whole: format!("package.A.b({}) @1", "Ljava/lang/String;".repeat(9)),
        };
        let example = Stacks {
            title: long.clone(),
            thread: "main".into(),
            walker: vec![frame.clone()],
            truth: vec![frame],
            differs: Some(0),
            evidence: vec![("bytes".into(), "90 ".repeat(64))],
        };
        let command = format!("stackwitness run {}", "--jvm-arg=-Xcomp ".repeat(9).trim());
        let group = Group {
            count: Some(3),
            title: long,
            open: false,
            blocks: vec![Block::Example(example), Block::Alone(command)],
        };
        let groups = Groups {
            groups: vec![group],
            cut: false,
        };
        Document {
            warnings: vec![],
            answer: None,
            sections: vec![Section {
                id: "worse",
                title: "What is worse",
                room: Room::Terminal,
                blocks: vec![Block::Groups(groups)],
            }],
        }
    }

    #[test]
    fn a_terminal_need_not_break_a_line() {
        let shown = screen(&wide(), Style::Plain);
        let widest = shown.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(WIDTH), "{shown}");
        let command = shown.split("alone: ").nth(1).expect("the command");
        assert_eq!(command.matches("-Xcomp").count(), 9, "{shown}");
    }

    #[test]
    fn a_log_has_a_whole_sentence_in_a_line() {
        let shown = text(&wide(), Style::Plain);
        let command = shown.lines().find(|line| line.contains("alone: "));
        assert_eq!(command.expect("the command").matches("-Xcomp").count(), 9);
    }
}
