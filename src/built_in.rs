//! `stackwitness scenarios`: the built-in scenarios.

use crate::cli::CAUSES;
use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print};
use scenarios::plan::Wishes;
use scenarios::scenario::BUILT_IN;
use scenarios::{Plan, Scenario};

/// Length of a line, in characters.
const WIDTH: usize = 100;

/// Prints a line for each built-in scenario.
pub fn list() -> Result<u8, Error> {
    let causes = hotspot::scenario::causes();
    let all = BUILT_IN.iter().copied().chain([(CAUSES, causes.as_str())]);
    let lines: String = all.map(|(name, text)| line(name, text)).collect();
    let more = "\nstackwitness run --scenario NAME; stackwitness run --cause NAME for one cause\n";
    print(Stream::Output, &format!("{lines}{more}"))?;
    Ok(exit::WITHIN)
}

/// Name, time and purpose. The time is that of the plan on this machine's JDK, if it is known before the run.
fn line(name: &str, text: &str) -> String {
    let plan =
        Scenario::parse(text, name).and_then(|scenario| Plan::new(&scenario, &Wishes::default()));
    let takes = plan.ok().and_then(|plan| plan.takes());
    let takes = takes.map_or(String::new(), |takes| match takes.as_secs() {
        seconds @ 0..90 => format!("{seconds} s"),
        seconds => format!("{} min", (seconds + 30) / 60),
    });
    let head = format!("{name:14}  {takes:>7}  ");
    let room = WIDTH - head.chars().count();
    let purpose = purpose(text);
    let shown = if purpose.chars().count() > room {
        let kept: String = purpose.chars().take(room - 1).collect();
        format!("{}\u{2026}", kept.trim_end())
    } else {
        purpose
    };
    format!("{head}{shown}\n")
}

/// The first sentence of the comment at the top of a scenario.
fn purpose(text: &str) -> String {
    let comment = text.lines().map_while(|line| line.strip_prefix('#'));
    let words: Vec<&str> = comment.flat_map(str::split_whitespace).collect();
    let words = words.join(" ");
    let end = words.find(". ").unwrap_or(words.len());
    words[..end].trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scenario_says_what_it_is_for() {
        for (name, text) in BUILT_IN {
            let purpose = purpose(text);
            assert!(purpose.len() > 20, "{name}: {purpose}");
            assert!(line(name, text).trim_end().chars().count() <= WIDTH);
        }
    }
}
