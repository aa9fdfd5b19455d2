//! Writes the input of the judges to files, which tests judge again without a JVM (see
//! [`oracle::recorded`]). A developer's option.

mod instant;
mod methods;

use crate::evidence::{self, Found, Reporter, Seen};
use crate::jvm::jni::Env;
use crate::locks::lock;
use crate::sampling::sample::Sample;
use crate::truth::context::Truth as Known;
use crate::truth::methods::registry::Registry;
use hotspot::proofs::RecordedSample;
use methods::Named;
use oracle::edge::Finding;
use oracle::mutants::Sight;
use oracle::recorded::{RecordedJudgement, RecordedTruth, SAMPLES_FILE};
use oracle::trace::{Frame, Truth};
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
            sight,
            seen,
            ..
        } = found;
        if frames(walk, sight) > MOST_FRAMES {
            return;
        }
        let (cause, proofs) = if judgement.differs() {
            let (cause, proofs) = reporter.explain(env, found);
            (cause, Some(proofs))
        } else {
            (None, None)
        };
        let sample = match seen {
            Seen::InSignal(sample) => Some(sample),
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
        let mut recorded = RecordedSample {
            layer: layer.name().into(),
            walk: named.frames(walk),
            proofs,
            judged,
            ..start(known)
        };
        let mut references = vec![];
        self.add_sight(walk, sight, (&mut named, &mut recorded), &mut references);
        recorded.is_doubtful = known.methods.is_doubtful(walk, &references);
        recorded.instant = sample.map(|sample| instant::of(known, sample, walk, &mut named));
        (recorded.methods, recorded.hook_names) = named.end();
        self.write(&recorded);
    }

    /// Adds the judge's input besides the walk, and the stacks with which the walk was compared.
    fn add_sight<'a>(
        &self,
        walk: &[Frame],
        sight: &Sight<'a, Registry>,
        (named, recorded): (&mut Named<'_>, &mut RecordedSample),
        references: &mut Vec<&'a [Frame]>,
    ) {
        match sight {
            Sight::Truth(truth, _) => {
                references.push(truth.checked);
                recorded.truth = Some(of_truth(named, truth));
            }
            Sight::Truths {
                truth,
                carrier,
                boundary,
                ..
            } => {
                references.push(truth.checked);
                references.extend(carrier.map(|carrier| carrier.checked));
                recorded.truth = Some(of_truth(named, truth));
                recorded.carrier = carrier.map(|carrier| of_truth(named, carrier));
                recorded.boundary = boundary(walk);
            }
            Sight::SameInstant {
                reference,
                carrier,
                boundary,
                ..
            } => {
                references.push(*reference);
                recorded.reference = Some(named.frames(reference));
                recorded.is_carried = carrier.is_some();
                recorded.carrier = carrier.map(|carrier| of_truth(named, carrier));
                recorded.boundary = boundary(walk);
            }
            Sight::Later(later, edges) => {
                references.push(later.stack);
                recorded.reference = Some(named.frames(later.stack));
                recorded.reference_edges = later.found.map(of_findings);
                recorded.edges = edges(walk).as_deref().map(of_findings);
            }
            // Steps are not recorded, and neither are stacks of lines.
            Sight::Steps(_) | Sight::Elements(_) => {}
            Sight::Edges(edges) => recorded.edges = edges(walk).as_deref().map(of_findings),
            Sight::AlsoClasses(sight, edges) => {
                recorded.edges = edges(walk).as_deref().map(of_findings);
                self.add_sight(walk, sight, (named, recorded), references);
                let checked = references.first().copied().unwrap_or_default();
                let checked: Vec<_> = checked.iter().rev().copied().collect();
                recorded.reference_edges = edges(&checked).as_deref().map(of_findings);
            }
        }
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

/// The length of the longest stack.
fn frames(walk: &[Frame], sight: &Sight<'_, Registry>) -> usize {
    let of_truth = |truth: &Truth<'_>| truth.entries.len().max(truth.checked.len());
    let known = match sight {
        Sight::Truth(truth, _) => of_truth(truth),
        Sight::Truths { truth, carrier, .. } => of_truth(truth).max(carrier.map_or(0, of_truth)),
        Sight::SameInstant { reference, .. } => reference.len(),
        Sight::Later(later, _) => later.stack.len(),
        Sight::Edges(_) => 0,
        Sight::Steps(truth) => truth.callers.len(),
        Sight::Elements(truth) => truth.len(),
        Sight::AlsoClasses(sight, _) => frames(walk, sight),
    };
    known.max(walk.len())
}

fn of_truth(named: &mut Named<'_>, truth: &Truth<'_>) -> RecordedTruth {
    RecordedTruth {
        entries: truth.entries.iter().map(|&hook| named.hook(hook)).collect(),
        checked: named.frames(truth.checked),
        checked_entries: truth.checked_entries,
        leaving: truth.leaving.iter().map(|l| (l.upto, l.count)).collect(),
    }
}

fn of_findings(findings: &[Finding]) -> Vec<String> {
    findings
        .iter()
        .map(|&finding| finding.name().into())
        .collect()
}
