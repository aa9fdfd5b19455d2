//! Writes the requests of the JVM's own samplers and of profilers to a file, on a thread of its own.

use super::copies::{Copies, JfrClock, pin_monotonic};
use super::lines::{Lines, Source};
use super::stepped::Stepped;
use crate::jvm::attached::AttachedThread;
use crate::jvm::jni::Env;
use crate::layers::context::Layers;
use hotspot::at_request::RequestLine;
use oracle::When;
use oracle::requests::REQUESTS_FILE;
use std::fs::File;
use std::time::{Duration, Instant};
use std::{io, thread};

/// How long the thread rests if there is nothing to write.
const REST: Duration = Duration::from_millis(1);

/// The interval between two readings of the clocks.
const PINNING: Duration = Duration::from_millis(250);

/// How long the VM's end waits for the last lines. The facts of all methods are among them.
const END: Duration = Duration::from_secs(60);

/// The thread that writes.
static WRITER: AttachedThread = AttachedThread::new(END);

/// Waits for the end of the file. After the live phase. Returns false if the end does not come in time.
pub fn finish() -> bool {
    WRITER.finish()
}

/// Starts to write, if a layer of the run needs it. The thread's work runs within `guard`. In the live phase.
pub fn start(layers: &'static Layers, guard: fn(&mut dyn FnMut())) -> Result<(), String> {
    let asked = layers.config.layers.iter().copied();
    let mut recorded = asked.filter(|layer| layer.is_recorded());
    let Some(first) = recorded.next() else {
        return Ok(());
    };
    let io = |error| format!("the JVM's own requests cannot be written: {error}");
    let file = File::create(layers.config.run_dir.join(REQUESTS_FILE)).map_err(io)?;
    // Steps wait for the JVM's handler, which the thread of the writer does.
    let copies = match first.row().when {
        When::Step => None,
        _ => Some(Copies::begin(layers).map_err(io)?),
    };
    let begin = move |copies: Option<Copies>| -> Result<Box<dyn Source>, String> {
        Ok(match copies {
            None => Box::new(Stepped::begin(layers, first)?),
            Some(copies) => Box::new(copies),
        })
    };
    let mut copies = Some(copies);
    let write = move |env: Env<'_>| {
        guard(&mut || {
            let lines = Lines::new(layers, env, &file);
            let Some(copies) = copies.take() else {
                return;
            };
            let done = begin(copies).and_then(|mut source| run(&mut *source, lines).map_err(io));
            if let Err(reason) = done {
                layers.records.invalid(reason);
            }
        });
    };
    let vm = layers.truth.jvm.vm;
    WRITER
        .start(vm, c"Stackwitness requests", write)
        .map_err(io)
}

fn run(source: &mut dyn Source, mut lines: Lines<'_>) -> io::Result<()> {
    let mut next_pin = Instant::now();
    let mut clock = None;
    let jvm = lines.layers.truth.jvm;
    // A profiler reads the JVM's clock only if it is the processor's counter. Otherwise its class may not be
    // initialised yet, and we leave that to the program.
    let has_clock = jvm.stamps_with_counter() || !lines.layers.config.has_profiler();
    source.begin(&mut lines)?;
    while jvm.is_live() {
        let written = source.write_new(&mut lines)?;
        // JFR runs since the first request.
        if written > 0 && Instant::now() >= next_pin {
            write_pin(&mut clock, has_clock, &mut lines)?;
            lines.flush()?;
            next_pin = Instant::now() + PINNING;
        }
        if written == 0 {
            thread::sleep(REST);
        }
    }
    source.end(&mut lines)?;
    write_pin(&mut clock, has_clock, &mut lines)?;
    lines.write_methods()?;
    if let Some(class_files) = &lines.layers.truth.class_files {
        class_files.flush()?;
    }
    lines.write(&RequestLine::Ended)?;
    lines.flush()
}

fn write_pin<'e>(
    clock: &mut Option<JfrClock<'e>>,
    has_clock: bool,
    lines: &mut Lines<'e>,
) -> io::Result<()> {
    if clock.is_none() && has_clock {
        *clock = JfrClock::find(lines.env);
    }
    if let Some(pin) = clock.as_ref().and_then(JfrClock::pin) {
        lines.write(&RequestLine::Clock(pin))?;
    }
    match pin_monotonic() {
        Some(pin) if lines.layers.config.has_profiler() => {
            lines.write(&RequestLine::Monotonic(pin))
        }
        _ => Ok(()),
    }
}
