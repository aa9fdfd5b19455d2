//! `stackwitness run`.

use crate::cli::{Format, OUT, RunArgs};
use crate::error::Error;
use crate::exit;
use crate::next;
use crate::output::{Stream, print, say};
use crate::progress::Progress;
use crate::report::render;
use oracle::{Hooking, RecordedSampler};
use scenarios::scenario::{Profiler, walker};
use scenarios::{Done, Maker, Plan, Scenario, Session, interrupt, store};
use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

/// The scenario that compares profilers.
const PROFILERS: &str = "profilers";

/// Sets the way in which the programs of `scenario` are hooked.
fn hook(scenario: &mut Scenario, hooks: Option<Hooking>) {
    if let Some(hooks) = hooks {
        scenario.programs.iter_mut().for_each(|p| p.hook(hooks));
        scenario.required = scenario.measured();
    }
}

/// This program and its command line, for the report.
pub fn made_by() -> Maker {
    let words = std::env::args_os();
    Maker {
        command: words
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        version: env!("CARGO_PKG_VERSION").into(),
        commit: option_env!("STACKWITNESS_COMMIT").map(Into::into),
    }
}

/// The folder of the results. A report in the folder that nobody named is kept: its folder gets another name.
fn folder(named: Option<PathBuf>) -> Result<PathBuf, Error> {
    let out = match named {
        Some(out) => return Ok(out),
        None => PathBuf::from(OUT),
    };
    if !out.join(store::REPORT_FILE).is_file() {
        return Ok(out);
    }
    let previous = PathBuf::from(format!("{OUT}.previous"));
    // Another process may write there.
    drop(store::Folder::take(&out)?);
    if previous.join(store::REPORT_FILE).is_file() {
        fs::remove_dir_all(&previous).map_err(Error::about::<io::Error>(&previous))?;
    }
    fs::rename(&out, &previous).map_err(Error::about::<io::Error>(&out))?;
    say(format!("the last report is now in {}", previous.display()));
    Ok(out)
}

/// Fails if a profiler was given that no layer judges, or if a layer judges a profiler, and there is none: the run would say
/// nothing of it.
fn judges_profiler(scenario: &str, plan: &Plan, is_given: bool) -> Result<(), scenarios::Error> {
    let layer = RecordedSampler::Profiler.layer();
    let judging = plan
        .jobs
        .iter()
        .find_map(|job| job.program.profiler_layer());
    let told = match (is_given, judging) {
        (true, None) => format!(
            "no program of `{scenario}` has layer `{layer}`, so no sample of the profiler would be judged: give --layer \
             {layer}, or add it to the scenario's `layers`"
        ),
        (false, Some(layer)) => format!(
            "layer `{layer}` of `{scenario}` judges the samples of a profiler: give its agent library with --profiler PATH"
        ),
        _ => return Ok(()),
    };
    Err(scenarios::Error::Scenario(told))
}

/// Says which profiles of a program can be trusted.
pub fn profile(mut args: RunArgs) -> Result<u8, Error> {
    if args.choice.scenario.is_empty() {
        args.choice.scenario = vec![PROFILERS.into()];
    }
    run(args)
}

/// Runs the scenario or program of the arguments, prints the table and returns the exit code.
pub fn run(mut args: RunArgs) -> Result<u8, Error> {
    if args.quick {
        args.choice.scenario = vec!["quick".into()];
    }
    // The files are read before anything runs, so that a mistake in them costs no time.
    let judge = args.judging.judge()?;
    let profiler = args.profiler.as_deref();
    let profiler = profiler.map(|given| Profiler::find(given, args.profiler_file.as_deref()));
    let profiler = profiler.transpose()?;
    if profiler.is_some() && args.choice.scenario.is_empty() {
        args.choice.judge_profiler()?;
    }
    let function = args.walker.as_deref().map(walker::find).transpose()?;
    // `quick` means its programs: their layers are those of the walker.
    let is_named = !args.quick && !args.choice.scenario.is_empty();
    crate::tips::of_program(&args.java_args)?;
    let of_user = !args.java_args.is_empty();
    let deadline = Some(args.deadline)
        .filter(|&s| s > 0)
        .map(Duration::from_secs);
    let mut scenario = match (of_user, args.choice.scenario.is_empty()) {
        (false, _) => args.choice.scenario()?,
        (true, true) => Scenario::of_user(args.java_args, deadline),
        (true, false) => (args.choice.scenario()?).with_program(args.java_args, deadline),
    };
    match &function {
        Some(function) if is_named => scenario.ask(function)?,
        Some(function) => scenario.ask_everywhere(function)?,
        None => {}
    }
    hook(&mut scenario, args.hooks);
    let mut plan = args.choice.plan(&scenario)?;
    if let Some(shard) = args.shard {
        plan = plan.shard(shard);
    }
    for job in &mut plan.jobs {
        if let Some(profiler) = &profiler {
            job.program.sample_with(profiler);
        }
        job.program.baseline |= args.slowdown;
        let sampling = &mut job.program.sampling;
        sampling.evidence_limit = args.evidence.unwrap_or(sampling.evidence_limit);
        sampling.hook_fault = args.hook_fault;
        sampling.hook_fault_one_in = args.hook_fault_one_in;
        sampling.faults = args.fault.clone();
        sampling.biased = args.biased.clone();
        sampling.record_samples = args.record_samples;
    }
    judges_profiler(&scenario.name, &plan, profiler.is_some())?;
    interrupt::note().map_err(|e| Error::machine(format!("cannot handle signals: {e}")))?;
    let mut progress = Progress::new(&plan, of_user);
    let out = folder(args.out.take())?;
    let session = Session::new(scenario, plan, &out)?.made_by(made_by());
    progress.announce(session.plan(), &out);
    let Done { report, failure } = session
        .run_until(&|report| judge.hardly_measured(report), &mut |event| {
            progress.show(&event)
        })?;

    let decision = judge.decide(&report);
    // Standard output belongs to the user's program alone.
    let stream = if of_user {
        Stream::Error
    } else {
        Stream::Output
    };
    let style = render::style(stream);
    let format = args.amount.format();
    let shown = render::text(&report, &decision, session.out(), format, style);
    // The program may have left a line unfinished.
    let start = if of_user { "\n" } else { "" };
    let page = render::write(&report, &decision, session.out(), Format::Html);
    let interrupted = interrupt::noted().filter(|_| !report.complete);
    let after = next::After {
        outcome: decision.outcome,
        of_user,
        is_about_profiles: report.scenario == PROFILERS,
        is_judged_by_gate: args.judging.is_gate(),
        is_interrupted: interrupted.is_some(),
        has_flags: args.choice.has_flags(),
        has_runs: report.runs.iter().any(|run| run.jdk.is_some()),
    };
    let steps = match format {
        Format::Summary | Format::Table => next::steps(after, &out),
        _ => String::new(),
    };
    let printed = print(stream, &format!("{start}{shown}{steps}"));
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    page?;
    for format in args.render {
        render::write(&report, &decision, session.out(), format)?;
    }
    printed?;
    Ok(match interrupted {
        Some(signal) => exit::interrupted(signal.as_raw()),
        None => exit::of(decision.outcome),
    })
}
