//! Requests of the JVM's own samplers: what the agent copied at the instant of each request.
//!
//! The agent writes [`REQUESTS_FILE`]: each line is a [`RequestLine`] in JSON. After the run the lines are
//! joined with the events of a recording. Lines that refer to methods and truths by number may come
//! before the lines of these numbers.

use crate::Layer;
use crate::recorded::RecordedTruth;
use crate::tally::Drop;
use crate::trace::{Presence, Site};
use serde::{Deserialize, Serialize};

/// Name of the file of requests in a run's folder.
pub const REQUESTS_FILE: &str = "requests.jsonl";

/// Name of the file of class files in a run's folder, as the VM got them. Before each class file stands its length in bytes,
/// as 4 bytes with the lowest first.
pub const CLASSES_FILE: &str = "classes.bin";

/// A line of the file. `P` is what code and stack showed, of which this crate knows nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestLine<P> {
    /// A method. Frames name it by its number plus 1.
    Method(u32, MethodFacts),
    /// A trace stack, by its number.
    Truth(u32, RecordedTruth),
    /// The name of a method in truths by steps and in debug info records, by its number there.
    Name(u32, MethodName),
    /// A truth by steps, by its number among all truths.
    Steps(u32, RecordedSteps),
    /// A request.
    Request(Request),
    /// The code at a program counter, when a request came there first.
    Code(usize, SeenCode),
    /// The debug info records around a program counter in compiled code, when a request came there first.
    Records(usize, RecordedAround),
    /// What code and stack showed at requests, by its number.
    Proofs(u32, P),
    /// The agent's counter and the JVM's clock at one instant.
    Clock(Pin),
    /// The agent's counter and the system's monotonic clock at one instant, in nanoseconds.
    Monotonic(Pin),
    /// So many requests of a layer were not copied, because all memory for copies was in use.
    Lost(Layer, u64),
    /// The agent's counter when its handlers stood before those of a profiler that ran already.
    Since(u64),
    /// The agent came to the end of the run: no line is missing.
    Ended,
}

/// One request of one of the JVM's samplers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The layer of the sampler.
    pub layer: Layer,
    /// Kernel id of the thread.
    pub tid: i32,
    /// The agent's counter before the JVM's signal handler.
    pub from: u64,
    /// The agent's counter behind the JVM's signal handler.
    pub to: u64,
    /// What is true in between.
    pub stack: Copied,
    /// Whether the truth is that of a virtual thread.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub carried: bool,
    /// Program counter.
    #[serde(default)]
    pub pc: usize,
    /// Whether the thread was in the native method of a hook, or came back from it: the program does not run then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_hook: bool,
    /// Whether compiled code of a hook ran, at whose instructions the sampler may have no answer that it has in the program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hook_ran: bool,
    /// Whether the JVM had given up before its signal reached the thread.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub given_up: bool,
    /// What code and stack showed, by its number; requests of profilers alone have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proofs: Option<u32>,
}

/// A piece of code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeenCode {
    /// A blob of the code cache or a library, with the offset there.
    pub place: String,
    /// The bytes from there on, as hexadecimal digits.
    pub bytes: String,
    /// The VM's name for the code, with the tier of a compiled method; empty in a library, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

/// The name of a method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MethodName {
    /// Internal name of its class.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
}

/// A frame of a truth by steps: the number of its method's name, and its location in the form of AsyncGetCallTrace (a BCI,
/// or -3 in a native method), if that is known.
pub type RecordedStep = (u32, Option<i32>);

/// A truth by steps ([`StepTruth`](crate::StepTruth)). Without tops nothing is known.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq, Serialize, Deserialize)]
pub struct RecordedSteps {
    /// What may be at the top, each with whether it is certain.
    pub tops: Vec<(Vec<RecordedStep>, bool)>,
    /// The frames below, top first.
    pub callers: Vec<RecordedStep>,
}

/// A frame of a debug info record: the number of its method's name, and its BCI, which is negative where the record has none.
pub type RecordedScope = (u32, i32);

/// The debug info records on both sides of a program counter, innermost frames first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedAround {
    /// Whether the first of the two is at the program counter itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_exact: bool,
    /// The last record at or before the program counter, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Vec<RecordedScope>>,
    /// The first record behind the program counter; empty if there is none.
    pub behind: Vec<RecordedScope>,
}

