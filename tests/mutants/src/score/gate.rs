//! Runs the judging command on a trial.

use super::evidence;
use super::trial::{Ending, Result as Judged, Trial};
use crate::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// The variables that the mutant HotSpot reads: the mistake that is on, and the file for the number
/// of strikes.
const SWITCH: &str = "STACKWITNESS_MUTANT";
const COUNT: &str = "STACKWITNESS_MUTANT_COUNT";

/// A command, and the place of its reports.
#[derive(Debug)]
pub struct Gate {
    pub command: Vec<String>,
    pub reports: PathBuf,
    pub deadline: Duration,
}

impl Gate {
    /// Runs the command on a trial; its output and reports go to `folder`.
    pub fn judge(&self, trial: &Trial, folder: &Path) -> Result<Judged, Error> {
        let folder = &std::path::absolute(folder).map_err(Error::at(folder))?;
        let log = folder.join("output.txt");
        let strikes = folder.join("strikes");
        let start = SystemTime::now();
        let clock = Instant::now();
        let ended = self.run(trial, &log, &strikes)?;
        let seconds = clock.elapsed().as_secs_f64();
        let output = fs::read(&log).map_err(Error::at(&log))?;
        let output = String::from_utf8_lossy(&output);
        let mut layers = vec![];
        for (i, report) in evidence::reports(&self.reports, start).iter().enumerate() {
            let kept = folder.join(format!("report-{i}.json"));
            fs::copy(report, &kept).map_err(Error::at(report))?;
            let text = fs::read_to_string(&kept).map_err(Error::at(&kept))?;
            layers.extend(evidence::counts(&text));
        }
        Ok(Judged {
            name: trial.name.clone(),
            does: trial.does.clone(),
            honest: trial.switch.is_none(),
            outcome: ended.map_or(Ending::Deadline, |status| Ending::of(status.code())),
            seconds,
            strikes: evidence::strikes(&strikes),
            failed: evidence::failed(&output),
            causes: evidence::causes(&output),
            layers,
        })
    }

    /// The command's exit status; `None` if it was ended at its deadline.
    fn run(&self, trial: &Trial, log: &Path, strikes: &Path) -> Result<Option<ExitStatus>, Error> {
        let jdk = trial.jdk.display().to_string();
        let mut words = self.command.iter().map(|word| word.replace("{jdk}", &jdk));
        let program = words.next().unwrap_or_default();
        let failed = |source| Error::Io {
            what: program.clone(),
            source,
        };
        let output = File::create(log).map_err(Error::at(log))?;
        let errors = output.try_clone().map_err(Error::at(log))?;
        let child = Command::new(&program)
            .args(words)
            .env("JAVA_HOME", &trial.jdk)
            .env(SWITCH, trial.switch.as_deref().unwrap_or_default())
            .env(COUNT, strikes)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .map_err(failed)?;
        wait(child, self.deadline).map_err(failed)
    }
}

/// Waits for a process, and at the deadline ends it with all its descendants.
fn wait(mut child: Child, deadline: Duration) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    while start.elapsed() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut ids = vec![child.id()];
    ids.extend(descendants(child.id()));
    let ids = ids.iter().map(u32::to_string);
    Command::new("kill").arg("-KILL").args(ids).status()?;
    child.wait()?;
    Ok(None)
}

/// The descendants of a process. They stay in this process group, so that an interrupt from the
/// terminal reaches them too.
fn descendants(of: u32) -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return vec![];
    };
    let pairs: Vec<(u32, u32)> = processes
        .flatten()
        .filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name, in parentheses, may contain anything. The state and the parent follow.
            let (_, after) = stat.rsplit_once(')')?;
            Some((after.split_whitespace().nth(1)?.parse().ok()?, id))
        })
        .collect();
    let mut found = vec![];
    let mut parents = vec![of];
    while let Some(parent) = parents.pop() {
        let children = pairs
            .iter()
            .filter(|pair| pair.0 == parent)
            .map(|pair| pair.1);
        parents.extend(children.clone());
        found.extend(children);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(script: &str, deadline: Duration) -> Judged {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate {
            command: ["sh", "-c", script, "{jdk}"].map(String::from).into(),
            reports: folder.path().join("reports"),
            deadline,
        };
        let trial = Trial {
            name: "a".into(),
            does: "nothing".into(),
            jdk: "/jdk".into(),
            switch: Some("wrong/1000".into()),
        };
        gate.judge(&trial, folder.path()).unwrap()
    }

    #[test]
    fn a_gate_gets_the_jdk_and_the_switch() {
        let script = r#"[ "$0" = /jdk ] && [ "$JAVA_HOME" = /jdk ] || exit 2
            [ "$STACKWITNESS_MUTANT" = wrong/1000 ] || exit 2
            printf '\002\001\000\000\000\000\000\000' > "$STACKWITNESS_MUTANT_COUNT"
            echo "test 17::gst ... FAILED"; exit 101"#;
        let judged = judged(script, Duration::from_secs(60));
        assert_eq!(judged.outcome, Ending::Failed);
        assert_eq!(judged.failed, ["gst"]);
        assert_eq!(judged.strikes, 258);
        assert!(judged.is_right());
    }

    #[test]
    fn a_gate_that_hangs_is_ended() {
        let start = Instant::now();
        let judged = judged("sleep 600 & wait", Duration::from_millis(200));
        assert_eq!(judged.outcome, Ending::Deadline);
        assert!(!judged.is_right());
        assert!(start.elapsed() < Duration::from_secs(300));
    }

    #[test]
    fn grandchildren_are_found() {
        let script = "sh -c 'sleep 600 & wait' & wait";
        let mut child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while descendants(child.id()).len() < 2 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        let found = descendants(child.id());
        let all = [found.as_slice(), &[child.id()]].concat();
        let ids = all.iter().map(u32::to_string);
        Command::new("kill")
            .arg("-KILL")
            .args(ids)
            .status()
            .unwrap();
        child.wait().unwrap();
        assert_eq!(found.len(), 2);
    }
}
