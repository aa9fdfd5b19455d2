//! What a waiting user sees: a line on a terminal that is redrawn, a line a program in a
//! log, nothing where nobody looks.

use crate::output::{Stream, print};
use oracle::Layer;
use oracle::tally::Tally;
use scenarios::Event;
use std::env;
use std::io::{IsTerminal, stderr};
use std::time::Duration;

/// Shows what goes on.
pub struct Progress {
    style: Style,
    title: String,
    /// Programs not yet started, the running one included.
    left: u32,
    /// Programs that have ended, and how long they took together.
    ended: u32,
    took: Duration,
}

#[derive(Copy, Clone, Eq, PartialEq)]
enum Style {
    Redrawn,
    Lines,
    Quiet,
}

impl Progress {
    /// `quiet`: a user's program has the terminal.
    pub fn new(quiet: bool) -> Progress {
        let style = match (quiet, stderr().is_terminal()) {
            (true, _) => Style::Quiet,
            (false, true) => Style::Redrawn,
            (false, false) if env::var_os("CI").is_some() => Style::Quiet,
            (false, false) => Style::Lines,
        };
        Progress {
            style,
            title: String::new(),
            left: 0,
            ended: 0,
            took: Duration::ZERO,
        }
    }

    /// Shows an event.
    pub fn show(&mut self, event: &Event) {
        match (self.style, event) {
            (Style::Quiet, _) => {}
            (_, Event::Starts { at, of, job }) => {
                let places: String = job.axes.values().map(|value| format!(" {value}")).collect();
                self.title = format!("[{at}/{of}] {}{places}", job.program.name);
                self.left = (of - at + 1) as u32;
                self.line("");
            }
            (Style::Redrawn, Event::Runs { elapsed, tallies }) => {
                let left = self.time_left(*elapsed);
                self.line(&(counts(*elapsed, tallies) + &left));
            }
            (Style::Lines, Event::Runs { .. }) => {}
            (_, Event::Ended { run }) => {
                let tallies: Vec<_> = run.layers.iter().map(|c| (c.layer, c.tally())).collect();
                let wall = Duration::from_secs_f64(run.wall_s);
                self.ended += 1;
                self.took += wall;
                self.line(&counts(wall, &tallies));
                if self.style == Style::Redrawn {
                    self.write("\n");
                }
            }
            (_, Event::Skips { skipped }) => {
                self.write(&format!("{}: skipped: {}\n", skipped.scenario, skipped.why));
            }
        }
    }

    /// A guess from the programs that have ended.
    fn time_left(&self, elapsed: Duration) -> String {
        if self.ended == 0 {
            return String::new();
        }
        let left = (self.took / self.ended * self.left).saturating_sub(elapsed);
        match left.as_secs() {
            0..90 => format!(", about {} s left", left.as_secs()),
            seconds => format!(", about {} min left", seconds.div_ceil(60)),
        }
    }

    fn line(&self, what: &str) {
        match self.style {
            // Back to the start, the new line, and what is left of the old one erased.
            Style::Redrawn => self.write(&format!("\r{}{what}\x1b[K", self.title)),
            Style::Lines | Style::Quiet => self.write(&format!("{}{what}\n", self.title)),
        }
    }

    /// A run goes on, whether somebody reads of its progress or not.
    fn write(&self, text: &str) {
        let _ = print(Stream::Error, text);
    }
}

/// Short, so that it fits on one line of a terminal.
fn counts(elapsed: Duration, tallies: &[(Layer, Tally)]) -> String {
    let checks: u64 = tallies.iter().map(|(_, tally)| tally.checks()).sum();
    let mismatches: u64 = tallies.iter().map(|(_, tally)| tally.mismatches()).sum();
    format!(
        "  {} s, {checks} checks, {mismatches} mismatches",
        elapsed.as_secs()
    )
}
