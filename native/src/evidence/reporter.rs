//! Counts mismatches by kind, and writes some of them with their evidence. The search for causes has a limited share of the time.

use super::instant_facts::InstantFacts;
use super::kinds::{Kinds, Reservoirs};
use super::proofs::{Sampled, Stacks};
use super::{code, shown};
use crate::edges::EdgeJudge;
use crate::jvm::jni::Env;
use crate::jvm::os::clock;
use crate::records::Records;
use crate::records::instants::MismatchKind;
use crate::truth::classes::rewriting::HOOK_CLASS;
use crate::truth::context::Truth as Known;
use crate::truth::methods::registry::Registry;
use hotspot::arch::Native;
use hotspot::case::Case;
use hotspot::causes::Cause;
use hotspot::proofs::Proofs;
use hotspot::runtime::place;
use oracle::judge::{Stack, Truth};
use oracle::record::{CauseName, Config, Evidence, Kept, Mismatch, Record};
use oracle::trace::{Frame, Methods, Presence, Site};
use oracle::{Judgement, Layer, Reason, Verdict};
use std::cell::LazyCell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// A judged walk.
#[derive(Copy, Clone)]
pub struct Found<'a> {
    /// The layer.
    pub layer: Layer,
    /// The judgement.
    pub judgement: Judgement,
    /// Kernel id of the thread.
    pub tid: i32,
    /// The walker's answer, top first.
    pub walk: &'a [Frame],
    /// The truth with which the walk was compared.
    pub truth: &'a dyn Truth,
    /// How the stack was sampled.
    pub seen: Sampled<'a>,
    /// The judge by class files, where they are kept.
    pub edges: Option<&'a EdgeJudge>,
}

/// Counts all mismatches by kind, and keeps a uniform sample of each layer, verdict and cause.
pub struct Reporter {
    /// The methods that reports show.
    pub truth: &'static Known,
    records: &'static Records,
    kinds: Kinds,
    kept: Reservoirs,
    looks: Share,
}

impl Reporter {
    /// Counts and keeps mismatches as `config` says.
    pub fn new(truth: &'static Known, records: &'static Records, config: &Config) -> Reporter {
        Reporter {
            truth,
            records,
            kinds: Kinds::default(),
            kept: Reservoirs::new(config.sampling.evidence_limit, config.seed),
            looks: Share::default(),
        }
    }

    /// Counts a mismatch by kind, and writes it if it is kept. The caller counts the check. `env`
    /// is the calling thread's. Returns the kind and the place.
    pub fn report(
        &self,
        env: Env<'_>,
        found: Found<'_>,
        evidence: impl FnOnce() -> Evidence,
    ) -> (MismatchKind, String) {
        let Found {
            layer, judgement, ..
        } = found;
        let (facts, cause) = self.search(env, found);
        let kind = (layer, judgement.verdict, cause);
        let place = self.place(env, found);
        self.count(kind, &place);
        if let Some(index) = self.kept.place(kind) {
            let facts = facts.unwrap_or_else(|| self.look(env, found));
            self.write(env, found, (cause, index), &facts, evidence());
        }
        (kind, place)
    }

