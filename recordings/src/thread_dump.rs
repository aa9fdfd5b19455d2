//! Thread dumps in text form: of `jstack`, `jcmd Thread.print` and SIGQUIT. Frames are lines `at
//! package.Class.method(File.java:12)`, top first, below a line with the thread's name in quotation
//! marks.

use crate::error::Error;
use crate::format::Format;
use crate::lines;
use crate::sink::{Frame, FramePosition, Method, Samples, Sink, Stack, internal_name};
use std::io::BufRead;

/// The format.
pub(crate) struct ThreadDump;

impl Format for ThreadDump {
    fn fits(&self, head: &[u8]) -> bool {
        let text = String::from_utf8_lossy(head);
        text.contains("Full thread dump")
            || text
                .lines()
                .any(|line| line.starts_with('"') && line.contains("prio="))
    }

    fn read(
        &self,
        input: &mut dyn BufRead,
        _: &[String],
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let mut line = String::new();
        let (mut thread, mut frames) = (None, vec![]);
        while lines::next(input, &mut line)? {
            if let Some((method, place)) = frame(&line) {
                let method = sink.method(Method {
                    class: &internal_name(method.class),
                    ..method
                });
                frames.push(Frame { method, place });
            } else if let Some(name) = line
                .strip_prefix('"')
                .and_then(|rest| rest.rsplit_once('"'))
            {
                tell(&mut thread, &mut frames, sink);
                thread = Some(name.0.to_owned());
            } else if line.trim().is_empty() {
                tell(&mut thread, &mut frames, sink);
            }
        }
        tell(&mut thread, &mut frames, sink);
        Ok(())
    }
}

fn tell(thread: &mut Option<String>, frames: &mut Vec<Frame>, sink: &mut dyn Sink) {
    let samples = [Samples {
        thread: thread.take(),
        times: 1,
        start: None,
    }];
    if !frames.is_empty() {
        sink.stack(Stack {
            frames,
            // A dump has at most 1,024 frames, the newest, and does not say whether frames are
            // missing.
            whole: frames.len() < 1024,
            samples: &samples,
        });
        frames.clear();
    }
}

/// The frame in a line `at module@version/package.Class.method(File.java:12)`.
fn frame(line: &str) -> Option<(Method<'_>, FramePosition)> {
    let text = line.trim().strip_prefix("at ")?;
    let (path, place) = text.strip_suffix(')')?.rsplit_once('(')?;
    let (class, name) = path.rsplit_once('.')?;
    // Loader and module are followed by slashes. The suffix of a hidden class follows a dot or `+`.
    let class = match class.rsplit_once('/') {
        Some((_, hidden)) if hidden.starts_with("0x") => class,
        Some((_, class)) => class,
        None => class,
    };
    let place = match place {
        "Native Method" => FramePosition::Native,
        _ => FramePosition::Unknown(
            place
                .rsplit_once(':')
                .and_then(|(_, line)| line.parse().ok()),
        ),
    };
    let method = Method {
        class,
        name,
        descriptor: None,
    };
    (!class.is_empty() && !name.is_empty()).then_some((method, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_frames_are_read() {
        let read = |line| frame(line).map(|(m, place)| (m.class, m.name, place));
        let line = |n| FramePosition::Unknown(Some(n));
        assert_eq!(
            read("\tat java.lang.Thread.run(java.base@17.0.15/Thread.java:840)\n"),
            Some(("java.lang.Thread", "run", line(840)))
        );
        assert_eq!(
            read("  at java.base@21/java.lang.Object.wait0(Native Method)"),
            Some(("java.lang.Object", "wait0", FramePosition::Native))
        );
        let unknown = FramePosition::Unknown(None);
        assert_eq!(
            read("at a.B.<init>(Unknown Source)"),
            Some(("a.B", "<init>", unknown))
        );
        for other in [
            "\t- locked <0x1> (a java.lang.Object)",
            "at nowhere",
            "at (x)",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
