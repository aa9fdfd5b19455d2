//! The file of requests.

use oracle::Layer;
use oracle::recorded::RecordedTruth;
use oracle::requests::{MethodFacts, Pin, Request, RequestLine, SeenCode};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};

/// What an agent wrote of requests.
#[derive(Debug, Default)]
pub struct RequestsFile {
    /// The facts of methods, by number.
    pub methods: BTreeMap<u32, MethodFacts>,
    /// The truths, by number.
    pub truths: HashMap<u32, RecordedTruth>,
    /// The requests.
    pub requests: Vec<Request>,
    /// The code at program counters.
    pub codes: HashMap<usize, SeenCode>,
    /// Readings of the clocks.
    pub pins: Vec<Pin>,
    /// Requests that were not copied, by layer.
    pub lost: BTreeMap<Layer, u64>,
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
                Ok(RequestLine::Truth(number, truth)) => _ = file.truths.insert(number, truth),
                Ok(RequestLine::Request(request)) => file.requests.push(request),
                Ok(RequestLine::Code(pc, code)) => _ = file.codes.entry(pc).or_insert(code),
                Ok(RequestLine::Clock(pin)) => file.pins.push(pin),
                Ok(RequestLine::Lost(layer, count)) => _ = file.lost.insert(layer, count),
                Ok(RequestLine::Ended) => file.complete = true,
                Err(_) => {}
            }
        }
        Ok(file)
    }
}
