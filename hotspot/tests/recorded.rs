//! Real samples, judged again without a JVM: each sample must get the recorded verdict, frame and
//! cause.
//!
//! The files in `recorded/` were written by `stackwitness run --record-samples N`.

use hotspot::arch::{Arch, X86_64};
use hotspot::case::{Case, Instant};
use hotspot::causes::Cause;
use hotspot::code::{Blob, CodeKind, CodeMemory};
use hotspot::debug_info::{Around, Scope, judge_between};
use hotspot::proofs::RecordedSample;
use hotspot::return_address::{ReturnAddress, Word};
use oracle::edge::{Finding, Impossible, Possible, Unknown};
use oracle::judge::{
    AlsoClasses, ClassesTruth, Edged, HereTruth, MountedTruth, NextTruth, Settled, TraceTruth,
    Truth,
};
use oracle::recorded::{
    RecordedBlob, RecordedFrame, RecordedInstant, RecordedScope, RecordedTruth,
};
use oracle::trace::{
    Frame, HookId, Leaving, Location, MethodKey, Methods, Presence, Site, TraceSnapshot,
};
use oracle::{Judgement, Reason, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The number of bytes at the program counter that causes look at.
const BYTES: usize = 16;

/// `_thread_in_Java` of `JavaThreadState`.
const IN_JAVA: &str = "in Java";

fn samples() -> Vec<(String, RecordedSample)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let files = fs::read_dir(folder).expect("the folder of samples is there");
    let mut all = vec![];
    for file in files {
        let path = file.expect("the folder can be read").path();
        let name = path.file_name().expect("it is a file").to_string_lossy();
        let text = fs::read_to_string(&path).expect("the file can be read");
        for (line, sample) in text.lines().enumerate() {
            let place = format!("{name}:{}", line + 1);
            let sample = serde_json::from_str(sample);
            all.push((
                place.clone(),
                sample.unwrap_or_else(|e| panic!("{place}: {e}")),
            ));
        }
    }
    all
}

/// The judgement of a sample: verdict, first differing frame, cause.
#[derive(Debug, PartialEq)]
struct Said {
    verdict: String,
    at_frame: Option<usize>,
    cause: Option<String>,
}