    /// The name of the cause, and the look that has shown the cause, if one was needed.
    fn search<'f>(
        &'f self,
        env: Env<'_>,
        found: Found<'f>,
    ) -> (Option<InstantFacts<'f>>, Option<&'static str>) {
        let name = |facts: &InstantFacts<'_>| Some(self.cause_of(env, found, facts)?.name);
        // Imprecise stacks are many. The judge has read the debug info: the reason alone shows the cause.
        if found.judgement.verdict == Verdict::Imprecise {
            return (None, name(&InstantFacts::none(self.truth.jvm)));
        }
        let facts = self.looks.take(|| {
            let facts = self.look(env, found);
            let name = name(&facts);
            (Some(facts), name)
        });
        facts.unwrap_or((None, Some(CauseName::NOT_LOOKED_AT)))
    }

    /// Counts a mismatch at `place`.
    pub fn count(&self, kind: MismatchKind, place: &str) {
        self.kinds.add(kind, place);
    }

    /// Writes the counts of the kinds that have changed since the last call.
    pub fn write_counts(&self) {
        let changed = self.kinds.take_changed();
        if !changed.is_empty() {
            self.records.write(&Record::Kinds(changed));
        }
    }

    /// The index of another mismatch in the sample of its kind, if the mismatch is kept.
    pub fn kept(&self, kind: MismatchKind) -> Option<u32> {
        self.kept.place(kind)
    }

    /// Writes `found`, which has no cause, at the index `place` of its sample. The mismatch is not
    /// counted.
    pub fn keep(&self, env: Env<'_>, found: Found<'_>, place: u32, evidence: Evidence) {
        let facts = self.look(env, found);
        self.write(env, found, (None, place), &facts, evidence);
    }

    fn write(
        &self,
        env: Env<'_>,
        found: Found<'_>,
        (cause, place): (Option<&'static str>, u32),
        facts: &InstantFacts<'_>,
        mut evidence: Evidence,
    ) {
        facts.add_to(&mut evidence);
        let methods = &self.truth.methods;
        let mismatch = Mismatch {
            layer: found.layer,
            verdict: found.judgement.verdict,
            reason: found.judgement.reason.to_string(),
            thread: thread_name(found.tid),
            at_frame: found.judgement.at_frame,
            cause: cause.map(CauseName::new),
            walker: found.walk.iter().map(|f| methods.show(env, f)).collect(),
            truth: shown::truth(methods, env, &found.truth.stacks()),
            evidence,
        };
        let place = Some(place);
        let kept = Kept { place, mismatch };
        self.records.write(&Record::Mismatch(Box::new(kept)));
    }

    /// The cause of a mismatch, if a stack that was sampled in this way can have a cause; and the
    /// proofs on which the cause rests.
    pub fn explain(&self, env: Env<'_>, found: Found<'_>) -> (Option<&'static Cause>, Proofs) {
        let facts = self.look(env, found);
        (self.cause_of(env, found, &facts), facts.proofs)
    }

    fn cause_of(
        &self,
        env: Env<'_>,
        found: Found<'_>,
        facts: &InstantFacts<'_>,
    ) -> Option<&'static Cause> {
        if let Sampled::Plainly = found.seen {
            return None;
        }
        let methods = &self.truth.methods;
        let name = |frame: &Frame| methods.name(env, frame.method);
        let at = found.judgement.at_frame.and_then(|at| found.walk.get(at));
        let (at, lowest) = (at.map(name), found.walk.last().map(name));
        let true_lowest = shown::lowest(methods, env, &found.truth.stacks());
        let is_imprecise = found.judgement.verdict == Verdict::Imprecise;
        Some(Cause::of::<Native>(Case {
            verdict: found.judgement.verdict,
            reason: found.judgement.reason,
            at: at.as_deref(),
            lowest: lowest.as_deref(),
            true_lowest: true_lowest.as_deref(),
            is_hook_alone: is_imprecise && is_hook_alone(methods, env, found),
            proofs: &facts.proofs,
            instant: facts.instant(),
        }))
    }

    fn look<'f>(&'f self, env: Env<'_>, found: Found<'f>) -> InstantFacts<'f> {
        let methods = &self.truth.methods;
        let dotted = |frame: &Frame| methods.dotted(env, frame.method);
        // A frame whose hook has not run is in no trace stack.
        let of_hooks = is_of_hooks(&found.truth.stacks());
        let may_be_true = |&at: &usize| {
            let presence = methods.presence(found.walk, at);
            !of_hooks || !matches!(presence, Some((_, Presence::Absent | Presence::Pushing)))
        };
        let walked = LazyCell::new(|| {
            let frames = (0..found.walk.len()).filter(may_be_true);
            frames.map(|at| dotted(&found.walk[at])).collect::<Vec<_>>()
        });
        let by_class_files = matches!(found.judgement.reason, Reason::Edge(_));
        let true_ones = LazyCell::new(|| shown::names(methods, env, &found.truth.stacks()));
        let stacks = Stacks {
            walk: &|at| {
                let frame = found.walk.get(at)?;
                Some((dotted(frame)?, frame.location.0))
            },
            at: found.judgement.at_frame,
            is_top_at_call: found
                .walk
                .first()
                .is_some_and(|top| methods.site(top.method, top.location) == Site::Calls),
            is_lowest_named: &|| is_lowest_named(env, found),
            lacks: &|method| {
                // The VM is not asked for the names of old versions of redefined methods.
                let may_be =
                    |name: &Option<String>| name.as_deref().is_none_or(|name| name == method);
                let count = |names: &Vec<_>| names.iter().filter(|name| may_be(name)).count();
                // If class files judge, the missing frames are not known.
                let all = true_ones.as_ref().filter(|_| !by_class_files);
                let fewer = all.is_none_or(|all| count(all) > count(&walked));
                // A method without hooks is in no trace stack, whether it has a frame or not.
                fewer || (count(&walked) == 0 && is_unseen_by_hooks(methods, found, method))
            },
        };
        InstantFacts::collect(self.truth.jvm, env, found.seen, &stacks)
    }

    /// The place of a mismatch, as [`oracle::record::KindCount`] defines it.
    fn place(&self, env: Env<'_>, found: Found<'_>) -> String {
        let Found {
            walk, judgement, ..
        } = found;
        let at = match judgement.verdict {
            Verdict::Truncated => walk.last(),
            _ => walk.get(judgement.at_frame.unwrap_or(0)).or(walk.last()),
        };
        let compiled = match (judgement.verdict, found.seen) {
            (Verdict::Imprecise, Sampled::InSignal(sample)) => {
                code::method_at(self.truth.jvm, sample.at.registers.pc)
            }
            _ => None,
        };
        let of_frame = |frame: &Frame| self.truth.methods.class_and_name(env, frame.method);
        match compiled.or_else(|| of_frame(at?)) {
            Some((class, method)) => place(&class, &method),
            None => "unknown method".into(),
        }
    }
}

