//! Edges between frames that lack a descriptor or a bytecode index, because the file's format has
//! none. Such an edge is possible if any methods of these names can follow each other at any place.

use super::names::{Named, Names};
use oracle::edge::{EdgeFrame, Finding, Judge, MethodId, Unknown};
use oracle::trace::Location;
use std::collections::HashMap;

/// A caller, as far as a file names the caller.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Hash)]
pub struct Spot {
    /// The caller's method.
    pub method: Named,
    /// The caller's location, if the file has it.
    pub location: Option<Location>,
}

/// Findings, kept for the next stack.
#[derive(Debug, Default)]
pub struct Loose {
    edges: HashMap<(Spot, Named), Finding>,
    methods: HashMap<Named, Vec<MethodId>>,
}

impl Loose {
    /// Whether `caller` can have called `callee`: the best finding over all methods for which the
    /// two can stand.
    pub fn edge(
        &mut self,
        judge: &mut Judge,
        names: &Names,
        caller: Spot,
        callee: Named,
    ) -> Finding {
        if let Some(&finding) = self.edges.get(&(caller, callee)) {
            return finding;
        }
        let callers = self.methods(judge, names, caller.method);
        let callees = self.methods(judge, names, callee);
        let finding = best(judge, &callers, caller.location, &callees);
        self.edges.insert((caller, callee), finding);
        finding
    }

    fn methods(&mut self, judge: &mut Judge, names: &Names, method: Named) -> Vec<MethodId> {
        let known = self.methods.entry(method).or_insert_with(|| match method {
            Named::Known(method) => vec![method],
            Named::Loose(at) => {
                let (class, name) = names.loose(at);
                judge
                    .world_mut()
                    .declared(class.as_bytes(), name.as_bytes())
            }
        });
        known.clone()
    }
}

fn best(
    judge: &mut Judge,
    callers: &[MethodId],
    location: Option<Location>,
    callees: &[MethodId],
) -> Finding {
    // Methods of classes that are not there, or that were made at run time.
    let mut best = None;
    for &caller in callers {
        let locations = match location {
            Some(location) => vec![location],
            None => judge.world().locations(caller),
        };
        for location in locations {
            let caller = EdgeFrame {
                method: caller,
                location,
            };
            for &callee in callees {
                let finding = judge.edge(caller, callee);
                best = Some(best.map_or(finding, |best: Finding| best.or(finding)));
                if matches!(finding, Finding::Possible(_)) {
                    return finding;
                }
            }
        }
    }
    best.unwrap_or(Finding::Unknown(match callers {
        [] => Unknown::CallerMethod,
        _ => Unknown::TopClass,
    }))
}
