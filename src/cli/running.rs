//! The options of commands that run programs, or would.

use super::shared::{Amount, CAUSES, Format};
use crate::exit;
use crate::judging::{Judging, probability};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use hotspot::causes::CAUSES as KNOWN_CAUSES;
use oracle::gate::SoughtKind;
use oracle::mutants::Biased;
use oracle::record::{Faults, HookFault};
use oracle::{Hooking, Layer};
use scenarios::plan::Shard;
use scenarios::scenario::{BUILT_IN, all_fixtures};
use std::path::PathBuf;

const RUN_EXAMPLES: &str = "\
Examples:
  stackwitness run --quick                            a first answer, within half a minute
  stackwitness run --cause called-by-vm               the small programs of one known cause
  stackwitness run --jdk A --jdk B                    two JDKs, one after the other
  stackwitness run --hooks none -- -jar my.jar        any Java program, unmodified
  stackwitness run --scenario test --gate --baseline base.json --jdk HOME";

const CHECK_EXAMPLES: &str = "\
Examples:
  stackwitness check --base BASE_JDK NEW_JDK          about 6 minutes on two quiet cores
  stackwitness check --base BASE_JDK NEW_JDK --minutes 60 --detect 0.001";

const REDUCE_EXAMPLES: &str = "\
Examples:
  stackwitness reduce --kind unexplained                      of the last report
  stackwitness reduce out --kind call-edge:frame-removed      in one layer
  stackwitness reduce out --kind leaf-call --jdk A --jdk B    which JDKs have it?";

/// The causes that have a program.
fn causes_with_programs() -> PossibleValuesParser {
    let causes = KNOWN_CAUSES.iter();
    let causes = causes.filter(|cause| cause.programs.is_ok());
    PossibleValuesParser::new(causes.map(|cause| cause.name))
}

/// All small programs.
fn fixtures() -> PossibleValuesParser {
    PossibleValuesParser::new(all_fixtures())
}

const SCENARIO: &str = "A built-in scenario by name, or a scenario file; may be given several times [default: default]";

/// The help of `--scenario`, with the names of the built-in scenarios.
fn scenarios_help() -> String {
    let built_in = BUILT_IN.iter().map(|&(name, _)| name);
    let names: Vec<&str> = built_in.chain([CAUSES]).collect();
    format!("{SCENARIO}\n\nBuilt in: {}.", names.join(", "))
}

/// The options that decide what runs.
#[derive(Debug, Args)]
#[command(next_help_heading = "What runs")]
pub struct Choice {
    /// The JDK to judge [default: JAVA_HOME, else `java` on the PATH, else the newest in /usr/lib/jvm]
    ///
    /// May be given several times: every program runs on each JDK.
    #[arg(long, value_name = "HOME")]
    pub jdk: Vec<PathBuf>,
    #[arg(long, value_name = "NAME|FILE", help = SCENARIO, long_help = scenarios_help())]
    pub scenario: Vec<String>,
    /// Run the small programs of this cause alone; may be given several times
    #[arg(long, value_name = "NAME", value_parser = causes_with_programs(), conflicts_with_all = ["scenario", "jar", "benchmark"])]
    pub cause: Vec<String>,
    /// Run this small program alone; may be given several times
    #[arg(long, value_name = "NAME", value_parser = fixtures(), hide_possible_values = true, conflicts_with_all = ["scenario", "cause", "jar", "benchmark"])]
    pub fixture: Vec<String>,
    /// How long each program of `--fixture` runs
    #[arg(long, value_name = "SECONDS", default_value_t = 4.0, requires = "fixture", value_parser = seconds)]
    pub seconds: f64,
    /// Judge this layer in place of the scenario's; may be given several times
    #[arg(long, value_name = "NAME")]
    pub layer: Vec<Layer>,
    /// The jar of a suite of benchmarks
    #[arg(long, value_name = "FILE")]
    pub jar: Option<PathBuf>,
    /// A benchmark of the suite; may be given several times [default: all]
    #[arg(long, value_name = "NAME")]
    pub benchmark: Vec<String>,
    /// Flags of the VM, in addition to those of the scenario: `--flags "-XX:+UseZGC -Xmx4g"`
    ///
    /// May be given several times: every program runs with each set of flags. An empty text stands
    /// for no flags.
    #[arg(
        long,
        visible_alias = "jvm-args",
        value_name = "FLAGS",
        allow_hyphen_values = true
    )]
    pub flags: Vec<String>,
    /// One flag of the VM, as the tools of the JDK have it: `-J-Xmx4g`
    ///
    /// May be given several times: every program runs with all of them.
    #[arg(short = 'J', value_name = "FLAG", allow_hyphen_values = true)]
    pub flag: Vec<String>,
    /// Seed of all random choices [default: a random seed, which the output shows]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// The options of `run`.
