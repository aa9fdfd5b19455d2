//! What was true at a request, together with what class files and debug info records say.

use crate::classes::Classes;
use crate::methods::NamedMethods;
use crate::truths::{OwnedTruth, TraceStack};
use hotspot::debug_info::{Around, Scope, judge_between};
use oracle::edge::Finding;
use oracle::judge::{AlsoClasses, Settled, TraceTruth, Truth};
use oracle::requests::{RecordedAround, RecordedScope};
use oracle::trace::{Frame, Location, MethodKey, Methods};
use std::collections::HashMap;

/// What is known of the instant of a request.
#[derive(Clone, Copy)]
pub struct Instant<'a> {
    /// What was true.
    pub truth: &'a OwnedTruth,
    /// The debug info records around the program counter, if that was in compiled code.
    pub records: Option<&'a RecordedAround>,
    /// Whether the walker is a profiler's: it may have taken the record at the program counter itself, and not the one behind
    /// it.
    pub of_profiler: bool,
    /// The methods that the records name.
    pub names: &'a HashMap<u32, MethodKey>,
    /// The class files, where they judge.
    pub classes: Option<&'a Classes>,
}

impl Instant<'_> {
    /// Lets `look` see the truth as a judge does.
    pub fn see<R>(&self, methods: &NamedMethods, look: impl FnOnce(&dyn Truth) -> R) -> R {
        match self.truth {
            OwnedTruth::Trace(stack) => self.see_trace(stack, methods, look),
            OwnedTruth::Steps(truth) => look(truth),
        }
    }

    fn see_trace<R>(
        &self,
        stack: &TraceStack,
        methods: &NamedMethods,
        look: impl FnOnce(&dyn Truth) -> R,
    ) -> R {
        let snapshot = stack.truth();
        let trace = TraceTruth::new(&snapshot, methods);
        let settled = Settled::always(&trace, |trace: &TraceTruth<'_, _>, walk: &[Frame]| {
            let found = trace.judge(walk);
            let between = || {
                let mut taken = self.taken(methods)?.into_iter();
                taken.find_map(|around| {
                    let of_hook = |hook| methods.of_hook(hook);
                    let judge = |walk: &[Frame]| trace.judge(walk);
                    let truth = Some(&snapshot);
                    judge_between(&around, methods, of_hook, found, walk, truth, judge)
                })
            };
            if found.is_mismatch() {
                between().unwrap_or(found)
            } else {
                found
            }
        });
        let findings =
            |stack: &[Frame]| -> Option<Vec<Finding>> { self.classes?.findings(stack, methods) };
        look(&AlsoClasses {
            truth: &settled,
            edges: &findings,
        })
    }

    /// The records that a walker may have taken for the frame: the one behind the program counter, as HotSpot does, or the
    /// one at the program counter, which async-profiler prefers (`NMethod::findScopeOffset`, vmStructs.cpp).
    fn taken(&self, methods: &NamedMethods) -> Option<Vec<Around>> {
        let records = self.records?;
        let scope = |&(name, bci): &RecordedScope| {
            let method = *self.names.get(&name)?;
            let hook = methods.hook(method, Location(bci));
            Some(Scope {
                method: method.0,
                hook: hook.map(|(hook, _)| hook),
                // The record at a method's entry has BCI -1 (`SynchronizationEntryBCI`). Profilers record it as 0.
                bci: if self.of_profiler { bci.max(0) } else { bci },
            })
        };
        let scopes = |scopes: &Vec<_>| scopes.iter().map(scope).collect::<Option<Vec<_>>>();
        let before = records.before.as_ref().and_then(scopes);
        let at = before.clone();
        let at = at.filter(|_| self.of_profiler && records.is_exact);
        let behind = Around {
            before: before.clone(),
            behind: scopes(&records.behind)?,
        };
        let at = at.map(|behind| Around { before, behind });
        Some([behind].into_iter().chain(at).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{Recorded, RequestsFile};
    use crate::truths::Truths;
    use oracle::Verdict;
    use oracle::recorded::RecordedTruth;
    use oracle::requests::MethodFacts;

    /// A method without an entry that a sampler shows at its handler for exceptions, above a caller whose entry is there.
    fn verdict(records: Option<&RecordedAround>, of_profiler: bool) -> Verdict {
        let facts = |name: &str, hook, code: &str| MethodFacts {
            class: "a/B".into(),
            name: name.into(),
            descriptor: "()V".into(),
            hook: Some(hook),
            code: code.into(),
            ..MethodFacts::default()
        };
        // At 0 the entry is there, at 2 a handler begins, at 4 the exit hook has run.
        let methods = [(0, facts("top", 5, "D.F.B")), (1, facts("caller", 6, "d"))];
        let mut methods = NamedMethods::new(&methods.into());
        let trace = RecordedTruth {
            entries: vec![6],
            ..RecordedTruth::default()
        };
        let mut file = RequestsFile::default();
        file.truths.insert(0, Recorded::Trace(trace));
        let names = HashMap::from([(9, methods.key("a/B", "top", "()V"))]);
        let mut truths = Truths::new(&file, &names);
        let instant = Instant {
            truth: truths.get(0, &methods).expect("its methods are there"),
            records,
            of_profiler,
            names: &names,
            classes: None,
        };
        let keys = [0, 1].map(|number| methods.numbered(number).expect("it has a key"));
        let frame = |method, bci| Frame {
            method,
            location: Location(bci),
        };
        let walk = [frame(keys[0], 2), frame(keys[1], 0)];
        instant.see(&methods, |truth| truth.judge(&walk).verdict)
    }

    #[test]
    fn a_stack_of_the_record_behind_is_imprecise() {
        let records = |before, behind| RecordedAround {
            is_exact: true,
            before: Some(vec![(9, before)]),
            behind: vec![(9, behind)],
        };
        assert_eq!(verdict(None, false), Verdict::Wrong);
        assert_eq!(verdict(Some(&records(4, 2)), false), Verdict::Imprecise);
        assert_eq!(
            verdict(Some(&records(4, 0)), true),
            Verdict::Wrong,
            "another record behind"
        );
    }
}
