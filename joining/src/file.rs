//! The file of requests.

use hotspot::at_request::{RequestLine, RequestProofs};
use oracle::Layer;
use oracle::recorded::RecordedTruth;
use oracle::requests::{
    MethodFacts, MethodName, Pin, RecordedAround, RecordedSteps, Request, SeenCode,
};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};

/// What was true at a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// The trace stack of hooked code.
    Trace(RecordedTruth),
    /// The calls and returns of a thread that runs one instruction at a time.
    Steps(RecordedSteps),
}

/// What an agent wrote of requests.
#[derive(Debug, Default)]
pub struct RequestsFile {
    /// The facts of methods, by number.
    pub methods: BTreeMap<u32, MethodFacts>,
    /// The truths, by number.
    pub truths: HashMap<u32, Recorded>,
    /// The names of methods in truths by steps and in debug info records, by their numbers there.
    pub names: BTreeMap<u32, MethodName>,
    /// The requests.
    pub requests: Vec<Request>,
    /// The code at program counters.
    pub codes: HashMap<usize, SeenCode>,
    /// The debug info records around program counters in compiled code.
    pub records: HashMap<usize, RecordedAround>,
    /// What was seen at requests, by number.
    pub proofs: HashMap<u32, RequestProofs>,
    /// Readings of the JVM's clock.
    pub pins: Vec<Pin>,
    /// Readings of the system's monotonic clock.
    pub monotonic: Vec<Pin>,
    /// Requests that were not copied, by layer.
    pub lost: BTreeMap<Layer, u64>,
    /// The agent's counter when it began to copy.
    pub since: u64,
    /// Whether the agent came to the end of the run.
    pub complete: bool,
}

impl RequestsFile {
    /// Reads the lines of a file. A line that was cut off, or that another version wrote, is left out.
    pub fn read(input: impl BufRead) -> io::Result<RequestsFile> {
        let mut file = RequestsFile::default();
        for line in input.split(b'\n') {
            match serde_json::from_slice(&line?) {
                Ok(RequestLine::Method(number, facts)) => _ = file.methods.insert(number, facts),
                Ok(RequestLine::Truth(number, truth)) => file.add(number, Recorded::Trace(truth)),
                Ok(RequestLine::Steps(number, truth)) => file.add(number, Recorded::Steps(truth)),
                Ok(RequestLine::Name(number, name)) => _ = file.names.insert(number, name),
                Ok(RequestLine::Request(request)) => file.requests.push(request),
                Ok(RequestLine::Code(pc, code)) => _ = file.codes.entry(pc).or_insert(code),
                Ok(RequestLine::Records(pc, around)) => {
                    file.records.entry(pc).or_insert(around);
                }
                Ok(RequestLine::Proofs(number, seen)) => _ = file.proofs.insert(number, seen),
                Ok(RequestLine::Clock(pin)) => file.pins.push(pin),
                Ok(RequestLine::Monotonic(pin)) => file.monotonic.push(pin),
                Ok(RequestLine::Lost(layer, count)) => _ = file.lost.insert(layer, count),
                Ok(RequestLine::Since(counter)) => file.since = counter,
                Ok(RequestLine::Ended) => file.complete = true,
                Err(_) => {}
            }
        }
        Ok(file)
    }

    fn add(&mut self, number: u32, truth: Recorded) {
        self.truths.insert(number, truth);
    }
}
