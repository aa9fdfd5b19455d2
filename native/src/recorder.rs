//! Writes the input of the judges to files, which tests judge again without a JVM (see
//! [`oracle::recorded`]): stacks, the instant with its registers, words of the stack and code, and the methods by number, with
//! every answer about their hooks. A developer's option.

use crate::evidence::{self, Found, Reporter, Sampled};
use crate::jvm::code_cache::CodeCache;
use crate::jvm::jni::Env;
use crate::jvm::symbols;
use crate::locks::lock;
use crate::sampling::sample::Sample;
use crate::truth::context::Truth as Known;
use hotspot::arch::{Arch, Native, Registers};
use hotspot::code::{Blob, CodeMemory};
use hotspot::debug_info::Scope;
use hotspot::proofs::RecordedSample;
use oracle::edge::Finding;
use oracle::judge::Stack;
use oracle::recorded::{
    RecordedBlob, RecordedDebugInfo, RecordedFrame, RecordedInstant, RecordedJudgement,
    RecordedMethod, RecordedScope, RecordedTruth, RecordedWord, SAMPLES_FILE,
};
use oracle::trace::{Frame, HookId, Location, MethodKey, Methods, Presence, TraceSnapshot};
use oracle::{Layer, Verdict};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use vm::memory::kernel::peek_bytes;

/// The largest depth of a recorded stack, so that files stay small.
const MOST_FRAMES: usize = 120;

/// The file of samples, and the number of samples of each kind.
pub struct Recorder {
    file: File,
    limit: u32,
    written: Mutex<HashMap<String, u32>>,
}

impl Recorder {
    /// Opens the file in `folder`; `limit` samples of each kind will be written.
    pub fn open(folder: &Path, limit: u32) -> io::Result<Recorder> {
        let path = folder.join(SAMPLES_FILE);
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        let written = Mutex::default();
        Ok(Recorder {
            file,
            limit,
            written,
        })
    }

    /// Whether another sample of this kind may be written. If so, its place is reserved.
    fn wants(&self, kind: String) -> bool {
        let mut written = lock(&self.written);
        let of_kind = written.entry(kind).or_default();
        let wanted = *of_kind < self.limit;
        *of_kind += u32::from(wanted);
        wanted
    }

    fn write(&self, sample: &RecordedSample) {
        if let Ok(mut line) = serde_json::to_vec(sample) {
            line.push(b'\n');
            // A single write, so that lines of several threads do not mix (O_APPEND).
            _ = (&self.file).write_all(&line);
        }
    }

    /// Records a judged walk, unless there are enough walks of its kind.
    pub fn offer(&self, reporter: &Reporter, env: Env<'_>, found: Found<'_>) {
        let known = reporter.truth;
        let Found {
            layer,
            walk,
            judgement,
            truth,
            seen,
            ..
        } = found;
        let stacks = truth.stacks();
        let depths = stacks.iter().map(|stack| stack.depth());
        if depths.fold(walk.len(), usize::max) > MOST_FRAMES {
            return;
        }
        let (cause, proofs) = if judgement.differs() {
            let (cause, proofs) = reporter.explain(env, found);
            (cause, Some(proofs))
        } else {
            (None, None)
        };
        let sample = match seen {
            Sampled::InSignal(sample) => Some(sample),
            _ => None,
        };
        let judged = RecordedJudgement {
            verdict: judgement.verdict.name().into(),
            reason: judgement.reason.to_string(),
            at_frame: judgement.at_frame,
            cause: cause.map(|cause| cause.name.into()),
        };
        if !self.wants(kind(known, layer, &judged, sample)) {
            return;
        }
        let mut named = Named::new(known, env);
        let walked = named.frames(walk);
        let input = truth.input(walk);
        let of_findings =
            |findings: Vec<Finding>| findings.iter().map(|f| f.name().into()).collect();
        let mut recorded = RecordedSample {
            layer: layer.name().into(),
            walk: walked,
            truth: input.trace.map(|trace| of_trace(&mut named, trace)),
            is_carried: input.reference.is_some() && input.carrier.is_some(),
            carrier: input.carrier.map(|carrier| of_trace(&mut named, carrier)),
            boundary: input.boundary,
            reference: input.reference.map(|frames| named.frames(frames)),
            edges: input.edges.map(of_findings),
            reference_edges: input.reference_edges.map(of_findings),
            proofs,
            judged,
            ..start(known)
        };
        let references: Vec<_> = stacks.into_iter().map(Stack::walked).collect();
        recorded.is_doubtful = known.methods.is_doubtful(walk, &references);
        recorded.instant = sample.map(|sample| recorded_instant(known, sample, walk, &mut named));
        (recorded.methods, recorded.hook_names) = named.end();
        self.write(&recorded);
    }