#[test]
fn every_sample_gets_its_recorded_verdict_and_cause() {
    let mut different = vec![];
    for (place, sample) in samples() {
        let expected = Said {
            verdict: sample.judged.verdict.clone(),
            at_frame: sample.judged.at_frame,
            cause: sample.judged.cause.clone(),
        };
        let said = say(&sample);
        if said != expected {
            different.push(format!("{place}: {said:?}, expected {expected:?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn the_samples_have_every_verdict_many_causes_all_hooks_and_three_jdks() {
    let all = samples();
    assert!(all.len() >= 200, "{} samples are too few", all.len());
    let of = |tell: fn(&RecordedSample) -> String| -> BTreeSet<String> {
        all.iter().map(|(_, sample)| tell(sample)).collect()
    };
    let missing = |there: &BTreeSet<String>, wanted: &[&str]| -> Vec<String> {
        let wanted = wanted.iter().map(|name| name.to_string());
        wanted.filter(|name| !there.contains(name)).collect()
    };
    let verdicts = of(|sample| sample.judged.verdict.clone());
    let wanted = [
        "match",
        "window",
        "imprecise",
        "error",
        "truncated",
        "wrong",
        "unverifiable",
    ];
    assert_eq!(missing(&verdicts, &wanted), [""; 0]);
    // A new cause comes with samples of its own.
    let mut causes = of(|sample| sample.judged.cause.clone().unwrap_or_default());
    causes.remove("");
    assert!(causes.len() >= 10, "only these causes: {causes:?}");
    let hooks = of(|sample| sample.hooks.clone());
    assert_eq!(missing(&hooks, &["exact", "light", "none"]), [""; 0]);
    let jvms = of(|sample| sample.jvm.split('.').next().unwrap_or_default().into());
    assert_eq!(missing(&jvms, &["17", "21", "25"]), [""; 0]);
}

#[test]
fn no_two_causes_claim_one_sample() {
    let (mut claimed, mut by_two) = (0, vec![]);
    for (place, sample) in samples() {
        let judgement = judge(&sample);
        if !judgement.differs() || sample.layer == "gst" {
            continue;
        }
        let causes = with_case(&sample, judgement, Cause::all_of::<X86_64>);
        claimed += usize::from(!causes.is_empty());
        if causes.len() > 1 {
            let names: Vec<_> = causes.iter().map(|cause| cause.name).collect();
            by_two.push(format!("{place}: {}", names.join(", ")));
        }
    }
    assert_eq!(by_two, [""; 0]);
    assert!(claimed >= 100, "only {claimed} samples have a cause");
}

/// Judges a sample, from its record alone.
fn say(sample: &RecordedSample) -> Said {
    let judgement = judge(sample);
    let cause = judgement.differs().then(|| cause(sample, judgement));
    Said {
        verdict: judgement.verdict.name().into(),
        at_frame: judgement.at_frame,
        cause: cause.flatten(),
    }
}

/// As the layer of the sample judges.
fn judge(sample: &RecordedSample) -> Judgement {
    if let Some(code) = sample.error {
        return Judgement::plain(Verdict::Error(code), Reason::ErrorCode);
    }
    let (walk, methods) = (frames(&sample.walk), Answers(sample));
    let reference = sample.reference.as_deref().map(frames);
    let reference = || reference.as_deref().expect("recorded");
    let edges = |stack: &[Frame]| {
        let is_walk = stack == walk;
        findings(if is_walk {
            &sample.edges
        } else {
            &sample.reference_edges
        })
    };
    let enter_special = sample.boundary.map(|at| walk[at].method);
    let boundary = |walk: &[Frame]| walk.iter().position(|f| Some(f.method) == enter_special);
    with_traces(sample, |trace, carrier| match sample.layer.as_str() {
        "gst" => {
            let by_trace = TraceTruth::new(trace.expect("recorded"), &methods);
            let truth = &Settled::own_answers(&by_trace, |truth, walk| {
                unless_doubtful(sample, truth.judge(walk))
            });
            let edges = &edges;
            AlsoClasses { truth, edges }.judge(&walk)
        }
        "asgct-safepoint" => {
            // Some samples were recorded before carriers were judged.
            let unknown = TraceSnapshot::default();
            let truth = HereTruth {
                reference: reference(),
                carrier: carrier.or(sample.is_carried.then_some(&unknown)),
                methods: &methods,
                boundary: &boundary,
            };
            unless_doubtful(sample, truth.judge(&walk))
        }
        "asgct-async" => {
            let trace = trace.expect("recorded");
            let mounted = MountedTruth {
                trace,
                carrier,
                methods: &methods,
                boundary: &boundary,
            };
            let truth = &Settled::always(&mounted, |mounted, walk| {
                let judgement = mounted.judge(walk);
                let around = around(sample).filter(|_| judgement.is_mismatch());
                let again = around.and_then(|around| {
                    let whole = carrier.is_none().then_some(trace);
                    let key_of = |hook| methods.key_of(hook);
                    let judge = |walk: &[Frame]| mounted.judge(walk);
                    judge_between(&around, &methods, key_of, judgement, walk, whole, judge)
                });
                unless_doubtful(sample, again.unwrap_or(judgement))
            });
            let edges = &edges;
            AlsoClasses { truth, edges }.judge(&walk)
        }
        "asgct-gst" => {
            let found = findings(&sample.reference_edges);
            let truth = NextTruth {
                later: Edged::new(reference(), found.as_deref()),
                lacks_virtual: false,
                edges: &edges,
            };
            unless_doubtful(sample, truth.judge(&walk))
        }
        "call-edge" => ClassesTruth(&edges).judge(&walk),
        layer => panic!("no sample can be of layer {layer}"),
    })
}

/// Withdraws a mismatch of a walk of whose methods one was redefined or unloaded.
fn unless_doubtful(sample: &RecordedSample, judged: Judgement) -> Judgement {
    if judged.is_mismatch() && sample.is_doubtful {
        Judgement::plain(Verdict::Unverifiable, Reason::MethodGone)
    } else {
        judged
    }
}

/// The cause of a mismatch, for walks of AsyncGetCallTrace.
fn cause(sample: &RecordedSample, judgement: Judgement) -> Option<String> {
    let is_asgct = sample.layer != "gst";
    is_asgct.then(|| {
        with_case(sample, judgement, |case| {
            Cause::of::<X86_64>(case).name.into()
        })
    })
}

/// Calls `ask` with the case of a mismatch.
fn with_case<T>(
    sample: &RecordedSample,
    judgement: Judgement,
    ask: impl FnOnce(Case<'_>) -> T,
) -> T {
    let shown = |frame: &RecordedFrame| match frame.0 {
        0 => "no method id".to_owned(),
        place => sample.methods[place as usize - 1].name.clone(),
    };
    let walk: Vec<_> = sample.walk.iter().map(shown).collect();
    // The lowest frame of a trace stack: the carrier's lowest frame, if the sample has a carrier.
    let of_truth = |truth: &RecordedTruth| match truth.checked.first() {
        Some(lowest) => Some(shown(lowest)),
        None => truth
            .entries
            .first()
            .map(|hook| Answers(sample).name_of(*hook)),
    };
    let true_lowest = match (&sample.reference, &sample.truth) {
        (Some(reference), _) => reference.last().map(shown),
        (None, Some(truth)) => {
            let carrier = sample.carrier.as_ref().and_then(of_truth);
            carrier.or_else(|| of_truth(truth))
        }
        (None, None) => None,
    };
    let bytes = sample
        .instant
        .as_ref()
        .map(|at| bytes(&at.bytes))
        .unwrap_or_default();
    let proofs = sample.proofs.clone().unwrap_or_default();
    let case = Case {
        verdict: judgement.verdict,
        reason: judgement.reason,
        at: judgement
            .at_frame
            .and_then(|at| walk.get(at))
            .map(String::as_str),
        lowest: walk.last().map(String::as_str),
        true_lowest: true_lowest.as_deref(),
        is_hook_alone: is_hook_alone(sample, judgement, &walk),
        proofs: &proofs,
        instant: sample.instant.as_ref().map(|at| instant(at, &bytes)),
    };
    ask(case)
}

/// Whether the truth has all frames of an imprecise walk, with frames of these names, but the hooks at its top.
fn is_hook_alone(sample: &RecordedSample, judgement: Judgement, names: &[String]) -> bool {
    let is_hook = |name: &&String| name.starts_with("java.lang.StackwitnessTrace.");
    let hooks = names.iter().take_while(is_hook).count();
    let rest = &frames(&sample.walk)[hooks..];
    let truth = sample.truth.as_ref().filter(|_| sample.carrier.is_none());
    let is_all_true = |truth| {
        with_trace(truth, |truth| {
            TraceTruth::new(truth, &Answers(sample)).has_all_of(rest)
        })
    };
    judgement.verdict == Verdict::Imprecise && hooks > 0 && truth.is_some_and(is_all_true)
}

fn instant<'a>(recorded: &RecordedInstant, bytes: &'a [u8]) -> Instant<'a> {
    let code_at = |place: Option<usize>| match place {
        Some(place) => blob(&recorded.blobs[place]).kind(),
        None => CodeKind::Library,
    };
    let last_pc = recorded
        .anchor
        .as_ref()
        .map(|(_, _, last_pc)| address(last_pc));
    Instant {
        in_java: is_without_pc(recorded),
        code: code_at(recorded.code),
        anchor: last_pc
            .filter(|&pc| pc != 0)
            .map(|_| code_at(recorded.anchor_code)),
        bytes: &bytes[..bytes.len().min(BYTES)],
        return_address: return_address(recorded).unwrap_or(ReturnAddress::Usual),
    }
}

/// Whether the thread is in Java code, and no anchor has a program counter.
fn is_without_pc(recorded: &RecordedInstant) -> bool {
    let anchor = recorded.anchor.as_ref();
    anchor.is_some_and(|(state, _, last_pc)| state == IN_JAVA && address(last_pc) == 0)
}

fn return_address(recorded: &RecordedInstant) -> Option<ReturnAddress> {
    let running = &recorded.blobs[recorded.code.filter(|_| is_without_pc(recorded))?];
    let code = blob(running);
    if !code.is_nmethod() {
        return None;
    }
    let memory = Memory::of(recorded);
    let word = |at: usize| match recorded.words.get(at) {
        Some(word) => Word::of::<X86_64>(address(&word.v), &code, &memory),
        None => Word::Unknown,
    };
    let frame_words = running.frame_words?;
    Some(ReturnAddress::find::<X86_64>(
        frame_words,
        Word::Unknown,
        word,
    ))
}

/// The code that the words of a recorded stack point to.
struct Memory {
    blobs: BTreeMap<usize, Blob>,
    methods: BTreeMap<usize, String>,
    calls: BTreeMap<usize, Vec<u8>>,
}

impl Memory {
    fn of(recorded: &RecordedInstant) -> Memory {
        let (mut blobs, mut calls) = (BTreeMap::new(), BTreeMap::new());
        let methods = recorded.blobs.iter().filter_map(|blob| {
            let method = blob.method.clone()?;
            Some((address(&blob.start), method))
        });
        for word in &recorded.words {
            let (word, call, caller, called) =
                (address(&word.v), bytes(&word.call), word.b, word.calls);
            let target = X86_64::call_target(&call, word);
            for (at, place) in [(Some(word), caller), (target, called)] {
                if let (Some(at), Some(place)) = (at, place) {
                    blobs.insert(at, blob(&recorded.blobs[place]));
                }
            }
            calls.insert(word - X86_64::CALL_SIZE.min(word), call);
        }
        Memory {
            blobs,
            methods: methods.collect(),
            calls,
        }
    }
}

impl CodeMemory for Memory {
    fn blob(&self, address: usize) -> Option<Blob> {
        self.blobs.get(&address).cloned()
    }

    fn method(&self, code: &Blob) -> Option<String> {
        self.methods.get(&code.start).cloned()
    }

    fn bytes(&self, address: usize, _size: usize) -> Vec<u8> {
        self.calls.get(&address).cloned().unwrap_or_default()
    }
}

fn blob(recorded: &RecordedBlob) -> Blob {
    Blob {
        name: recorded.name.clone(),
        start: address(&recorded.start),
        tier: recorded.tier,
    }
}

/// The debug info records around the program counter, where the walk starts there.
fn around(sample: &RecordedSample) -> Option<Around> {
    let instant = sample.instant.as_ref()?;
    let (state, last_sp, _) = instant.anchor.as_ref()?;
    if state != IN_JAVA || address(last_sp) != 0 {
        return None;
    }
    let recorded = instant.debug_info.as_ref()?;
    let scope = |scope: &RecordedScope| Scope {
        method: address(&scope.method),
        hook: scope.hook.map(HookId),
        bci: scope.bci,
    };
    let scopes = |scopes: &Vec<RecordedScope>| scopes.iter().map(scope).collect();
    Some(Around {
        before: recorded.before.as_ref().map(scopes),
        behind: scopes(&recorded.behind),
    })
}

/// The recorded answers to questions about methods. A question without a recorded answer fails the
/// test.
struct Answers<'a>(&'a RecordedSample);

impl Answers<'_> {
    fn name_of(&self, hook: u32) -> String {
        let named = self.0.hook_names.get(&hook).cloned();
        let of_method = || {
            let method = self
                .0
                .methods
                .iter()
                .find(|method| method.hook == Some(hook));
            method.expect("each hook has a name").name.clone()
        };
        named.unwrap_or_else(of_method)
    }

    fn key_of(&self, hook: HookId) -> Option<MethodKey> {
        let debug_info = self.0.instant.as_ref()?.debug_info.as_ref()?;
        let scopes = debug_info.before.iter().flatten().chain(&debug_info.behind);
        let mut of_hook = scopes.filter(|scope| scope.hook == Some(hook.0));
        Some(MethodKey(of_hook.find_map(|scope| scope.key)? as usize))
    }
}

impl Methods for Answers<'_> {
    fn hook(&self, method: MethodKey, location: Location) -> Option<(HookId, Presence)> {
        let method = &self.0.methods[method.0.checked_sub(1)?];
        let hook = HookId(method.hook?);
        let presence = match method.presence.get(&location.0).map(String::as_str) {
            Some("absent") => Presence::Absent,
            Some("pushing") => Presence::Pushing,
            Some("present") => Presence::Present,
            Some("popping") => Presence::Popping,
            Some("catching") => Presence::Catching,
            Some("unwinding") => Presence::Unwinding,
            Some("unknown") => Presence::Unknown,
            other => panic!("{} at {}: recorded {other:?}", method.name, location.0),
        };
        Some((hook, presence))
    }

    fn is_hook_call(&self, method: MethodKey) -> bool {
        let place = method.0.checked_sub(1);
        place.is_some_and(|place| self.0.methods[place].is_hook_call)
    }

    fn is_constructor(&self, hook: HookId) -> bool {
        self.name_of(hook.0).contains(".<init>(")
    }

    /// The instructions at locations were not recorded.
    fn site(&self, _: MethodKey, _: Location) -> Site {
        Site::Unknown
    }
}

