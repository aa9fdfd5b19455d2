//! The instructions that threads have visited step by step, and what the walker answered there.

use crate::jvm::Jvm;
use crate::sampling::stepping::instant::Instant;
use crate::sampling::stepping::visits::Visit;
use hotspot::arch::{Arch, Native};
use hotspot::code::CodeMemory;
use hotspot::steps::Piece;
use hotspot::steps::instructions::{behind_branches, behind_visited, bytes_at, offsets};
use oracle::record::{Coverage, InstructionCounts, VisitedCode, Worst};
use oracle::{Judgement, Verdict};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufWriter, Write};
use std::path::Path;
use vm::memory::kernel::peek_bytes;

/// All visited code.
#[derive(Default)]
pub struct Visited(HashMap<Piece, Code>);

#[derive(Default)]
struct Code {
    /// Without the instructions.
    code: VisitedCode,
    /// The code of a compiled method before its stubs.
    bytes: Vec<u8>,
    /// The offsets of all its instructions.
    there: Option<Vec<u32>>,
    visited: BTreeMap<u32, Worst>,
    /// Whether a thread has run the method from its call to its return.
    has_ended: bool,
}

/// The offsets of instructions that were not visited.
struct Ways {
    /// Those that only a branch leads to which no thread has taken.
    behind_branches: BTreeSet<u32>,
    /// Of the rest those that follow a visited instruction that does not choose a way.
    behind_visited: BTreeSet<u32>,
}

impl Visited {
    /// Notes the verdict at an instant.
    pub fn add(&mut self, jvm: &Jvm, instant: &Instant, judgement: &Judgement) {
        let place = &instant.place;
        self.add_at(jvm, place.piece, place.pc, worst(judgement));
    }

    /// Notes what a thread did.
    pub fn note(&mut self, jvm: &Jvm, visit: Visit) {
        match visit {
            Visit::At(piece, pc) => self.add_at(jvm, piece, pc, Worst::Unverifiable),
            Visit::Ended(piece) => {
                if let Some(code) = self.0.get_mut(&piece) {
                    code.has_ended = true;
                }
            }
        }
    }

    fn add_at(&mut self, jvm: &Jvm, piece: Piece, pc: usize, worst: Worst) {
        let code = self
            .0
            .entry(piece)
            .or_insert_with(|| code(jvm, pc).unwrap_or_default());
        if let Ok(offset) = u32::try_from(pc.wrapping_sub(code.code.start)) {
            let known = code.visited.entry(offset).or_insert(worst);
            *known = worst.max(*known);
        }
    }

    /// The numbers of instructions, by the name of their code.
    pub fn counts(&self) -> BTreeMap<String, InstructionCounts> {
        let mut counts: BTreeMap<_, InstructionCounts> = BTreeMap::new();
        for piece in self.0.values() {
            let Code { code, visited, .. } = piece;
            let name = match code.tier {
                Some(tier) if code.name == "nmethod" => format!("nmethod tier {tier}"),
                _ => code.name.clone(),
            };
            let of_name = counts.entry(name).or_default();
            visited.values().for_each(|&worst| of_name.add(worst));
            if let Some(coverage) = piece.coverage() {
                of_name.add_method(coverage, piece.has_ended);
            }
        }
        counts
    }

    /// The numbers of instructions of compiled methods, by kind.
    pub fn kinds(&self) -> BTreeMap<String, InstructionCounts> {
        let mut counts: BTreeMap<_, InstructionCounts> = BTreeMap::new();
        for Code { bytes, visited, .. } in self.0.values() {
            for (&offset, &worst) in visited.range(..bytes.len() as u32) {
                let kind = Native::kind(&bytes_at(bytes, offset as usize));
                let kind = kind.unwrap_or("unknown");
                counts.entry(kind).or_default().add(worst);
            }
        }
        let named = counts.into_iter();
        named
            .map(|(kind, counts)| (kind.to_owned(), counts))
            .collect()
    }

