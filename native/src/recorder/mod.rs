//! Writes the input of the judges to files, which tests judge again without a JVM (see
//! [`oracle::recorded`]). A developer's option.

mod instant;
mod methods;

use crate::evidence::{self, Found, Reporter, Sampled};
use crate::jvm::jni::Env;
use crate::locks::lock;
use crate::sampling::sample::Sample;
use crate::truth::context::Truth as Known;
use hotspot::proofs::RecordedSample;
use methods::Named;
use oracle::edge::Finding;
use oracle::judge::Stack;
use oracle::recorded::{RecordedJudgement, RecordedTruth, SAMPLES_FILE};
use oracle::trace::TraceSnapshot;
use oracle::{Layer, Verdict};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

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
        recorded.instant = sample.map(|sample| instant::of(known, sample, walk, &mut named));
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
                instant: Some(instant::of(known, sample, &[], &mut named)),
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
    let code = sample.map(|sample| evidence::code_of(known.jvm, sample.registers.pc));
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
