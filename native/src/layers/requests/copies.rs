//! Requests that the JVM or a profiler makes, with copies of trace stacks, and readings of the clocks of their events beside
//! the processor's counter.

use super::lines::{Lines, Source};
use super::records::Records;
use crate::arch;
use crate::jvm::jni::{Env, Local, StaticLong};
use crate::jvm::os::clock;
use crate::jvm::os::requests::pool::Reader;
use crate::jvm::os::requests::profiler::ProfilerLibrary;
use crate::jvm::os::requests::wrapping::{Asking, wrap};
use crate::sampling::requests::{self, Copy};
use crate::truth::read_stack::ReadStack;
use oracle::RecordedSampler;
use oracle::record::Config;
use oracle::requests::{Copied, Pin, Request, RequestLine};
use std::io;

/// The copies.
pub struct Copies {
    reader: Reader<Copy>,
    asked: Vec<Asking>,
    profiler: Option<ProfilerLibrary>,
    records: Records,
    /// All of them.
    samplers: Vec<RecordedSampler>,
}

impl Copies {
    /// Starts to copy for the layers of `config`.
    pub fn begin(config: &Config) -> io::Result<Copies> {
        let asked = [Asking::Suspension, Asking::CpuTime].into_iter();
        let is_asked = |sampler: RecordedSampler| config.layers.contains(&sampler.layer());
        let asked = asked.filter(|&asking| is_asked(asking.sampler()));
        let asked: Vec<Asking> = asked.collect();
        let profiler = config.profiler.as_deref();
        let profiler = profiler.filter(|_| is_asked(RecordedSampler::Profiler));
        let samplers = asked.iter().map(|&asking| asking.sampler());
        let samplers = samplers.chain(profiler.map(|_| RecordedSampler::Profiler));
        Ok(Copies {
            samplers: samplers.collect(),
            records: Records::default(),
            reader: requests::make()?,
            profiler: profiler.map(|file| ProfilerLibrary::new(file, requests::around)),
            asked,
        })
    }
}

impl Source for Copies {
    fn write_new(&mut self, lines: &mut Lines<'_>) -> io::Result<usize> {
        for &asking in &self.asked {
            wrap(asking, requests::around)?;
        }
        if let Some(profiler) = &mut self.profiler {
            profiler.wrap()?;
        }
        let mut written = Ok(());
        let Copies {
            reader, records, ..
        } = self;
        let count = reader.read(|copy| {
            if written.is_ok() {
                written = records
                    .write(copy.pc, lines)
                    .and_then(|()| write(copy, lines));
            }
        });
        written.map(|()| count)
    }

    fn end(&mut self, lines: &mut Lines<'_>) -> io::Result<()> {
        for &sampler in &self.samplers {
            lines.write(&RequestLine::Lost(sampler.layer(), requests::lost(sampler)))?;
        }
        Ok(())
    }
}

fn write(copy: &Copy, lines: &mut Lines<'_>) -> io::Result<()> {
    let stack = match copy.copied {
        Err(cause) => Copied::Lost(cause),
        Ok(()) => {
            let stack = ReadStack::new(&copy.stack, &lines.layers.truth.methods);
            let (number, new) = lines.interned.truth(&stack);
            if let Some(truth) = new {
                lines.write(&RequestLine::Truth(number, truth))?;
            }
            Copied::Truth(number)
        }
    };
    lines.write_code(copy.pc)?;
    lines.write(&RequestLine::Request(Request {
        layer: copy.requester.layer(),
        tid: copy.tid,
        from: copy.during.0,
        to: copy.during.1,
        stack,
        carried: copy.carried,
        pc: copy.pc,
    }))
}

/// The clock of JFR's events.
pub struct JfrClock<'e> {
    class: Local<'e>,
    counter_time: StaticLong,
}

/// How often the clock is read for one pin. The narrowest reading counts.
const READINGS: usize = 20;

impl<'e> JfrClock<'e> {
    /// The clock, once JFR runs: looked up earlier, its class would be initialised by us.
    pub fn find(env: Env<'e>) -> Option<JfrClock<'e>> {
        let class = env.find_class(c"jdk/jfr/internal/JVM")?;
        let counter_time = env.static_long(class.get(), c"counterTime")?;
        Some(JfrClock {
            class,
            counter_time,
        })
    }

    /// Reads it beside the counter.
    pub fn pin(&self) -> Option<Pin> {
        let env = self.class.env();
        narrowest(|| env.call_static_long(self.class.get(), self.counter_time))
    }
}

/// Reads the system's monotonic clock beside the counter.
pub fn pin_monotonic() -> Option<Pin> {
    narrowest(|| clock::monotonic().as_nanos() as i64)
}

fn narrowest(read: impl Fn() -> i64) -> Option<Pin> {
    let reading = |_| {
        let before = arch::counter();
        let ticks = read();
        let behind = arch::counter();
        Pin {
            before,
            ticks,
            behind,
        }
    };
    let readings = (0..READINGS).map(reading);
    readings.min_by_key(|pin| pin.behind.wrapping_sub(pin.before))
}
