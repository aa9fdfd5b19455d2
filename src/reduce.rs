//! `stackwitness reduce`.

use crate::cli::ReduceArgs;
use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print, say};
use crate::plan::{of_fixtures, quoted};
use crate::report::input;
use crate::run::made_by;
use hotspot::causes::{self, Cause};
use oracle::gate::SoughtKind;
use oracle::report::{Report, Run};
use oracle::{Hooking, Layer};
use reports::Issue;
use scenarios::jdk::Jdk;
use scenarios::scenario::{Program, Start};
use scenarios::{Reduced, Reduction, Tried, interrupt, store};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// The file with the issue, in the folder of the results.
const ISSUE: &str = "issue.md";

/// A program that the runner cannot shorten ends after this time.
const DEADLINE: Duration = Duration::from_secs(30);

/// Reduces a mismatch, prints where the issue is, and returns the exit code.
pub fn reduce(args: ReduceArgs) -> Result<u8, Error> {
    let report = input::read(&input::or_last(args.report))?;
    let kind = args.kind;
    let runs = with_kind(&report, &kind)?;
    let cause = kind.cause.as_ref().and_then(Cause::named);
    let task = Reduction {
        programs: programs(&report, &kind, cause, &runs)?,
        jdks: jdks(&args.jdk, &report, runs[0])?,
        seed: args.seed.unwrap_or(runs[0].seed),
        budget: Duration::from_secs_f64(args.minutes * 60.0),
        maker: made_by(),
        kind: kind.clone(),
    };
    interrupt::note().map_err(|e| Error::machine(format!("cannot handle signals: {e}")))?;
    say(format!(
        "looks for {kind} in {} programs for {} minutes at most; results go to {}",
        task.programs.len(),
        args.minutes,
        args.out.display()
    ));
    let reduced = task.run(&args.out, &mut |tried| say(progress(&kind, tried)))?;
    let ran = reduced.report.runs.len();
    let minutes = reduced.elapsed.as_secs_f64() / 60.0;
    if let Some(signal) = interrupt::noted() {
        say(format!("interrupted after {ran} runs; no issue is written"));
        return Ok(exit::interrupted(signal.as_raw()));
    }
    let Reduced {
        found: Some(found),
        report,
        ..
    } = reduced
    else {
        let text = format!(
            "not found again: none of {ran} runs in {minutes:.1} minutes shows {kind}; \
             --minutes N searches longer\n"
        );
        print(Stream::Output, &text)?;
        return Ok(exit::NOT_MEASURED);
    };
    let command = command(&found.program, found.seed, &kind);
    let issue = Issue {
        kind: &kind,
        cause,
        command: &command,
        note: note(&found.program, cause),
        seen: &found.seen,
        example: found.example.as_ref(),
        is_confirmed: found.is_confirmed,
        version: env!("CARGO_PKG_VERSION"),
        origin: report.origins.first(),
    };
    let path = args.out.join(ISSUE);
    store::write_file(&path, reports::issue(&issue).as_bytes())?;
    let doubt = if found.is_confirmed {
        ""
    } else {
        " (not confirmed by three runs in a row)"
    };
    let text = format!(
        "{kind} shows{doubt} with\n  {command}\nfound in {ran} runs and {minutes:.1} minutes; the issue: {}\n",
        path.display()
    );
    print(Stream::Output, &text)?;
    Ok(exit::WITHIN)
}

/// The runs with mismatches of the kind, those with the most first.
fn with_kind<'a>(report: &'a Report, kind: &SoughtKind) -> Result<Vec<&'a Run>, Error> {
    let count = |run: &Run| -> u64 { kind.count(report, run).values().sum() };
    let mut runs: Vec<&Run> = report.runs.iter().filter(|run| count(run) > 0).collect();
    runs.sort_by_key(|run| std::cmp::Reverse(count(run)));
    if runs.is_empty() {
        let known = SoughtKind::all_of(report);
        let known = match known.len() {
            0 => "no mismatch at all".into(),
            _ => known.join(", "),
        };
        return Err(Error::usage(format!(
            "the report has no mismatch of kind {kind}; known: {known}"
        )));
    }
    Ok(runs)
}

/// The JDKs that the user named, else that of the run.
fn jdks(named: &[PathBuf], report: &Report, run: &Run) -> Result<Vec<Jdk>, Error> {
    let of_run = [PathBuf::from(&report.jdk_of(run).home)];
    let homes = if named.is_empty() { &of_run[..] } else { named };
    let mut found: Vec<Jdk> = vec![];
    for home in homes {
        let jdk = Jdk::at(home, "--jdk or the report")?;
        jdk.check_age()?;
        if !found.contains(&jdk) {
            found.push(jdk);
        }
    }
    Ok(found)
}

