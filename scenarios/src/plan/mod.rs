//! From scenarios to single JVMs: every program with every JDK and every value of every axis. The
//! order is the same on every machine.

mod suite;

use crate::Error;
use crate::jdk::Jdk;
use crate::scenario::{Matrix, Program, Scenario, Start, Variation};
use oracle::{Layer, report};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// One JVM to run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The job's place in the whole plan, from 1, also in a shard.
    pub number: usize,
    /// The program, with the options of the job's place in the matrix.
    pub program: Program,
    /// The JDK.
    pub jdk: Jdk,
    /// The job's place in the matrix: axis and value.
    pub axes: BTreeMap<String, String>,
    /// The seed of the job's random choices.
    pub seed: u64,
}

impl Job {
    /// The program's name with the job's place in the matrix.
    pub fn title(&self) -> String {
        report::title(&self.program.name, &self.axes)
    }

    /// The expected time on a quiet machine, if the program runs for a known time.
    pub fn takes(&self) -> Option<Duration> {
        let (Start::Fixtures { seconds, .. } | Start::Javac { seconds }) = self.program.start
        else {
            return None;
        };
        // The same work without the agent takes no longer than with the agent.
        let factor = if self.program.baseline { 2.0 } else { 1.0 };
        Some((Duration::from_secs_f64(seconds) + START).mul_f64(factor))
    }

    /// Why the program cannot run on this machine, or on this JDK; `None` if it can.
    pub fn lacks(&self) -> Option<String> {
        if matches!(self.program.start, Start::Javac { .. }) && !self.jdk.has_module("jdk.compiler")
        {
            return Some("this runtime has no compiler (module jdk.compiler)".into());
        }
        if let Some(feature) = self.jdk.feature()
            && let Some(why) = self.program.is_not_for(feature)
        {
            return Some(why);
        }
        let missing = self.program.needs.iter().find(|file| !file.exists())?;
        let how = self.program.install.as_ref();
        let how = how.map_or(String::new(), |how| format!("; get it with `{how}`"));
        Some(format!("there is no {}{how}", missing.display()))
    }

    /// The folder of the run, relative to the folder of the results.
    pub fn dir(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+=".contains(c);
        let values = self.axes.values().map(|value| {
            let value = value.replace(|c| !plain(c), "_");
            format!("-{value}")
        });
        // A file system takes 255 bytes. The number alone tells the folders of a session apart.
        let values: String = values.collect::<String>().chars().take(LONGEST).collect();
        format!("runs/{:03}-{}{values}", self.number, self.program.name)
    }
}

/// The greatest length of what a folder's name has of the matrix.
const LONGEST: usize = 120;

/// How long a JVM takes to start and to end.
const START: Duration = Duration::from_secs(2);

/// The user's choices in addition to the scenario's.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// The JDKs, in place of the scenario's JDKs.
    pub jdks: Vec<PathBuf>,
    /// The jar of a suite.
    pub jar: Option<PathBuf>,
    /// The benchmarks of a suite.
    pub benchmarks: Vec<String>,
    /// Sets of flags of the VM, separated by spaces. Every program runs with each set.
    pub flags: Vec<String>,
    /// The seed of the first job. Each following job has the next number.
    pub seed: u64,
}

impl Wishes {
    /// The axis of the flags.
    fn axis(&self) -> BTreeMap<String, Variation> {
        let options = |flags: &str| {
            let options = flags.split_whitespace().map(str::to_owned);
            Variation::of_options(options.collect())
        };
        let name = |flags: &str| match flags.trim() {
            "" => "usual".to_owned(),
            flags => flags.to_owned(),
        };
        let values = self.flags.iter();
        values.map(|flags| (name(flags), options(flags))).collect()
    }
}

/// All JVMs to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The jobs of this shard.
    pub jobs: Vec<Job>,
    /// The number of jobs in all shards.
    pub whole: usize,
    /// The layers that the jobs of all shards measure, lowest first.
    pub layers: Vec<Layer>,
}

impl Plan {
    /// Makes the plan of a scenario.
    pub fn new(scenario: &Scenario, wishes: &Wishes) -> Result<Plan, Error> {
        let mut jobs = vec![];
        for program in &scenario.programs {
            let jdks = jdks(&program.matrix, &wishes.jdks)?;
            for mut program in expand(program, &jdks[0], wishes)? {
                if !wishes.flags.is_empty() {
                    program.matrix.axes.insert("flags".into(), wishes.axis());
                }
                let more = number(&program.matrix, jdks.len());
                if more.is_none_or(|more| more > MOST - jobs.len()) {
                    return Err(Error::Scenario(format!(
                        "{}: more than {MOST} JVMs to run: fewer repetitions or values of axes",
                        program.name
                    )));
                }
                variants(&program, &jdks, wishes.seed, &mut jobs);
            }
        }
        let layers = jobs.iter().flat_map(|job| job.program.layers());
        let layers: BTreeSet<Layer> = layers.collect();
        Ok(Plan {
            whole: jobs.len(),
            layers: layers.into_iter().collect(),
            jobs,
        })
    }

