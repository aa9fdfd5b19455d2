//! The choice of what runs, and `stackwitness plan`.

use crate::cli::{CAUSES, Choice, PlanArgs, PlanFormat};
use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print};
use hotspot::causes::Cause;
use hotspot::scenario::of;
use oracle::record::CauseName;
use scenarios::plan::{Job, Wishes};
use scenarios::scenario::{Program, Start};
use scenarios::{Plan, Scenario};
use std::fmt::Write;

/// The scenario of users who name none.
const DEFAULT: &str = "default";

/// The scenario of users who name none and judge a profiler.
const PROFILER: &str = "profiler";

/// The name of the scenario with single small programs.
const FIXTURE: &str = "fixture";

impl Choice {
    /// The scenario that the user asked for.
    pub fn scenario(&self) -> Result<Scenario, scenarios::Error> {
        let mut scenario = self.chosen()?;
        if !self.layer.is_empty() {
            scenario
                .programs
                .iter_mut()
                .for_each(|program| program.judge(&self.layer));
            scenario.required = scenario.measured();
        }
        Ok(scenario)
    }

    fn chosen(&self) -> Result<Scenario, scenarios::Error> {
        if !self.cause.is_empty() {
            return self.of_causes();
        }
        if !self.fixture.is_empty() {
            return of_fixtures(&self.fixture, self.seconds);
        }
        let causes = hotspot::scenario::causes();
        let names = match &self.scenario[..] {
            [] => &[DEFAULT.to_owned()],
            names => names,
        };
        let load = |name: &String| Scenario::load(name, &[(CAUSES, &causes)]);
        let all: Result<_, _> = names.iter().map(load).collect();
        Ok(Scenario::join(all?))
    }

    /// The programs of the causes that the user named.
    fn of_causes(&self) -> Result<Scenario, scenarios::Error> {
        let causes = self
            .cause
            .iter()
            .filter_map(|name| Cause::named(&CauseName::new(name)));
        let texts = causes.flat_map(|cause| {
            let programs = cause.programs().iter();
            programs.map(move |program| of(cause, program))
        });
        let all: Result<_, _> = texts.map(|text| Scenario::parse(&text, CAUSES)).collect();
        let mut scenario = Scenario::join(all?);
        scenario.name = CAUSES.into();
        Ok(scenario)
    }

    /// Chooses the scenario that judges a profiler, or only its layers where the user has named a program.
    pub fn judge_profiler(&mut self) -> Result<(), scenarios::Error> {
        let has_program = !self.cause.is_empty() || !self.fixture.is_empty();
        if !has_program {
            self.scenario = vec![PROFILER.into()];
        } else if self.layer.is_empty() {
            self.layer = Scenario::load(PROFILER, &[])?.measured();
        }
        Ok(())
    }

    /// Whether the user gave flags of the VM.
    pub fn has_flags(&self) -> bool {
        !self.flags.is_empty() || !self.flag.is_empty()
    }

    /// The first word of a set of flags if it is no flag: `java` would take it for the name of a class. Words behind may
    /// be values.
    fn no_flag(&self) -> Option<String> {
        let sets = self.sets_of_flags();
        let mut words = sets.iter().filter_map(|set| set.split_whitespace().next());
        let word = words.find(|word| !word.starts_with(['-', '@']))?;
        Some(word.to_owned())
    }

    /// Each set of flags of the VM with which every program runs.
    fn sets_of_flags(&self) -> Vec<String> {
        let single = self.flag.join(" ");
        match &self.flags[..] {
            [] if single.is_empty() => vec![],
            [] => vec![single],
            sets => sets
                .iter()
                .map(|set| format!("{set} {single}").trim().to_owned())
                .collect(),
        }
    }

