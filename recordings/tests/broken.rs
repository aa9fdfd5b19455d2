//! Broken input of every format: no reader panics, hangs or runs out of memory.

use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use recordings::{FramePosition, IN_MAIN, Method, Note, Sink, Stack, samples};
use std::io::Write;

/// Counts the calls.
#[derive(Default)]
struct Count {
    methods: u32,
    stacks: u64,
    notes: Vec<Note>,
    /// The last stack: class, name and place of each frame, and whether its lowest frame is there.
    last: (Vec<(String, String, FramePosition)>, bool),
    names: Vec<(String, String)>,
    /// What the file says of the threads' starts, sample for sample.
    starts: Vec<Option<&'static str>>,
}

impl Sink for Count {
    fn method(&mut self, method: Method<'_>) -> u32 {
        assert!(!method.name.is_empty());
        self.names.push((method.class.into(), method.name.into()));
        self.methods += 1;
        self.methods - 1
    }

    fn property(&mut self, _: &str, _: &str) {}

    fn stack(&mut self, stack: Stack<'_>) {
        assert!(!stack.frames.is_empty());
        let named = stack.frames.iter().map(|frame| {
            let (class, name) = self.names[frame.method as usize].clone();
            (class, name, frame.place)
        });
        self.last = (named.collect(), stack.whole);
        self.starts.extend(stack.samples.iter().map(|s| s.start));
        self.stacks += stack
            .samples
            .iter()
            .map(|s| s.times)
            .fold(0, u64::saturating_add);
    }

    fn note(&mut self, note: Note) {
        self.notes.push(note);
    }
}

/// Reads a file with these bytes.
fn read(bytes: &[u8]) -> (Result<(), recordings::Error>, Count) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut count = Count::default();
    let result = recordings::read(file.path(), &[], &mut count);
    (result, count)
}

/// A number of JFR, seven bits a byte.
fn number(mut n: u64, into: &mut Vec<u8>) {
    while n >= 0x80 {
        into.push(n as u8 | 0x80);
        n >>= 7;
    }
    into.push(n as u8);
}

fn numbers(all: &[u64]) -> Vec<u8> {
    let mut bytes = vec![];
    all.iter().for_each(|&n| number(n, &mut bytes));
    bytes
}

fn text(text: &str, into: &mut Vec<u8>) {
    into.push(3);
    number(text.len() as u64, into);
    into.extend(text.as_bytes());
}

/// An event with its size. The event is short.
fn event(body: &[u8]) -> Vec<u8> {
    let mut event = vec![];
    // The size always has two bytes, so that the size does not depend on itself.
    let size = body.len() + 2;
    event.extend([size as u8 | 0x80, (size >> 7) as u8]);
    event.extend(body);
    event
}

/// A type: number, name, and fields with name, type, whether a constant, whether an array.
type Described<'a> = (u64, &'a str, &'a [(&'a str, u64, bool, bool)]);

const TYPES: &[Described<'static>] = &[
    (1, "int", &[]),
    (2, "boolean", &[]),
    (3, "java.lang.String", &[]),
    (10, "jdk.types.Symbol", &[("string", 3, false, false)]),
    (11, "java.lang.Class", &[("name", 10, true, false)]),
    (
        12,
        "jdk.types.Method",
        &[
            ("type", 11, true, false),
            ("name", 10, true, false),
            ("descriptor", 10, true, false),
        ],
    ),
    (
        13,
        "jdk.types.FrameType",
        &[("description", 3, false, false)],
    ),
    (
        14,
        "jdk.types.StackFrame",
        &[
            ("method", 12, true, false),
            ("lineNumber", 1, false, false),
            ("bytecodeIndex", 1, false, false),
            ("type", 13, true, false),
        ],
    ),
    (
        15,
        "jdk.types.StackTrace",
        &[("truncated", 2, false, false), ("frames", 14, false, true)],
    ),
    (
        20,
        "jdk.ExecutionSample",
        &[
            ("startTime", 1, false, false),
            ("stackTrace", 15, true, false),
        ],
    ),
    (
        21,
        "jdk.CPUTimeSample",
        &[
            ("stackTrace", 15, true, false),
            ("failed", 2, false, false),
            ("biased", 2, false, false),
        ],
    ),
    (
        22,
        "jdk.RedefineClasses",
        &[("classCount", 1, false, false)],
    ),
    (23, "jdk.NativeAgent", &[("name", 3, false, false)]),
    (
        24,
        "profiler.WallClockSample",
        &[("stackTrace", 15, true, false)],
    ),
    (
        26,
        "jdk.NativeMethodSample",
        &[
            ("startTime", 1, false, false),
            // Any type will do.
            ("sampledThread", 11, true, false),
            ("stackTrace", 15, true, false),
        ],
    ),
    (27, "java.lang.Thread", &[("osThreadId", 1, false, false)]),
    (
        25,
        "jdk.ActiveSetting",
        &[("name", 3, false, false), ("value", 3, false, false)],
    ),
];