#[derive(Debug, Args)]
#[command(before_help = RUN_EXAMPLES, after_help = exit::HELP, next_help_heading = "How")]
pub struct RunArgs {
    #[command(flatten)]
    pub choice: Choice,
    /// Give a first answer within half a minute: the scenario `quick`
    #[arg(long, help_heading = "What runs", conflicts_with_all = ["scenario", "cause", "jar", "benchmark", "java_args"])]
    pub quick: bool,
    /// Folder for the results [default: stackwitness-out; a report that is there moves to stackwitness-out.previous]
    #[arg(
        long,
        short = 'o',
        visible_alias = "output",
        value_name = "DIR",
        help_heading = "Output"
    )]
    pub out: Option<PathBuf>,
    /// Run only part I of N equal parts, for N machines; `merge` joins their reports
    #[arg(long, value_name = "I/N", conflicts_with = "java_args")]
    pub shard: Option<Shard>,
    /// End the program of `-- JAVA_ARGS` after this many seconds; 0: never
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 3600,
        requires = "java_args"
    )]
    pub deadline: u64,
    /// How hooks keep the trace stack, instead of what the scenario says: exact, light or none
    ///
    /// exact: native methods. light: Java code that compilers inline, and the program's
    /// methods with it. none: no class is rewritten, and few layers have checks.
    #[arg(long, value_name = "HOW")]
    pub hooks: Option<Hooking>,
    /// Judge the samples of this profiler, an agent library that samples by signals: PATH or PATH=OPTIONS
    ///
    /// Runs the scenario `profiler` unless `--scenario` names another. async-profiler and Datadog's profiler are known;
    /// describe another with `--profiler-file`.
    #[arg(long, value_name = "PATH[=OPTIONS]")]
    pub profiler: Option<String>,
    /// The description of the profiler: its default options, the names of its events and of its error frames
    #[arg(long, value_name = "FILE", requires = "profiler")]
    pub profiler_file: Option<PathBuf>,
    /// Ask this function in place of AsyncGetCallTrace or AsyncGetStackTrace: PATH:SYMBOL, or jvm:SYMBOL
    ///
    /// PATH is a shared library that exports SYMBOL. The function has the signature of AsyncGetCallTrace, or that of
    /// AsyncGetStackTrace if its name says so; `asgct=` or `asgst=` before the path says it otherwise. Without
    /// `--scenario` all layers of that walker judge it.
    #[arg(long, value_name = "PATH:SYMBOL")]
    pub walker: Option<String>,
    /// Keep the evidence of this many mismatches for each layer, verdict and run, instead of the
    /// scenario's number
    #[arg(long, value_name = "N")]
    pub evidence: Option<u32>,
    /// Run the program of `-- JAVA_ARGS` once more without the agent, to measure the slowdown
    ///
    /// In the second run the program has no input, and its output goes to a folder of the run. A
    /// program that runs for a fixed time shows no slowdown.
    #[arg(long, requires = "java_args")]
    pub slowdown: bool,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub amount: Amount,
    /// Write the report in these formats too, in addition to report.json and report.html
    #[arg(
        long,
        value_name = "FORMAT",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    pub render: Vec<Format>,
    /// Break the hooks on purpose, to see whether the layers notice
    #[arg(long, alias = "sabotage", hide = true)]
    pub hook_fault: Option<HookFault>,
    /// Break one hook in this many
    #[arg(long, alias = "sabotage-one-in", hide = true, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub hook_fault_one_in: u64,
    /// Inject faults into the answers of walkers, to see whether the judges notice: one answer in
    /// ONE_IN, 1000 if absent
    #[arg(
        long,
        alias = "lie",
        hide = true,
        value_name = "KIND,…[:LAYER,…[:ONE_IN]]"
    )]
    pub fault: Option<Faults>,
    /// In layer asgct-async, give a profiler that is biased on purpose in place of the JVM's walker: honest,
    /// drops-one or names-caller, at the cost of one method
    #[arg(long, hide = true, value_name = "BIAS:METHOD")]
    pub biased: Option<Biased>,
    /// Write N samples of each kind to samples.jsonl in the folder of the run, for tests without a
    /// JVM
    #[arg(long, hide = true, value_name = "N", default_value_t = 0)]
    pub record_samples: u32,
    /// Any Java program, with the arguments that `java` takes; with `--scenario`, in place of each of the scenario's
    /// programs
    #[arg(last = true, value_name = "JAVA_ARGS", conflicts_with_all = ["jar", "benchmark", "cause"])]
    pub java_args: Vec<String>,
}

