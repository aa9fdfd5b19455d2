//! Requests at chosen instructions of threads that step, with what the steps have shown. Layers `jfr-cpu-step` and
//! `profiler-step`.

use super::lines::{Lines, Source};
use super::looks::Looks;
use super::records::Names;
use crate::arch;
use crate::jvm::Jvm;
use crate::jvm::os::requests::profiler::ProfilerLibrary;
use crate::jvm::os::requests::wrapping::{Asking, wrap};
use crate::jvm::os::signal::SignalSender;
use crate::layers::context::Layers;
use crate::layers::steps::keeping::{Keeping, cannot_step};
use crate::layers::steps::truth::Kept;
use crate::sampling::stepping::delivery;
use crate::sampling::stepping::handler;
use crate::sampling::stepping::requesting::{Caller, Requesting, StepRequest};
use hotspot::at_request::RequestLine;
use hotspot::steps::truth::{Bci, Line, lines};
use oracle::requests::{Copied, RecordedStep, RecordedSteps, Request};
use oracle::trace::Location;
use oracle::{Layer, RecordedSampler};
use std::collections::HashMap;
use std::time::Duration;
use std::{io, thread};
use vm::memory::Remembering;
use vm::ring::Reader;

/// The largest number of truths that are remembered. Behind it they are written once more.
const MOST: usize = 1 << 17;

/// The pause between two looks for the sampler's handler.
const PAUSE: Duration = Duration::from_millis(1);

/// So many requests are written at most before the counts are looked after.
const MOST_AT_ONCE: usize = 1000;

/// The requests.
pub struct Stepped {
    reader: Reader<StepRequest>,
    layer: Layer,
    sampler: Sampler,
    /// The processor's counter when the sampler's handler had ours before it.
    since: u64,
    keeping: Keeping,
    truths: Truths,
    looks: Looks,
}

/// The sampler that is asked.
enum Sampler {
    /// JFR's by CPU time. Its own timers ask as without us.
    CpuTime,
    /// A profiler. Its own signals are not passed on: each of its events belongs to a chosen instant.
    Profiler(Box<ProfilerLibrary>),
}

impl Sampler {
    /// The sampler of `layer`.
    fn of(layers: &Layers, layer: Layer) -> Result<Sampler, String> {
        if !layer.is_of(RecordedSampler::Profiler) {
            return Ok(Sampler::CpuTime);
        }
        let file = layers.config.profiler.as_deref();
        let file =
            file.ok_or_else(|| format!("layer {layer} needs a profiler: give --profiler"))?;
        let library = ProfilerLibrary::new(file, delivery::around);
        Ok(Sampler::Profiler(Box::new(library)))
    }

    /// Puts our handler before the sampler's. Returns whether the sampler can be asked.
    fn wrap(&mut self) -> std::io::Result<bool> {
        match self {
            Sampler::CpuTime => wrap(Asking::CpuTime, |_, _, earlier| earlier()),
            Sampler::Profiler(library) => {
                library.wrap()?;
                Ok(library.has_sampled())
            }
        }
    }

    /// How it is asked.
    fn caller(&self) -> Caller {
        match self {
            Sampler::CpuTime => Caller::CpuTime,
            Sampler::Profiler(_) => Caller::Profiler(SignalSender::new()),
        }
    }
}

/// The truths that are written.
#[derive(Default)]
struct Truths {
    kept: Kept,
    numbers: HashMap<RecordedSteps, u32>,
    next: u32,
}

impl Stepped {
    /// Waits until the sampler has a handler, and then lets threads step and make requests for `layer`. In the live phase.
    pub fn begin(layers: &'static Layers, layer: Layer) -> Result<Stepped, String> {
        let config = layers.config;
        let mut sampler = Sampler::of(layers, layer)?;
        while !sampler.wrap().map_err(cannot_step)? && layers.truth.jvm.is_live() {
            thread::sleep(PAUSE);
        }
        let since = arch::counter();
        let one_in = config.sampling.request_one_in;
        let jvm = layers.truth.jvm;
        let threads = jvm.java_threads.as_ref().ok();
        let (requesting, reader) = Requesting::new(sampler.caller(), threads, one_in, config.seed);
        Ok(Stepped {
            reader,
            layer,
            sampler,
            since,
            keeping: Keeping::begin(layers, Box::new(requesting))?,
            truths: Truths::default(),
            looks: Looks::new(jvm),
        })
    }
}