    /// The expected time of all jobs on a quiet machine, if the time of each job is known.
    pub fn takes(&self) -> Option<Duration> {
        self.jobs.iter().map(Job::takes).sum()
    }

    /// The jobs that can run here, and the others with what they lack.
    pub fn by_what_is_here(&self) -> (Vec<&Job>, Vec<(&Job, String)>) {
        let (mut ready, mut lacking) = (vec![], vec![]);
        for job in &self.jobs {
            match job.lacks() {
                None => ready.push(job),
                Some(why) => lacking.push((job, why)),
            }
        }
        (ready, lacking)
    }

    /// Keeps the jobs of a shard. The number, folder and seed of a job stay the same.
    pub fn shard(mut self, shard: Shard) -> Plan {
        self.jobs.retain(|job| shard.holds(job.number));
        self
    }
}

/// The largest number of JVMs in a plan.
const MOST: usize = 100_000;

/// The number of variants; `None` if there are too many to count.
fn number(matrix: &Matrix, jdks: usize) -> Option<usize> {
    let values = matrix.axes.values().map(BTreeMap::len);
    let repetitions = matrix.repetitions.max(1) as usize;
    let factors = values.chain([jdks, repetitions]);
    factors.into_iter().try_fold(1, usize::checked_mul)
}

/// The programs of a suite: one program for each benchmark.
fn expand(program: &Program, jdk: &Jdk, wishes: &Wishes) -> Result<Vec<Program>, Error> {
    let Start::Suite(suite) = &program.start else {
        return Ok(vec![program.clone()]);
    };
    let mut suite = suite.clone();
    suite.jar = wishes.jar.clone().or(suite.jar);
    if !wishes.benchmarks.is_empty() {
        suite.benchmarks = wishes.benchmarks.clone();
    }
    suite::programs(program, &suite, jdk)
}

fn variants(program: &Program, jdks: &[Jdk], seed: u64, jobs: &mut Vec<Job>) {
    let matrix = &program.matrix;
    let labels = labels(jdks);
    let repetitions = matrix.repetitions.max(1);
    for (jdk, label) in jdks.iter().zip(&labels) {
        for (axes, variations) in combinations(&matrix.axes) {
            if !variations.iter().all(|of| of.is_for(jdk.feature())) {
                continue;
            }
            for repetition in 1..=repetitions {
                let mut axes = axes.clone();
                if jdks.len() > 1 {
                    axes.insert("jdk".into(), label.clone());
                }
                if repetitions > 1 {
                    axes.insert("repetition".into(), repetition.to_string());
                }
                let mut program = program.clone();
                variations.iter().for_each(|of| program.vary(of));
                jobs.push(Job {
                    number: jobs.len() + 1,
                    program,
                    jdk: jdk.clone(),
                    axes,
                    seed: seed.wrapping_add(jobs.len() as u64),
                });
            }
        }
    }
}

/// All combinations of values, one value of each axis.
fn combinations(
    axes: &BTreeMap<String, BTreeMap<String, Variation>>,
) -> Vec<(BTreeMap<String, String>, Vec<&Variation>)> {
    let mut all = vec![(BTreeMap::new(), vec![])];
    for (axis, values) in axes {
        all = all
            .iter()
            .flat_map(|(places, before)| {
                values.iter().map(move |(value, variation)| {
                    let mut places = places.clone();
                    places.insert(axis.clone(), value.clone());
                    (places, [before.as_slice(), &[variation]].concat())
                })
            })
            .collect();
    }
    all
}

fn jdks(matrix: &Matrix, wished: &[PathBuf]) -> Result<Vec<Jdk>, Error> {
    let mut found = vec![];
    if wished.is_empty() {
        for home in &matrix.jdks {
            match home.as_str() {
                "installed" => {
                    let installed = Jdk::installed().into_iter();
                    found.extend(installed.filter(|jdk| jdk.check_age().is_ok()));
                }
                home => found.push(Jdk::at(Path::new(home), "the scenario")?),
            }
        }
        if found.is_empty() {
            found.push(Jdk::find(None)?);
        }
    }
    for home in wished {
        found.push(Jdk::find(Some(home))?);
    }
    for jdk in &found {
        jdk.check_age()?;
    }
    let mut homes = vec![];
    found.retain(|jdk| {
        !homes.contains(&jdk.home().to_owned()) && {
            homes.push(jdk.home().to_owned());
            true
        }
    });
    Ok(found)
}

