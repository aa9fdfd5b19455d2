//! The most important lines of HotSpot's crash report.

use crate::store::names;
use std::env;
use std::fmt;
use std::fs;
use std::path::Path;

/// The most important lines of a crash report.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Crash {
    /// The signal or failed assertion.
    pub what: String,
    /// The frame in which the crash happened.
    pub frame: String,
    /// The thread that crashed.
    pub thread: String,
    /// Whether a frame of the agent is on the stack of the crashed thread.
    pub ours: bool,
}

/// Copies the report of a crash of the process `pid` into the folder of its run, if HotSpot wrote
/// the report elsewhere: where the last of `args` says, or in one of its own places. `work` is the
/// folder in which the JVM ran.
pub(crate) fn adopt(dir: &Path, args: &[String], pid: u32, work: &Path) {
    let own = dir.join(names::CRASH);
    // These options come after the command line (`arguments.cpp`).
    let last = env::var("_JAVA_OPTIONS").unwrap_or_default();
    let args = args.iter().map(String::as_str);
    let option = |arg: &'_ str| arg.strip_prefix("-XX:ErrorFile=").map(str::to_owned);
    let asked = args
        .chain(last.split_whitespace())
        .filter_map(option)
        .next_back();
    let asked = asked.map(|path| path.replace("%p", &pid.to_string()).replace("%%", "%"));
    let usual = format!("hs_err_pid{pid}.log");
    let usual = [work.join(&usual), Path::new("/tmp").join(usual)];
    let places = asked.map(|path| work.join(path)).into_iter().chain(usual);
    if !own.exists()
        && let Some(found) = places.into_iter().find(|place| place.is_file())
    {
        // Without the copy the report still names the crash, but not the place.
        let _ = fs::copy(found, own);
    }
}

impl Crash {
    /// Reads the crash report in a run's folder, if there is one.
    pub(crate) fn read(dir: &Path) -> Option<Crash> {
        let text = fs::read(dir.join(names::CRASH)).ok()?;
        Some(Crash::parse(&String::from_utf8_lossy(&text)))
    }

    /// The number of the signal that ended the JVM. SIGABRT if the report names no signal, because
    /// HotSpot then ends itself by SIGABRT.
    pub(crate) fn signal(&self) -> i32 {
        let number = self
            .what
            .split_once("(0x")
            .filter(|_| self.what.starts_with("SIG"));
        let number = number.and_then(|(_, rest)| rest.split(')').next());
        number
            .and_then(|number| i32::from_str_radix(number, 16).ok())
            .unwrap_or(6)
    }

    /// Reads the most important lines of a report's text.
    pub fn parse(text: &str) -> Crash {
        let mut head = text
            .lines()
            .filter_map(|line| line.strip_prefix('#'))
            .map(str::trim);
        let what = head
            .by_ref()
            .find(|line| {
                line.starts_with("SIG") || line.contains("rror (") || line.contains("Error:")
            })
            .unwrap_or("unknown");
        // The process id differs from run to run and says nothing.
        let what = what.split(", pid=").next().unwrap_or(what);
        let frame = head
            .skip_while(|line| *line != "Problematic frame:")
            .nth(1)
            .unwrap_or_default();
        let thread = text
            .lines()
            .find_map(|line| line.strip_prefix("Current thread "))
            .and_then(|line| line.split_once(":  "))
            .map_or("", |(_, thread)| thread);
        let stack = text
            .lines()
            .skip_while(|line| !line.starts_with("Native frames:"));
        let mut stack = stack.take_while(|line| !line.is_empty());
        let ours = frame.contains("libstackwitness_agent")
            || stack.any(|line| line.contains("libstackwitness_agent"));
        Crash {
            what: what.into(),
            frame: frame.into(),
            thread: thread
                .split(" [")
                .next()
                .unwrap_or(thread)
                .trim_end()
                .into(),
            ours,
        }
    }
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ours = if self.ours {
            "our agent is"
        } else {
            "our agent is not"
        };
        write!(
            f,
            "crash: {} in `{}` on {}; {ours} on its stack",
            self.what, self.frame, self.thread
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_summarised() {
        let reports = [
            include_str!("testdata/hs_err_java_frame.log"),
            include_str!("testdata/hs_err_agent_frame.log"),
            "# cut off",
        ];
        let signals = reports.map(|text| Crash::parse(text).signal());
        assert_eq!(signals[2], 6, "nothing is known of it");
        assert!(signals.iter().all(|signal| [6, 11].contains(signal)));
        let told = reports.map(|text| Crash::parse(text).to_string());
        insta::assert_snapshot!(told.join("\n"));
    }
}
