//! A recording of JFR in the formats of other profilers, with the frames that those add.

use recordings::{FramePosition, Method, Note, Sink, Stack};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A format.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Style {
    /// Collapsed stacks, names of classes with slashes.
    Slashes,
    /// Collapsed stacks, names of classes with dots.
    Dots,
    /// Collapsed stacks with the kinds of frames, threads, and native frames below and above Java's.
    Annotated,
    /// Collapsed stacks with descriptors.
    Signatures,
    /// Collapsed stacks of allocations: the top is a class.
    Allocations,
    /// Collapsed stacks in which a method without a name stands for a frame of each, unless it has only one.
    Unnamed,
    /// A profile of pprof.
    Pprof,
}

/// All formats.
pub const STYLES: [Style; 7] = [
    Style::Slashes,
    Style::Dots,
    Style::Annotated,
    Style::Signatures,
    Style::Allocations,
    Style::Unnamed,
    Style::Pprof,
];

/// A frame, as `edges --json` shows frames.
fn shown((class, name, descriptor): &(String, String, String)) -> String {
    format!("{}.{name}{descriptor}", plain(&class.replace('/', ".")))
}

/// The name of a class, or a frame of it, without what the VM adds to the names of classes that it makes: reports leave it out.
pub fn plain(name: &str) -> String {
    const MADE: &str = "$$Lambda";
    let Some((class, rest)) = name.split_once(MADE) else {
        return name.to_owned();
    };
    // `$$Lambda$12/0x0000a.accept`, `$$Lambda.0x0000a.accept`, `$$Lambda+0x0000a`.
    let method = rest.split('(').next().and_then(|name| name.rfind('.'));
    let method = method.filter(|&at| !rest[at..].starts_with(".0x"));
    format!("{class}{MADE}{}", method.map_or("", |at| &rest[at..]))
}

/// Writes stacks in one format.
pub struct Writer<'w> {
    style: Style,
    /// Caller with its place, and callee, of the edges that are not possible. Their stacks are left out.
    not_possible: &'w HashSet<(String, String)>,
    /// The numbers that the reader knows the methods by.
    numbers: HashMap<(String, String, String), u32>,
    methods: Vec<(String, String, String)>,
    text: String,
    pprof: Pprof,
    /// The number of stacks.
    pub stacks: u64,
    /// The number of stacks that were left out.
    pub left_out: u64,
}

impl<'w> Writer<'w> {
    pub fn new(style: Style, not_possible: &'w HashSet<(String, String)>) -> Writer<'w> {
        Writer {
            style,
            not_possible,
            numbers: HashMap::new(),
            methods: vec![],
            text: String::new(),
            pprof: Pprof::default(),
            stacks: 0,
            left_out: 0,
        }
    }

    pub fn write_to(&self, file: &Path) {
        match self.style {
            Style::Pprof => fs::write(file, self.pprof.profile()).unwrap(),
            _ => fs::write(file, &self.text).unwrap(),
        }
    }

    fn frame(&self, method: u32) -> String {
        let (class, name, descriptor) = &self.methods[method as usize];
        match self.style {
            Style::Dots | Style::Pprof => format!("{}.{name}", class.replace('/', ".")),
            Style::Annotated => format!("{class}.{name}_[j]"),
            Style::Signatures => {
                format!("{class}.{name}{}_[0]", descriptor.replace(';', "|"))
            }
            _ => format!("{class}.{name}"),
        }
    }

    fn is_a_lie(&self, stack: &Stack<'_>) -> bool {
        stack.frames.windows(2).any(|pair| {
            // At a method's entry JFR writes a negative BCI, which is none.
            let place = match pair[1].place {
                FramePosition::Bci(bci @ 0..) => format!("@{bci}"),
                _ => "@native".into(),
            };
            let caller = shown(&self.methods[pair[1].method as usize]) + &place;
            let callee = shown(&self.methods[pair[0].method as usize]);
            self.not_possible.contains(&(caller, callee))
        })
    }
}

impl Sink for Writer<'_> {
    fn method(&mut self, method: Method<'_>) -> u32 {
        let descriptor = method.descriptor.expect("JFR has descriptors");
        let named = (
            method.class.to_owned(),
            method.name.to_owned(),
            descriptor.to_owned(),
        );
        let Writer {
            numbers, methods, ..
        } = self;
        *numbers.entry(named).or_insert_with_key(|named| {
            methods.push(named.clone());
            methods.len() as u32 - 1
        })
    }

    fn property(&mut self, _: &str, _: &str) {}

    fn stack(&mut self, stack: Stack<'_>) {
        let times: u64 = stack.samples.iter().map(|samples| samples.times).sum();
        if self.is_a_lie(&stack) {
            self.left_out += times;
            return;
        }
        self.stacks += times;
        let frames = stack.frames.iter().rev();
        let mut shown: Vec<String> = frames.map(|frame| self.frame(frame.method)).collect();
        match self.style {
            Style::Pprof => return self.pprof.add(&shown, times),
            Style::Annotated => {
                let below = [
                    "[main tid=7]",
                    "start_thread",
                    "JavaThread::run",
                    "call_stub",
                ];
                shown.splice(0..0, below.map(str::to_owned));
                let above = ["Unsafe_Park", "futex_wait.constprop.0", "do_futex_[k]"];
                shown.extend(above.map(str::to_owned));
            }
            Style::Allocations => shown.push("java.lang.String_[i]".into()),
            Style::Unnamed if shown.len() > 1 => {
                let at = self.stacks as usize % shown.len();
                shown[at] = "[stale_jmethodID]".into();
            }
            Style::Slashes | Style::Dots | Style::Signatures | Style::Unnamed => {}
        }
        let _ = writeln!(self.text, "{} {times}", shown.join(";"));
    }

    fn note(&mut self, _: Note) {}
}

/// Google's `profile.proto`, as far as stacks need it.
#[derive(Default)]
struct Pprof {
    samples: Vec<u8>,
    functions: HashMap<String, u64>,
}

impl Pprof {
    /// Adds a stack, the lowest frame first.
    fn add(&mut self, frames: &[String], times: u64) {
        let mut ids = vec![];
        for frame in frames.iter().rev() {
            let next = self.functions.len() as u64 + 1;
            let id = *self.functions.entry(frame.clone()).or_insert(next);
            ids.extend(varint(id));
        }
        let sample = [counted(1, &ids), counted(2, &varint(times))].concat();
        self.samples.extend(counted(2, &sample));
    }

    /// Each function has one location, and the two have one number.
    fn profile(&self) -> Vec<u8> {
        let mut profile = counted(1, &[8, 1, 16, 1]);
        profile.extend(&self.samples);
        let mut strings = vec![String::new(); self.functions.len() + 1];
        for (name, &id) in &self.functions {
            strings[id as usize].clone_from(name);
            let line = number(1, id);
            profile.extend(counted(4, &[number(1, id), counted(4, &line)].concat()));
            profile.extend(counted(5, &[number(1, id), number(2, id)].concat()));
        }
        for string in &strings {
            profile.extend(counted(6, string.as_bytes()));
        }
        profile
    }
}

fn varint(mut n: u64) -> Vec<u8> {
    let mut bytes = vec![];
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}

fn number(field: u64, n: u64) -> Vec<u8> {
    [varint(field << 3), varint(n)].concat()
}

fn counted(field: u64, bytes: &[u8]) -> Vec<u8> {
    [
        varint(field << 3 | 2),
        varint(bytes.len() as u64),
        bytes.to_vec(),
    ]
    .concat()
}
