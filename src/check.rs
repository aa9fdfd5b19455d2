//! `stackwitness check`.

use crate::cli::{CheckArgs, CheckFormat};
use crate::error::Error;
use crate::exit;
use crate::next::{self, PAGE};
use crate::output::{Stream, print, say};
use crate::report::render::style;
use crate::run::made_by;
use hotspot::claims::CLAIMS;
use oracle::gate::{Answer, Class, Limits};
use oracle::outcome::Outcome;
use scenarios::jdk::Jdk;
use scenarios::scenario::Program;
use scenarios::{Checked, Pair, Scenario, Task, interrupt, store};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often progress is shown.
const PACE: Duration = Duration::from_secs(15);

/// Runs both builds in turns, prints the answer and returns the exit code.
pub fn check(args: CheckArgs) -> Result<u8, Error> {
    let scenario = Scenario::load(&args.scenario, &[])?;
    refuse_profilers(&scenario)?;
    let task = Task {
        scenario,
        base: jdk(&args.base, "--base")?,
        new: jdk(&args.new, "NEW_JDK")?,
        seed: args.seed.unwrap_or_else(scenarios::random_seed),
        limits: Limits {
            detect: args.detect,
            minutes: args.minutes,
        },
        alpha: args.alpha,
        claims: &CLAIMS,
        faults: args.fault,
        maker: made_by(),
    };
    interrupt::note().map_err(|e| Error::machine(format!("cannot handle signals: {e}")))?;
    say(format!(
        "runs {} and {} in turns, for {} minutes at most, with seed {}; results go to {}",
        args.new.display(),
        args.base.display(),
        args.minutes,
        task.seed,
        args.out.display()
    ));
    let place = |home: &Path| home.canonicalize().ok();
    if place(&args.base) == place(&args.new) {
        say("both are the same JDK, so the answer says how much equal runs differ");
    }
    let mut shown = Instant::now();
    let Checked { answer, base, new } = task.run(&args.out, &mut |pair| {
        if shown.elapsed() >= PACE {
            shown = Instant::now();
            say(progress(pair));
        }
    })?;
    let document = reports::content::check(&answer, &base, &new);
    let text = if args.json {
        format!("{:#}\n", json(&answer))
    } else {
        let shown = reports::render::screen(&document, style(Stream::Output));
        format!("{shown}\nReport  {}\n", next::address(&args.out))
    };
    let page = reports::render::checked(&reports::content::checked(&answer, &base, &new));
    let page = store::write_file(&args.out.join(PAGE), page.as_bytes());
    let printed = print(Stream::Output, &text);
    for format in args.render {
        let (name, text) = match format {
            CheckFormat::Markdown => ("check.md", reports::render::markdown(&document)),
        };
        store::write_file(&args.out.join(name), text.as_bytes())?;
    }
    page?;
    printed?;
    Ok(match interrupt::noted() {
        Some(signal) if answer.outcome == Outcome::NotMeasured => {
            exit::interrupted(signal.as_raw())
        }
        _ => exit::of(answer.outcome),
    })
}

/// Fails if a layer judges a profiler: a check runs none, so it would wait for data until its time is over.
fn refuse_profilers(scenario: &Scenario) -> Result<(), Error> {
    match scenario.of_check().find_map(Program::profiler_layer) {
        Some(layer) => Err(Error::usage(format!(
            "`check` compares JVMs without a profiler, and layer `{layer}` of `{}` judges one: leave the layer out, or judge \
             the profiler on each JDK with `stackwitness run --profiler PATH --jdk HOME`",
            scenario.name
        ))),
        None => Ok(()),
    }
}

/// The JDK at a path that the user gave.
fn jdk(home: &Path, argument: &'static str) -> Result<Jdk, Error> {
    let jdk = Jdk::at(home, argument).and_then(|jdk| jdk.check_age().map(|()| jdk));
    jdk.map_err(|error| Error::usage(error.to_string()))
}

/// The answer for programs.
fn json(answer: &Answer) -> Value {
    let worse = answer.rises.iter().map(ToString::to_string);
    let broken = answer.broken.iter().map(|broken| {
        json!({ "layer": broken.layer, "never": broken.never, "why": broken.why, "count": broken.count })
    });
    let untrue = answer.untrue.iter();
    let untrue = untrue.map(|(layer, count)| json!({ "layer": layer, "false": count }));
    let unexplained = answer.unexplained.iter();
    let unexplained = unexplained.map(|(layer, count)| json!({ "layer": layer, "false": count }));
    let bounds = answer.bounds.iter().map(|bound| {
        let left_out = bound.left_out.iter();
        let left_out = left_out.map(|noisy| json!({ "cause": noisy.cause, "at_most": noisy.at_most }));
        json!({
            "layer": bound.layer, "class": class(bound.class), "pairs": bound.pairs, "at_most": bound.at_most,
            "left_out": left_out.collect::<Vec<_>>(),
            "base": { "events": bound.base.0, "checks": bound.base.1 },
            "new": { "events": bound.new.0, "checks": bound.new.1 },
        })
    });
    json!({
        "outcome": answer.outcome.name(),
        "answer": answer.headline,
        "pairs": answer.pairs,
        "minutes": answer.minutes,
        "worse": worse.collect::<Vec<_>>(),
        "broken": broken.collect::<Vec<_>>(),
        "untrue": untrue.collect::<Vec<_>>(),
        "unexplained": unexplained.collect::<Vec<_>>(),
        "bounds": bounds.collect::<Vec<_>>(),
        "different_libraries": answer.different_libraries,
        "crashed_once": answer.crashed_once,
    })
}

fn class(class: Class) -> &'static str {
    match class {
        Class::False => "false",
        Class::NoAnswer => "no answer",
    }
}

fn progress(pair: &Pair<'_>) -> String {
    let answer = pair.answer;
    let (pairs, minutes) = (answer.pairs, answer.minutes);
    let so_far = match &answer.suspicion {
        Some(suspicion) => format!("looks worse: {}", suspicion.rise),
        None => "nothing is sure yet".to_owned(),
    };
    format!(
        "{pairs} {} in {minutes:.1} minutes, now {}: {so_far}",
        if pairs == 1 { "pair" } else { "pairs" },
        pair.program.name
    )
}
