//! Requests that the JVM or a profiler makes, with copies of trace stacks, and readings of the clocks of their events beside
//! the processor's counter.

use super::lines::{Lines, Source};
use super::looks::Looks;
use crate::arch;
use crate::evidence::method_at;
use crate::jvm::java_thread::ThreadSnapshot;
use crate::jvm::jni::{Env, Local, StaticLong};
use crate::jvm::os::clock;
use crate::jvm::os::requests::pool::Reader;
use crate::jvm::os::requests::profiler::ProfilerLibrary;
use crate::jvm::os::requests::wrapping::{Asking, wrap};
use crate::layers::context::Layers;
use crate::sampling::requests::{self, Copy};
use crate::truth::classes::rewriting::HOOK_CLASS;
use crate::truth::read_stack::ReadStack;
use hotspot::at_request::RequestLine;
use oracle::RecordedSampler;
use oracle::requests::{Copied, Pin, Request};
use std::io;
use vm::memory::Remembering;

/// The copies.
pub struct Copies {
    reader: Reader<Copy>,
    asked: Vec<Asking>,
    profiler: Option<ProfilerLibrary>,
    looks: Looks,
    /// All of them.
    samplers: Vec<RecordedSampler>,
    /// The processor's counter when the handlers of a profiler that was there already had ours before them.
    since: u64,
}

impl Copies {
    /// Starts to copy for the layers of the run: a profiler that runs already has our handlers before its own from now on.
    pub fn begin(layers: &'static Layers) -> io::Result<Copies> {
        let config = layers.config;
        let threads = layers.truth.jvm.java_threads.as_ref().ok();
        let asked = [Asking::Suspension, Asking::CpuTime].into_iter();
        let is_asked = |sampler: RecordedSampler| config.layers.contains(&sampler.layer());
        let asked = asked.filter(|&asking| is_asked(asking.sampler()));
        let asked: Vec<Asking> = asked.collect();
        let profiler = config.profiler.as_deref();
        let profiler = profiler.filter(|_| is_asked(RecordedSampler::Profiler));
        let samplers = asked.iter().map(|&asking| asking.sampler());
        let samplers = samplers.chain(profiler.map(|_| RecordedSampler::Profiler));
        let mut copies = Copies {
            samplers: samplers.collect(),
            looks: Looks::new(layers.truth.jvm),
            reader: requests::make(threads)?,
            profiler: profiler.map(|file| ProfilerLibrary::new(file, requests::around)),
            asked,
            since: 0,
        };
        copies.wrap()?;
        copies.since = arch::counter();
        Ok(copies)
    }

    /// Puts our handlers before those that stand alone.
    fn wrap(&mut self) -> io::Result<()> {
        for &asking in &self.asked {
            wrap(asking, requests::around)?;
        }
        if let Some(profiler) = &mut self.profiler {
            profiler.wrap()?;
        }
        Ok(())
    }
}

impl Source for Copies {
    fn begin(&mut self, lines: &mut Lines<'_>) -> io::Result<()> {
        requests::leave_out_this_thread();
        lines.write(&RequestLine::Since(self.since))
    }

    fn write_new(&mut self, lines: &mut Lines<'_>) -> io::Result<usize> {
        self.wrap()?;
        let mut written = Ok(());
        let Copies { reader, looks, .. } = self;
        let memory = Remembering::begin();
        let mut count = 0;
        reader.read(|copy| {
            looks.refresh(count, &memory);
            count += 1;
            if written.is_ok() {
                written = write(copy, looks, lines);
            }
        });
        written.map(|()| count)
    }

    fn end(&mut self, lines: &mut Lines<'_>) -> io::Result<()> {
        self.write_new(lines)?;
        for &sampler in &self.samplers {
            lines.write(&RequestLine::Lost(sampler.layer(), requests::lost(sampler)))?;
        }
        Ok(())
    }
}

fn write(copy: &Copy, looks: &mut Looks, lines: &mut Lines<'_>) -> io::Result<()> {
    looks.records.write(copy.pc, lines)?;
    let stack = match copy.copied {
        Err(cause) => Copied::Lost(cause),
        Ok(()) => {
            let stack = ReadStack::new(&copy.stack, &lines.layers.truth.methods);
            let (number, new) = lines.interned.truth(&stack);
            if let Some(truth) = new {
                lines.write_truth(number, truth)?;
            }
            Copied::Truth(number)
        }
    };
    lines.write_code(copy.pc)?;
    let proofs = looks.write(&copy.at, lines)?;
    lines.write(&RequestLine::Request(Request {
        layer: copy.requester.layer(),
        tid: copy.tid,
        from: copy.during.0,
        to: copy.during.1,
        stack,
        carried: copy.carried,
        pc: copy.pc,
        in_hook: is_in_hook(copy, lines),
        hook_ran: hook_ran(copy, lines),
        given_up: copy.requester == RecordedSampler::Execution && !copy.resumed,
        proofs,
    }))
}

/// Whether the thread was in the native method of a hook, or came back from it.
///
/// A thread that JFR's sampler up to JDK 25 has chosen waits on its way back from native code until the sampler is done
/// (`JfrThreadSampling::on_javathread_suspend`, `share/jfr/periodic/sampling/jfrThreadSampler.cpp`), and the sampler does not
/// walk it. Threads with native hooks come there often between the sampler's look at their state and its signal.
fn is_in_hook(copy: &Copy, lines: &Lines<'_>) -> bool {
    let left_java = copy.at.seen.filter(ThreadSnapshot::is_in_native);
    left_java.is_some_and(|seen| is_of_hooks(seen.last.pc, lines))
}

/// Whether compiled code of a hook ran, of which JFR up to JDK 24 cannot say anything at many instructions.
///
/// Its sampler needs a debug info record behind the program counter, and drops the sample where none follows
/// (`JfrGetCallTrace::find_top_frame`, `share/jfr/periodic/sampling/jfrCallTrace.cpp`). On 17 half of the requests in the compiled
/// code of hooks came to such instructions, and where methods are short, two of three requests come to hooks.
fn hook_ran(copy: &Copy, lines: &Lines<'_>) -> bool {
    const FIRST_WITHOUT: u32 = 25;
    let jvm = lines.layers.truth.jvm;
    let needs_record = copy.requester == RecordedSampler::Execution && jvm.feature < FIRST_WITHOUT;
    needs_record && is_of_hooks(copy.pc, lines)
}

/// Whether the code at `pc` is compiled from a method of the hooks.
fn is_of_hooks(pc: usize, lines: &Lines<'_>) -> bool {
    let method = method_at(lines.layers.truth.jvm, pc);
    method.is_some_and(|(class, _)| class.replace('.', "/") == HOOK_CLASS)
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
