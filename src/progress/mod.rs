//! What a waiting user sees. Before a run: what will happen, and how long it takes. On a terminal:
//! a table of layers that is redrawn. In a log: a line for each program. In a CI system, or where a
//! user's program has the terminal: nothing.

mod drawing;
mod estimate;

use crate::output::{Stream, print};
use drawing::Drawing;
use estimate::Estimate;
use oracle::Layer;
use oracle::tally::Tally;
use reports::count;
use scenarios::Event;
use scenarios::plan::{Job, Plan};
use std::env;
use std::io::{IsTerminal, stderr};
use std::path::Path;
use std::time::{Duration, Instant};

/// Shows the progress of a session.
pub struct Progress {
    style: Style,
    title: String,
    estimate: Estimate,
    /// When the current program started.
    start: Instant,
}

enum Style {
    Redrawn(Drawing),
    Lines,
    Quiet,
}

impl Progress {
    /// The progress of `plan`. `quiet`: a user's program has the terminal.
    pub fn new(plan: &Plan, quiet: bool) -> Progress {
        let style = match (quiet, stderr().is_terminal()) {
            (true, _) => Style::Quiet,
            (false, true) => Style::Redrawn(Drawing::default()),
            (false, false) if env::var_os("CI").is_some() => Style::Quiet,
            (false, false) => Style::Lines,
        };
        let (ready, _) = plan.by_what_is_here();
        Progress {
            style,
            title: String::new(),
            estimate: Estimate::new(ready.into_iter().map(Job::takes).collect()),
            start: Instant::now(),
        }
    }

    /// Says what will happen.
    pub fn announce(&self, plan: &Plan, out: &Path) {
        if !matches!(self.style, Style::Quiet) {
            write(&announcement(plan, out));
        }
    }

    /// Shows an event.
    pub fn show(&mut self, event: &Event) {
        match event {
            Event::Starts { at, of, job } => {
                let places: String = job.axes.values().map(|value| format!(" {value}")).collect();
                self.title = format!("[{at}/{of}] {}{places}", job.program.name);
                self.estimate.starts(at - 1);
                self.start = Instant::now();
                self.line(": starts");
            }
            Event::Runs { elapsed, tallies } => {
                let left = self.estimate.left(*elapsed).and_then(about);
                let left = left.map_or(String::new(), |left| format!(", {left} left"));
                let head = format!("{}: {} s{left}", self.title, elapsed.as_secs());
                if let Style::Redrawn(drawing) = &mut self.style {
                    let counts = format!("  {}", counts(tallies));
                    write(&drawing.redraw(&table([head, counts], tallies)));
                }
            }
            Event::RunsAlone => {
                if let Style::Redrawn(drawing) = &mut self.style {
                    let line = format!("{}: a second run, without the agent", self.title);
                    write(&drawing.redraw(&[line]));
                }
            }
            Event::Ended { run } => {
                self.estimate.ended(self.start.elapsed());
                let tallies: Vec<_> = run.layers.iter().map(|c| (c.layer, c.tally())).collect();
                self.line(&format!(": {} s, {}", run.wall_s as u64, counts(&tallies)));
                if let Style::Redrawn(drawing) = &mut self.style {
                    drawing.keep();
                }
            }
            Event::Skips { skipped } => {
                if !matches!(self.style, Style::Quiet) {
                    write(&format!("{}: skipped: {}\n", skipped.scenario, skipped.why));
                }
            }
        }
    }

    fn line(&mut self, what: &str) {
        let line = format!("{}{what}", self.title);
        match &mut self.style {
            Style::Redrawn(drawing) => write(&drawing.redraw(&[line])),
            Style::Lines => write(&format!("{line}\n")),
            Style::Quiet => {}
        }
    }
}

/// The run continues if the progress cannot be written.
fn write(text: &str) {
    let _ = print(Stream::Error, text);
}

/// What of a plan can run here, how long that takes, and where the results go.
fn announcement(plan: &Plan, out: &Path) -> String {
    let (ready, _) = plan.by_what_is_here();
    let programs = match &ready[..] {
        [] => return "there is no program to run\n".into(),
        [job] => format!("runs {}", job.title()),
        jobs => {
            let mut names: Vec<&str> = jobs.iter().map(|job| &*job.program.name).collect();
            names.sort_unstable();
            names.dedup();
            format!("starts {} JVMs ({})", jobs.len(), names.join(", "))
        }
    };
    let jdks = each_once(ready.iter().map(|job| jdk(job)));
    let takes: Option<Duration> = ready.iter().map(|job| job.takes()).sum();
    let takes = match takes.and_then(about) {
        Some(time) => format!("takes {time}"),
        None => "takes as long as the programs do".into(),
    };
    format!(
        "stackwitness {programs} on {}, {takes}; results go to {}\n",
        jdks.join(" and "),
        out.display()
    )
}

