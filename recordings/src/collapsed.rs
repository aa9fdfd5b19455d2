//! Collapsed stacks, the input of flame graphs: `frame;frame;frame COUNT`, the lowest frame first.
//! `shown` reads the frames.

use crate::error::Error;
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
        let (mut number, mut damaged, mut frames) = (0u64, 0u64, Frames::default());
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
            // A line has either style.
            let has_slashes = stack.contains('/');
            for shown in stack.split(';').rev().map(Shown::of) {
                if !(has_slashes && is_class(&shown)) {
                    frames.show(&shown, None, sink);
                }
            }
            frames.sampled(times, sink);
        }
        if damaged > 1 {
            sink.note(Note::Cut(format!("{damaged} lines without a count")));
        }
        Ok(())
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
