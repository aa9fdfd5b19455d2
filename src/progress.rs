//! What a waiting user sees: a line on a terminal that is redrawn, a line a program in a
//! log, nothing where nobody looks.

use oracle::Layer;
use oracle::tally::Tally;
use scenarios::Event;
use std::env;
use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

/// Shows what goes on.
pub struct Progress {
    style: Style,
    title: String,
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
        }
    }

    /// Shows an event.
    pub fn show(&mut self, event: &Event) {
        match (self.style, event) {
            (Style::Quiet, _) => {}
            (_, Event::Starts { at, of, job }) => {
                let places = job.axes.values().map(|value| format!(" {value}"));
                self.title = format!(
                    "[{at}/{of}] {}{}",
                    job.program.name,
                    places.collect::<String>()
                );
                self.line("");
            }
            (Style::Redrawn, Event::Runs { elapsed, tallies }) => {
                self.line(&counts(*elapsed, tallies));
            }
            (Style::Lines, Event::Runs { .. }) => {}
            (_, Event::Ended { run }) => {
                let tallies: Vec<_> = run.layers.iter().map(|c| (c.layer, c.tally())).collect();
                self.line(&counts(Duration::from_secs_f64(run.wall_s), &tallies));
                if self.style == Style::Redrawn {
                    eprintln!();
                }
            }
            (_, Event::Skips { skipped }) => {
                eprintln!("{}: skipped: {}", skipped.scenario, skipped.why)
            }
        }
    }

    fn line(&self, what: &str) {
        match self.style {
            // Back to the start, the new line, and what is left of the old one erased.
            Style::Redrawn => eprint!("\r{}{what}\x1b[K", self.title),
            _ => eprintln!("{}{what}", self.title),
        }
        let _ = stderr().flush();
    }
}

fn counts(elapsed: Duration, tallies: &[(Layer, Tally)]) -> String {
    let mut text = format!("  {} s", elapsed.as_secs());
    for (layer, tally) in tallies {
        text += &format!("  {layer} {}", tally.checks());
        if tally.mismatches() > 0 {
            text += &format!(" ({} mismatches)", tally.mismatches());
        }
    }
    text
}
