//! Can I believe this report?

use super::plain::is_plain;
use crate::model::{CauseCount, Point, Rate, Tone};
use crate::numbers::{count, counted, digits, duration, share};
use oracle::record::Origin;
use oracle::report::Report;

/// A load above this many runnable threads for each processor disturbs rates and times.
const BUSY: f64 = 1.0;

/// What speaks for and against the report.
pub(super) fn points(report: &Report, rates: &[Rate], causes: &[CauseCount]) -> Vec<Point> {
    let mut points: Vec<Point> = foundation(rates).collect();
    points.extend(observer(report, causes));
    points.extend(unexplained(causes));
    points.extend(unverifiable(rates));
    points.extend(incomplete(report));
    points.push(machine(&report.origins));
    points.extend(maker(&report.origins));
    points.push(Point {
        tone: Tone::Plain,
        what: "Checks are not independent.".into(),
        text: "Intervals assume that they are. Checks of one program are alike, so the true intervals are wider.".into(),
    });
    points
}

/// The layers on which others rest.
fn foundation(rates: &[Rate]) -> impl Iterator<Item = Point> {
    rates.iter().filter(|rate| rate.is_foundation).map(|rate| {
        let (judged, layer) = (count(rate.judged), rate.layer);
        let what = match rate.layer.row().walker {
            None => "recorded calls and returns",
            Some(_) => "stacks",
        };
        let of = format!("{} ({layer})", rate.title);
        match (rate.judged, rate.bad) {
            (0, _) => Point {
                tone: Tone::Plain,
                what: format!("{of}: no data."),
                text: "Nothing was compared in this layer.".into(),
            },
            (_, 0) => Point {
                tone: Tone::Good,
                what: format!("{of}: no mismatch."),
                text: format!("{judged} {what} {}.", rate.against),
            },
            (_, bad) => Point {
                tone: Tone::Bad,
                what: format!("{of}: {} false.", count(bad)),
                text: format!(
                    "{judged} {what} {}. What rests on this layer proves nothing.",
                    rate.against
                ),
            },
        }
    })
}

/// What the hooks change.
fn observer(report: &Report, causes: &[CauseCount]) -> Option<Point> {
    let hooked = report.runs.iter().filter(|run| !is_plain(run));
    let slower = hooked.clone().filter_map(|run| {
        let cpu = run.cost.as_ref()?.slowdown_cpu?;
        Some(format!("{} times for {}", digits(cpu), run.title()))
    });
    let slower: Vec<String> = slower.take(4).collect();
    let only: Vec<&str> = causes
        .iter()
        .filter(|cause| cause.only_hooked.is_some())
        .map(|cause| cause.name.as_str())
        .collect();
    let mut text = if slower.is_empty() {
        "How much slower they make the program was not measured.".into()
    } else {
        format!("CPU time with hooks: {}.", slower.join(", "))
    };
    if !only.is_empty() {
        text += &format!(" Seen only with hooks: {}.", only.join(", "));
    }
    hooked.clone().next().map(|_| Point {
        tone: Tone::Plain,
        what: "Hooks change the program.".into(),
        text,
    })
}

/// Mismatches without a known cause.
fn unexplained(causes: &[CauseCount]) -> Option<Point> {
    let open = causes.iter().filter(|cause| !cause.is_known);
    let n: u64 = open.map(CauseCount::total).sum();
    let all: u64 = causes.iter().map(CauseCount::total).sum();
    (n > 0).then(|| Point {
        tone: Tone::Bad,
        what: format!(
            "{} without a known cause.",
            counted(n, "mismatch", "mismatches")
        ),
        text: format!(
            "{} of {}. Each may be a mistake of the JVM that nobody knows, or one of Stackwitness.",
            share(n as f64 / all as f64),
            count(all)
        ),
    })
}

/// Answers without a truth.
fn unverifiable(rates: &[Rate]) -> Option<Point> {
    let worst = rates
        .iter()
        .filter(|rate| rate.checks > 0 && rate.unverifiable > 0);
    let part = |rate: &&Rate| rate.unverifiable as f64 / rate.checks as f64;
    let worst = worst.max_by(|a, b| part(a).total_cmp(&part(b)))?;
    Some(Point {
        tone: Tone::Plain,
        what: "Not every answer has a truth.".into(),
        text: format!(
            "At most {} of the answers of a layer could not be judged (layer {}).",
            share(part(&worst)),
            worst.layer
        ),
    })
}

/// Runs that are missing.
fn incomplete(report: &Report) -> Option<Point> {
    let skipped = report.skipped.len() as u64;
    let text = match (report.complete, skipped) {
        (true, 0) => return None,
        (true, _) => format!(
            "{} skipped.",
            counted(skipped, "program was", "programs were")
        ),
        (false, _) => "The session did not end: it was interrupted, or its time was over.".into(),
    };
    Some(Point {
        tone: Tone::Bad,
        what: "Not all runs were made.".into(),
        text,
    })
}

/// The machine, and what else it did.
fn machine(origins: &[Origin]) -> Point {
    if origins.is_empty() {
        return Point {
            tone: Tone::Plain,
            what: "Not recorded: time, machine and load.".into(),
            text: "The report is of an earlier version of Stackwitness.".into(),
        };
    }
    let busy = origins.iter().any(|origin| {
        let cores = origin.cores.unwrap_or(1) as f64;
        origin.load_before.is_some_and(|load| load > BUSY * cores)
    });
    let texts: Vec<String> = origins.iter().take(4).map(of_machine).collect();
    Point {
        tone: if busy { Tone::Bad } else { Tone::Good },
        what: if busy {
            "The machine was busy before the first run."
        } else {
            "The machine was quiet before the first run."
        }
        .into(),
        text: texts.join(" "),
    }
}

fn of_machine(of: &Origin) -> String {
    let load = |load: Option<f64>| load.map_or("unknown".into(), |load| format!("{load:.1}"));
    let cores = of
        .cores
        .map_or("an unknown number of".into(), |n| n.to_string());
    let memory = of.memory.map_or(String::new(), |bytes| {
        format!(", {} GiB", digits(bytes as f64 / f64::from(1 << 30)))
    });
    format!(
        "{} on {}: {cores} cores of {}{memory}, {}; load {} before, {} after {}.",
        of.started,
        of.host,
        of.processor,
        of.system,
        load(of.load_before),
        load(of.load_after),
        duration(of.seconds)
    )
}

/// The program that made the report.
fn maker(origins: &[Origin]) -> Option<Point> {
    let origin = origins.first()?;
    let commit = origin.commit.as_deref().unwrap_or("unknown");
    let mut commands: Vec<String> = vec![];
    for command in origins.iter().map(|origin| origin.command.join(" ")) {
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    let word = if commands.len() > 1 {
        "Commands"
    } else {
        "Command"
    };
    let mut text = format!(
        "Version {}, commit {commit}. {word}: {}.",
        origin.version,
        commands.join("; ")
    );
    if let Some(hash) = &origin.scenario_sha256 {
        text += &format!(" SHA-256 of the scenario: {hash}.");
    }
    for (name, value) in &origin.java_environment {
        text += &format!(" {name}={value}.");
    }
    Some(Point {
        tone: Tone::Plain,
        what: "Made by Stackwitness.".into(),
        text,
    })
}