impl Truths {
    /// What was true at `request`.
    fn truth(
        &mut self,
        jvm: &Jvm,
        names: &mut Names,
        request: &StepRequest,
    ) -> Option<RecordedSteps> {
        let StepRequest {
            place,
            interpreted,
            calls,
            ..
        } = request;
        let found = lines(place, *interpreted, calls, &self.kept.facts(jvm)?).ok()?;
        let tops = found.tops.iter();
        // A register that should have a method may have something else.
        let tops = tops.filter_map(|top| Some((frames(names, jvm, &top.lines)?, top.is_certain)));
        let tops = tops.collect();
        let mut callers = frames(names, jvm, &found.callers)?;
        if request.carried {
            // The stack of a virtual thread ends with the frame below which its carrier's begin.
            let is_end = |&(number, _): &RecordedStep| Some(number) == names.enter_special();
            let end = callers.iter().position(is_end)?;
            callers.truncate(end + 1);
        }
        Some(RecordedSteps { tops, callers })
    }

    fn write(
        &mut self,
        layer: Layer,
        request: &StepRequest,
        (looks, memory): (&mut Looks, &Remembering),
        lines: &mut Lines<'_>,
    ) -> io::Result<()> {
        // What is true must not rest on what the memory was at an earlier request.
        let names = &mut looks.records.names;
        let truth = memory.paused(|| self.truth(lines.layers.truth.jvm, names, request));
        // Without tops nothing is known.
        let truth = truth.unwrap_or_default();
        for (number, name) in names.new_ones() {
            lines.write(&RequestLine::Name(number, name))?;
        }
        let number = match self.numbers.get(&truth) {
            Some(&number) => number,
            None => {
                if self.numbers.len() >= MOST {
                    self.numbers.clear();
                }
                let number = self.next;
                self.next += 1;
                lines.write(&RequestLine::Steps(number, truth.clone()))?;
                self.numbers.insert(truth, number);
                number
            }
        };
        memory.paused(|| lines.write_code(request.place.pc))?;
        let proofs = looks.write(&request.at, lines)?;
        lines.write(&RequestLine::Request(Request {
            layer,
            tid: request.tid,
            from: request.during.0,
            to: request.during.1,
            stack: Copied::Truth(number),
            carried: request.carried,
            pc: request.place.pc,
            in_hook: false,
            hook_ran: false,
            given_up: false,
            proofs,
        }))
    }
}

impl Source for Stepped {
    fn begin(&mut self, lines: &mut Lines<'_>) -> io::Result<()> {
        lines.write(&RequestLine::Since(self.since))
    }

    fn write_new(&mut self, lines: &mut Lines<'_>) -> io::Result<usize> {
        // A profiler may install its handler again.
        self.sampler.wrap()?;
        let mut count = 0;
        let memory = Remembering::begin();
        let (layer, truths, looks) = (self.layer, &mut self.truths, &mut self.looks);
        // The counts are to be written, too.
        while count < MOST_AT_ONCE {
            looks.refresh(count, &memory);
            let seen = (&mut *looks, &memory);
            let Some(written) = self
                .reader
                .next(|request| truths.write(layer, request, seen, lines))
            else {
                break;
            };
            written?;
            count += 1;
        }
        drop(memory);
        self.keeping.go_on();
        Ok(count)
    }

    fn end(&mut self, lines: &mut Lines<'_>) -> io::Result<()> {
        handler::stop();
        while self.write_new(lines)? > 0 {}
        self.keeping.end();
        Ok(())
    }
}

/// The frames in the form of the file; `None` if a method has no name.
fn frames(names: &mut Names, jvm: &Jvm, frames: &[Line]) -> Option<Vec<RecordedStep>> {
    let frame = |line: &Line| {
        let location = match line.bci {
            Bci::At(bci) => Some(bci),
            Bci::Native => Some(Location::NATIVE.0),
            Bci::Any => None,
            Bci::NotGiven => Some(Location::UNKNOWN.0),
        };
        Some((names.number(jvm, line.method)?, location))
    };
    frames.iter().map(frame).collect()
}