/// The truth at a request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Copied {
    /// The truth of this number: a trace stack, or what steps have shown.
    Truth(u32),
    /// The trace stack could not be copied.
    Lost(Drop),
}

/// The agent's counter before and behind a reading of another clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pin {
    /// The agent's counter before.
    pub before: u64,
    /// The other clock, in its ticks.
    pub ticks: i64,
    /// The agent's counter behind.
    pub behind: u64,
}

/// What the agent knows of a method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MethodFacts {
    /// Internal name of its class.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The id that its entry hook pushes, if it is hooked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<u32>,
    /// A letter for each byte of the code that runs ([`letter`]); empty if the code is
    /// not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// The fingerprint of the code that runs, as class files have it; absent if the method was redefined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<u64>,
    /// Whether it is native.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_native: bool,
    /// Whether it is one of the hooks' own methods.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_hook_call: bool,
    /// Whether the VM may call it at any instruction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_vm: bool,
    /// Whether its class was unloaded or redefined before the run's end, so that nothing but its names is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_gone: bool,
    /// The table of lines: pairs of a BCI and the line from there on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<(u32, u32)>,
}

const PRESENCES: [Option<Presence>; 8] = [
    None,
    Some(Presence::Absent),
    Some(Presence::Pushing),
    Some(Presence::Present),
    Some(Presence::Popping),
    Some(Presence::Catching),
    Some(Presence::Unwinding),
    Some(Presence::Unknown),
];

/// The letter of a byte of code inside an instruction.
const INSIDE: char = '.';

/// The letter for a byte of code: what `site` is there, and what a frame there proves about its entry on the
/// trace stack, if the method is hooked.
pub fn letter(site: Site, presence: Option<Presence>) -> char {
    let first = match site {
        Site::Silent => b'A',
        Site::Calls => b'a',
        Site::NoInstruction => return INSIDE,
        Site::Unknown | Site::NotAMethod | Site::Native | Site::IsNative | Site::NotNative => b'0',
    };
    let place = PRESENCES.iter().position(|known| *known == presence);
    char::from(first + place.unwrap_or(0) as u8)
}

/// The meaning of a letter of [`letter`].
pub fn meaning(letter: u8) -> (Site, Option<Presence>) {
    let (site, first) = match letter {
        b'A'..=b'H' => (Site::Silent, b'A'),
        b'a'..=b'h' => (Site::Calls, b'a'),
        b'0'..=b'7' => (Site::Unknown, b'0'),
        _ => return (Site::NoInstruction, None),
    };
    (site, PRESENCES[usize::from(letter - first)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_keep_their_meaning() {
        for site in [Site::Silent, Site::Calls, Site::Unknown] {
            for presence in PRESENCES {
                let letter = u8::try_from(letter(site, presence)).expect("one byte");
                assert_eq!(meaning(letter), (site, presence));
            }
        }
        let inside = u8::try_from(letter(Site::NoInstruction, None)).expect("one byte");
        assert_eq!(meaning(inside), (Site::NoInstruction, None));
    }

    #[test]
    fn lines_are_read_as_they_were_written() {
        let lines = [
            RequestLine::Request(Request {
                layer: Layer::Jfr,
                tid: 7,
                from: 1,
                to: u64::MAX,
                stack: Copied::Lost(Drop::InDoubt),
                carried: false,
                pc: usize::MAX,
                in_hook: false,
                hook_ran: true,
                given_up: false,
                proofs: Some(4),
            }),
            RequestLine::Proofs(4, "shown".to_owned()),
            RequestLine::Lost(Layer::JfrCpu, 3),
            RequestLine::Name(3, MethodName::default()),
            RequestLine::Since(u64::MAX),
            RequestLine::Steps(
                1,
                RecordedSteps {
                    tops: vec![(vec![(3, None)], true), (vec![], false)],
                    callers: vec![(3, Some(-3)), (3, Some(7))],
                },
            ),
            RequestLine::Method(0, MethodFacts::default()),
            RequestLine::Records(
                7,
                RecordedAround {
                    is_exact: true,
                    before: Some(vec![(3, 4)]),
                    behind: vec![(3, -1), (4, 0)],
                },
            ),
            RequestLine::Records(8, RecordedAround::default()),
            RequestLine::Ended,
        ];
        for line in lines {
            let text = serde_json::to_string(&line).expect("plain data");
            let read: RequestLine<String> = serde_json::from_str(&text).expect("just written");
            assert_eq!(read, line, "{text}");
        }
    }
}
