//! Repeats the work of a run without the agent, to measure what the agent costs.

use super::launch::{JAVAC_CLASS, Launch, options, work};
use super::watch::{Ending, Watch};
use crate::plan::Job;
use crate::process::{Process, interrupt};
use crate::scenario::Start;
use crate::store::names;
use oracle::cost::Effort;
use oracle::report::Exit;
use std::fs;
use std::path::Path;

/// The folder of the repetition, in the folder of the run.
pub(crate) const DIR: &str = "without-agent";

/// Repeats the work of the run in `dir`, which ended with `exit`, without the agent; or says why
/// not. `java_args` are the arguments of the run's `java`.
pub(crate) fn measure(
    job: &Job,
    dir: &Path,
    java_args: &[String],
    exit: &Exit,
) -> Result<Effort, String> {
    if !job.program.baseline {
        return Err("the slowdown was not asked for".into());
    }
    if !matches!(exit, Exit::Code(_)) {
        return Err("the program did not end by itself".into());
    }
    let output = fs::read_to_string(dir.join(names::STDOUT)).unwrap_or_default();
    let args = same_work(&job.program.start, java_args, &output)
        .ok_or("the program did not say how much it has done")?;
    let dir = dir.join(DIR);
    let args = with_options(args, options(job, &dir));
    let mut launch = Launch::without_agent(job, &dir, args).map_err(|e| e.to_string())?;
    let watch = Watch {
        deadline: job.program.deadline,
        foreground: job.program.foreground,
        work: &work(job, &dir),
        dir: &dir,
        jcmd: &job.jdk.home().join("bin/jcmd"),
    };
    let mut process =
        Process::spawn_run(&mut launch.command, launch.group, &dir).map_err(|e| e.to_string())?;
    match watch.wait(&mut process, &mut |_| {}) {
        _ if interrupt::noted().is_some() => Err("it was interrupted".into()),
        Ending {
            exit: alone,
            effort: Some(effort),
            ..
        } if alone == *exit => Ok(effort),
        Ending { exit: alone, .. } => Err(format!(
            "without the agent the program ended otherwise: {alone:?}"
        )),
    }
}

/// The arguments of a `java` that repeats the work of a run with the arguments `args` and the
/// output `output`. The output of a program that runs for a fixed time says how many rounds it did.
fn same_work(start: &Start, args: &[String], output: &str) -> Option<Vec<String>> {
    let up_to = |class: &str| {
        let at = args.iter().position(|arg| arg == class)?;
        Some(args[..=at].to_vec())
    };
    match start {
        Start::Fixtures { .. } => {
            let done = output.lines().filter_map(|line| {
                let name = line.split(' ').next()?;
                Some(format!("{name}={}", rounds(line)?))
            });
            let done: Vec<_> = done.collect();
            let mut same = up_to(java_fixtures::MAIN_CLASS).filter(|_| !done.is_empty())?;
            same.extend(done);
            Some(same)
        }
        Start::Javac { .. } => {
            let done = output.lines().find_map(rounds)?;
            let mut same = up_to(JAVAC_CLASS)?;
            same.extend(["--rounds".into(), done.to_string()]);
            Some(same)
        }
        Start::Java(_) | Start::Suite(_) => Some(args.to_vec()),
    }
}

/// The arguments of a run, which begin with its options, with those of another run in their place: what the second JVM
/// writes to the folder of its run, as a recording, must not replace what the first one wrote.
fn with_options(mut args: Vec<String>, options: Vec<String>) -> Vec<String> {
    args.splice(..options.len(), options);
    args
}

/// The number of rounds in a line of a fixture's output.
fn rounds(line: &str) -> Option<u64> {
    let told = line
        .split(' ')
        .find_map(|word| word.strip_prefix("rounds="));
    told?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn programs_that_go_on_for_a_while_do_as_many_rounds() {
        let names = vec![];
        let start = Start::Fixtures {
            names,
            seconds: 1.0,
        };
        let args = words("-Xa -cp jar stackwitness.fixtures.Main --times --millis 20");
        let output = "sorting 00ab rounds=12 ms=20.3\nupcalls skipped: no library\nrecords 01 rounds=7 ms=21.0\n";
        let same = same_work(&start, &args, output).unwrap();
        let expected = "-Xa -cp jar stackwitness.fixtures.Main sorting=12 records=7";
        assert_eq!(same, words(expected));
        assert_eq!(
            same_work(&start, &args, "sorting failed in round 3\n"),
            None
        );

        let start = Start::Javac { seconds: 1.0 };
        let args = words("-cp jar stackwitness.fixtures.Javac --times --millis 20");
        let same = same_work(&start, &args, "javac files=300 classes=4 rounds=5 ms=1.0\n");
        assert_eq!(
            same,
            Some(words("-cp jar stackwitness.fixtures.Javac --rounds 5"))
        );
    }

    #[test]
    fn each_of_the_two_jvms_writes_to_its_own_folder() {
        let args = words("filename=/run/a.jfr -jar a.jar /run/x");
        let options = words("filename=/run/without-agent/a.jfr");
        let expected = "filename=/run/without-agent/a.jfr -jar a.jar /run/x";
        assert_eq!(with_options(args, options), words(expected));
    }

    #[test]
    fn other_programs_run_with_the_same_arguments() {
        let args = words("-jar a.jar x");
        let start = Start::Java(vec![]);
        assert_eq!(same_work(&start, &args, ""), Some(args));
    }
}
