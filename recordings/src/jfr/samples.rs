//! The samples of a recording one by one: when, in which thread, and which stack.

use super::chunk;
use super::constants::{AnyFrame, Constants, Methods};
use super::format::fill;
use super::header::MAGIC;
use super::metadata::Types;
use super::values::{self, Value};
use crate::bytes::Bytes;
use crate::sink::{FramePosition, Method, Note, Sink, Stack};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};
use std::sync::Arc;

/// The event of the samplers that suspend threads.
pub const EXECUTION: &str = "jdk.ExecutionSample";

/// The event of the sampler by CPU time (JDK 25).
pub const CPU_TIME: &str = "jdk.CPUTimeSample";

/// The event with the number of CPU-time samples that the JVM lost.
const CPU_TIME_LOST: &str = "jdk.CPUTimeSamplesLost";

/// What is read of a recording.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The names of the events that are samples.
    pub events: Vec<String>,
    /// The names of those that may show the stack of an earlier event of their thread again, without a walk.
    pub repeats: Vec<String>,
    /// The names of frames with which a profiler says that it could not walk on; a `*` at the end stands for any
    /// text.
    pub marks: Vec<String>,
    /// The names of frames that stand for a Java method that the profiler could not name.
    pub unnamed: Vec<String>,
}

impl Wanted {
    /// The samples of JFR's own samplers.
    pub fn of_jfr() -> Wanted {
        Wanted {
            events: vec![EXECUTION.into(), CPU_TIME.into()],
            repeats: vec![],
            marks: vec![],
            unnamed: vec![],
        }
    }

    fn is_mark(&self, name: &str) -> bool {
        self.marks.iter().any(|mark| match mark.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == mark,
        })
    }
}

/// All samples of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimedSamples {
    /// The methods: class (an internal name), name and descriptor.
    pub methods: Vec<(String, String, String)>,
    /// The different stacks of each chunk.
    pub stacks: Vec<TimedStack>,
    /// The samples, in the order of the file.
    pub samples: Vec<TimedSample>,
    /// How many events with a stack were not wanted, by their names.
    pub others: BTreeMap<String, u64>,
    /// CPU-time samples that the JVM lost, by its own count.
    pub lost: u64,
    /// Why a part of the file was not read, if so.
    pub cut: Option<String>,
}

/// A stack, top first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimedStack {
    /// The method of each frame as an index into [`TimedSamples::methods`], its place and its line.
    pub frames: Vec<(u32, FramePosition, i64)>,
    /// Whether JFR says that frames at the bottom are missing.
    pub truncated: bool,
    /// The mark of the profiler with which the stack ends, because it could not walk on, if there is one.
    pub mark: Option<String>,
    /// Where frames are missing whose methods the profiler could not name, because they were gone: for each the number of
    /// the frames above.
    pub unnamed: Vec<usize>,
    /// The name of the lowest frame, if that is no frame of Java.
    pub end: Option<String>,
}

impl TimedStack {
    /// Adds the next frame, from the top down.
    fn add(&mut self, frame: AnyFrame<'_>, wanted: &Wanted) {
        match frame {
            AnyFrame::Java(frame, line) => {
                self.frames.push((frame.method, frame.place, line));
                (self.mark, self.end) = (None, None);
            }
            AnyFrame::Unnamed => {
                self.unnamed.push(self.frames.len());
                (self.mark, self.end) = (None, None);
            }
            AnyFrame::Other(name) => {
                self.end = Some(name.to_owned());
                if wanted.unnamed.iter().any(|known| known == name) {
                    self.unnamed.push(self.frames.len());
                }
                // A stub of the VM may have the name of a mark, as `call_stub` has: then the walk goes on. Below all frames there may
                // be one for the thread (`[main tid=7]`).
                if wanted.is_mark(name) {
                    self.mark = Some(name.to_owned());
                } else if !name.starts_with('[') {
                    self.mark = None;
                }
            }
        }
    }
}

/// A sample.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedSample {
    /// The name of the event.
    pub event: Arc<str>,
    /// The time of the request, by the recording's clock.
    pub ticks: i64,
    /// The thread's id in the system; 0 for a virtual thread. The recording's own key of a thread that it does not describe.
    pub os_thread: i64,
    /// Index into [`TimedSamples::stacks`]; `None` if the event has no stack.
    pub stack: Option<usize>,
    /// Whether the event says that the walk failed.
    pub failed: bool,
    /// Whether the event may show the stack of an earlier event of its thread again, without a walk.
    pub may_repeat: bool,
    /// Whether the event says that the stack may be that of a later safepoint.
    pub biased: bool,
}

