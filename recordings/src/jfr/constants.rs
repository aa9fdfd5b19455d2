//! The constants of a chunk, as far as stacks need them.

use super::metadata::Types;
use super::stacks::{Layout, RawFrame};
use super::values::{self, Value};
use crate::bytes::Bytes;
use crate::shown::{Frames, Shown};
use crate::sink::{Frame, FramePosition, Method, Sink, internal_name};
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;

/// Constants by their key.
type Pool<T> = HashMap<i64, T>;

/// A method, by the keys of its names.
#[derive(Copy, Clone, Debug, Default)]
struct MethodKeys {
    class: i64,
    name: i64,
    descriptor: i64,
}

/// The kind of a frame that is not of a method's bytecode.
#[derive(Copy, Clone, Debug)]
enum FrameKind {
    /// A native method, if the frame has a method of Java.
    Native,
    /// A frame of the kernel or of the JVM, in recordings of async-profiler.
    NotJava,
}

impl FrameKind {
    fn of(description: &str) -> Option<FrameKind> {
        match description {
            "Native" => Some(FrameKind::Native),
            "Kernel" | "C++" => Some(FrameKind::NotJava),
            _ => None,
        }
    }
}

/// All constants.
pub(super) struct Constants<'a> {
    types: &'a Types,
    texts: Pool<String>,
    symbols: Pool<Value>,
    /// Classes, by the keys of their names.
    classes: Pool<i64>,
    methods: Pool<MethodKeys>,
    /// The kinds of frames, without those of Java code. There are few.
    kinds: Vec<(i64, FrameKind)>,
    /// Threads: their Java thread ids, or else their ids in the system, as a negative number.
    threads: Pool<i64>,
    /// The ids of threads in the system; 0 for virtual threads.
    os_threads: Pool<i64>,
    /// The place of each stack, which is read when it is needed.
    stacks: Pool<Bytes<'a>>,
    /// The fields of stacks.
    layout: Layout<'a>,
}

