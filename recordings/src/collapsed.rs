//! Collapsed stacks, the input of flame graphs: `frame;frame;frame COUNT`, the lowest frame first.
//! Frames of Java are `package/Class.method` or `package.Class.method`; async-profiler appends the
//! kind of a frame (`_[j]`, `_[i]`, `_[k]`).

use crate::error::Error;
use crate::format::Format;
use crate::sink::{Frame, Method, Note, Place, Samples, Sink, Stack, internal_name};
use std::io::BufRead;

/// The format.
pub(crate) struct Collapsed;

impl Format for Collapsed {
    fn fits(&self, head: &[u8]) -> bool {
        let line = head
            .split(|&byte| byte == b'\n')
            .find(|line| !line.is_empty());
        line.and_then(|line| std::str::from_utf8(line).ok())
            .is_some_and(|line| parse(line).is_some())
    }

    fn read(
        &self,
        input: &mut dyn BufRead,
        _: &[String],
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let mut line = String::new();
        let (mut number, mut damaged, mut frames) = (0u64, 0u64, vec![]);
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
            let shown = stack.split(';').rev().filter_map(frame);
            frames.extend(shown.map(|method| Frame {
                method: sink.method(Method {
                    class: &internal_name(method.class),
                    ..method
                }),
                place: Place::Unknown(None),
            }));
            let samples = [Samples {
                thread: None,
                times,
                start: None,
            }];
            if !frames.is_empty() {
                sink.stack(Stack {
                    frames: &frames,
                    whole: false,
                    samples: &samples,
                });
            }
        }
        if damaged > 1 {
            sink.note(Note::Cut(format!("{damaged} lines without a count")));
        }
        Ok(())
    }
}

/// A line's stack and count.
fn parse(line: &str) -> Option<(&str, u64)> {
    let (stack, count) = line.trim_end().rsplit_once(' ')?;
    Some((stack, count.parse().ok()?))
}

/// The method of a frame; `None` if the frame is no Java frame.
fn frame(text: &str) -> Option<Method<'_>> {
    let text = match text.rsplit_once("_[") {
        Some((_, "k]" | "n]")) => return None,
        Some((text, _)) => text,
        None => text,
    };
    let (class, name) = text.rsplit_once('.')?;
    // Not plain are libraries (`libc.so.6`), C++ (`a::b`), and names of threads in brackets.
    let is_plain = |text: &str| !text.is_empty() && !text.contains([':', ' ', '[', '(', '*']);
    let is_library = class.contains(".so") || name == "so" || class.starts_with("lib");
    (is_plain(class) && is_plain(name) && class.contains('/')
        || is_plain(class) && is_plain(name) && !is_library)
        .then_some(Method {
            class,
            name,
            descriptor: None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_frames_are_distinguished_from_others() {
        let class = |text| frame(text).map(|method| (method.class, method.name));
        assert_eq!(class("a/b/C.m_[j]"), Some(("a/b/C", "m")));
        assert_eq!(class("a.b.C.<init>"), Some(("a.b.C", "<init>")));
        for other in [
            "read",
            "libc.so.6",
            "JavaMain::run",
            "do_syscall_64_[k]",
            "[main tid=3]",
        ] {
            assert_eq!(class(other), None, "{other}");
        }
        assert_eq!(parse("a;b c;d 7\n"), Some(("a;b c;d", 7)));
        assert_eq!(parse("a;b"), None);
    }
}
