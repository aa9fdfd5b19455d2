//! The requests of a run by the code that ran at them.

use crate::file::RequestsFile;
use oracle::record::CodeCounts;
use oracle::requests::Request;
use oracle::{Judgement, Layer};
use recordings::samples::TimedSample;
use std::collections::{BTreeMap, HashSet};

/// The requests so far.
pub struct ByCode<'f> {
    file: &'f RequestsFile,
    counts: BTreeMap<(Layer, &'f str), CodeCounts>,
    seen: HashSet<(Layer, usize)>,
}

impl<'f> ByCode<'f> {
    /// No request yet.
    pub fn new(file: &'f RequestsFile) -> ByCode<'f> {
        ByCode {
            file,
            counts: BTreeMap::new(),
            seen: HashSet::new(),
        }
    }

    /// Counts the event of `request`, or that it has none, if the kind of the code there is known.
    pub fn add(
        &mut self,
        layer: Layer,
        request: &Request,
        sample: Option<&TimedSample>,
        judgement: &Judgement,
    ) {
        let code = self.file.codes.get(&request.pc);
        let Some(kind) = code.map(|code| &*code.kind).filter(|kind| !kind.is_empty()) else {
            return;
        };
        let counts = self.counts.entry((layer, kind)).or_default();
        counts.instructions += u64::from(self.seen.insert((layer, request.pc)));
        let verdicts = if sample.is_some_and(|sample| sample.biased) {
            &mut counts.biased
        } else {
            &mut counts.verdicts
        };
        let verdict = judgement.verdict.name().to_owned();
        *verdicts.entry(verdict).or_default() += 1;
    }

    /// The requests of one layer, by kind of code.
    pub fn of(&self, layer: Layer) -> BTreeMap<String, CodeCounts> {
        let counts = self.counts.iter();
        let of_layer = counts.filter(|((of, _), _)| *of == layer);
        of_layer
            .map(|((_, kind), counts)| ((*kind).to_owned(), counts.clone()))
            .collect()
    }
}
