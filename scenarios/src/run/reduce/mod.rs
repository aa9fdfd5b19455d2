//! From a mismatch to the smallest program that shows it.

mod search;
mod smaller;

use super::launch::Kit;
use super::origin::{self, Maker};
use super::session::{Event, Session};
use crate::Error;
use crate::jdk::Jdk;
use crate::plan::{Job, Plan};
use crate::process::interrupt;
use crate::scenario::{Program, Scenario};
use crate::store;
use oracle::gate::{Seen, SoughtKind};
use oracle::record::Mismatch;
use oracle::report::{self, Report};
use oracle::{Layer, TruthKind};
use search::{CONFIRMATIONS, smallest};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// What to reduce.
#[derive(Debug)]
pub struct Reduction {
    /// The kind of mismatch.
    pub kind: SoughtKind,
    /// Programs that may show it, the smallest first.
    pub programs: Vec<Program>,
    /// The JDKs: the program becomes smaller on the first one, and is tried on the others.
    pub jdks: Vec<Jdk>,
    /// The seed of the first run.
    pub seed: u64,
    /// No run of the search starts after this time. Each further JDK takes a few runs more.
    pub budget: Duration,
    /// The program and the command, for the report.
    pub maker: Maker,
}

/// A run of a reduction.
#[derive(Debug)]
pub struct Tried<'a> {
    /// The number of the run, from 1.
    pub number: usize,
    /// The program.
    pub program: &'a Program,
    /// Its JDK.
    pub jdk: &'a Jdk,
    /// How many mismatches of the kind the run has.
    pub count: u64,
}

/// What came of a reduction.
#[derive(Debug)]
pub struct Reduced {
    /// The smallest program, if the kind was seen again.
    pub found: Option<Found>,
    /// All runs.
    pub report: Report,
    /// How long it took.
    pub elapsed: Duration,
}

/// The smallest program that shows a kind of mismatch.
#[derive(Debug)]
pub struct Found {
    /// The program.
    pub program: Program,
    /// Its seed.
    pub seed: u64,
    /// Whether each of several runs, one after another, has shown it.
    pub is_confirmed: bool,
    /// How often it was seen, for each JDK.
    pub seen: Vec<Seen>,
    /// The mismatch with the shortest stacks.
    pub example: Option<Mismatch>,
}