/// A short name for each JDK: the version, with a letter where two JDKs have the same version.
fn labels(jdks: &[Jdk]) -> Vec<String> {
    let version = |jdk: &Jdk| jdk.version().unwrap_or("unknown").to_owned();
    let mut labels: Vec<String> = vec![];
    for jdk in jdks {
        let twins = labels
            .iter()
            .filter(|l| l.split('_').next() == Some(&version(jdk)))
            .count();
        labels.push(match twins {
            0 => version(jdk),
            n => format!("{}_{}", version(jdk), n + 1),
        });
    }
    labels
}

/// One of several parts of a plan.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Shard {
    index: usize,
    of: usize,
}

impl Shard {
    /// Whether the job with this number is in the shard.
    fn holds(self, number: usize) -> bool {
        number % self.of == self.index % self.of
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parse = || {
            let (index, of) = text.split_once('/')?;
            Some((index.parse().ok()?, of.parse().ok()?))
        };
        match parse() {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Shard { index, of }),
            _ => Err("a shard is I/N, with I from 1 to N, as in 2/5".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::{Hooking, LAYERS, LayerRow};
    use proptest::prelude::*;
    use std::path::PathBuf;
    use std::sync::LazyLock;

    const TEXT: &str = "name = 'x'\n[matrix]\nrepetitions = 2\n[matrix.axes.gc]\ng1 = ['-A']\nserial = ['-B']\n\
        [matrix.axes.mode]\nint = ['-C']\nall = []\n[[program]]\nname = 'p'\njavac = { seconds = 1 }\njvm_args = ['-Z']\n";

    /// Two folders that look like JDKs. They are made once, because tests run side by side.
    static JDKS: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
        let root = std::env::temp_dir().join(format!("stackwitness-plan-{}", std::process::id()));
        let jdks: Vec<_> = ["a", "b"].map(|name| root.join(name)).into();
        for home in &jdks {
            std::fs::create_dir_all(home.join("bin")).unwrap();
            std::fs::write(home.join("bin/java"), "").unwrap();
            std::fs::write(home.join("release"), "JAVA_VERSION=\"21\"").unwrap();
        }
        jdks
    });

    fn plan(seed: u64) -> Plan {
        let scenario = Scenario::parse(TEXT, "x").unwrap();
        let jdks = JDKS.clone();
        let wishes = Wishes {
            jdks,
            seed,
            ..Wishes::default()
        };
        Plan::new(&scenario, &wishes).unwrap()
    }

    #[test]
    fn every_variant_is_there_once() {
        let plan = plan(5);
        assert_eq!((plan.jobs.len(), plan.whole), (16, 16));
        let dirs: Vec<_> = plan.jobs.iter().map(Job::dir).collect();
        assert_eq!(dirs[0], "runs/001-p-g1-21-all-1");
        assert_eq!(dirs[15], "runs/016-p-serial-21_2-int-2");
        assert_eq!(plan.jobs[15].program.jvm_args, ["-Z", "-B", "-C"]);
        assert_eq!(plan.jobs[15].seed, 20);
    }

    #[test]
    fn a_plan_that_nobody_can_run_is_refused() {
        let axis = |name| {
            let values: String = (0..40).map(|i| format!("v{i} = []\n")).collect();
            format!("[matrix.axes.{name}]\n{values}")
        };
        let axes: String = ["a", "b", "c"].map(axis).concat();
        let program = "[[program]]\nname = 'p'\njavac = { seconds = 1 }\n";
        let text = format!("name = 'x'\n[matrix]\nrepetitions = 10000\n{axes}{program}");
        let scenario = Scenario::parse(&text, "x").unwrap();
        let wishes = Wishes {
            jdks: JDKS.clone(),
            ..Wishes::default()
        };
        let error = Plan::new(&scenario, &wishes).unwrap_err();
        assert!(
            error.to_string().contains("more than 100000 JVMs"),
            "{error}"
        );
    }

    #[test]
    fn a_value_changes_programs_where_the_jdk_has_it() {
        let text = "name = 'x'\nlayers = ['gst', 'asgct-async', 'jfr-cpu']\n[matrix.axes.profiler]\n\
            cpu = { options = ['-A'], layers = ['jfr-cpu', 'gst'], jdk = 25 }\n\
            signals = { layers = ['asgct-async'], interval_us = 7 }\n\
            [[program]]\nname = 'p'\njavac = { seconds = 1 }\n";
        let scenario = Scenario::parse(text, "x").unwrap();
        let wishes = |jdks: &[PathBuf]| Wishes {
            jdks: jdks.into(),
            ..Wishes::default()
        };
        // The JDKs of the tests are of version 21.
        let plan = Plan::new(&scenario, &wishes(&JDKS[..1])).unwrap();
        let [job] = &plan.jobs[..] else {
            panic!("{plan:?}")
        };
        assert_eq!(job.axes["profiler"], "signals");
        assert_eq!(job.program.layers, [Layer::AsgctAsync]);
        assert_eq!(job.program.sampling.interval_us, 7);
        assert_eq!(plan.layers, [Layer::AsgctAsync]);
        let text = text.replace("25", "21");
        let scenario = Scenario::parse(&text, "x").unwrap();
        let plan = Plan::new(&scenario, &wishes(&JDKS[..1])).unwrap();
        let cpu = &plan.jobs[0].program;
        assert_eq!(cpu.layers, [Layer::Gst, Layer::JfrCpu]);
        assert_eq!((cpu.jvm_args.len(), cpu.sampling.interval_us), (1, 200));
    }