fn metadata() -> Vec<u8> {
    let mut strings: Vec<String> = vec![];
    let mut place = |text: &str| {
        let known = strings.iter().position(|known| known == text);
        known.unwrap_or_else(|| {
            strings.push(text.into());
            strings.len() - 1
        }) as u64
    };
    let mut tree = numbers(&[place("root"), 0, TYPES.len() as u64]);
    for &(id, name, fields) in TYPES {
        tree.extend(numbers(&[
            place("class"),
            2,
            place("id"),
            place(&id.to_string()),
        ]));
        tree.extend(numbers(&[place("name"), place(name), fields.len() as u64]));
        for &(name, of, constant, array) in fields {
            tree.extend(numbers(&[place("field"), 4, place("name"), place(name)]));
            tree.extend(numbers(&[place("class"), place(&of.to_string())]));
            tree.extend(numbers(&[
                place("constantPool"),
                place(&constant.to_string()),
            ]));
            let dimension = if array { "1" } else { "0" };
            tree.extend(numbers(&[place("dimension"), place(dimension), 0]));
        }
    }
    let mut body = numbers(&[0, 0, 0, 0, strings.len() as u64]);
    strings.iter().for_each(|string| text(string, &mut body));
    body.extend(tree);
    event(&body)
}

/// Methods of [`chunk_of`]: `a.B.m`, a function of libc, and a method that was unloaded.
const JAVA: u64 = 1;
const LIBC: u64 = 2;
const STALE: u64 = 3;

/// `main` of the same class. Stack 2 of each chunk is this frame alone.
const MAIN: u64 = 4;

/// What a profiler knows of the object that a stub calls: no method of Java has its name.
const REMARK: u64 = 5;

/// The key of a thread that each chunk describes: 4711 in the system.
const DESCRIBED: u64 = 8;

/// Kinds of frames of [`chunk_of`].
const COMPILED: u64 = 1;
const KERNEL: u64 = 2;

/// A chunk in the format of async-profiler: the stack of `a.B.m` below a frame of libc and a frame
/// of the kernel, sampled `samples` times.
fn chunk(samples: usize) -> Vec<u8> {
    let frames = [
        [LIBC, 0, 0, KERNEL],
        [LIBC, 0, 0, COMPILED],
        [JAVA, 7, 5, COMPILED],
    ];
    chunk_of(&frames, samples)
}

/// A chunk with a stack: method, line, BCI and kind of each frame, top first.
fn chunk_of(frames: &[[u64; 4]], samples: usize) -> Vec<u8> {
    chunk_with(frames, &vec![numbers(&[20, 99, 1]); samples])
}

/// A chunk with a stack and these events.
fn chunk_with(frames: &[[u64; 4]], bodies: &[Vec<u8>]) -> Vec<u8> {
    let mut body = numbers(&[1, 0, 0, 0, 0, 6]);
    body.extend(numbers(&[27, 1, DESCRIBED, 4711]));
    body.extend(numbers(&[10, 9]));
    let symbols = [
        "a.B",
        "m",
        "()V",
        "",
        "()L;",
        "stale_jmethodID",
        "main",
        "([Ljava/lang/String;)V",
        "<vtable_receiver>",
    ];
    for (key, symbol) in symbols.iter().enumerate() {
        number(key as u64 + 1, &mut body);
        text(symbol, &mut body);
    }
    body.extend(numbers(&[11, 2, 1, 1, 2, 4]));
    body.extend(numbers(&[
        12, 5, 1, 1, 2, 3, 2, 2, 2, 5, 3, 2, 6, 5, MAIN, 1, 7, 8, REMARK, 1, 9, 3,
    ]));
    number(13, &mut body);
    number(2, &mut body);
    for (key, kind) in [(1, "Interpreted"), (2, "Kernel")] {
        number(key, &mut body);
        text(kind, &mut body);
    }
    body.extend(numbers(&[15, 2, 1, 0, frames.len() as u64]));
    frames.iter().for_each(|frame| body.extend(numbers(frame)));
    body.extend(numbers(&[2, 0, 1, MAIN, 7, 5, COMPILED]));
    let mut events = event(&body);
    bodies.iter().for_each(|body| events.extend(event(body)));
    let at = 68 + events.len();
    events.extend(metadata());
    let mut chunk = b"FLR\0\0\x02\0\0".to_vec();
    for field in [68 + events.len() as u64, 68, at as u64, 0, 0, 0, 1] {
        chunk.extend(field.to_be_bytes());
    }
    chunk.extend(1u32.to_be_bytes());
    chunk.extend(events);
    chunk
}