impl Reduction {
    /// Runs one program after another. The report of all runs is below `out`.
    pub fn run(self, out: &Path, watcher: &mut dyn FnMut(&Tried<'_>)) -> Result<Reduced, Error> {
        let start = Instant::now();
        let mut runner = Runner::new(&self, out)?;
        let layers = self.layers();
        let jdk = &self.jdks[0];
        let found = smallest(&self.programs, &layers, self.seed, &mut |program, seed| {
            // A run that has begun ends by itself.
            if start.elapsed() > self.budget || interrupt::noted().is_some() {
                return Ok(None);
            }
            Ok(Some(runner.run(&self.kind, program, jdk, seed, watcher)?))
        })?;
        let found = match found {
            None => None,
            Some(smallest) => Some(self.seen(smallest, &mut runner, watcher)?),
        };
        Ok(Reduced {
            found,
            report: runner.finish(start.elapsed())?,
            elapsed: start.elapsed(),
        })
    }

    /// The layers in which the kind may show.
    fn layers(&self) -> Vec<Layer> {
        match self.kind.layer {
            Some(layer) => vec![layer],
            None => Layer::ALL.to_vec(),
        }
    }

    /// Counts how often each JDK shows the kind in the smallest program. The first JDK has run it already.
    fn seen(
        &self,
        found: search::Smallest,
        runner: &mut Runner,
        watcher: &mut dyn FnMut(&Tried<'_>),
    ) -> Result<Found, Error> {
        let (program, seed) = (&found.program, found.seed);
        for jdk in &self.jdks[1..] {
            for _ in 0..CONFIRMATIONS {
                if interrupt::noted().is_none() {
                    runner.run(&self.kind, program, jdk, seed, watcher)?;
                }
            }
        }
        let seen = self
            .jdks
            .iter()
            .map(|jdk| runner.seen(&self.kind, program, jdk));
        let seen = seen.collect();
        let example = runner.example(&self.kind, program, &self.jdks[0]);
        Ok(Found {
            seen,
            example,
            program: found.program,
            seed,
            is_confirmed: found.is_confirmed,
        })
    }
}

/// Runs programs, and keeps what they were.
struct Runner {
    session: Session,
    kit: Kit,
    report: Report,
    /// The program and the JDK of each run of the report.
    ran: Vec<(Program, Jdk)>,
    started: usize,
}

impl Runner {
    fn new(task: &Reduction, out: &Path) -> Result<Runner, Error> {
        let programs = task.programs.iter();
        let layers: BTreeSet<Layer> = programs.flat_map(Program::layers).collect();
        let plan = Plan {
            jobs: vec![],
            whole: 0,
            layers: layers.into_iter().collect(),
        };
        let scenario = Scenario::of_programs("reduce", task.programs.clone());
        let session = Session::new(scenario, plan, out)?.made_by(task.maker.clone());
        let (kit, report) = session.begin()?;
        Ok(Runner {
            session,
            kit,
            report,
            ran: vec![],
            started: 0,
        })
    }

    /// Runs a program. Returns how many mismatches of the kind it has.
    fn run(
        &mut self,
        kind: &SoughtKind,
        program: &Program,
        jdk: &Jdk,
        seed: u64,
        watcher: &mut dyn FnMut(&Tried<'_>),
    ) -> Result<u64, Error> {
        self.started += 1;
        let job = Job {
            number: self.started,
            program: program.clone(),
            jdk: jdk.clone(),
            axes: BTreeMap::new(),
            seed,
        };
        // Such a JDK has no runs, which the answer says.
        if job.lacks().is_some() {
            return Ok(0);
        }
        let quiet = &mut |_: Event<'_>| {};
        self.session
            .run_one(&self.kit, &job, &mut self.report, quiet)?;
        self.ran.push((program.clone(), jdk.clone()));
        let run = &self.report.runs[self.report.runs.len() - 1];
        let count = kind.count(&self.report, run).values().sum();
        watcher(&Tried {
            number: self.started,
            program,
            jdk,
            count,
        });
        Ok(count)
    }

    /// The runs of a program on a JDK.
    fn runs<'a>(&'a self, program: &Program, jdk: &Jdk) -> Vec<&'a report::Run> {
        let ran = self.report.runs.iter().zip(&self.ran);
        let of_both = ran.filter(|(_, (of, on))| of == program && on == jdk);
        of_both.map(|(run, _)| run).collect()
    }

    fn seen(&self, kind: &SoughtKind, program: &Program, jdk: &Jdk) -> Seen {
        let runs = self.runs(program, jdk);
        let known = runs.iter().find_map(|run| run.jdk.clone());
        let known = known.unwrap_or_else(|| report::Jdk {
            home: jdk.home().display().to_string(),
            version: jdk.version().unwrap_or_default().into(),
            ..report::Jdk::default()
        });
        Seen::of(kind, known, &self.report, &runs)
    }

    /// The mismatch with the shortest stacks, which is the easiest to read: one whose truth is of the same instant if there
    /// is any, else one with another stack.
    fn example(&self, kind: &SoughtKind, program: &Program, jdk: &Jdk) -> Option<Mismatch> {
        let dirs: BTreeSet<&String> = self.runs(program, jdk).iter().map(|run| &run.dir).collect();
        let of_runs = self.report.mismatches.iter().filter(|mismatch| {
            let run = mismatch.evidence.run.as_ref();
            kind.has(mismatch) && run.is_some_and(|run| dirs.contains(run))
        });
        let shortest = of_runs.min_by_key(|mismatch| {
            let frames = mismatch.walker.len() + mismatch.truth.len();
            let is_later = mismatch.layer.rests_on(TruthKind::Next);
            (mismatch.truth.is_empty(), is_later, frames)
        });
        shortest.cloned()
    }

    fn finish(mut self, elapsed: Duration) -> Result<Report, Error> {
        let origins = self.report.origins.iter_mut();
        origins.for_each(|origin| origin::end(origin, elapsed));
        self.report.layers = report::sum_layers(&self.report.runs);
        self.report.planned = self.report.runs.len();
        self.report.complete = interrupt::noted().is_none();
        store::write_report(self.session.out(), &self.report)?;
        Ok(self.report)
    }
}