    /// Records an error of the walker, as [`Recorder::offer`] records walks.
    pub fn offer_error(
        &self,
        reporter: &Reporter,
        env: Env<'_>,
        layer: Layer,
        code: i32,
        sample: &Sample,
    ) {
        let known = reporter.truth;
        let judged = RecordedJudgement {
            verdict: Verdict::Error(code).name().into(),
            reason: format!("the walker's code {code}"),
            ..RecordedJudgement::default()
        };
        if self.wants(kind(known, layer, &judged, Some(sample))) {
            let mut named = Named::new(known, env);
            self.write(&RecordedSample {
                layer: layer.name().into(),
                error: Some(code),
                instant: Some(recorded_instant(known, sample, &[], &mut named)),
                judged,
                ..start(known)
            });
        }
    }
}

fn start(known: &Known) -> RecordedSample {
    RecordedSample {
        jvm: known.jvm.jvmti.system_property(c"java.vm.version"),
        hooks: known.hooking.to_string(),
        ..RecordedSample::default()
    }
}

/// The kind of a sample. The number of samples of each kind is limited, so that rare kinds are
/// recorded too.
fn kind(
    known: &Known,
    layer: Layer,
    judged: &RecordedJudgement,
    sample: Option<&Sample>,
) -> String {
    let RecordedJudgement {
        verdict,
        reason,
        cause,
        ..
    } = judged;
    let code = sample.map(|sample| evidence::code_of(known.jvm, sample.at.registers.pc));
    format!("{layer} {verdict} {reason} {cause:?} {code:?}")
}

fn of_trace(named: &mut Named<'_>, trace: &TraceSnapshot<'_>) -> RecordedTruth {
    RecordedTruth {
        entries: trace.entries.iter().map(|&hook| named.hook(hook)).collect(),
        checked: named.frames(trace.checked),
        checked_entries: trace.checked_entries,
        leaving: trace.leaving.iter().map(|l| (l.upto, l.count)).collect(),
    }
}

/// This many bytes of code are kept before the program counter,
const BEFORE: usize = 32;

/// and this many from the program counter on.
const BEHIND: usize = 64;

/// This many words of the stack are kept.
const WORDS: usize = 256;

/// The pieces of code so far, by number.
struct Blobs<'a> {
    cache: Option<&'a CodeCache>,
    known: Vec<Blob>,
}

impl Blobs<'_> {
    fn at(&mut self, address: usize) -> Option<usize> {
        let blob = self.cache?.blob(address)?;
        let known = self.known.iter().position(|known| *known == blob);
        Some(known.unwrap_or_else(|| {
            self.known.push(blob);
            self.known.len() - 1
        }))
    }

    fn end(self) -> Vec<RecordedBlob> {
        let record = |blob: Blob| RecordedBlob {
            start: hex(blob.start),
            frame_words: self.cache.and_then(|cache| cache.frame_words(blob.start)),
            method: self.cache.and_then(|cache| cache.method(&blob)),
            name: blob.name,
            tier: blob.tier,
        };
        self.known.into_iter().map(record).collect()
    }
}

/// The instant of `sample`, whose walk was `walk`.
fn recorded_instant(
    known: &Known,
    sample: &Sample,
    walk: &[Frame],
    named: &mut Named<'_>,
) -> RecordedInstant {
    let Registers { pc, sp, fp, .. } = sample.at.registers;
    let mut blobs = Blobs {
        cache: known.jvm.code_cache().ok(),
        known: vec![],
    };
    let code = blobs.at(pc);
    let seen = sample.at.seen.as_ref();
    let pc_of_anchor = seen.map(|seen| seen.last.pc).filter(|&pc| pc != 0);
    RecordedInstant {
        pc: hex(pc),
        sp: hex(sp),
        fp: hex(fp),
        anchor: seen.map(|at| (at.state.name().into(), hex(at.last.sp), hex(at.last.pc))),
        code,
        library: code.is_none().then(|| symbols::library(pc)).flatten(),
        anchor_code: pc_of_anchor.and_then(|pc| blobs.at(pc)),
        bytes_before: hex_bytes(&peek_bytes(pc.saturating_sub(BEFORE), BEFORE)),
        bytes: hex_bytes(&peek_bytes(pc, BEHIND)),
        words: (0..WORDS)
            .map_while(|at| sample.at.stack_top.word(at))
            .map(|word| of_word(&mut blobs, word))
            .collect(),
        debug_info: debug_info(known, sample, walk, named),
        blobs: blobs.end(),
    }
}

