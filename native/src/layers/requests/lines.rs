//! The lines of the file of requests.

use super::facts::facts;
use super::interning::Interned;
use crate::evidence;
use crate::jvm::jni::Env;
use crate::layers::context::Layers;
use oracle::record::CodeBytes;
use oracle::requests::{RequestLine, SeenCode};
use oracle::trace::MethodKey;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use vm::memory::kernel::peek_bytes;

/// How many bytes of code are shown.
const SHOWN: usize = 16;

/// The file that is being written.
pub struct Lines<'e> {
    /// All parts of the agent.
    pub layers: &'static Layers,
    /// The environment of the thread that writes.
    pub env: Env<'e>,
    /// What has a number.
    pub interned: Interned,
    file: BufWriter<&'e File>,
}

impl<'e> Lines<'e> {
    /// No line is written yet.
    pub fn new(layers: &'static Layers, env: Env<'e>, file: &'e File) -> Lines<'e> {
        Lines {
            layers,
            env,
            interned: Interned::default(),
            file: BufWriter::new(file),
        }
    }

    /// Writes a line.
    pub fn write(&mut self, line: &RequestLine) -> io::Result<()> {
        serde_json::to_writer(&mut self.file, line)?;
        self.file.write_all(b"\n")
    }

    /// Writes all lines so far to the disk.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    /// Writes the code at `pc`, if it is new.
    pub fn write_code(&mut self, pc: usize) -> io::Result<()> {
        if !self.interned.is_new_code(pc) {
            return Ok(());
        }
        let jvm = self.layers.truth.jvm;
        let kind = jvm.code_cache().ok().and_then(|cache| cache.kind(pc));
        let code = SeenCode {
            place: evidence::describe(jvm, pc),
            kind: kind.unwrap_or_default(),
            bytes: CodeBytes(peek_bytes(pc, SHOWN)).to_string(),
        };
        self.write(&RequestLine::Code(pc, code))
    }

    /// Writes the facts of all methods of all classes: any of them may be in a stack of the recording.
    pub fn write_methods(&mut self) -> io::Result<()> {
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
