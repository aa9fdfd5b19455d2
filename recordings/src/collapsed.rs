//! Collapsed stacks, the input of flame graphs: `frame;frame;frame COUNT`, the lowest frame first.
//! `shown` reads the frames.
//!
//! Frames of native code are told by their form, so a native frame in a line with a class of Java, `I2C/C2I adapters`
//! for instance, says nothing of how the line writes classes.

use crate::error::{Error, malformed};
use crate::format::{Format, HEAD};
use crate::shown::{Frames, Shown};
use crate::sink::{Note, Sink};
use std::io::BufRead;

/// The format.
pub(crate) struct Collapsed;

impl Format for Collapsed {
    fn fits(&self, head: &[u8]) -> bool {
        let mut lines = head
            .split(|&byte| byte == b'\n')
            .skip_while(|line| line.is_empty());
        let line = lines.next().unwrap_or_default();
        // A deep stack is longer than the head, and its count is not in sight.
        let is_cut = lines.next().is_none() && head.len() >= HEAD;
        match std::str::from_utf8(line) {
            Ok(line) if is_cut => is_start_of_stack(line),
            Ok(line) => parse(line).is_some(),
            // The head may end within a character.
            Err(error) if is_cut && error.error_len().is_none() => {
                let whole = std::str::from_utf8(&line[..error.valid_up_to()]);
                whole.is_ok_and(is_start_of_stack)
            }
            Err(_) => false,
        }
    }

    fn read(
        &self,
        input: &mut dyn BufRead,
        _: &[String],
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let mut line = String::new();
        let (mut number, mut damaged) = (0u64, 0u64);
        let (mut frames, mut order) = (Frames::default(), Order::default());
        while crate::lines::next(input, &mut line)? {
            number += 1;
            if line.trim().is_empty() {
                continue;
            }
            let Some((stack, times)) = parse(&line) else {
                damaged += 1;
                if damaged == 1 {
                    sink.note(Note::Cut(format!("line {number}: no count at its end")));
                }
                continue;
            };
            frames.clear();
            let shown: Vec<Shown<'_>> = without_thread(stack)
                .split(';')
                .rev()
                .map(Shown::of)
                .collect();
            order.see(&shown, times);
            // A line has either style.
            let has_slashes = shown
                .iter()
                .any(|shown| matches!(shown, Shown::Java(named) if named.has_slashes()));
            for shown in &shown {
                if !(has_slashes && is_class(shown)) {
                    frames.show(shown, None, sink);
                }
            }
            frames.sampled(times, sink);
        }
        if order.is_reversed() {
            return Err(malformed(
                "threads begin where its stacks end: write them with the lowest frame first, without `--reverse`",
            ));
        }
        frames.note(sink);
        if damaged > 1 {
            sink.note(Note::Cut(format!("{damaged} lines without a count")));
        }
        Ok(())
    }
}

/// At which end of the stacks threads begin.
#[derive(Debug, Default)]
struct Order {
    /// Samples of which only the lowest frame begins a thread.
    lowest: u64,
    /// Samples of which only the top frame begins a thread.
    top: u64,
}

impl Order {
    /// Sees a stack, top first.
    fn see(&mut self, shown: &[Shown<'_>], times: u64) {
        let mut java = shown.iter().filter_map(|shown| match shown {
            Shown::Java(named) => Some(named.begins_thread()),
            Shown::Unnamed | Shown::Other => None,
        });
        let (top, lowest) = (java.next(), java.next_back());
        match (top, lowest) {
            (Some(false), Some(true)) => self.lowest = self.lowest.saturating_add(times),
            (Some(true), Some(false)) => self.top = self.top.saturating_add(times),
            _ => {}
        }
    }

    /// Whether the stacks have the top where the lowest frame should be. Some programs call `main` or `Thread.run`.
    fn is_reversed(&self) -> bool {
        self.top > self.lowest
    }
}

/// The stack without the thread that async-profiler writes before it, as `[NAME tid=7]`. A name may have anything in it.
fn without_thread(stack: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let ends = stack.match_indices("];");
    let mut ends = ends.filter(|&(end, _)| {
        let thread = stack[..end].rsplit_once("tid=");
        thread.is_some_and(|(_, number)| is_number(number))
    });
    match ends.next() {
        Some((end, mark)) if stack.starts_with('[') => &stack[end + mark.len()..],
        _ => stack,
    }
}

/// Whether a line whose end is not in sight begins as a stack does: frames, and nothing but text.
fn is_start_of_stack(line: &str) -> bool {
    line.contains(';') && !line.contains(char::is_control)
}

/// A line's stack and count.
fn parse(line: &str) -> Option<(&str, u64)> {
    let (stack, count) = line.trim_end().rsplit_once(' ')?;
    Some((stack, count.parse().ok()?))
}

/// Whether a text is the name of a class only. async-profiler shows the class of an allocated object or
/// of a lock, with dots, above frames of methods, whose classes have slashes.
fn is_class(shown: &Shown<'_>) -> bool {
    match shown {
        Shown::Java(named) => {
            let class = named.class.split(".0x").next().unwrap_or_default();
            class.contains('.') && !class.contains('/')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_stack_and_a_count() {
        assert_eq!(parse("a;b c;d 7\n"), Some(("a;b c;d", 7)));
        assert_eq!(parse("a;b"), None);
    }

    #[test]
    fn a_thread_is_no_frame() {
        assert_eq!(without_thread("[a;b/C.d tid=7];e/F.g;h"), "e/F.g;h");
        assert_eq!(without_thread("[CPU-0];[tid=7];h"), "h");
        for stack in [
            "[unknown];a/B.c",
            "a/B.c;[x tid=7];d",
            "[x tid=y];d",
            "[tid=7]",
        ] {
            assert_eq!(without_thread(stack), stack);
        }
    }

    #[test]
    fn stacks_begin_where_threads_begin() {
        let is_reversed = |lines: &[&str]| {
            let mut order = Order::default();
            for line in lines {
                let shown: Vec<_> = line.split(';').rev().map(Shown::of).collect();
                order.see(&shown, 1);
            }
            order.is_reversed()
        };
        assert!(!is_reversed(&[
            "clone3;a/B.c;read",
            "java/lang/Thread.run",
            "a/B.main;a/B.c"
        ]));
        assert!(is_reversed(&[
            "read;a/B.c;a/B.main;start",
            "a.B.c;java.lang.Thread.run"
        ]));
        // A thread that calls `Thread.run` or a `main` of its own.
        assert!(!is_reversed(&[
            "a/B.run;java/lang/Thread.run",
            "a/B.main;c/D.e"
        ]));
    }

    #[test]
    fn a_first_stack_may_be_longer_than_the_head() {
        let deep = "a/B.mé()V_[0];".repeat(HEAD);
        for end in HEAD..HEAD + 4 {
            assert!(Collapsed.fits(&deep.as_bytes()[..end]));
        }
        assert!(!Collapsed.fits(&[0x80; HEAD]));
        assert!(!Collapsed.fits("\u{1};".repeat(HEAD).as_bytes()));
        assert!(!Collapsed.fits("a".repeat(HEAD).as_bytes()));
        // The whole file is in sight.
        assert!(!Collapsed.fits(b"a;b"));
    }

    #[test]
    fn a_class_is_no_method() {
        let is_class = |text| is_class(&Shown::of(text));
        assert!(is_class("java.lang.String_[i]"));
        assert!(!is_class("java/lang/String.length_[i]"));
        assert!(!is_class("Main.main"));
        assert!(!is_class("java/lang/invoke/LambdaForm$MH.0x00007f.invoke"));
    }
}