/// The names in the order in which they come first: a JDK runs many programs.
fn each_once(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut once: Vec<String> = vec![];
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    once
}

fn jdk(job: &Job) -> String {
    let version = job.jdk.version().unwrap_or("of unknown version");
    format!("JDK {version} ({})", job.jdk.home().display())
}

/// An estimated time, in words; `None` if no time is left.
fn about(time: Duration) -> Option<String> {
    match time.as_secs() {
        0 => None,
        seconds @ 1..90 => Some(format!("about {seconds} s")),
        seconds => Some(format!("about {} min", seconds.div_ceil(60))),
    }
}

/// Lines at the head and a line for each layer, short enough for a terminal of 80 columns.
fn table(head: [String; 2], tallies: &[(Layer, Tally)]) -> Vec<String> {
    let title = format!(
        "  {:<16} {:>13} {:>13} {:>11} {:>10}",
        "layer", "checks", "match", "mismatches", "no answer"
    );
    let rows = tallies.iter().map(|(layer, tally)| {
        format!(
            "  {:<16} {:>13} {:>13} {:>11} {:>10}",
            layer.to_string(),
            count(tally.checks()),
            count(tally.matches),
            count(tally.mismatches()),
            unanswered(tally.errors(), tally.checks())
        )
    });
    head.into_iter().chain([title]).chain(rows).collect()
}

/// The share of the questions to which walkers returned an error code.
fn unanswered(errors: u64, checks: u64) -> String {
    match checks {
        0 => "-".into(),
        checks => format!("{:.1} %", errors as f64 * 100.0 / checks as f64),
    }
}

/// Counts that fit on one line of a terminal: what walkers were asked, without a truth's checks of itself.
fn counts(tallies: &[(Layer, Tally)]) -> String {
    let sum = |of: fn(&Tally) -> u64| -> u64 {
        let walked = tallies.iter();
        let walked = walked.filter(|(layer, _)| layer.row().walker.is_some());
        walked.map(|(_, tally)| of(tally)).sum()
    };
    let walks = sum(Tally::checks);
    format!(
        "{} {}, {} without an answer, {} mismatches",
        count(walks),
        if walks == 1 { "walk" } else { "walks" },
        unanswered(sum(Tally::errors), walks),
        count(sum(Tally::mismatches))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_jdk_is_named_once() {
        let jdks = ["JDK 17", "JDK 25", "JDK 17", "JDK 25"].map(String::from);
        assert_eq!(each_once(jdks.into_iter()), ["JDK 17", "JDK 25"]);
    }

    #[test]
    fn estimates_are_shown_in_round_numbers() {
        assert_eq!(about(Duration::ZERO), None);
        assert_eq!(about(Duration::from_secs(30)).unwrap(), "about 30 s");
        assert_eq!(about(Duration::from_secs(110)).unwrap(), "about 2 min");
    }

    #[test]
    fn counts_are_of_walks_and_say_how_many_had_no_answer() {
        let tally = |matches, errors| Tally {
            matches,
            error: [(-5, errors)].into(),
            ..Tally::default()
        };
        let tallies = [
            (Layer::Ground, tally(1_000_000, 0)),
            (Layer::Gst, tally(1_000, 0)),
            (Layer::AsgctAsync, tally(750, 250)),
        ];
        assert_eq!(
            counts(&tallies),
            "2,000 walks, 12.5 % without an answer, 0 mismatches"
        );
    }

    #[test]
    fn each_layer_has_a_line_that_fits_a_terminal() {
        let tallies = Layer::ALL.map(|layer| (layer, Tally::default()));
        let head = "[1/4] fixtures: 3 s, about 2 min left".to_owned();
        let table = table([head, counts(&tallies)], &tallies);
        assert_eq!(table.len(), 3 + Layer::ALL.len());
        assert!(
            table.iter().all(|line| line.chars().count() < 80),
            "{table:#?}"
        );
    }
}