/// The options of `check`.
#[derive(Debug, Args)]
#[command(before_help = CHECK_EXAMPLES, after_help = exit::CHECK_HELP)]
pub struct CheckArgs {
    /// The JDK build that is judged
    #[arg(value_name = "NEW_JDK")]
    pub new: PathBuf,
    /// The JDK build that is assumed to be good: of any release, update or vendor
    #[arg(long, value_name = "BASE_JDK")]
    pub base: PathBuf,
    /// End after about so many minutes, also without an answer; up to half as many again if that is likely to bring one
    #[arg(long, value_name = "N", default_value_t = 15.0, value_parser = minutes)]
    pub minutes: f64,
    /// Go on until at most this share of additional false stacks is possible in each layer
    #[arg(long, value_name = "SHARE", default_value_t = 0.005, value_parser = probability)]
    pub detect: f64,
    /// The probability with which equal builds may be called different
    #[arg(long, value_name = "P", default_value_t = 0.01, value_parser = probability)]
    pub alpha: f64,
    /// The programs: a built-in scenario by name, or a scenario file
    #[arg(long, value_name = "NAME|FILE", default_value = "test")]
    pub scenario: String,
    /// Seed of all random choices [default: a random seed, which the output shows]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Folder for the results
    #[arg(
        long,
        short = 'o',
        visible_alias = "output",
        value_name = "DIR",
        default_value = "stackwitness-check"
    )]
    pub out: PathBuf,
    /// Print the answer as JSON
    #[arg(long)]
    pub json: bool,
    /// Write the answer in these formats too
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub render: Vec<CheckFormat>,
    /// Inject faults into the answers of the new build's walkers, to see whether the check notices
    #[arg(long, hide = true, value_name = "KIND,…[:LAYER,…[:ONE_IN]]")]
    pub fault: Option<Faults>,
}

/// The formats of a check's answer.
#[derive(Copy, Clone, Debug, Eq, PartialEq, ValueEnum)]
pub enum CheckFormat {
    /// For a CI system's summary: check.md.
    Markdown,
}

/// The options of `export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Write a jtreg test into this folder: the test, its small programs, and the program that judges
    #[arg(long, value_name = "DIR")]
    pub jtreg: PathBuf,
}

/// The options of `reduce`.
#[derive(Debug, Args)]
#[command(before_help = REDUCE_EXAMPLES, after_help = exit::REDUCE_HELP)]
pub struct ReduceArgs {
    /// The report with the mismatch: a file or its folder [default: stackwitness-out]
    #[arg(value_name = "REPORT")]
    pub report: Option<PathBuf>,
    /// The kind of mismatch: CAUSE, LAYER or LAYER:CAUSE, as the report names them
    #[arg(long, value_name = "KIND")]
    pub kind: SoughtKind,
    /// The JDK [default: that of the report]
    ///
    /// May be given several times: the program becomes smaller on the first one, and runs on each.
    #[arg(long, value_name = "HOME")]
    pub jdk: Vec<PathBuf>,
    /// Search no longer than so many minutes. Each further JDK takes up to a minute more
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = minutes)]
    pub minutes: f64,
    /// Seed of all random choices [default: that of the report's run]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Folder for the issue and the runs
    #[arg(
        long,
        short = 'o',
        visible_alias = "output",
        value_name = "DIR",
        default_value = "stackwitness-reduce"
    )]
    pub out: PathBuf,
}

/// A number of machines.
fn machines(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| "a number of machines, from 1 on".into())
}

/// A time of programs, in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().map_err(|e| e.to_string())?;
    if seconds > 0.0 && seconds <= 86_400.0 {
        Ok(seconds)
    } else {
        Err("a number of seconds above 0".into())
    }
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse::<f64>().map_err(|e| e.to_string())?;
    if minutes > 0.0 && minutes <= 10_000.0 {
        Ok(minutes)
    } else {
        Err("a number of minutes above 0".into())
    }
}

/// The options of `plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub choice: Choice,
    /// How to print the plan
    #[arg(long, value_enum, default_value_t = PlanFormat::List)]
    pub format: PlanFormat,
    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Number of machines [default: one machine for each JVM that runs]
    #[arg(long, value_name = "N", value_parser = machines)]
    pub shards: Option<usize>,
}

/// The formats of a plan.
#[derive(Copy, Clone, Debug, ValueEnum)]
pub enum PlanFormat {
    /// One line for each JVM to run.
    List,
    /// All JVMs to run, as JSON.
    Json,
    /// A matrix for GitHub Actions, as JSON on one line.
    Github,
    /// One command a line, for GNU parallel or a Slurm array.
    Jobs,
}

/// The options of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The JDK [default: as for `run`]
    #[arg(long, value_name = "HOME")]
    pub jdk: Option<PathBuf>,
    /// The folder for results that a run would use [default: stackwitness-out]
    #[arg(long, short = 'o', visible_alias = "output", value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}
