//! The lines of the file of requests. Truths and methods have numbers, so that each is written once, methods with what the
//! judges after the run need to know of them.

use super::early_names::EarlyNames;
use crate::evidence;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::JMethodId;
use crate::layers::context::Layers;
use crate::truth::context::Truth;
use crate::truth::read_stack::ReadStack;
use classfile::instruction::fingerprint;
use hotspot::at_request::{RequestLine, RequestProofs};
use oracle::record::CodeBytes;
use oracle::recorded::RecordedTruth;
use oracle::requests::{MethodFacts, SeenCode, letter};
use oracle::trace::{Frame, Location, MethodKey, Methods, Site};
use std::collections::{HashMap, HashSet};
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
    early_names: EarlyNames,
    file: BufWriter<&'e File>,
}

impl<'e> Lines<'e> {
    /// No line is written yet.
    pub fn new(layers: &'static Layers, env: Env<'e>, file: &'e File) -> Lines<'e> {
        Lines {
            layers,
            env,
            interned: Interned::default(),
            early_names: EarlyNames::default(),
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

    /// Writes a truth, which is new, and looks up the names of its methods.
    pub fn write_truth(&mut self, number: u32, truth: RecordedTruth) -> io::Result<()> {
        let key = |number| self.interned.key(number);
        self.early_names
            .add(&truth, self.layers.truth, self.env, key);
        self.write(&RequestLine::Truth(number, truth))
    }

    /// Writes what was seen at a request, if it is new, and returns its number.
    pub fn write_proofs(&mut self, proofs: RequestProofs) -> io::Result<u32> {
        let text = serde_json::to_string(&proofs)?;
        let (number, is_new) = self.interned.proofs(text);
        if is_new {
            self.write(&RequestLine::Proofs(number, proofs))?;
        }
        Ok(number)
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
        let (mut numbers, mut hooks) = (HashSet::new(), HashSet::new());
        for (key, number) in known {
            if let Some(facts) = facts(truth, env, key) {
                numbers.insert(number);
                hooks.extend(facts.hook);
                self.write(&RequestLine::Method(number, facts))?;
            }
        }
        self.write_gone(&numbers, &hooks)
    }

    /// Writes the names of the methods of truths that are gone: those without one of these numbers or hooks.
    fn write_gone(&mut self, numbers: &HashSet<u32>, hooks: &HashSet<u32>) -> io::Result<()> {
        let (numbered, hooked) = std::mem::take(&mut self.early_names).gone(numbers, hooks);
        for (number, facts) in numbered {
            self.write(&RequestLine::Method(number, facts))?;
        }
        // These have no number of their own yet.
        let next = self.interned.methods.len() as u32;
        for (number, facts) in (next..).zip(hooked) {
            self.write(&RequestLine::Method(number, facts))?;
        }
        Ok(())
    }
}

/// The largest number of truths that are remembered. Behind it they are written once more.
const MOST: usize = 1 << 17;

/// The truths and methods that have a number.
#[derive(Default)]
pub struct Interned {
    methods: HashMap<MethodKey, u32>,
    /// The methods, by number.
    keys: Vec<MethodKey>,
    /// Truths, as words.
    truths: HashMap<Box<[u32]>, u32>,
    next: u32,
    /// Program counters.
    codes: HashSet<usize>,
    /// What was seen at requests, as text.
    proofs: HashMap<String, u32>,
    next_proofs: u32,
}

impl Interned {
    /// The number of a method.
    pub fn method(&mut self, key: MethodKey) -> u32 {
        let next = self.methods.len() as u32;
        let number = *self.methods.entry(key).or_insert(next);
        if number == next {
            self.keys.push(key);
        }
        number
    }

    /// The method that has a number.
    pub fn key(&self, number: u32) -> Option<MethodKey> {
        self.keys.get(number as usize).copied()
    }

    /// All methods so far.
    pub fn methods(&self) -> impl Iterator<Item = (MethodKey, u32)> {
        self.methods.iter().map(|(&key, &number)| (key, number))
    }

    /// Whether the code at a program counter is to be written: it was not written before, and not too much was.
    pub fn is_new_code(&mut self, pc: usize) -> bool {
        self.codes.len() < MOST && self.codes.insert(pc)
    }

    /// The number of what was seen at a request, as `text`, and whether it is new.
    pub fn proofs(&mut self, text: String) -> (u32, bool) {
        if let Some(&number) = self.proofs.get(&text) {
            return (number, false);
        }
        if self.proofs.len() >= MOST {
            self.proofs.clear();
        }
        let number = self.next_proofs;
        self.next_proofs += 1;
        self.proofs.insert(text, number);
        (number, true)
    }

    /// The number of the truth of a copied trace stack, and the truth if it is new.
    pub fn truth(&mut self, stack: &ReadStack<'_>) -> (u32, Option<RecordedTruth>) {
        let truth = stack.truth();
        let mut words = vec![truth.entries.len() as u32, truth.checked_entries as u32];
        words.extend(truth.entries.iter().map(|hook| hook.0));
        let mut checked = Vec::with_capacity(truth.checked.len());
        for &Frame { method, location } in truth.checked {
            let number = self.method(method) + 1;
            words.extend([number, location.0 as u32]);
            checked.push((number, location.0));
        }
        let leaving = truth.leaving.iter();
        let leaving: Vec<_> = leaving.map(|left| (left.upto, left.count)).collect();
        for &(upto, count) in &leaving {
            words.extend([upto as u32, count as u32]);
        }
        if let Some(&number) = self.truths.get(&words[..]) {
            return (number, None);
        }
        if self.truths.len() >= MOST {
            self.truths.clear();
        }
        let number = self.next;
        self.next += 1;
        self.truths.insert(words.into(), number);
        let recorded = RecordedTruth {
            entries: truth.entries.iter().map(|hook| hook.0).collect(),
            checked,
            checked_entries: truth.checked_entries,
            leaving,
        };
        (number, Some(recorded))
    }
}

/// The facts of a method; `None` if the method is gone.
pub fn facts(truth: &Truth, env: Env<'_>, key: MethodKey) -> Option<MethodFacts> {
    let methods = &truth.methods;
    let (class, name, descriptor) = methods.full_name(env, key)?;
    let is_native = methods.site(key, Location::NATIVE) == Site::Native;
    let length = if is_native {
        0
    } else {
        methods.bytecodes(key, <[u8]>::len).unwrap_or(0)
    };
    let at = |bci: usize| {
        let location = Location(bci as i32);
        let site = methods.site(key, location);
        let presence = match site {
            Site::NoInstruction => None,
            _ => methods.hook(key, location).map(|(_, presence)| presence),
        };
        letter(site, presence)
    };
    let lines = truth.jvm.jvmti.line_numbers(JMethodId(key.0));
    let line =
        |(bci, line): (i64, i32)| Some((u32::try_from(bci).ok()?, u32::try_from(line).ok()?));
    Some(MethodFacts {
        class,
        name,
        descriptor,
        hook: methods.hook(key, Location(0)).map(|(hook, _)| hook.0),
        code: (0..length).map(at).collect(),
        fingerprint: if methods.was_redefined(key) {
            None
        } else {
            methods.bytecodes(key, fingerprint)
        },
        is_native,
        is_hook_call: methods.is_hook_call(key),
        by_vm: methods.may_be_called_by_vm(key),
        is_gone: false,
        lines: lines
            .unwrap_or_default()
            .into_iter()
            .filter_map(line)
            .collect(),
    })
}

/// Where requests come from.
pub trait Source {
    /// Writes what is to be said before the first request.
    fn begin(&mut self, _: &mut Lines<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Writes the requests since the last call. Returns how many there were.
    fn write_new(&mut self, lines: &mut Lines<'_>) -> io::Result<usize>;

    /// The program has ended: writes what is left.
    fn end(&mut self, lines: &mut Lines<'_>) -> io::Result<()>;
}
