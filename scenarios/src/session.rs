//! The whole job: program after program, and a report after each.

use crate::jdk::Jdk;
use crate::launch::{Kit, Launch};
use crate::scenario::{Program, Scenario, Start, layers_of};
use crate::{Error, collect, interrupt, store, watch};
use oracle::Layer;
use oracle::report::{self, Exit, LayerCounts, Report, Run, SCHEMA, Skipped};
use oracle::tally::Tally;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is going on, for those who watch.
#[derive(Debug)]
pub enum Event<'a> {
    /// A program starts.
    Starts {
        /// Its place, from 1.
        at: usize,
        /// How many there are.
        of: usize,
        /// Its name.
        name: &'a str,
    },
    /// A program goes on.
    Runs {
        /// Since when.
        elapsed: Duration,
        /// What its layers have counted.
        tallies: &'a [(Layer, Tally)],
    },
    /// A program has ended.
    Ended {
        /// What came of it.
        run: &'a Run,
    },
    /// A program is left out.
    Skips {
        /// Its name.
        name: &'a str,
        /// Why.
        why: &'a str,
    },
}

/// A job about to be done.
#[derive(Debug)]
pub struct Session {
    scenario: Scenario,
    jdk: Jdk,
    out: PathBuf,
    seed: u64,
}

impl Session {
    /// A job with its folder, which is made if absent.
    pub fn new(scenario: Scenario, jdk: Jdk, out: &Path, seed: u64) -> Result<Session, Error> {
        let usable = || -> std::io::Result<PathBuf> {
            fs::create_dir_all(out)?;
            // Told before a JVM runs for minutes, not after.
            tempfile::tempfile_in(out)?;
            out.canonicalize()
        };
        let out = usable().map_err(|source| Error::Out {
            path: out.into(),
            source,
        })?;
        Ok(Session {
            scenario,
            jdk,
            out,
            seed,
        })
    }

    /// Where the results go.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// Runs everything; the report is on disk when this returns, and after each run.
    pub fn run(&self, watcher: &mut dyn FnMut(Event)) -> Result<Report, Error> {
        let kit = Kit::new(&self.out)?;
        let mut report = self.empty_report();
        let programs = &self.scenario.programs;
        for (at, program) in programs.iter().enumerate() {
            if interrupt::noted().is_some() {
                break;
            }
            if let Some(why) = self.lacks(program) {
                watcher(Event::Skips {
                    name: &program.name,
                    why: &why,
                });
                report.skipped.push(Skipped {
                    scenario: program.name.clone(),
                    why,
                });
                continue;
            }
            watcher(Event::Starts {
                at: at + 1,
                of: programs.len(),
                name: &program.name,
            });
            let useless = self.run_one(&kit, at, program, &mut report, watcher)?;
            report.layers = report::sum_layers(&report.runs);
            store::write_report(&self.out, &report)?;
            watcher(Event::Ended {
                run: &report.runs[report.runs.len() - 1],
            });
            if useless {
                break;
            }
        }
        report.complete = report.runs.len() + report.skipped.len() == programs.len()
            && !report.runs.iter().any(|run| run.exit == Exit::Interrupted);
        store::write_report(&self.out, &report)?;
        Ok(report)
    }

    fn empty_report(&self) -> Report {
        Report {
            schema: SCHEMA,
            jdk: report::Jdk {
                home: self.jdk.home().display().to_string(),
                version: self.jdk.version().unwrap_or_default().into(),
                ..Default::default()
            },
            complete: false,
            runs: vec![],
            layers: vec![],
            mismatches: vec![],
            budget: self.scenario.budget.clone(),
            required: self.scenario.required.clone(),
            skipped: vec![],
        }
    }

    /// Why a program cannot run here, if it cannot.
    fn lacks(&self, program: &Program) -> Option<String> {
        let compiles = matches!(program.start, Start::Javac { .. });
        (compiles && !self.jdk.has_module("jdk.compiler"))
            .then(|| "this runtime has no compiler (module jdk.compiler)".into())
    }

    /// Returns whether further runs would be of no use.
    fn run_one(
        &self,
        kit: &Kit,
        at: usize,
        program: &Program,
        report: &mut Report,
        watcher: &mut dyn FnMut(Event),
    ) -> Result<bool, Error> {
        let name = format!("runs/{:02}-{}", at + 1, program.name);
        let dir = self.out.join(&name);
        let seed = self.seed.wrapping_add(at as u64);
        let mut launch = Launch::new(kit, &self.jdk, program, &self.scenario.sampling, seed, &dir)?;
        let layers = layers_of(program.hooks);
        let foreground = matches!(program.start, Start::Java(_));

        let start = Instant::now();
        let exit = match watch::spawn(&mut launch.command) {
            Ok(mut child) => {
                watch::wait(&mut child, program.deadline, foreground, &mut |elapsed| {
                    let tallies = collect::tallies(&dir, layers);
                    watcher(Event::Runs {
                        elapsed,
                        tallies: &tallies,
                    });
                })
            }
            Err(e) => Exit::NotStarted(e.to_string()),
        };
        let wall_s = start.elapsed().as_secs_f64();

        let records = collect::records(&dir);
        let counted = collect::tallies(&dir, layers);
        let told = records.started.as_ref().map(|started| report::Jdk {
            home: started.home.clone(),
            vendor: started.vendor.clone(),
            version: started.version.clone(),
            vm: started.vm.clone(),
        });
        if let Some(jdk) = &told {
            report.jdk = jdk.clone();
        }
        let without_asgct = records
            .started
            .as_ref()
            .is_some_and(|started| !started.asgct);
        let invalid = invalid(&exit, &records, program);
        report
            .mismatches
            .extend(records.mismatches.into_iter().map(|mut mismatch| {
                mismatch.evidence.insert("run".into(), name.clone());
                mismatch
            }));
        report.runs.push(Run {
            scenario: program.name.clone(),
            java_args: launch.java_args,
            seed,
            exit,
            wall_s,
            layers: counted
                .iter()
                .map(|(layer, tally)| LayerCounts::new(*layer, tally))
                .collect(),
            rewriting: records.rewriting,
            invalid,
            dir: name,
            jdk: told,
            axes: Default::default(),
            notes: records.notes,
        });
        Ok(without_asgct)
    }
}

/// Why a run is worthless, if it is.
fn invalid(exit: &Exit, records: &collect::Records, program: &Program) -> Option<String> {
    if let Exit::NotStarted(why) = exit {
        return Some(format!("java could not be started: {why}"));
    }
    if let Some(why) = &records.invalid {
        return Some(format!("the agent gave up: {why}"));
    }
    let users = matches!(program.start, Start::Java(_));
    let see = if users { "above" } else { "in its stderr.txt" };
    match (&records.started, exit) {
        (Some(started), _) if !started.asgct => Some(format!(
            "{} has no AsyncGetCallTrace; choose a HotSpot JDK with --jdk",
            started.vm
        )),
        (None, Exit::Code(code)) => Some(format!(
            "the program did not start: java ended with {code}; see its message {see}"
        )),
        (Some(_), &Exit::Code(code)) if code != 0 => {
            if users && records.rewriting.application_classes > 0 {
                // Its exit code is its own business.
                return None;
            }
            Some(match users {
                true => format!(
                    "the program did not start: java ended with {code}; see its message above"
                ),
                false => format!("the program failed: java ended with {code}; see its stderr.txt"),
            })
        }
        _ => None,
    }
}
