//! The lines of a screen: never too long.

use super::escape::visible;
use super::text::Style;
use super::wrap::{WIDTH, cut, lines};
use crate::model::Tone;
use std::fmt::Write;

/// Lines that are never too long.
pub(super) struct Lines {
    /// The text so far.
    pub(super) text: String,
    style: Style,
    /// The number of its lines.
    pub(super) lines: usize,
}

impl Lines {
    /// No line yet.
    pub(super) fn new(style: Style) -> Lines {
        Lines {
            text: String::new(),
            style,
            lines: 0,
        }
    }

    /// Adds a line; what is too long is cut off.
    pub(super) fn line(&mut self, tone: Tone, line: &str) {
        let line = visible(line).replace('\u{a0}', " ");
        let shown = cut(&line, WIDTH);
        let _ = writeln!(self.text, "{}", self.style.paint(tone, shown.trim_end()));
        self.lines += 1;
    }

    /// Adds an empty line, unless the last one is empty.
    pub(super) fn empty(&mut self) {
        if !self.text.ends_with("\n\n") {
            self.text.push('\n');
            self.lines += 1;
        }
    }

    /// Adds a text of several words behind a name, on at most `most` lines.
    pub(super) fn wrapped(&mut self, tone: Tone, name: &str, text: &str, most: usize) {
        let indent = name.chars().count();
        let mut lines = lines(text, WIDTH.saturating_sub(indent));
        if lines.len() > most {
            lines.truncate(most);
            let last = lines.last_mut().expect("at least one line");
            // Words that leave no room for the mark go.
            while indent + last.chars().count() + 2 > WIDTH
                && let Some(space) = last.rfind(' ')
            {
                last.truncate(space);
            }
            last.push_str(" \u{2026}");
        }
        for (at, line) in lines.iter().enumerate() {
            let head = if at == 0 { name } else { "" };
            self.line(tone, &format!("{head:indent$}{line}"));
        }
    }
}
