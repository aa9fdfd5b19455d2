//! A session: one JVM after another, and a report after each JVM.

use super::baseline;
use super::launch::{Kit, Launch, work};
use super::origin::{self, Maker};
use super::watch::{Ending, Watch};
use crate::Error;
use crate::collect::crash::{self, Crash};
use crate::collect::facts::Facts;
use crate::collect::records;
use crate::collect::request::Request;
use crate::plan::{Job, Plan};
use crate::process::{Process, interrupt};
use crate::scenario::Scenario;
use crate::store::{self, Folder};
use oracle::Layer;
use oracle::report::{self, Exit, Report, Run, SCHEMA, Skipped};
use oracle::tally::Tally;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// Progress of a session.
#[derive(Debug)]
pub enum Event<'a> {
    /// A program starts.
    Starts {
        /// The job's place among those that can run here, from 1.
        at: usize,
        /// The number of jobs.
        of: usize,
        /// The job.
        job: &'a Job,
    },
    /// A program is running.
    Runs {
        /// The time since the start.
        elapsed: Duration,
        /// The counts of the layers so far.
        tallies: &'a [(Layer, Tally)],
    },
    /// A program has ended, and runs again without the agent.
    RunsAlone,
    /// All work for a program is done.
    Ended {
        /// The result.
        run: &'a Run,
    },
    /// A program is skipped.
    Skips {
        /// The program and the reason.
        skipped: &'a Skipped,
    },
}

/// The result of a session.
#[derive(Debug)]
pub struct Done {
    /// The report, with all counts.
    pub report: Report,
    /// Why the report is not on disk, or why the session ended early.
    pub failure: Option<Error>,
}

impl Done {
    /// The report of a session in which nothing failed.
    pub fn whole(self) -> Result<Report, Error> {
        match self.failure {
            None => Ok(self.report),
            Some(failure) => Err(failure),
        }
    }
}

/// How often a program that hardly measured runs again.
const AGAIN: u32 = 3;

/// A session that has not started yet.
#[derive(Debug)]
pub struct Session {
    /// Tells the runs of this session from other runs in the same folder.
    id: String,
    scenario: Scenario,
    plan: Plan,
    out: Folder,
    maker: Maker,
}

impl Session {
    /// A session with its folder, which is made if absent.
    ///
    /// Fails if the folder cannot be written to, or if another process writes to it.
    pub fn new(scenario: Scenario, plan: Plan, out: &Path) -> Result<Session, Error> {
        Ok(Session {
            id: format!("{:016x}", rand::random::<u64>()),
            scenario,
            plan,
            out: Folder::take(out)?,
            maker: Maker::default(),
        })
    }