/// Programs that may show the kind, the smallest first: those of its cause, then each fixture of the runs that showed
/// it, those on whose stacks it was before the others, and at last these runs as they were.
fn programs(
    report: &Report,
    kind: &SoughtKind,
    cause: Option<&Cause>,
    runs: &[&Run],
) -> Result<Vec<Program>, Error> {
    let usual = of_fixtures(&["sorting".into()], 4.0)?.programs.remove(0);
    let usual = Program {
        deadline: Some(DEADLINE),
        ..usual
    };
    let whole: Vec<Program> = runs
        .iter()
        .map(|run| Program::of_run(run, &usual))
        .collect();
    let single = whole
        .iter()
        .flat_map(|program| singles(program, report, kind));
    let of_cause = cause.into_iter().flat_map(|cause| cause.programs());
    let of_cause = of_cause.map(|program| of_cause_alone(program, &usual));
    let mut all: Vec<Program> = vec![];
    for mut program in of_cause.chain(single).chain(whole.iter().cloned()) {
        if let Some(layer) = kind.layer {
            fit(&mut program, layer);
        }
        // What the runner adds depends on the program, and a hung program must end.
        program.deadline = match program.start {
            Start::Java(_) => Some(DEADLINE),
            _ => Some(DEADLINE * 8),
        };
        if !all.contains(&program) {
            all.push(program);
        }
    }
    Ok(all)
}

/// The program of a cause.
fn of_cause_alone(program: &causes::Program, usual: &Program) -> Program {
    Program {
        name: program.fixture.into(),
        start: Start::Fixtures {
            names: vec![program.fixture.into()],
            seconds: program.seconds.into(),
        },
        jvm_args: program.jvm_args.iter().map(|&arg| arg.into()).collect(),
        hooks: program.hooks.parse().unwrap_or_default(),
        ..usual.clone()
    }
}

/// Each fixture of a program alone: first those whose class was on a stack of the kind.
fn singles(program: &Program, report: &Report, kind: &SoughtKind) -> Vec<Program> {
    let seen = classes(report, kind);
    let is_on_stack = |program: &Program| {
        let plain = program.name.replace('-', "");
        seen.iter()
            .any(|class| class.starts_with(&plain) || plain.starts_with(class))
    };
    let mut all = program.fixtures_alone(4.0);
    all.sort_by_key(|program| !is_on_stack(program));
    all
}

/// The classes of fixtures on the stacks of the kind, in lower case.
fn classes(report: &Report, kind: &SoughtKind) -> BTreeSet<String> {
    let of_kind = report
        .mismatches
        .iter()
        .filter(|mismatch| kind.has(mismatch));
    let frames = of_kind.flat_map(|mismatch| mismatch.walker.iter().chain(&mismatch.truth));
    let class = |method: &str| {
        let rest = method.strip_prefix("stackwitness.fixtures.")?;
        let end = rest.find(|c: char| !c.is_alphanumeric());
        Some(rest[..end.unwrap_or(rest.len())].to_lowercase())
    };
    let common = ["main", "rounds", "fixture", "threads", "rng"];
    let found = frames.filter_map(|frame| class(&frame.method));
    found
        .filter(|class| !common.contains(&class.as_str()))
        .collect()
}

/// Lets a program have checks in a layer.
fn fit(program: &mut Program, layer: Layer) {
    if !layer.row().program.is_for(program.hooks.is_on()) {
        program.hooks = if program.hooks.is_on() {
            Hooking::None
        } else {
            Hooking::Exact
        };
    }
    if !program.layers.contains(&layer) {
        program.judge(&[layer]);
    }
}

/// The command that runs a program with a seed, for a POSIX shell.
fn command(program: &Program, seed: u64, kind: &SoughtKind) -> String {
    let mut words: Vec<String> = ["stackwitness", "run"].map(String::from).into();
    let mut add = |option: &str, value: &str| words.extend([option.into(), quoted(value)]);
    let mut java: &[String] = &[];
    let usual = Layer::usual();
    match &program.start {
        Start::Fixtures { names, seconds } => {
            for name in names {
                add("--fixture", name);
            }
            let each = seconds / names.len().max(1) as f64;
            add("--seconds", &each.to_string());
        }
        Start::Java(args) => java = args,
        // The compiler of the JDK itself has a scenario of its own.
        Start::Javac { .. } | Start::Suite(_) => add("--scenario", "default"),
    }
    if let Some(layer) = kind.layer.filter(|layer| !usual.contains(layer)) {
        add("--layer", layer.name());
    }
    add("--hooks", program.hooks.name());
    add("--seed", &seed.to_string());
    if !program.jvm_args.is_empty() {
        add("--flags", &program.jvm_args.join(" "));
    }
    add("--jdk", "JDK");
    if !java.is_empty() {
        words.push("--".into());
        words.extend(java.iter().map(|word| quoted(word)));
    }
    words.join(" ")
}