/// Whether the truth has all frames of the walk but the hooks at its top.
fn is_hook_alone(methods: &Registry, env: Env<'_>, found: Found<'_>) -> bool {
    let is_hook = |frame: &&Frame| {
        let named = methods.class_and_name(env, frame.method);
        named.is_some_and(|(class, _)| class == HOOK_CLASS)
    };
    let hooks = found.walk.iter().take_while(is_hook).count();
    hooks > 0 && found.truth.has_all_of(&found.walk[hooks..])
}

/// Whether class files show that the true caller of the walk's lowest frame names its method.
fn is_lowest_named(env: Env<'_>, found: Found<'_>) -> bool {
    let Some((edges, &lowest)) = found.edges.zip(found.walk.last()) else {
        return false;
    };
    let names = |&caller: &Frame| {
        let finding = edges.edge(env, caller, lowest);
        finding.is_some_and(|finding| finding.is_named())
    };
    let callers = shown::callers(&found.truth.stacks(), &lowest);
    !callers.is_empty() && callers.iter().all(names)
}

/// Whether a method, as `package.Class.name`, could not be in the truth, because the truth is of hooks and the method has
/// none.
fn is_unseen_by_hooks(methods: &Registry, found: Found<'_>, method: &str) -> bool {
    let named = method.rsplit_once('.');
    let is_hooked = named.is_none_or(|(class, name)| methods.named(class, name).is_some());
    is_of_hooks(&found.truth.stacks()) && !is_hooked
}

fn is_of_hooks(stacks: &[Stack<'_>]) -> bool {
    stacks.iter().all(|stack| matches!(stack, Stack::Trace(_)))
}

/// `tid (name)`, with the kernel's name for the thread.
fn thread_name(tid: i32) -> String {
    match std::fs::read_to_string(format!("/proc/self/task/{tid}/comm")) {
        Ok(name) => format!("{tid} ({})", name.trim_end()),
        Err(_) => tid.to_string(),
    }
}

/// The share of the time since the start that the search may take. If every check differs, most of
/// the time is left for checks.
const SHARE: f64 = 0.2;

/// The time that the search may take at once, in nanoseconds.
const AT_ONCE: f64 = 1e9;

/// The time that the search took so far, in nanoseconds, on all threads.
#[derive(Default)]
struct Share(AtomicU64);

impl Share {
    /// Calls `look`, unless the search has used its share.
    pub fn take<T>(&self, look: impl FnOnce() -> T) -> Option<T> {
        let start = clock::since_start();
        let taken = self.0.load(Relaxed) as f64;
        if taken > AT_ONCE + SHARE * start as f64 {
            return None;
        }
        let found = look();
        let took = clock::since_start().saturating_sub(start);
        self.0.fetch_add(took, Relaxed);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_end_when_their_share_is_taken() {
        let share = Share::default();
        assert_eq!(share.take(|| 7), Some(7));
        share.0.store(u64::MAX / 2, Relaxed);
        assert_eq!(share.take(|| 7), None);
    }
}