    /// The session, with the program and the command for its report.
    pub fn made_by(self, maker: Maker) -> Session {
        Session { maker, ..self }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The folder of the results.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// Runs everything. The report is on disk when this returns, and after each run.
    ///
    /// Fails if nothing could be run. Where a disk is full after a while, [`Done`] has what was
    /// counted until then.
    pub fn run(&self, watcher: &mut dyn FnMut(Event)) -> Result<Done, Error> {
        self.run_until(&|_| BTreeSet::new(), watcher)
    }

    /// As [`Session::run`], and then runs the programs that `hardly_measured` names again, each with other seeds and twice as long
    /// as before, at most three times. A shard has its own part of the programs, and runs none again.
    pub fn run_until(
        &self,
        hardly_measured: &dyn Fn(&Report) -> BTreeSet<String>,
        watcher: &mut dyn FnMut(Event),
    ) -> Result<Done, Error> {
        let start = Instant::now();
        let (kit, mut report) = self.begin()?;
        let (jobs, lacking) = self.plan.by_what_is_here();
        for (job, why) in lacking {
            let skipped = skipped(job, why);
            watcher(Event::Skips { skipped: &skipped });
            report.skipped.push(skipped);
        }
        let mut result = self.run_all(&kit, (start, &jobs), &mut report, watcher);
        let mut planned = self.plan.jobs.len();
        for round in 1..=AGAIN {
            let all_ran = report.runs.len() + report.skipped.len() == planned;
            if result.is_err() || !all_ran || self.plan.jobs.len() < self.plan.whole {
                break;
            }
            let names = hardly_measured(&report);
            if names.is_empty() {
                break;
            }
            let again = jobs.iter().filter(|job| names.contains(&job.title()));
            let again: Vec<Job> = again
                .zip(planned + 1..)
                .map(|(job, number)| Job {
                    number,
                    program: job.program.lasting(f64::from(1 << round)),
                    seed: job.seed.wrapping_add(u64::from(round) << 32),
                    ..(*job).clone()
                })
                .collect();
            planned += again.len();
            report.planned += again.len();
            let again: Vec<&Job> = again.iter().collect();
            result = self.run_all(&kit, (start, &again), &mut report, watcher);
        }
        report
            .origins
            .iter_mut()
            .for_each(|origin| origin::end(origin, start.elapsed()));
        report.layers = report::sum_layers(&report.runs);
        let ended = report.runs.len() + report.skipped.len() == planned;
        let interrupted = |run: &Run| run.exit == Exit::Interrupted;
        report.complete = result.is_ok() && ended && !report.runs.iter().any(interrupted);
        // What is known only now is part of the session's file: a report that is made again has it, too.
        let known = Report {
            origins: report.origins.clone(),
            planned: report.planned,
            ..self.empty_report()
        };
        let request = Request::new(&self.id, planned, &known);
        let result = result.and_then(|()| request.write(&self.out));
        match result.and_then(|()| store::write_report(&self.out, &report)) {
            Err(e) if report.runs.is_empty() => Err(e),
            result => Ok(Done {
                report,
                failure: result.err(),
            }),
        }
    }

    /// Writes what all jobs need, and a report without runs.
    pub(super) fn begin(&self) -> Result<(Kit, Report), Error> {
        let kit = Kit::new(&self.out)?;
        let report = self.empty_report();
        Request::new(&self.id, self.plan.jobs.len(), &report).write(&self.out)?;
        // The report of an earlier session must not stay.
        store::write_report(&self.out, &report)?;
        Ok((kit, report))
    }

    /// Runs the jobs until a run makes the other jobs useless, the user interrupts, or the time
    /// budget ends.
    fn run_all(
        &self,
        kit: &Kit,
        (start, jobs): (Instant, &[&Job]),
        report: &mut Report,
        watcher: &mut dyn FnMut(Event),
    ) -> Result<(), Error> {
        let budget = self.scenario.time_budget;
        let before = report.runs.len();
        let of = before + jobs.len();
        for (at, &job) in jobs.iter().enumerate() {
            // The remaining jobs are missing runs.
            if interrupt::noted().is_some() || budget.is_some_and(|budget| start.elapsed() > budget)
            {
                break;
            }
            watcher(Event::Starts {
                at: before + at + 1,
                of,
                job,
            });
            let useless = self.run_one(kit, job, report, watcher)?;
            report.layers = report::sum_layers(&report.runs);
            store::write_report(&self.out, report)?;
            watcher(Event::Ended {
                run: &report.runs[report.runs.len() - 1],
            });
            if useless {
                break;
            }
        }
        Ok(())
    }

    fn empty_report(&self) -> Report {
        let jdk = self.plan.jobs.first().map(|job| report::Jdk {
            home: job.jdk.home().display().to_string(),
            version: job.jdk.version().unwrap_or_default().into(),
            ..Default::default()
        });
        Report {
            schema: SCHEMA,
            scenario: self.scenario.name.clone(),
            jdk: jdk.unwrap_or_default(),
            complete: false,
            runs: vec![],
            layers: vec![],
            mismatches: vec![],
            budget: self.scenario.budget.clone(),
            imprecise_budget: self.scenario.imprecise_limits(),
            statement_budget: self.scenario.statement_budget.clone(),
            required: self.required(),
            planned: self.plan.whole,
            skipped: vec![],
            origins: vec![origin::here(&self.maker, self.scenario.sha256.clone())],
        }
    }

    /// The layers that the report must have: not those of values of axes that none of the JDKs has.
    fn required(&self) -> Vec<Layer> {
        let required = self.scenario.required.iter().copied();
        let is_planned = |layer: &Layer| self.plan.layers.contains(layer);
        required.filter(is_planned).collect()
    }

    /// Runs one job. Returns whether further runs would be useless.
    pub(super) fn run_one(
        &self,
        kit: &Kit,
        job: &Job,
        report: &mut Report,
        watcher: &mut dyn FnMut(Event),
    ) -> Result<bool, Error> {
        let dir = self.out.join(job.dir());
        let mut launch = Launch::new(kit, job, &dir)?;
        let layers = job.program.layers();
        let mut facts = Facts {
            session: self.id.clone(),
            scenario: job.program.name.clone(),
            java_args: launch.java_args,
            hooks: Some(job.program.hooks),
            probability: Some(job.program.sampling.probability).filter(|&share| share < 1.0),
            seed: job.seed,
            // This value is true if this process is killed now.
            exit: Exit::Interrupted,
            alive: vec![],
            wall_s: 0.0,
            cpu_s: None,
            without_agent: None,
            not_compared: Some("the run has not ended".into()),
            layers: layers.clone(),
            walker: job.program.walker.clone(),
            profiler: job
                .program
                .profiler
                .as_ref()
                .map(|profiler| profiler.named()),
            foreground: job.program.foreground,
            dir: job.dir(),
            axes: job.axes.clone(),
        };
        facts.write(&dir)?;
        let watch = Watch {
            deadline: job.program.deadline,
            foreground: job.program.foreground,
            work: &work(job, &dir),
            dir: &dir,
            jcmd: &job.jdk.home().join("bin/jcmd"),
        };
        let ending = match Process::spawn_run(&mut launch.command, launch.group, &dir) {
            Ok(mut process) => watch.wait(&mut process, &mut |elapsed| {
                let tallies = records::tallies(&dir, &layers);
                watcher(Event::Runs {
                    elapsed,
                    tallies: &tallies,
                });
            }),
            Err(e) => Ending::not_started(&e),
        };
        facts.exit = ending.exit;
        if let (Some(jvm), Exit::Signal(_) | Exit::Code(1..)) = (ending.jvm, &facts.exit) {
            crash::adopt(&dir, &facts.java_args, jvm, &work(job, &dir));
            // Without a core dump, a JVM that crashed ends with an exit code like any other.
            if let (Some(crash), Exit::Code(_)) = (Crash::read(&dir), &facts.exit) {
                facts.exit = Exit::Signal(crash.signal());
            }
        }
        facts.alive = ending.alive;
        facts.wall_s = ending.wall_s;
        facts.cpu_s = ending.effort.map(|effort| effort.cpu_s);
        let mut written = facts.write(&dir);
        if written.is_ok() {
            if job.program.baseline {
                watcher(Event::RunsAlone);
            }
            match baseline::measure(job, &dir, &facts.java_args, &facts.exit) {
                Ok(effort) => (facts.without_agent, facts.not_compared) = (Some(effort), None),
                Err(why) => facts.not_compared = Some(why),
            }
            written = facts.write(&dir);
        }
        // The report has the counts also if the disk is full.
        let useless = facts.collect(&dir, report);
        written.map(|()| useless)
    }
}

fn skipped(job: &Job, why: String) -> Skipped {
    Skipped {
        scenario: job.title(),
        why,
        dir: job.dir(),
    }
}