#[test]
fn frames_of_native_code_are_no_calls() {
    let (result, count) = read(&chunk(3));
    result.unwrap();
    assert_eq!((count.methods, count.stacks, count.notes), (1, 3, vec![]));
}

#[test]
fn a_name_that_no_method_can_have_is_no_call() {
    let frames = [[REMARK, 0, 0, COMPILED], [JAVA, 7, 5, COMPILED]];
    let (result, count) = read(&chunk_of(&frames, 1));
    result.unwrap();
    let m = ("a/B".to_owned(), "m".to_owned(), FramePosition::Bci(5));
    assert_eq!(count.last.0, [m]);
}

/// async-profiler asks for the names of methods at the end, and some classes are gone by then.
#[test]
fn a_method_that_was_unloaded_is_a_frame_without_a_name() {
    let java = |bci| [JAVA, 7, bci, COMPILED];
    let stale = [STALE, 0, 0, COMPILED];
    let frames = [stale, java(5), stale, stale, java(6), java(8), stale];
    let chunk = chunk_of(&frames, 1);
    let (result, count) = read(&chunk);
    result.unwrap();
    let m = |bci| ("a/B".to_owned(), "m".to_owned(), FramePosition::Bci(bci));
    let gap = (
        String::new(),
        "unknown".to_owned(),
        FramePosition::Unknown(None),
    );
    assert_eq!(count.last.0, [m(5), gap, m(6), m(8)]);
    let samples = samples::read(&mut &chunk[..], &samples::Wanted::of_jfr()).unwrap();
    assert_eq!(samples.stacks[0].unnamed, [0, 1, 1, 3]);
}

/// async-profiler and Datadog's profiler use a thread's id in the system as its key.
#[test]
fn the_key_of_a_thread_that_the_recording_does_not_describe_is_its_id() {
    let of = |thread| numbers(&[26, 99, thread, 1]);
    let chunk = chunk_with(&[[JAVA, 7, 5, COMPILED]], &[of(DESCRIBED), of(815)]);
    let wanted = samples::Wanted {
        events: vec!["jdk.NativeMethodSample".into()],
        ..samples::Wanted::of_jfr()
    };
    let samples = samples::read(&mut &chunk[..], &wanted).unwrap();
    let threads = samples.samples.iter().map(|sample| sample.os_thread);
    assert_eq!(threads.collect::<Vec<_>>(), [4711, 815]);
}

#[test]
fn a_sample_counts_its_frames_without_a_name() {
    let stale = [STALE, 0, 0, COMPILED];
    let bytes = chunk_of(&[stale, [JAVA, 7, 5, COMPILED], stale], 1);
    let samples = samples::read(&mut &bytes[..], &samples::Wanted::of_jfr()).unwrap();
    // Stack 2 of each chunk is not that of the event.
    let [stack] = &samples.stacks[..] else {
        panic!("one stack: {samples:?}");
    };
    assert_eq!((stack.frames.len(), &stack.unnamed[..]), (1, &[0, 1][..]));
}

/// `call_stub` is the VM's stub for calls of Java, and Datadog's mark where it does not walk through it.
#[test]
fn a_mark_is_the_lowest_frame() {
    let wanted = samples::Wanted {
        marks: vec!["m".into()],
        ..samples::Wanted::of_jfr()
    };
    let java = [JAVA, 7, 5, COMPILED];
    // The function of libc has the name `m`, too.
    let (mark, other) = ([LIBC, 0, 0, COMPILED], [REMARK, 0, 0, COMPILED]);
    for (frames, is_marked) in [
        (vec![java, mark], true),
        (vec![mark], true),
        (vec![java, mark, java], false),
        (vec![java, mark, other], false),
    ] {
        let bytes = chunk_of(&frames, 1);
        let samples = samples::read(&mut &bytes[..], &wanted).unwrap();
        let stack = &samples.stacks[samples.samples[0].stack.expect("it has one")];
        assert_eq!(stack.mark.is_some(), is_marked, "{frames:?}");
        let ends_in_java = frames.last() == Some(&java);
        assert_eq!(stack.end.is_none(), ends_in_java, "{frames:?}");
    }
}

