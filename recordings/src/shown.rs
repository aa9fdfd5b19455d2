//! Frames as profilers show them to people: `package/Class.method` or `package.Class.method`.
//!
//! async-profiler may append a descriptor (with `|` in place of `;`) and the kind of a frame (`_[j]`,
//! `_[i]`, `_[k]`). Its converter may append a line (`m:123`) or a BCI (`m@27`), which are left out: frames of native methods
//! have one, too. It shows a method that was unloaded before its name was asked for as
//! `[stale_jmethodID]`, `[jvmtiError 23]` or `[unknown]`.

use crate::sink::{Frame, FramePosition, Method, Note, Samples, Sink, Stack, internal_name};

/// What a text stands for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shown<'a> {
    /// A method of Java.
    Java(Named<'a>),
    /// A frame that may be one of Java, without a name.
    Unnamed,
    /// A function of a native library or of the kernel, a thread, or a class.
    Other,
}

/// A method by its names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named<'a> {
    /// The class, as shown.
    pub class: &'a str,
    pub name: &'a str,
    pub descriptor: Option<String>,
}

impl Named<'_> {
    /// Whether the class has slashes, as in the JVM's own names. The slash before the number of a hidden class does
    /// not count: it stands between dots, too.
    pub fn has_slashes(&self) -> bool {
        let mut parts = self.class.split('/').skip(1);
        parts.any(|part| !part.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// Whether the text looks like the name of a class with dots, such as `java.lang.String`, which is read as a
    /// method `String` of `java.lang`.
    fn is_like_class(&self) -> bool {
        let package = self.class.rsplit('.').next().unwrap_or_default();
        !self.has_slashes()
            && package.starts_with(|c: char| c.is_lowercase())
            && self.name.starts_with(|c: char| c.is_uppercase())
    }

    /// Whether threads begin in the method.
    pub fn begins_thread(&self) -> bool {
        let is_run =
            matches!(self.class, "java/lang/Thread" | "java.lang.Thread") && self.name == "run";
        is_run || self.name == "main"
    }
}

impl<'a> Shown<'a> {
    pub fn of(text: &'a str) -> Shown<'a> {
        let text = match text.rsplit_once("_[") {
            Some((_, "k]" | "n]")) => return Shown::Other,
            Some((text, _)) => text,
            None => text,
        };
        let text = without_place(text);
        let bare = text.trim_start_matches('[').trim_end_matches(']');
        if matches!(bare, "unknown" | "stale_jmethodID") || bare.starts_with("jvmtiError") {
            return Shown::Unnamed;
        }
        let (path, rest) = text.split_at(text.find('(').unwrap_or(text.len()));
        let Some((class, name)) = path.rsplit_once('.') else {
            return Shown::Other;
        };
        // Not plain are C++ (`a::b`), and names of threads in brackets.
        let is_plain = |text: &str| !text.is_empty() && !text.contains([':', ' ', '[', '*', '`']);
        let is_library = matches!(name, "so" | "dylib" | "dll")
            || class.ends_with(".so")
            || class.contains(".so.");
        // Compilers number their copies of a function: `f.constprop.0`.
        let is_copy = name.starts_with(|c: char| c.is_ascii_digit());
        let is_native = is_copy || is_library && !class.contains('/');
        if !is_plain(class) || !is_plain(name) || is_native {
            return Shown::Other;
        }
        let is_descriptor = rest.contains(')') && !rest.ends_with(')') && !rest.contains(' ');
        Shown::Java(Named {
            class,
            name,
            descriptor: is_descriptor.then(|| rest.replace('|', ";")),
        })
    }
}

/// The text without a line or a BCI at its end.
fn without_place(text: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.rsplit_once([':', '@']) {
        Some((method, place)) if is_number(place) => method,
        _ => text,
    }
}

/// The frames of a stack, as they are found from the top down.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// The frames of Java.
    pub all: Vec<Frame>,
    /// Whether frames without a name were found below the last frame.
    gap: bool,
    /// Whether the stack has a class on top of its frames.
    class_on_top: bool,
    /// Whether a class of any stack has a package; `None` before the first class.
    packages: Option<bool>,
    /// Samples without a frame of Java.
    without_java: u64,
    /// Samples with a class on top of the frames.
    classes_on_top: u64,
}

impl Frames {
    pub fn clear(&mut self) {
        self.all.clear();
        self.gap = false;
        self.class_on_top = false;
    }

    /// The frames are a stack that was sampled so often, if there are any.
    pub fn sampled(&mut self, times: u64, sink: &mut dyn Sink) {
        if self.class_on_top {
            self.classes_on_top = self.classes_on_top.saturating_add(times);
        }
        if self.all.is_empty() {
            self.without_java = self.without_java.saturating_add(times);
        }
        let samples = [Samples {
            thread: None,
            times,
            start: None,
        }];
        if !self.all.is_empty() {
            sink.stack(Stack {
                frames: &self.all,
                whole: false,
                samples: &samples,
            });
        }
    }

    /// Notes what was left out of all stacks, and what they lack.
    pub fn note(&self, sink: &mut dyn Sink) {
        let left_out = [
            (self.without_java, Note::WithoutJava as fn(u64) -> Note),
            (self.classes_on_top, Note::ClassesOnTop),
        ];
        for (number, note) in left_out.into_iter().filter(|&(number, _)| number > 0) {
            sink.note(note(number));
        }
        if self.packages == Some(false) {
            sink.note(Note::NoPackages);
        }
    }

    /// Adds a frame of Java.
    pub fn push(&mut self, frame: Frame, sink: &mut dyn Sink) {
        if std::mem::take(&mut self.gap) && !self.all.is_empty() {
            // The frames around the gap do not call each other.
            self.all.push(Frame {
                method: sink.method(Method::UNNAMED),
                place: FramePosition::Unknown(None),
            });
        }
        self.all.push(frame);
    }

    /// Notes that a frame here may be one of Java, and has no name.
    pub fn unnamed(&mut self) {
        self.gap = true;
    }

    /// Adds the frame that is shown in this way, perhaps with its line.
    pub fn show(&mut self, shown: &Shown<'_>, line: Option<u32>, sink: &mut dyn Sink) {
        match shown {
            Shown::Other => {}
            Shown::Unnamed => self.unnamed(),
            Shown::Java(named) if self.all.is_empty() && named.is_like_class() => {
                self.class_on_top = true;
            }
            Shown::Java(named) => {
                let class = internal_name(named.class);
                *self.packages.get_or_insert(false) |= class.contains('/');
                let method = sink.method(Method {
                    class: &class,
                    name: named.name,
                    descriptor: named.descriptor.as_deref(),
                });
                let place = FramePosition::Unknown(line);
                self.push(Frame { method, place }, sink);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_frames_are_distinguished_from_others() {
        let java = |text| match Shown::of(text) {
            Shown::Java(named) => Some((named.class, named.name, named.descriptor)),
            _ => None,
        };
        let named = |class, name| Some((class, name, None));
        assert_eq!(java("a/b/C.m_[j]"), named("a/b/C", "m"));
        assert_eq!(java("a.b.C.<init>"), named("a.b.C", "<init>"));
        assert_eq!(java("lib.sort.C.so2"), named("lib.sort.C", "so2"));
        assert_eq!(java("a.b.C.m(int, a.B)"), named("a.b.C", "m"));
        for placed in [
            "a/b/C.m:123",
            "a/b/C.m:123_[j]",
            "a/b/C.m@27",
            "a/b/C.m@0_[i]",
        ] {
            assert_eq!(java(placed), named("a/b/C", "m"), "{placed}");
        }
        assert_eq!(
            java("a/b/C.m()V:12"),
            Some(("a/b/C", "m", Some("()V".into())))
        );
        assert_eq!(
            java("a/b/C.m(La/B|I)V_[0]"),
            Some(("a/b/C", "m", Some("(La/B;I)V".into())))
        );
        for other in [
            "read",
            "libc.so.6",
            "libjvm.so",
            "libc.so.6`read",
            "malloc.constprop.0",
            "JavaMain::run",
            "JavaMain::run:12",
            "libc.so.6:12",
            "do_syscall_64_[k]",
            "[main tid=3]",
            "byte[]_[i]",
        ] {
            assert_eq!(Shown::of(other), Shown::Other, "{other}");
        }
        for unnamed in ["[unknown]", "[stale_jmethodID]_[j]", "[jvmtiError 23]"] {
            assert_eq!(Shown::of(unnamed), Shown::Unnamed, "{unnamed}");
        }
    }
}