/// What the program does, if it is that of a cause.
fn note(program: &Program, cause: Option<&'static Cause>) -> Option<&'static str> {
    let Start::Fixtures { names, .. } = &program.start else {
        return None;
    };
    let all = cause.into_iter().chain(causes::CAUSES);
    let mut all = all.flat_map(|cause| cause.programs());
    let found = all.find(|of| names.len() == 1 && of.fixture == names[0]);
    found.map(|program| program.note)
}

fn progress(kind: &SoughtKind, tried: &Tried<'_>) -> String {
    let Tried {
        number,
        program,
        jdk,
        count,
    } = tried;
    let shown = match count {
        0 => "not shown".into(),
        n => format!("{n} of {kind}"),
    };
    let flags = match program.jvm_args.len() {
        0 => String::new(),
        _ => format!(" {}", program.jvm_args.join(" ")),
    };
    let time = match program.start {
        Start::Fixtures { seconds, .. } | Start::Javac { seconds } => format!(", {seconds} s"),
        _ => String::new(),
    };
    let version = jdk.version().unwrap_or("of unknown version");
    format!(
        "run {number}: {}{flags}, hooks {}{time}, JDK {version}: {shown}",
        program.name, program.hooks
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;
    use scenarios::Plan;
    use scenarios::plan::Wishes;

    /// The words of a command, of which single quotes hold one together.
    fn words(command: &str) -> Vec<String> {
        let mut words = vec![];
        for (at, part) in command.split('\'').enumerate() {
            if at % 2 == 1 {
                words.push(part.to_owned());
            } else {
                words.extend(part.split_whitespace().map(String::from));
            }
        }
        words
    }

    #[test]
    fn the_command_of_an_issue_runs_the_same_program() {
        let usual = of_fixtures(&["sorting".into()], 4.0).expect("a scenario");
        let usual = usual.programs[0].clone();
        for cause in causes::CAUSES {
            for program in cause.programs() {
                let program = of_cause_alone(program, &usual);
                let kind: SoughtKind = cause.name.parse().expect("a kind");
                let line = command(&program, 7, &kind).replace(" --jdk JDK", "");
                let cli = Cli::try_parse_from(words(&line)).expect(&line);
                let Command::Run(args) = cli.command else {
                    panic!("{line}")
                };
                let mut scenario = args.choice.scenario().expect(&line);
                let hooks = args.hooks.expect("hooks");
                scenario.programs.iter_mut().for_each(|it| it.hook(hooks));
                let [planned] = &scenario.programs[..] else {
                    panic!("{line}")
                };
                let flags = args.choice.flags.join(" ");
                let flags: Vec<&str> = flags.split_whitespace().collect();
                assert_eq!(flags, program.jvm_args, "{line}");
                let expected = Program {
                    jvm_args: planned.jvm_args.clone(),
                    name: planned.name.clone(),
                    deadline: planned.deadline,
                    ..program
                };
                assert_eq!(*planned, expected, "{line}");
                assert_eq!(args.choice.seed, Some(7));
                let _ = Plan::new(&scenario, &Wishes::default());
            }
        }
    }

    #[test]
    fn programs_fit_the_layer_and_the_smallest_come_first() {
        let mut run = Run::new("whole", oracle::report::Exit::Code(0));
        run.java_args =
            "-Xint -cp x.jar stackwitness.fixtures.Main --times --millis 100 sorting lambdas"
                .split(' ')
                .map(String::from)
                .collect();
        run.hooks = Some(Hooking::Exact);
        let text = include_str!("../tests/examples/shared/good.json");
        let mut report: Report = serde_json::from_str(text).expect("a report");
        report.runs = vec![run];
        let kind: SoughtKind = "call-edge:frame-removed".parse().expect("a kind");
        let cause = kind.cause.as_ref().and_then(Cause::named);
        let runs: Vec<&Run> = report.runs.iter().collect();
        let all = programs(&report, &kind, cause, &runs).expect("programs");
        let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["mutual-recursion", "sorting", "lambdas", "whole"]);
        for program in &all {
            assert_eq!(program.hooks, Hooking::None, "call-edge is without hooks");
            assert!(program.layers().contains(&Layer::CallEdge));
        }
        assert_eq!(all[3].jvm_args, ["-Xint"]);
    }
}