#[test]
fn samples_of_other_events_are_counted_by_name() {
    // The last event has no stack.
    let bodies = [
        numbers(&[20, 99, 1]),
        numbers(&[24, 1]),
        numbers(&[24, 1]),
        numbers(&[24, 0]),
    ];
    let bytes = chunk_with(&[[JAVA, 7, 5, COMPILED]], &bodies);
    let samples = samples::read(&mut &bytes[..], &samples::Wanted::of_jfr()).unwrap();
    assert_eq!(samples.samples.len(), 1);
    let others = [("profiler.WallClockSample".to_owned(), 2)].into();
    assert_eq!(samples.others, others);
    let error = samples::read(&mut &b"no JFR"[..], &samples::Wanted::of_jfr()).unwrap_err();
    assert!(error.to_string().contains("no JFR file"), "{error}");
}

/// async-profiler writes a frame of a native method like a compiled frame at BCI 0, without a line, and
/// never writes that a stack is cut off.
#[test]
fn what_async_profiler_does_not_tell_is_unknown() {
    let frames = [[JAVA, 0, 0, COMPILED], [JAVA, 7, 0, COMPILED]];
    let (result, count) = read(&chunk_of(&frames, 1));
    result.unwrap();
    let places = count.last.0.iter().map(|frame| frame.2);
    let places: Vec<FramePosition> = places.collect();
    assert_eq!(
        places,
        [FramePosition::Unknown(None), FramePosition::Bci(0)]
    );
    assert!(!count.last.1);
}

/// Where async-profiler says how deep its stacks are, a shorter one has its lowest frame, unless a mark stands there.
#[test]
fn a_stack_below_the_depth_of_the_recording_is_whole() {
    let java = [JAVA, 7, 5, COMPILED];
    let mark = [LIBC, 0, 0, COMPILED];
    for (depth, frames, whole) in [
        ("3", vec![java, java], true),
        ("2", vec![java, java], false),
        ("3", vec![java, mark], false),
        ("3", vec![mark, java], true),
        ("many", vec![java], false),
    ] {
        let mut setting = vec![25];
        text("jstackdepth", &mut setting);
        text(depth, &mut setting);
        let (result, count) = read(&chunk_with(&frames, &[setting, numbers(&[20, 99, 1])]));
        result.unwrap();
        assert_eq!(count.last.1, whole, "{depth}: {frames:?}");
    }
}

/// A launcher calls `main` once.
#[test]
fn between_two_stacks_of_main_all_end_there() {
    let java = [JAVA, 7, 5, COMPILED];
    let sample = |at, thread, stack| numbers(&[26, at, thread, stack]);
    for (events, start) in [
        (
            vec![sample(1, 9, 2), sample(2, 9, 1), sample(3, 9, 2)],
            Some(IN_MAIN),
        ),
        (
            vec![sample(2, 9, 2), sample(1, 9, 1), sample(3, 9, 2)],
            None,
        ),
        (
            vec![sample(1, 9, 2), sample(2, 9, 2), sample(3, 9, 1)],
            None,
        ),
        (
            vec![sample(1, 9, 2), sample(2, 8, 1), sample(3, 9, 2)],
            None,
        ),
    ] {
        let mut bodies = vec![vec![25]];
        text("jstackdepth", &mut bodies[0]);
        text("2048", &mut bodies[0]);
        bodies.extend(events);
        let (result, count) = read(&chunk_with(&[java], &bodies));
        result.unwrap();
        // Stack 1 comes first, and `main` says nothing of itself.
        assert_eq!(count.starts, [start, None], "{bodies:?}");
    }
}

#[test]
fn samples_by_the_clock_on_the_wall_are_samples() {
    let bytes = chunk_with(&[[JAVA, 7, 5, COMPILED]], &[numbers(&[24, 1])]);
    let (result, count) = read(&bytes);
    result.unwrap();
    assert_eq!(count.stacks, 1);
}