fn frames(recorded: &[RecordedFrame]) -> Vec<Frame> {
    let frame = |&(method, location): &RecordedFrame| Frame {
        method: MethodKey(method as usize),
        location: Location(location),
    };
    recorded.iter().map(frame).collect()
}

/// Lets `look` see the trace stacks of the thread and of its carrier, if they are recorded.
fn with_traces<T>(
    sample: &RecordedSample,
    look: impl FnOnce(Option<&TraceSnapshot<'_>>, Option<&TraceSnapshot<'_>>) -> T,
) -> T {
    match (&sample.truth, &sample.carrier) {
        (None, None) => look(None, None),
        (Some(trace), None) => with_trace(trace, |trace| look(Some(trace), None)),
        (None, Some(carrier)) => with_trace(carrier, |carrier| look(None, Some(carrier))),
        (Some(trace), Some(carrier)) => with_trace(trace, |trace| {
            with_trace(carrier, |carrier| look(Some(trace), Some(carrier)))
        }),
    }
}

fn with_trace<T>(recorded: &RecordedTruth, look: impl FnOnce(&TraceSnapshot<'_>) -> T) -> T {
    let entries: Vec<_> = recorded.entries.iter().copied().map(HookId).collect();
    let leaving = |&(upto, count): &(usize, usize)| Leaving { upto, count };
    look(&TraceSnapshot {
        entries: &entries,
        checked: &frames(&recorded.checked),
        checked_entries: recorded.checked_entries,
        leaving: &recorded.leaving.iter().map(leaving).collect::<Vec<_>>(),
    })
}

/// The findings of class files. The rule by which an edge is possible, and the reason for an
/// unknown edge, decide no verdict and were not recorded.
fn findings(recorded: &Option<Vec<String>>) -> Option<Vec<Finding>> {
    let finding = |name: &String| match name.as_str() {
        "possible" => Finding::Possible(Possible::Static),
        "unknown" => Finding::Unknown(Unknown::Receiver),
        name => {
            let known = Impossible::NAMES.iter().find(|(_, known)| *known == name);
            let (fault, _) = known.unwrap_or_else(|| panic!("unknown finding {name}"));
            Finding::Impossible(*fault)
        }
    };
    Some(recorded.as_ref()?.iter().map(finding).collect())
}

fn address(hex: &str) -> usize {
    usize::from_str_radix(hex, 16).expect("addresses are hexadecimal")
}

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("bytes are hexadecimal");
    (0..hex.len()).step_by(2).map(byte).collect()
}

/// How many samples have each verdict and cause, for people who select recorded samples.
#[test]
#[ignore = "prints, and judges nothing"]
fn counts() {
    let mut counts = BTreeMap::<_, u32>::new();
    for (_, sample) in samples() {
        let kind = (sample.layer, sample.judged.verdict, sample.judged.cause);
        *counts.entry(kind).or_default() += 1;
    }
    for ((layer, verdict, cause), count) in counts {
        println!("{count:5} {layer} {verdict} {}", cause.unwrap_or_default());
    }
}
