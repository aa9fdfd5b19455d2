//! The exit codes of all commands, in one place.
//!
//! Where several codes apply, a crash weighs most, then a run that is worthless, then a budget,
//! then missing data. A test that fails (1) is never mixed up with a test that could not be run
//! (3).

use oracle::outcome::Outcome;

/// Every layer is within its budget, or the command did its work.
pub const WITHIN: u8 = 0;

/// A layer is over its budget; or the command found what it looks for: a worse report, an
/// impossible edge, a malformed class.
pub const OVER: u8 = 1;

/// Bad usage, a bad scenario, or a folder that cannot be written: the user must change the request.
pub const USAGE: u8 = 2;

/// There is no answer: no JDK, the agent or the program did not start, no data, an interrupt, or
/// an output that is full.
pub const NOT_MEASURED: u8 = 3;

/// The JVM that was judged crashed or hung.
pub const CRASHED: u8 = 4;

/// The code of a run that a signal ended, as shells have it: 130 after Ctrl-C. The report has what was counted.
pub fn interrupted(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(NOT_MEASURED)
}

/// The codes as `--help` shows them.
pub const HELP: &str = "\
Exit codes:
  0  every layer is within its budget of mismatches
  1  a layer is over its budget
  2  bad usage, a bad scenario, or a folder that cannot be written
  3  could not measure: no JDK, the agent or the program did not start, no data, a full output
  4  the JVM crashed or hung
  130  interrupted by Ctrl-C; the report has what was counted";

/// The codes of `check` as `--help` shows them.
pub const CHECK_HELP: &str = "\
Exit codes:
  0  not worse
  1  worse
  2  bad usage, no such JDK, or a folder that cannot be written
  3  no answer: too noisy, or a JVM that could not be measured
  4  a JVM crashed or hung, twice
  130  interrupted by Ctrl-C before there was an answer";

/// The codes of `reduce` as `--help` shows them.
pub const REDUCE_HELP: &str = "\
Exit codes:
  0  found, and the issue is written
  2  bad usage: no such report, or no such mismatch in it
  3  not found again within the time, or it could not be run
  130  interrupted by Ctrl-C";

/// The code of an outcome.
pub fn of(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Within => WITHIN,
        Outcome::Over => OVER,
        Outcome::NotMeasured => NOT_MEASURED,
        Outcome::Crashed => CRASHED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_says_the_same_as_the_help() {
        let readme = include_str!("../README.md").replace('\n', " ");
        let start = readme.find("The exit code is").expect("the codes");
        let of_readme: String = readme[start..].chars().take(250).collect();
        for (code, of_help, shown) in [
            (
                WITHIN,
                "every layer is within its budget of mismatches",
                "every layer is within its budget of mismatches",
            ),
            (OVER, "a layer is over its budget", "one is over it"),
            (
                NOT_MEASURED,
                "could not measure",
                "nothing could be measured",
            ),
            (
                CRASHED,
                "the JVM crashed or hung",
                "the JVM crashed or hung",
            ),
        ] {
            assert!(HELP.contains(&format!("\n  {code}  {of_help}")), "{code}");
            assert!(
                of_readme.contains(&format!("{code} if {shown}")),
                "{of_readme}"
            );
        }
    }

    #[test]
    fn each_outcome_has_its_code() {
        let codes = Outcome::ALL.map(of);
        assert_eq!(codes, [WITHIN, OVER, NOT_MEASURED, CRASHED]);
        assert!(!codes.contains(&USAGE), "no report is bad usage");
    }
}
