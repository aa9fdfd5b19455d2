//! Stacks of a JFR recording, and what it tells of the JVM that made it.

use super::stack::{Stack, internal_name};
use crate::error::Error;
use hotspot::runtime::is_launched_by_jdk;
use jfrs::reader::event::Accessor;
use jfrs::reader::value_descriptor::{Primitive, ValueDescriptor};
use jfrs::reader::{Chunk, JfrReader};
use oracle::edge::{EdgeFrame, MethodId, Starts, ThreadStart, World};
use oracle::trace::Location;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

/// The events of the samplers.
pub const SAMPLES: &[&str] = &[
    "jdk.ExecutionSample",
    "jdk.NativeMethodSample",
    "jdk.CPUTimeSample",
];

/// What a recording starts with.
pub const MAGIC: &[u8] = b"FLR\0";

/// A recording's stacks and system properties.
#[derive(Debug, Default)]
pub struct Recording {
    /// Its stacks.
    pub stacks: Vec<Stack>,
    /// System properties of the JVM at its start, as `jdk.InitialSystemProperty` has them.
    pub properties: HashMap<String, String>,
}

/// Reads the stacks of all events of these names; of each, the frames become those of `world`.
pub fn read(path: &Path, events: &[String], world: &mut World) -> Result<Recording, Error> {
    let file = File::open(path).map_err(Error::about(path))?;
    let mut reader = JfrReader::new(file);
    let mut recording = Recording::default();
    for chunk in reader.chunks() {
        let (mut chunk_reader, chunk) = chunk.map_err(Error::about(path))?;
        let mut methods = HashMap::new();
        for event in chunk_reader.events(&chunk) {
            let event = event.map_err(Error::about(path))?;
            let name = event.class.name();
            if name == "jdk.InitialSystemProperty" {
                let field = |name| event.value().get_field(name).and_then(text);
                let (key, value) = (field("key"), field("value"));
                recording.properties.extend(key.zip(value));
            } else if events.iter().any(|wanted| wanted == name) {
                recording
                    .stacks
                    .extend(stack(name, &event.value(), &chunk, world, &mut methods));
            }
        }
    }
    Ok(recording)
}

fn text(value: Accessor<'_>) -> Option<String> {
    <&str>::try_from(value.value).ok().map(str::to_owned)
}

fn number(value: Accessor<'_>) -> Option<i64> {
    match value.value {
        ValueDescriptor::Primitive(Primitive::Integer(n)) => Some((*n).into()),
        ValueDescriptor::Primitive(Primitive::Long(n)) => Some(*n),
        _ => None,
    }
}

/// The event's stack; none if it has none, as a failed sample.
fn stack(
    name: &str,
    event: &Accessor<'_>,
    chunk: &Chunk,
    world: &mut World,
    methods: &mut HashMap<i64, Option<MethodId>>,
) -> Option<Stack> {
    let trace = event.get_field("stackTrace")?;
    let truncated = trace.get_field("truncated");
    let truncated = truncated.is_some_and(|t| {
        matches!(
            t.value,
            ValueDescriptor::Primitive(Primitive::Boolean(true))
        )
    });
    let frames = trace.get_field("frames")?.as_iter()?.map(|frame| {
        let raw = frame.get_field_raw("method")?;
        let method = match *raw.value {
            ValueDescriptor::ConstantPool { constant_index, .. } => *methods
                .entry(constant_index)
                .or_insert_with(|| method(&Accessor::new(chunk, raw.value), world)),
            _ => method(&raw, world),
        };
        let kind = frame
            .get_field("type")?
            .get_field("description")
            .and_then(text);
        let location = match kind.as_deref() {
            Some("Native") => Location::NATIVE,
            _ => Location(frame.get_field("bytecodeIndex").and_then(number)? as i32),
        };
        Some(EdgeFrame {
            method: method?,
            location,
        })
    });
    let frames: Vec<_> = frames.collect::<Option<_>>()?;
    // The stack of another event need not be that of its thread: one that starts a thread has
    // the new thread, and the stack of the old one.
    let is_sample = SAMPLES.contains(&name);
    let thread = ["sampledThread", "eventThread"].iter();
    let thread = thread.filter(|_| is_sample);
    let thread = thread.filter_map(|field| event.get_field(field)).next();
    let id = thread.and_then(|thread| thread.get_field("javaThreadId").and_then(number));
    (!frames.is_empty()).then_some(Stack {
        thread: id.map(|id| id.to_string()),
        frames,
        bottom: (!truncated).then_some(ThreadStart::Unknown),
    })
}

fn method(method: &Accessor<'_>, world: &mut World) -> Option<MethodId> {
    let symbol =
        |value: Accessor<'_>, name| value.get_field(name)?.get_field("string").and_then(text);
    let class = internal_name(&symbol(method.get_field("type")?, "name")?);
    let own = |name| method.get_field(name)?.get_field("string").and_then(text);
    let (name, descriptor) = (own("name")?, own("descriptor")?);
    Some(world.method(class.as_bytes(), name.as_bytes(), descriptor.as_bytes()))
}

impl Recording {
    /// Learns from all stacks of a thread how it started. The classes must be known.
    pub fn tell_starts(&mut self, world: &World) {
        let launcher = self.properties.get("sun.java.launcher");
        let mut starts = Starts::new(is_launched_by_jdk(launcher.map(String::as_str)));
        for stack in self.stacks.iter().filter(|stack| stack.bottom.is_some()) {
            if let (Some(thread), Some(lowest)) = (&stack.thread, stack.frames.last()) {
                starts.learn(world, thread.clone(), lowest.method);
            }
        }
        for stack in &mut self.stacks {
            if let (Some(bottom), Some(thread)) = (&mut stack.bottom, &stack.thread) {
                *bottom = starts.of(thread);
            }
        }
    }
}
