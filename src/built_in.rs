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
    let mut lines = vec![format!("{name:14}  {takes:>7} ")];
    let indent = lines[0].chars().count();
    for word in purpose(text).split(' ') {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line + 1 + word.chars().count() > WIDTH {
            lines.push(" ".repeat(indent));
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
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
            for line in line(name, text).lines() {
                assert!(line.chars().count() <= WIDTH, "{line}");
            }
        }
    }
}