    /// Writes all code with its instructions to the file at `path`, a line for each piece.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut file = BufWriter::new(std::fs::File::create(path)?);
        for code in self.0.values() {
            let visited = code.visited.iter().map(|(&offset, &worst)| (offset, worst));
            let ways = code.ways();
            let offsets = |of: &BTreeSet<u32>| of.iter().copied().collect();
            let line = VisitedCode {
                visited: visited.collect(),
                missed: code.missed(),
                behind_branches: ways.as_ref().map(|ways| offsets(&ways.behind_branches)),
                behind_visited: ways.as_ref().map(|ways| offsets(&ways.behind_visited)),
                has_ended: code.has_ended,
                ..code.code.clone()
            };
            serde_json::to_writer(&mut file, &line)?;
            file.write_all(b"\n")?;
        }
        file.flush()
    }
}

impl Code {
    /// The offsets of all instructions, and whether each was visited.
    fn visits(&self) -> Option<impl Iterator<Item = (u32, bool)>> {
        let there = self.there.as_ref()?.iter();
        Some(there.map(|&offset| (offset, self.visited.contains_key(&offset))))
    }

    fn coverage(&self) -> Option<Coverage> {
        let visited = self.visits()?.filter(|&(_, visited)| visited).count();
        let ways = self.ways()?;
        Some(Coverage {
            methods: 1,
            instructions: self.there.as_ref()?.len() as u64,
            visited: visited as u64,
            behind_branches: ways.behind_branches.len() as u64,
            behind_visited: ways.behind_visited.len() as u64,
        })
    }

    /// The instructions that were not visited, as far as the code shows why.
    fn ways(&self) -> Option<Ways> {
        let there = self.there.as_deref()?;
        let is_visited = |offset| self.visited.contains_key(&offset);
        let is_there = |at: &u32| there.binary_search(at).is_ok();
        let behind_branches: BTreeSet<u32> = behind_branches::<Native>(&self.bytes, is_visited)
            .into_iter()
            .filter(is_there)
            .collect();
        let behind_visited = behind_visited::<Native>(&self.bytes, is_visited)
            .into_iter()
            .filter(|at| is_there(at) && !behind_branches.contains(at))
            .collect();
        Some(Ways {
            behind_branches,
            behind_visited,
        })
    }

    /// The offsets of the instructions that were not visited.
    fn missed(&self) -> Option<Vec<u32>> {
        let missed = self.visits()?.filter(|&(_, visited)| !visited);
        Some(missed.map(|(offset, _)| offset).collect())
    }
}

fn worst(judgement: &Judgement) -> Worst {
    match judgement.verdict {
        Verdict::Match | Verdict::Window => Worst::Match,
        Verdict::Imprecise => Worst::Imprecise,
        Verdict::Error(_) => Worst::Error,
        Verdict::Truncated => Worst::Truncated,
        Verdict::Wrong => Worst::Wrong,
        Verdict::Unverifiable if judgement.is_flagged() => Worst::Flagged,
        Verdict::Unverifiable => Worst::Unverifiable,
    }
}

/// The code at `pc`, of which no instruction was visited.
fn code(jvm: &Jvm, pc: usize) -> Option<Code> {
    let cache = jvm.code_cache().ok()?;
    let blob = cache.blob(pc)?;
    let code = cache.code_of(blob.start)?;
    let stubs = jvm.step_facts.as_ref().ok()?.stubs(blob.start);
    let stubs = stubs.filter(|_| blob.is_nmethod());
    let stubs = stubs.and_then(|stubs| u32::try_from(stubs.checked_sub(code.start)?).ok());
    let bytes = peek_bytes(code.start, code.len());
    let before_stubs = stubs.and_then(|stubs| bytes.get(..stubs as usize));
    let code = VisitedCode {
        method: cache.method(&blob),
        name: blob.name,
        tier: blob.tier,
        start: code.start,
        stubs,
        code: bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        visited: vec![],
        missed: None,
        behind_branches: None,
        behind_visited: None,
        has_ended: false,
    };
    Some(Code {
        code,
        there: before_stubs.and_then(offsets::<Native>),
        bytes: before_stubs.unwrap_or_default().to_vec(),
        visited: BTreeMap::new(),
        has_ended: false,
    })
}