    /// The plan of the scenario. Fails if there is a jar or a benchmark, and no suite that has it.
    pub fn plan(&self, scenario: &Scenario) -> Result<Plan, scenarios::Error> {
        let is_of_suite = |program: &Program| matches!(program.start, Start::Suite(_));
        let wants_suite = self.jar.is_some() || !self.benchmark.is_empty();
        if wants_suite && !scenario.programs.iter().any(is_of_suite) {
            return Err(scenarios::Error::Scenario(format!(
                "--jar and --benchmark are for the scenarios of suites, as renaissance and dacapo, and not for `{}`; any \
                 other jar runs with `stackwitness run -- -jar FILE`",
                scenario.name
            )));
        }
        if let Some(word) = self.no_flag() {
            return Err(scenarios::Error::Scenario(format!(
                "`{word}` in --flags is no flag of the VM, which begins with `-`: -Xmx4g, for example; arguments of a program \
                 stand behind `--`"
            )));
        }
        let measured = scenario.measured();
        if let Some(absent) = self.layer.iter().find(|layer| !measured.contains(layer)) {
            return Err(scenarios::Error::Scenario(format!(
                "layer {absent} has no checks in `{}`: it needs programs with other hooks",
                scenario.name
            )));
        }
        let wishes = Wishes {
            jdks: self.jdk.clone(),
            jar: self.jar.clone(),
            benchmarks: self.benchmark.clone(),
            flags: self.sets_of_flags(),
            seed: self.seed.unwrap_or_else(scenarios::random_seed),
        };
        Plan::new(scenario, &wishes)
    }

    /// The choice as arguments of `run`, for another machine.
    fn arguments(&self, seed: u64) -> String {
        let mut text = format!(" --seed {seed}");
        let mut add = |option: &str, value: &str| {
            let _ = write!(text, " {option} {}", quoted(value));
        };
        for scenario in &self.scenario {
            add("--scenario", scenario);
        }
        for cause in &self.cause {
            add("--cause", cause);
        }
        for fixture in &self.fixture {
            add("--fixture", fixture);
        }
        if !self.fixture.is_empty() {
            add("--seconds", &self.seconds.to_string());
        }
        for layer in &self.layer {
            add("--layer", layer.name());
        }
        for jdk in &self.jdk {
            add("--jdk", &jdk.to_string_lossy());
        }
        if let Some(jar) = &self.jar {
            add("--jar", &jar.to_string_lossy());
        }
        for benchmark in &self.benchmark {
            add("--benchmark", benchmark);
        }
        for flags in &self.sets_of_flags() {
            add("--flags", flags);
        }
        text
    }
}

/// Small programs by name, each for so many seconds.
pub fn of_fixtures(names: &[String], seconds: f64) -> Result<Scenario, scenarios::Error> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Scenario::parse(
        &hotspot::scenario::of_fixtures(FIXTURE, &names, seconds),
        FIXTURE,
    )
}

/// Prints a plan.
pub fn plan(args: PlanArgs) -> Result<u8, Error> {
    let scenario = args.choice.scenario()?;
    let plan = args.choice.plan(&scenario)?;
    print(Stream::Output, &text(&args, &plan))?;
    Ok(exit::WITHIN)
}

fn text(args: &PlanArgs, plan: &Plan) -> String {
    let most = plan.whole.max(1);
    let shards = args.shards.unwrap_or(most).clamp(1, most);
    let seed = plan.jobs.first().map_or(0, |job| job.seed);
    let format = if args.json {
        PlanFormat::Json
    } else {
        args.format
    };
    match format {
        PlanFormat::Json => {
            let job = |job: &Job| {
                serde_json::json!({
                    "number": job.number,
                    "title": job.title(),
                    "jdk": job.jdk.home().display().to_string(),
                    "seed": job.seed,
                    "folder": job.dir(),
                    "seconds": job.takes().map(|takes| takes.as_secs_f64()),
                })
            };
            let jobs: Vec<_> = plan.jobs.iter().map(job).collect();
            format!("{:#}\n", serde_json::json!({ "jobs": jobs }))
        }
        PlanFormat::List => {
            let line = |job: &Job| {
                let (number, title, home) = (job.number, job.title(), job.jdk.home().display());
                format!("{number:>4}  {title}  on {home}\n")
            };
            plan.jobs.iter().map(line).collect()
        }
        PlanFormat::Github => {
            let shard = |i| format!(r#"{{"shard":"{i}/{shards}","seed":{seed}}}"#);
            let all: Vec<String> = (1..=shards).map(shard).collect();
            format!("{{\"include\":[{}]}}\n", all.join(","))
        }
        PlanFormat::Jobs => {
            let run = format!("stackwitness run{}", args.choice.arguments(seed));
            let line = |i| format!("{run} --shard {i}/{shards} --out stackwitness-out/shard-{i}\n");
            (1..=shards).map(line).collect()
        }
    }
}

/// The text, quoted for a POSIX shell.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+=:".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