    #[test]
    fn a_value_changes_hooks() {
        let text = "name = 'x'\nlayers = ['gst', 'asgct-async', 'call-edge', 'asgct-event']\n[matrix.axes.hooks]\n\
            exact = { hooks = 'exact' }\nnone = { hooks = 'none' }\n\
            [[program]]\nname = 'p'\njavac = { seconds = 1 }\n";
        let mut scenario = Scenario::parse(text, "x").unwrap();
        let all = [
            Layer::Gst,
            Layer::AsgctEvent,
            Layer::AsgctAsync,
            Layer::CallEdge,
        ];
        assert_eq!(scenario.required, all);
        let wishes = Wishes {
            jdks: JDKS[..1].into(),
            ..Wishes::default()
        };
        let hooks = |scenario: &Scenario| -> Vec<_> {
            let plan = Plan::new(scenario, &wishes).unwrap();
            let jobs = plan.jobs.iter();
            jobs.map(|job| (job.program.hooks, job.program.layers()))
                .collect()
        };
        let exact = (Hooking::Exact, vec![Layer::Gst, Layer::AsgctAsync]);
        let none = vec![Layer::Gst, Layer::AsgctEvent, Layer::CallEdge];
        assert_eq!(hooks(&scenario), [exact, (Hooking::None, none)]);
        // The command line has the last word.
        scenario.programs[0].hook(Hooking::Light);
        let light = (Hooking::Light, vec![Layer::Gst, Layer::AsgctAsync]);
        assert_eq!(hooks(&scenario), [light.clone(), light]);
        assert_eq!(scenario.measured(), [Layer::Gst, Layer::AsgctAsync]);
    }

    #[test]
    fn light_hooks_have_budgets_of_their_own() {
        let mut scenario = Scenario::parse(TEXT, "x").unwrap();
        let limits = |scenario: &Scenario| {
            let limits = scenario.imprecise_limits();
            LAYERS
                .iter()
                .map(|row| limits.limit(row.layer))
                .collect::<Vec<_>>()
        };
        let rows = |limit: fn(&LayerRow) -> f64| LAYERS.iter().map(limit).collect::<Vec<_>>();
        assert_eq!(limits(&scenario), rows(|row| row.imprecise));
        scenario.programs[0].hook(Hooking::Light);
        assert_eq!(limits(&scenario), rows(|row| row.imprecise_light));
        assert_ne!(rows(|row| row.imprecise), rows(|row| row.imprecise_light));
    }

    #[test]
    fn flags_are_an_axis() {
        let scenario = Scenario::parse(TEXT, "x").unwrap();
        let flags = ["-XX:+UseZGC -Xmx1g", ""].map(String::from);
        let wishes = Wishes {
            jdks: JDKS.clone(),
            flags: flags.into(),
            ..Wishes::default()
        };
        let plan = Plan::new(&scenario, &wishes).unwrap();
        assert_eq!(plan.jobs.len(), 32);
        let first = &plan.jobs[0];
        assert_eq!(first.axes["flags"], "-XX:+UseZGC -Xmx1g");
        assert_eq!(first.dir(), "runs/001-p--XX_+UseZGC_-Xmx1g-g1-21-all-1");
        let expected = ["-Z", "-XX:+UseZGC", "-Xmx1g", "-A"];
        assert_eq!(first.program.jvm_args, expected);
        assert!(plan.jobs.iter().any(|job| job.axes["flags"] == "usual"));
    }

    proptest! {
        #[test]
        fn shards_share_out_the_plan(of in 1usize..20) {
            let whole: Vec<_> = plan(1).jobs.iter().map(|job| (job.dir(), job.seed)).collect();
            let mut joined = vec![];
            for index in 1..=of {
                let shard: Shard = format!("{index}/{of}").parse().unwrap();
                joined.extend(plan(1).shard(shard).jobs.iter().map(|job| (job.dir(), job.seed)));
            }
            joined.sort();
            prop_assert_eq!(joined, whole);
        }
    }

    #[test]
    fn a_shard_is_a_part_of_a_whole() {
        for text in ["", "0/2", "3/2", "1", "1/0", "-1/2", "a/b"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