/// Reads the wanted samples of a recording. What cannot be read is left out, and said in [`TimedSamples::cut`]. Fails if the
/// file is no JFR recording.
pub fn read(input: &mut dyn BufRead, wanted: &Wanted) -> io::Result<TimedSamples> {
    let mut all = TimedSamples::default();
    let mut names = Names::default();
    let mut buffer = vec![];
    let head = input.fill_buf()?;
    if !head.is_empty() && !head.starts_with(MAGIC) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the recording is no JFR file, the only format whose samples have times and threads",
        ));
    }
    while !input.fill_buf()?.is_empty() {
        let read = fill(input, &mut buffer).and_then(|header| {
            let types = chunk::types(&header, &buffer);
            let read = types.and_then(|types| add(&types, &buffer, wanted, &mut names, &mut all));
            read.ok_or_else(|| "a chunk is damaged".to_owned())
        });
        if let Err(why) = read {
            all.cut = Some(why);
            break;
        }
    }
    all.methods = names.all;
    Ok(all)
}

fn add(
    types: &Types,
    chunk: &[u8],
    wanted: &Wanted,
    names: &mut Names,
    all: &mut TimedSamples,
) -> Option<()> {
    let constants = chunk::constants(types, chunk)?;
    let find = |event: &str| types.find(event).map(|id| (id, Arc::from(event)));
    let events = wanted.events.iter().map(String::as_str);
    let known: HashMap<i64, Arc<str>> = events.chain([CPU_TIME_LOST]).filter_map(find).collect();
    let others: HashMap<i64, &str> = types.with_stacks().collect();
    let (mut methods, mut stacks) = (Methods::default(), HashMap::new());
    let mut stack = |key: i64, all: &mut TimedSamples| -> Option<usize> {
        if let Some(&place) = stacks.get(&key) {
            return place;
        }
        let mut read = TimedStack::default();
        let whole = constants.each_frame(key, &mut methods, names, |frame| read.add(frame, wanted));
        let place = whole.map(|whole| {
            read.truncated = !whole;
            all.stacks.push(read);
            all.stacks.len() - 1
        });
        stacks.insert(key, place);
        place
    };
    chunk::events(chunk, &mut |(of, body)| {
        if let Some(event) = known.get(&of) {
            see(
                types,
                (of, event, body),
                &constants,
                wanted,
                &mut stack,
                all,
            );
        } else if let Some(name) = others.get(&of)
            && has_stack(types, of, body)
        {
            *all.others.entry((*name).to_owned()).or_default() += 1;
        }
    })
}

/// Whether the event of the type `of` has a stack. All events of a profiler may have the field, and few a stack.
fn has_stack(types: &Types, of: i64, mut body: Bytes<'_>) -> bool {
    let Some(of_event) = types.get(of) else {
        return false;
    };
    let mut found = false;
    let read = values::fields(types, of, &mut body, &mut |at, value| {
        let is_stack = of_event.fields[at].name == "stackTrace";
        found |= is_stack && matches!(value, Value::Key(key) if key != 0);
    });
    read.is_some() && found
}

/// Adds an event. A damaged event is left out.
fn see(
    types: &Types,
    (of, event, mut body): (i64, &Arc<str>, Bytes<'_>),
    constants: &Constants<'_>,
    wanted: &Wanted,
    stack: &mut dyn FnMut(i64, &mut TimedSamples) -> Option<usize>,
    all: &mut TimedSamples,
) {
    let Some(fields) = types.get(of).map(|of| &of.fields) else {
        return;
    };
    let mut found: HashMap<&str, i64> = HashMap::new();
    let read = values::fields(types, of, &mut body, &mut |at, value| {
        if let Value::Key(number) | Value::Number(number) = value {
            found.insert(&fields[at].name, number);
        }
    });
    let number = |name| found.get(name).copied().unwrap_or(0);
    if read.is_none() {
        return;
    }
    if **event == *CPU_TIME_LOST {
        all.lost += u64::try_from(number("lostSamples")).unwrap_or(0);
        return;
    }
    let thread = match number("sampledThread") {
        0 => number("eventThread"),
        thread => thread,
    };
    // Key 0 stands for no stack.
    let key = Some(number("stackTrace")).filter(|&key| key != 0);
    let stack = key.and_then(|key| stack(key, all));
    all.samples.push(TimedSample {
        event: event.clone(),
        ticks: number("startTime"),
        // async-profiler and Datadog's profiler write an event's thread as its id in the system (`Recording::writeThreads` of
        // `flightRecorder.cpp`), and may leave out the names of threads that have ended.
        os_thread: constants.os_thread(thread).unwrap_or(thread),
        stack,
        failed: number("failed") != 0,
        may_repeat: wanted.repeats.iter().any(|name| **name == **event),
        biased: number("biased") != 0,
    });
}

/// Numbers methods.
#[derive(Default)]
struct Names {
    all: Vec<(String, String, String)>,
    places: HashMap<(String, String, String), u32>,
}

impl Sink for Names {
    fn method(&mut self, method: Method<'_>) -> u32 {
        let name = (
            method.class.to_owned(),
            method.name.to_owned(),
            method.descriptor.unwrap_or_default().to_owned(),
        );
        let Names { all, places } = self;
        *places.entry(name).or_insert_with_key(|name| {
            all.push(name.clone());
            all.len() as u32 - 1
        })
    }

    fn property(&mut self, _: &str, _: &str) {}

    fn stack(&mut self, _: Stack<'_>) {}

    fn note(&mut self, _: Note) {}
}
