//! What a reader leaves out, the user is told: all samples of a file are stacks, or are in a note.

use recordings::{Error, Method, Note, Sink, Stack};
use std::io::Write;

/// The frames of each stack, top first, and the notes.
#[derive(Default)]
struct Read {
    methods: Vec<String>,
    stacks: Vec<(Vec<String>, u64)>,
    notes: Vec<Note>,
}

impl Sink for Read {
    fn method(&mut self, method: Method<'_>) -> u32 {
        let name = format!("{}.{}", method.class, method.name);
        self.methods.push(name);
        self.methods.len() as u32 - 1
    }

    fn property(&mut self, _: &str, _: &str) {}

    fn stack(&mut self, stack: Stack<'_>) {
        let frames = stack.frames.iter();
        let frames = frames.map(|frame| self.methods[frame.method as usize].clone());
        let times = stack.samples.iter().map(|samples| samples.times).sum();
        self.stacks.push((frames.collect(), times));
    }

    fn note(&mut self, note: Note) {
        self.notes.push(note);
    }
}

fn read(bytes: &[u8]) -> Result<Read, Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut read = Read::default();
    recordings::read(file.path(), &[], &mut read).map(|()| read)
}

/// The stacks and notes of collapsed lines.
fn collapsed(lines: &str) -> (Vec<(Vec<String>, u64)>, Vec<Note>) {
    let read = read(lines.as_bytes()).unwrap();
    (read.stacks, read.notes)
}

fn stack(frames: &[&str], times: u64) -> (Vec<String>, u64) {
    (frames.iter().map(|&frame| frame.into()).collect(), times)
}

#[test]
fn a_native_frame_with_a_slash_leaves_dotted_frames_alone() {
    let (stacks, notes) =
        collapsed("java.lang.Thread.run;a.B.m;I2C/C2I adapters(0xba) 3\na.B.m 1\n");
    let run = stack(&["a/B.m", "java/lang/Thread.run"], 3);
    assert_eq!(stacks, [run, stack(&["a/B.m"], 1)]);
    assert_eq!(notes, []);
}

#[test]
fn dotted_frames_may_have_signatures_and_threads() {
    let (stacks, notes) = collapsed(
        "[w/x;y/z.q tid=7];java.lang.Thread.run()V_[0];a.B.m(Ljava/lang/Object|)Ljava/lang/Class|_[1] 2\n",
    );
    assert_eq!(stacks, [stack(&["a/B.m", "java/lang/Thread.run"], 2)]);
    assert_eq!(notes, []);
}

#[test]
fn stacks_without_java_are_counted() {
    let (stacks, notes) = collapsed("clone3;GCTaskThread::run;memcpy 4\na/B.m 1\n[unknown] 2\n");
    assert_eq!(stacks, [stack(&["a/B.m"], 1)]);
    assert_eq!(notes, [Note::WithoutJava(6)]);
    let lines = br#"{"frames":[]}"#;
    assert_eq!(read(lines).unwrap().notes, [Note::WithoutJava(1)]);
}

#[test]
fn a_dotted_class_on_top_is_no_method() {
    let (stacks, notes) = collapsed("a.B.main;a.B.m;java.lang.String 4\na.B.main;a.B.m 1\n");
    assert_eq!(
        stacks,
        [
            stack(&["a/B.m", "a/B.main"], 4),
            stack(&["a/B.m", "a/B.main"], 1)
        ]
    );
    assert_eq!(notes, [Note::ClassesOnTop(4)]);
    // With slashes there is no doubt: the method has the name of a class, as after obfuscation.
    let (stacks, notes) = collapsed("a/b.main;a/b.C 4\n");
    assert_eq!(stacks, [stack(&["a/b.C", "a/b.main"], 4)]);
    assert_eq!(notes, []);
}

#[test]
fn simple_names_are_told() {
    let (stacks, notes) = collapsed("Thread.run;B$$Lambda.0x000000007.run;B.m 4\n");
    assert_eq!(stacks[0].1, 4);
    assert_eq!(notes, [Note::NoPackages]);
}

#[test]
fn stacks_with_the_top_first_are_refused() {
    let upright = "java/lang/Thread.run;a/B.run;a/B.m 4\na/B.main;a/B.m 4\n";
    assert!(read(upright.as_bytes()).is_ok());
    let reversed = "a/B.m;a/B.run;java/lang/Thread.run 4\na/B.m;a/B.main 4\n";
    let Err(Error::Malformed(why)) = read(reversed.as_bytes()) else {
        panic!("it was read");
    };
    assert!(why.contains("--reverse"), "{why}");
}

#[test]
fn formats_that_are_not_read_are_named() {
    let html = b"<!DOCTYPE html>\n<html><style>#canvas {width: 100%}</style>";
    let Err(why @ Error::Foreign { .. }) = read(html) else {
        panic!("it was read");
    };
    let why = why.to_string();
    assert!(
        why.contains("flame graph") && why.contains("-o jfr"),
        "{why}"
    );
}

#[test]
fn a_picture_beside_stacks_in_an_archive_is_told() {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
    let options = zip::write::SimpleFileOptions::default();
    for (name, bytes) in [
        ("a.txt", "a/B.m 5\n"),
        ("a.svg", "<?xml version=\"1.0\"?><svg>"),
        ("README", "nothing"),
    ] {
        archive.start_file(name, options).unwrap();
        archive.write_all(bytes.as_bytes()).unwrap();
    }
    let read = read(&archive.finish().unwrap().into_inner()).unwrap();
    assert_eq!(read.stacks, [stack(&["a/B.m"], 5)]);
    let [Note::Cut(what)] = &read.notes[..] else {
        panic!("{:?}", read.notes);
    };
    assert!(what.starts_with("a.svg: an SVG image"), "{what}");
}
