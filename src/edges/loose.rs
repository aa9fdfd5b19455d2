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
        let mut callers = self.methods(judge, names, caller.method);
        let mut callees = self.methods(judge, names, callee);
        if callers.is_empty() {
            callers = stand_ins(judge, names, &[], caller.method);
        }
        let is_declared = !callees.is_empty();
        if !is_declared {
            callees = stand_ins(judge, names, &callers, callee);
        }
        let found = best(judge, &callers, caller.location, &callees);
        // Nothing is known of a callee whose class has no file.
        let finding = if is_declared || matches!(found, Finding::Possible(_)) {
            found
        } else {
            Finding::Unknown(Unknown::Method)
        };
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

/// Stands for a method without a descriptor that no class file declares.
fn stand_ins(
    judge: &mut Judge,
    names: &Names,
    callers: &[MethodId],
    method: Named,
) -> Vec<MethodId> {
    match method {
        Named::Known(method) => vec![method],
        Named::Loose(at) => {
            let (class, name) = names.loose(at);
            let world = judge.world_mut();
            world.stand_ins(callers, class.as_bytes(), name.as_bytes())
        }
    }
}

fn best(
    judge: &mut Judge,
    callers: &[MethodId],
    location: Option<Location>,
    callees: &[MethodId],
) -> Finding {
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
    best.unwrap_or(Finding::Unknown(Unknown::Method))
}
