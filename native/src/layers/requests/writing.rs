//! Writes the requests of the JVM's own samplers to a file, on a thread of its own.

use super::facts::facts;
use super::interning::Interned;
use super::pinning::JfrClock;
use crate::evidence;
use crate::jvm::attached::AttachedThread;
use crate::jvm::jni::Env;
use crate::jvm::os::peek::peek_bytes;
use crate::jvm::os::requests::pool::Reader;
use crate::jvm::os::requests::wrapping::{Asking, wrap};
use crate::layers::context::Layers;
use crate::sampling::requests::{self, Copy};
use crate::truth::read_stack::ReadStack;
use oracle::When;
use oracle::record::CodeBytes;
use oracle::requests::{Copied, REQUESTS_FILE, Request, RequestLine, SeenCode};
use oracle::trace::MethodKey;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::thread;
use std::time::{Duration, Instant};

/// How long the thread rests if there is nothing to write.
const REST: Duration = Duration::from_millis(1);

/// How many bytes of code are shown.
const SHOWN: usize = 16;

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

/// Starts to copy and to write, if a layer of the run needs it. The thread's work runs within `guard`. In the live
/// phase.
pub fn start(layers: &'static Layers, guard: fn(&mut dyn FnMut())) -> Result<(), String> {
    let asked: Vec<Asking> = [Asking::Suspension, Asking::CpuTime]
        .into_iter()
        .filter(|&asking| {
            let layer = requests::layer(asking);
            layer.row().when == When::Request && layers.config.layers.contains(&layer)
        })
        .collect();
    if asked.is_empty() {
        return Ok(());
    }
    let io = |error| format!("the JVM's own requests cannot be written: {error}");
    let file = File::create(layers.config.run_dir.join(REQUESTS_FILE)).map_err(io)?;
    let mut reader = requests::make().map_err(io)?;
    let write = move |env: Env<'_>| {
        guard(&mut || {
            let mut writing = Writing::new(layers, env, &file);
            if let Err(error) = writing.run(&mut reader, &asked) {
                layers.records.invalid(io(error));
            }
        });
    };
    let vm = layers.truth.jvm.vm;
    WRITER
        .start(vm, c"Stackwitness requests", write)
        .map_err(io)
}

struct Writing<'e> {
    layers: &'static Layers,
    env: Env<'e>,
    file: BufWriter<&'e File>,
    interned: Interned,
    clock: Option<JfrClock<'e>>,
}

impl<'e> Writing<'e> {
    fn new(layers: &'static Layers, env: Env<'e>, file: &'e File) -> Writing<'e> {
        Writing {
            layers,
            env,
            file: BufWriter::new(file),
            interned: Interned::default(),
            clock: None,
        }
    }

    fn run(&mut self, reader: &mut Reader<Copy>, asked: &[Asking]) -> io::Result<()> {
        let mut next_pin = Instant::now();
        while self.layers.truth.jvm.is_live() {
            for &asking in asked {
                wrap(asking, requests::around)?;
            }
            let written = self.write_copies(reader)?;
            // JFR runs since the first request.
            if written > 0 && Instant::now() >= next_pin {
                self.write_pin()?;
                self.file.flush()?;
                next_pin = Instant::now() + PINNING;
            }
            if written == 0 {
                thread::sleep(REST);
            }
        }
        self.write_copies(reader)?;
        self.write_pin()?;
        self.write_methods()?;
        for &asking in asked {
            let lost = requests::lost(asking);
            self.write(&RequestLine::Lost(requests::layer(asking), lost))?;
        }
        self.write(&RequestLine::Ended)?;
        self.file.flush()
    }

    fn write(&mut self, line: &RequestLine) -> io::Result<()> {
        serde_json::to_writer(&mut self.file, line)?;
        self.file.write_all(b"\n")
    }

    fn write_copies(&mut self, reader: &mut Reader<Copy>) -> io::Result<usize> {
        let mut written = Ok(());
        let count = reader.read(|copy| {
            if written.is_ok() {
                written = self.write_copy(copy);
            }
        });
        written.map(|()| count)
    }

    fn write_copy(&mut self, copy: &Copy) -> io::Result<()> {
        let stack = match copy.copied {
            Err(cause) => Copied::Lost(cause),
            Ok(()) => {
                let stack = ReadStack::new(&copy.stack, &self.layers.truth.methods);
                let (number, new) = self.interned.truth(&stack);
                if let Some(truth) = new {
                    self.write(&RequestLine::Truth(number, truth))?;
                }
                Copied::Truth(number)
            }
        };
        if self.interned.is_new_code(copy.pc) {
            let code = SeenCode {
                place: evidence::describe(self.layers.truth.jvm, copy.pc),
                bytes: CodeBytes(peek_bytes(copy.pc, SHOWN)).to_string(),
            };
            self.write(&RequestLine::Code(copy.pc, code))?;
        }
        self.write(&RequestLine::Request(Request {
            layer: requests::layer(copy.asking),
            tid: copy.tid,
            from: copy.during.0,
            to: copy.during.1,
            stack,
            carried: copy.carried,
            pc: copy.pc,
        }))
    }

    fn write_pin(&mut self) -> io::Result<()> {
        if self.clock.is_none() {
            self.clock = JfrClock::find(self.env);
        }
        match self.clock.as_ref().and_then(JfrClock::pin) {
            Some(pin) => self.write(&RequestLine::Clock(pin)),
            None => Ok(()),
        }
    }

    /// Writes the facts of all methods of all classes: any of them may be in a stack of the recording.
    fn write_methods(&mut self) -> io::Result<()> {
        let (truth, env) = (self.layers.truth, self.env);
        let jvmti = truth.jvm.jvmti;
        for class in jvmti.loaded_classes(env).unwrap_or_default() {
            let methods = jvmti.create_method_ids(class.get());
            for method in methods.unwrap_or_default() {
                self.interned.method(MethodKey(method.0));
            }
        }
        let mut known: Vec<_> = self.interned.methods().collect();
        known.sort_by_key(|&(_, number)| number);
        for (key, number) in known {
            if let Some(facts) = facts(truth, env, key) {
                self.write(&RequestLine::Method(number, facts))?;
            }
        }
        Ok(())
    }
}