fn of_word(blobs: &mut Blobs<'_>, word: usize) -> RecordedWord {
    let blob = blobs.at(word);
    let call = match blob {
        Some(_) => peek_bytes(word.saturating_sub(Native::CALL_SIZE), Native::CALL_SIZE),
        None => vec![],
    };
    let target = Native::call_target(&call, word);
    RecordedWord {
        v: hex(word),
        b: blob,
        call: hex_bytes(&call),
        calls: target.and_then(|target| blobs.at(target)),
    }
}

fn debug_info(
    known: &Known,
    sample: &Sample,
    walk: &[Frame],
    named: &mut Named<'_>,
) -> Option<RecordedDebugInfo> {
    let around = evidence::records_around(known.jvm, sample)?;
    let shown = |scope: &Scope| {
        let mut reported = around.behind.iter().zip(walk);
        let shown = reported.find(|(behind, _)| behind.method == scope.method);
        shown.map(|(_, frame)| frame.method)
    };
    let mut record = |scope: &Scope| {
        let by_hook = scope.hook.and_then(|hook| known.methods.key_of(hook));
        if let Some(method) = shown(scope) {
            named.scope(method, scope.bci);
        }
        RecordedScope {
            method: hex(scope.method),
            hook: scope.hook.map(|hook| hook.0),
            key: by_hook.map(|method| named.scope(method, scope.bci)),
            bci: scope.bci,
        }
    };
    Some(RecordedDebugInfo {
        before: around
            .before
            .as_ref()
            .map(|scopes| scopes.iter().map(&mut record).collect()),
        behind: around.behind.iter().map(&mut record).collect(),
    })
}

fn hex(value: usize) -> String {
    format!("{value:x}")
}

fn hex_bytes(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The methods that were recorded so far.
pub struct Named<'a> {
    known: &'a Known,
    env: Env<'a>,
    keys: Vec<MethodKey>,
    methods: Vec<RecordedMethod>,
    hooks: BTreeMap<u32, String>,
}

impl<'a> Named<'a> {
    /// No methods yet. `env` is the calling thread's.
    pub fn new(known: &'a Known, env: Env<'a>) -> Named<'a> {
        Named {
            known,
            env,
            keys: vec![],
            methods: vec![],
            hooks: BTreeMap::new(),
        }
    }

    /// The frames, with methods as numbers.
    pub fn frames(&mut self, frames: &[Frame]) -> Vec<RecordedFrame> {
        frames.iter().map(|&frame| self.frame(frame)).collect()
    }

    /// The frame, with its method as a number. Notes what the frame's location proves.
    pub fn frame(&mut self, frame: Frame) -> RecordedFrame {
        (self.method(frame), frame.location.0)
    }

    fn method(&mut self, frame: Frame) -> u32 {
        if frame.method.0 == 0 {
            return 0;
        }
        let known = self.keys.iter().position(|&key| key == frame.method);
        let place = known.unwrap_or_else(|| {
            let methods = &self.known.methods;
            self.keys.push(frame.method);
            self.methods.push(RecordedMethod {
                name: methods.show(self.env, &frame).method,
                is_hook_call: methods.is_hook_call(frame.method),
                ..RecordedMethod::default()
            });
            self.keys.len() - 1
        });
        let method = &mut self.methods[place];
        if let Some((hook, presence)) = self.known.methods.hook(frame.method, frame.location) {
            method.hook = Some(hook.0);
            let presence = name(presence).to_owned();
            method.presence.insert(frame.location.0, presence);
        }
        place as u32 + 1
    }

    /// The number of a hook. Notes its name.
    pub fn hook(&mut self, hook: HookId) -> u32 {
        let name = || self.known.methods.show_entry(hook).method;
        self.hooks.entry(hook.0).or_insert_with(name);
        hook.0
    }

    /// The number of the method of a hook, if a walk has shown the method. Notes what the locations
    /// prove that a judge may ask about.
    pub fn scope(&mut self, method: MethodKey, bci: i32) -> u32 {
        const INVOKESTATIC: i32 = 3;
        let at = |bci| Frame {
            method,
            location: Location(bci),
        };
        self.method(at(bci + INVOKESTATIC));
        self.method(at(bci))
    }

    /// All methods, and the names of the hooks whose methods are not among them.
    pub fn end(mut self) -> (Vec<RecordedMethod>, BTreeMap<u32, String>) {
        for hook in self.methods.iter().filter_map(|method| method.hook) {
            self.hooks.remove(&hook);
        }
        (self.methods, self.hooks)
    }
}

fn name(presence: Presence) -> &'static str {
    match presence {
        Presence::Absent => "absent",
        Presence::Pushing => "pushing",
        Presence::Present => "present",
        Presence::Popping => "popping",
        Presence::Catching => "catching",
        Presence::Unwinding => "unwinding",
        Presence::Unknown => "unknown",
    }
}