#[test]
fn samples_that_failed_or_are_biased_are_counted_and_agents_are_told() {
    let mut agent = vec![23];
    text("jdwp", &mut agent);
    let events = [
        numbers(&[21, 1, 0, 0]),
        numbers(&[21, 1, 0, 1]),
        numbers(&[21, 1, 0, 1]),
        numbers(&[21, 0, 1, 0]),
        numbers(&[22, 5]),
        agent,
    ];
    let (result, count) = read(&chunk_with(&[[JAVA, 7, 5, COMPILED]], &events));
    result.unwrap();
    let interference = |what: &str| Note::Interference(what.into());
    assert_eq!(
        count.notes,
        [
            Note::Failed(1),
            Note::Biased(2),
            interference("jdk.NativeAgent of jdwp (1 events)"),
            interference("jdk.RedefineClasses (1 events)"),
        ]
    );
    assert_eq!(count.stacks, 3);
}

#[test]
fn whole_chunks_of_a_cut_recording_are_read() {
    let mut file = chunk(3);
    file.extend(chunk(4));
    let third = chunk(5);
    file.extend(&third[..third.len() - 1]);
    let (result, count) = read(&file);
    result.unwrap();
    assert_eq!(count.stacks, 7);
    let [Note::Cut(what)] = &count.notes[..] else {
        panic!("{:?}", count.notes);
    };
    assert!(
        what.starts_with("chunk 3 and what follows: the file is cut off"),
        "{what}"
    );
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut packed = lz4_flex::frame::FrameEncoder::new(vec![]);
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn archive(bytes: &[u8]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
    let options = zip::write::SimpleFileOptions::default();
    archive.start_file("README", options).unwrap();
    archive.write_all(b"no stacks").unwrap();
    archive.start_file("a.jfr", options).unwrap();
    archive.write_all(bytes).unwrap();
    archive.finish().unwrap().into_inner()
}

#[test]
fn packed_files_are_read_as_plain_ones() {
    let plain = chunk(3);
    for packed in [
        gzip(&plain),
        lz4(&plain),
        archive(&plain),
        archive(&gzip(&plain)),
    ] {
        let (result, count) = read(&packed);
        result.unwrap();
        assert_eq!(count.stacks, 3);
    }
}

/// A profile with one sample of `a.B.m`.
fn pprof() -> Vec<u8> {
    let mut profile = vec![0x0a, 4, 8, 1, 16, 1];
    // Sample: location 1, value 5. Location 1: function 1 at line 7. Function 1: name 1.
    profile.extend([0x12, 6, 0x0a, 1, 1, 0x12, 1, 5]);
    profile.extend([0x22, 8, 8, 1, 0x22, 4, 8, 1, 16, 7]);
    profile.extend([0x2a, 4, 8, 1, 16, 1]);
    profile.extend([0x32, 0, 0x32, 5]);
    profile.extend(b"a.B.m");
    profile
}

const DUMP: &[u8] =
    b"Full thread dump\n\n\"main\" #1 prio=5\n\tat a.B.m(B.java:7)\n\tat a.B.n(B.java:9)\n\n";
const COLLAPSED: &[u8] = b"a/B.n;a/B.m 5\nstart_thread;a/B.m_[j];read_[k] 3\n";
const LINES: &[u8] = br#"{"frames":[{"class":"a.B","method":"m","descriptor":"()V","bci":5}]}"#;

fn whole() -> [(&'static str, Vec<u8>, u64); 7] {
    [
        ("jfr", chunk(3), 3),
        ("gzip", gzip(&chunk(3)), 3),
        ("lz4", lz4(&chunk(3)), 3),
        ("pprof", pprof(), 5),
        ("dump", DUMP.into(), 1),
        ("collapsed", COLLAPSED.into(), 8),
        ("lines", LINES.into(), 1),
    ]
}

#[test]
fn every_format_is_recognised_by_its_first_bytes() {
    for (name, bytes, stacks) in whole() {
        let (result, count) = read(&bytes);
        assert!(result.is_ok(), "{name}: {result:?}");
        assert_eq!(count.stacks, stacks, "{name}");
    }
    assert!(read(b"nothing of the kind").0.is_err());
}

/// Changes, cuts and duplicates bytes at random places.
fn broken(bytes: &[u8], random: &mut StdRng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.random_range(1..6) {
        let at = random.random_range(0..bytes.len().max(1));
        match random.random_range(0..4) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at.min(bytes.len()), random.next_u32() as u8),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = [random.next_u32() as u8, 0, 0xff, 0x7f][at % 4];
                }
            }
        }
    }
    bytes
}

#[test]
fn broken_files_make_no_reader_panic_or_hang() {
    let mut random = StdRng::seed_from_u64(17);
    for (_, bytes, _) in whole() {
        for _ in 0..1000 {
            // An error or fewer stacks are both allowed.
            let _ = read(&broken(&bytes, &mut random));
        }
    }
}