impl<'a> Constants<'a> {
    pub fn new(types: &'a Types) -> Constants<'a> {
        Constants {
            types,
            texts: Pool::new(),
            symbols: Pool::new(),
            classes: Pool::new(),
            methods: Pool::new(),
            kinds: vec![],
            threads: Pool::new(),
            os_threads: Pool::new(),
            stacks: Pool::new(),
            layout: Layout::new(types),
        }
    }

    /// Adds the constants of a checkpoint; `None` if the checkpoint is damaged.
    pub fn add(&mut self, mut bytes: Bytes<'a>) -> Option<()> {
        for _start_duration_delta in 0..3 {
            bytes.jfr_number()?;
        }
        bytes.byte()?;
        for _ in 0..bytes.jfr_number()? {
            let of = bytes.jfr_number()?;
            let count = bytes.jfr_number()?;
            let name = self.types.get(of)?.name.as_str();
            for _ in 0..count {
                let key = bytes.jfr_number()?;
                self.constant(name, of, key, &mut bytes)?;
            }
        }
        Some(())
    }

    fn constant(&mut self, name: &str, of: i64, key: i64, bytes: &mut Bytes<'a>) -> Option<()> {
        if name == "jdk.types.StackTrace" {
            self.stacks.insert(key, *bytes);
            return self.layout.each(bytes, |_| {}).map(|_| ());
        }
        if name == "java.lang.String" {
            if let Some(text) = super::metadata::text(bytes)? {
                self.texts.insert(key, text);
            }
            return Some(());
        }
        let mut found: HashMap<&str, Value> = HashMap::new();
        let types = self.types;
        let names = &types.get(of)?.fields;
        let wanted = matches!(
            name,
            "jdk.types.Symbol"
                | "java.lang.Class"
                | "jdk.types.Method"
                | "jdk.types.FrameType"
                | "java.lang.Thread"
        );
        values::fields(types, of, bytes, &mut |at, value| {
            if wanted {
                found.insert(&names[at].name, value);
            }
        })?;
        let number = |name| match found.get(name) {
            Some(Value::Key(key) | Value::Number(key)) => *key,
            _ => 0,
        };
        match name {
            "jdk.types.Symbol" => {
                self.symbols.insert(key, found.remove("string")?);
            }
            "java.lang.Class" => {
                self.classes.insert(key, number("name"));
            }
            "jdk.types.Method" => {
                let keys = MethodKeys {
                    class: number("type"),
                    name: number("name"),
                    descriptor: number("descriptor"),
                };
                self.methods.insert(key, keys);
            }
            "jdk.types.FrameType" => {
                if let Some(Value::Text(Some(text))) = found.remove("description") {
                    self.kinds
                        .extend(FrameKind::of(&text).map(|kind| (key, kind)));
                }
            }
            "java.lang.Thread" => {
                let id = match number("javaThreadId") {
                    // A thread that is no Java thread. Java thread ids are above 0.
                    0 => -number("osThreadId"),
                    id => id,
                };
                self.threads.insert(key, id);
                self.os_threads.insert(key, number("osThreadId"));
            }
            _ => {}
        }
        Some(())
    }

    /// The thread of this key, as a text that is different for each thread of the recording.
    pub fn thread(&self, key: i64) -> Option<String> {
        self.threads.get(&key).map(i64::to_string)
    }

    /// The id of the thread of this key in the system; 0 for a virtual thread.
    pub fn os_thread(&self, key: i64) -> Option<i64> {
        self.os_threads.get(&key).copied()
    }

    /// A text that is a constant.
    pub fn text(&self, key: i64) -> Option<&str> {
        self.texts.get(&key).map(String::as_str)
    }

    fn symbol(&self, key: i64) -> &str {
        match self.symbols.get(&key) {
            Some(Value::Text(Some(text))) => text,
            Some(&Value::Key(key)) => self.text(key).unwrap_or_default(),
            _ => "",
        }
    }

    /// Reads the frames of a stack into `frames`; returns whether the lowest frame is there. `None`
    /// if there is no such stack, or the stack is damaged. A profiler that does not say where it cut a stack has
    /// stacks of at most `depth` frames, if that is known.
    pub fn stack(
        &self,
        (key, depth): (i64, Option<usize>),
        methods: &mut Methods,
        sink: &mut dyn Sink,
        frames: &mut Frames,
    ) -> Option<bool> {
        frames.clear();
        let mut bytes = *self.stacks.get(&key)?;
        let (mut count, mut is_java) = (0, false);
        let whole = self.layout.each(&mut bytes, |raw| {
            count += 1;
            let named = methods.get(raw.method, self, sink);
            is_java = matches!(named, Named::Java(_));
            match named {
                Named::Java(method) => {
                    if let Some(frame) = self.frame(raw, method) {
                        frames.push(frame, sink);
                    }
                }
                Named::Unnamed => frames.unnamed(),
                Named::NotJava => {}
            }
        })?;
        if !self.is_of_async_profiler() {
            return Some(whole);
        }
        // async-profiler cuts a stack at its depth without a word (`jstackdepth`). Where a walk failed, its mark is the lowest frame.
        Some(is_java && depth.is_some_and(|depth| count < depth))
    }

    /// Whether the lowest frame of a stack is of a `main` that a launcher may call (JLS 12.1.4).
    pub fn ends_in_main(&self, key: i64) -> bool {
        let mut lowest = None;
        let bytes = self.stacks.get(&key).copied();
        let read = bytes.and_then(|mut bytes| {
            self.layout
                .each(&mut bytes, |raw| lowest = Some(raw.method))
        });
        let keys = read.and(lowest).and_then(|key| self.methods.get(&key));
        keys.is_some_and(|keys| {
            let (name, descriptor) = (self.symbol(keys.name), self.symbol(keys.descriptor));
            (name, descriptor) == ("main", "([Ljava/lang/String;)V")
        })
    }

    /// Each frame of a stack. Returns as [`Self::stack`].
    pub fn each_frame<'c>(
        &'c self,
        key: i64,
        methods: &mut Methods,
        sink: &mut dyn Sink,
        mut see: impl FnMut(AnyFrame<'c>),
    ) -> Option<bool> {
        let mut bytes = *self.stacks.get(&key)?;
        self.layout.each(&mut bytes, |raw| {
            let frame = match methods.get(raw.method, self, sink) {
                Named::Java(method) => {
                    let frame = self.frame(raw, method);
                    frame.map(|frame| AnyFrame::Java(frame, raw.line))
                }
                Named::Unnamed => Some(AnyFrame::Unnamed),
                Named::NotJava => {
                    let keys = self.methods.get(&raw.method);
                    keys.map(|keys| AnyFrame::Other(self.symbol(keys.name)))
                }
            };
            if let Some(frame) = frame {
                see(frame);
            }
        })
    }

    /// The Java frame; `None` if it is none.
    #[inline]
    fn frame(&self, raw: RawFrame, method: u32) -> Option<Frame> {
        let kind = self.kinds.iter().find(|(key, _)| *key == raw.kind);
        let place = match kind {
            Some((_, FrameKind::Native)) => FramePosition::Native,
            Some((_, FrameKind::NotJava)) => return None,
            // async-profiler records native methods in this way.
            None if raw.bci == 0 && raw.line == 0 && self.is_of_async_profiler() => {
                FramePosition::Unknown(None)
            }
            None => FramePosition::Bci(raw.bci as i32),
        };
        Some(Frame { method, place })
    }

    /// Whether async-profiler wrote the chunk: the JDK has no frames of the kernel.
    pub fn is_of_async_profiler(&self) -> bool {
        let mut kinds = self.kinds.iter();
        kinds.any(|(_, kind)| matches!(kind, FrameKind::NotJava))
    }
}

/// A frame with a name.
#[derive(Copy, Clone, Debug)]
pub(super) enum AnyFrame<'c> {
    /// A method of Java, with the line.
    Java(Frame, i64),
    /// A method of Java that the profiler could not name.
    Unnamed,
    /// A function of a library or of the kernel, or what a profiler puts in place of frames that it could not walk.
    Other(&'c str),
}

/// Whether a method of Java may have this name. Only the VM's own methods have angle brackets in theirs (JVMS 4.2.2), so a
/// profiler's frame with others is a remark of the profiler, such as `<vtable_receiver>` with the class of an object.
fn may_be_java(name: &str) -> bool {
    let is_special = matches!(name, "<init>" | "<clinit>");
    is_special || !name.is_empty() && !name.contains(['<', '>'])
}

/// What the method of a frame is.
#[derive(Copy, Clone, Debug)]
enum Named {
    /// A method of Java, with the sink's number.
    Java(u32),
    /// A method of Java without a name.
    Unnamed,
    /// A function of a native library or of the kernel, or a class.
    NotJava,
}

/// The methods of a chunk, by their keys.
#[derive(Debug, Default)]
pub(super) struct Methods(HashMap<i64, Named, FxBuildHasher>);

impl Methods {
    #[inline]
    fn get(&mut self, key: i64, constants: &Constants<'_>, sink: &mut dyn Sink) -> Named {
        *self.0.entry(key).or_insert_with(|| {
            let Some(keys) = constants.methods.get(&key).copied() else {
                return Named::Unnamed;
            };
            let class = constants
                .classes
                .get(&keys.class)
                .copied()
                .unwrap_or_default();
            let class = internal_name(constants.symbol(class));
            let (name, descriptor) = (
                constants.symbol(keys.name),
                constants.symbol(keys.descriptor),
            );
            let is_unnamed = name.is_empty() || Shown::of(name) == Shown::Unnamed;
            if class.is_empty() && is_unnamed {
                return Named::Unnamed;
            }
            // async-profiler records frames of libraries and of the kernel as methods without a
            // class, with an invalid descriptor.
            if class.is_empty() || descriptor == "()L;" || !may_be_java(name) {
                return Named::NotJava;
            }
            Named::Java(sink.method(Method {
                class: &class,
                name,
                descriptor: Some(descriptor).filter(|text| !text.is_empty()),
            }))
        })
    }
}
