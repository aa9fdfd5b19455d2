//! What was true at the requests of a run.

use crate::file::{Recorded, RequestsFile};
use crate::methods::NamedMethods;
use oracle::recorded::RecordedTruth;
use oracle::requests::{MethodName, RecordedStep, RecordedSteps};
use oracle::trace::{Frame, HookId, Leaving, Location, MethodKey, TraceSnapshot};
use oracle::{StepFrame, StepTop, StepTruth};
use std::collections::HashMap;

/// What was true at a request, as judges take it.
#[derive(Clone, Debug)]
pub enum OwnedTruth {
    /// The trace stack of hooked code.
    Trace(TraceStack),
    /// The calls and returns of a thread that runs one instruction at a time.
    Steps(StepTruth),
}

/// A trace stack.
#[derive(Clone, Debug, Default)]
pub struct TraceStack {
    entries: Vec<HookId>,
    checked: Vec<Frame>,
    checked_entries: usize,
    leaving: Vec<Leaving>,
}

impl OwnedTruth {
    /// The hooked methods that ran, the lowest first; `None` if no class was rewritten.
    pub fn entries(&self) -> Option<&[HookId]> {
        match self {
            OwnedTruth::Trace(stack) => Some(&stack.entries),
            OwnedTruth::Steps(_) => None,
        }
    }

    /// How many frames of Java the thread had at least.
    pub fn depth(&self) -> usize {
        match self {
            OwnedTruth::Trace(stack) => {
                let ended: usize = stack.leaving.iter().map(|leaving| leaving.count).sum();
                let above = stack.entries.len().saturating_sub(stack.checked_entries);
                (stack.checked.len() + above).saturating_sub(ended)
            }
            OwnedTruth::Steps(truth) => truth.callers.len(),
        }
    }

    /// Whether no method ran, as far as is known.
    pub fn is_empty(&self) -> bool {
        match self {
            OwnedTruth::Trace(stack) => stack.entries.is_empty() && stack.checked.is_empty(),
            OwnedTruth::Steps(_) => false,
        }
    }
}

impl TraceStack {
    /// The trace stack of these records; `None` if one of its methods is gone.
    fn new(recorded: &RecordedTruth, methods: &NamedMethods) -> Option<TraceStack> {
        let hook = |&hook: &u32| methods.standing(hook);
        let frame = |&(number, location): &(u32, i32)| {
            Some(Frame {
                method: methods.numbered(number.checked_sub(1)?)?,
                location: Location(location),
            })
        };
        let leaving = |&(upto, count): &(usize, usize)| Leaving { upto, count };
        Some(TraceStack {
            entries: recorded.entries.iter().map(hook).collect::<Option<_>>()?,
            checked: recorded.checked.iter().map(frame).collect::<Option<_>>()?,
            checked_entries: recorded.checked_entries,
            leaving: recorded.leaving.iter().map(leaving).collect(),
        })
    }

    /// As judges take it.
    pub fn truth(&self) -> TraceSnapshot<'_> {
        TraceSnapshot {
            entries: &self.entries,
            checked: &self.checked,
            checked_entries: self.checked_entries,
            leaving: &self.leaving,
        }
    }
}

/// The methods that truths by steps and debug info records name, by their numbers.
pub fn names(file: &RequestsFile, methods: &mut NamedMethods) -> HashMap<u32, MethodKey> {
    let names = file.names.iter();
    let key = |(&number, name): (&u32, &MethodName)| {
        let key = methods.key(&name.class, &name.name, &name.descriptor);
        (number, key)
    };
    names.map(key).collect()
}

/// The truths of a run, each made at its first use.
pub struct Truths<'f> {
    file: &'f RequestsFile,
    names: &'f HashMap<u32, MethodKey>,
    made: HashMap<u32, Option<OwnedTruth>>,
}

impl<'f> Truths<'f> {
    /// None is made yet. `names` are those of `file`.
    pub fn new(file: &'f RequestsFile, names: &'f HashMap<u32, MethodKey>) -> Truths<'f> {
        Truths {
            file,
            names,
            made: HashMap::new(),
        }
    }

    /// The truth of this number; `None` if it is not in the file, or one of its methods is gone.
    pub fn get(&mut self, number: u32, methods: &NamedMethods) -> Option<&OwnedTruth> {
        let Truths { file, names, made } = self;
        let make = || match file.truths.get(&number)? {
            Recorded::Trace(recorded) => TraceStack::new(recorded, methods).map(OwnedTruth::Trace),
            Recorded::Steps(recorded) => steps(recorded, names).map(OwnedTruth::Steps),
        };
        made.entry(number).or_insert_with(make).as_ref()
    }
}

/// The truth of these records; `None` if a name is missing.
fn steps(recorded: &RecordedSteps, names: &HashMap<u32, MethodKey>) -> Option<StepTruth> {
    let frame = |&(number, location): &RecordedStep| {
        Some(StepFrame {
            method: *names.get(&number)?,
            location: location.map(Location),
        })
    };
    let frames = |frames: &[RecordedStep]| frames.iter().map(frame).collect::<Option<Vec<_>>>();
    let top = |(top, is_certain): &(Vec<RecordedStep>, bool)| {
        Some(StepTop {
            frames: frames(top)?,
            is_certain: *is_certain,
        })
    };
    Some(StepTruth {
        tops: recorded.tops.iter().map(top).collect::<Option<_>>()?,
        callers: frames(&recorded.callers)?,
    })
}
