//! What is to run, and `stackwitness plan`.

use crate::cli::{Choice, PlanArgs, PlanFormat};
use scenarios::plan::Wishes;
use scenarios::{Error, Plan, Scenario};
use std::fmt::Write;

impl Choice {
    /// The scenario that was asked for.
    pub fn scenario(&self) -> Result<Scenario, Error> {
        let causes = hotspot::scenario::causes();
        let all: Result<_, _> = self
            .scenario
            .iter()
            .map(|name| Scenario::load(name, &[("causes", &causes)]))
            .collect();
        Ok(Scenario::join(all?))
    }

    /// Its plan.
    pub fn plan(&self, scenario: &Scenario) -> Result<Plan, Error> {
        let wishes = Wishes {
            jdks: self.jdk.clone(),
            jar: self.jar.clone(),
            benchmarks: self.benchmark.clone(),
            flags: self.flags.clone(),
            seed: self.seed.unwrap_or_else(scenarios::random_seed),
        };
        Plan::new(scenario, &wishes)
    }

    /// The same choice as arguments, for another machine.
    fn arguments(&self, seed: u64) -> String {
        let mut text = format!(" --seed {seed}");
        let mut add = |option: &str, value: &str| {
            let _ = write!(text, " {option} {}", quoted(value));
        };
        for scenario in &self.scenario {
            add("--scenario", scenario);
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
        for flags in &self.flags {
            add("--flags", flags);
        }
        text
    }
}

/// Prints a plan.
pub fn plan(args: PlanArgs) -> Result<(), Error> {
    let scenario = args.choice.scenario()?;
    let plan = args.choice.plan(&scenario)?;
    let shards = args
        .shards
        .unwrap_or(plan.whole)
        .clamp(1, plan.whole.max(1));
    let seed = plan.jobs.first().map_or(0, |job| job.seed);
    let arguments = args.choice.arguments(seed);
    match args.format {
        PlanFormat::List => {
            for job in &plan.jobs {
                println!(
                    "{:>4}  {}  on {}",
                    job.number,
                    job.title(),
                    job.jdk.home().display()
                );
            }
        }
        PlanFormat::Github => {
            let entries: Vec<String> = (1..=shards)
                .map(|i| format!(r#"{{"shard":"{i}/{shards}","seed":{seed}}}"#))
                .collect();
            println!(r#"{{"include":[{}]}}"#, entries.join(","));
        }
        PlanFormat::Jobs => {
            for i in 1..=shards {
                println!(
                    "stackwitness run{arguments} --shard {i}/{shards} --out stackwitness-out/shard-{i}"
                );
            }
        }
    }
    Ok(())
}

/// For a POSIX shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+=:".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.into(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}
