//! Where a session runs: the machine, the time and the command.

use oracle::record::Origin;
use std::env::{self, consts::ARCH};
use std::fs;
use std::thread::available_parallelism;
use std::time::Duration;

/// The program and the command that make a report.
#[derive(Clone, Debug, Default)]
pub struct Maker {
    /// Words of the command line.
    pub command: Vec<String>,
    /// Version of Stackwitness.
    pub version: String,
    /// Commit from which Stackwitness was built, if it is known.
    pub commit: Option<String>,
}

/// Variables of the environment from which a JVM or its launcher takes options.
const OF_JAVA: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// The origin of a session that starts now on this machine.
pub(super) fn here(maker: &Maker, scenario_sha256: Option<String>) -> Origin {
    let Maker {
        command,
        version,
        commit,
    } = maker.clone();
    let names = rustix::system::uname();
    let [system, release, host] = [names.sysname(), names.release(), names.nodename()]
        .map(|name| name.to_string_lossy().into_owned());
    let machine = rustix::system::sysinfo();
    let of_java = OF_JAVA.iter().filter_map(|&name| {
        let value = env::var_os(name)?;
        Some((name.to_owned(), value.to_string_lossy().into_owned()))
    });
    Origin {
        started: now(),
        seconds: 0.0,
        host,
        system: format!("{system} {release}"),
        arch: ARCH.into(),
        processor: processor(),
        cores: available_parallelism().ok().map(Into::into),
        memory: machine.totalram.checked_mul(machine.mem_unit.into()),
        load_before: load(),
        load_after: None,
        command,
        version,
        commit,
        scenario_sha256,
        java_environment: of_java.collect(),
    }
}

/// Sets what is known after the last run.
pub(super) fn end(origin: &mut Origin, elapsed: Duration) {
    origin.seconds = elapsed.as_secs_f64();
    origin.load_after = load();
}

/// The time, to the second.
fn now() -> String {
    let now = jiff::Timestamp::now().as_second();
    jiff::Timestamp::from_second(now).map_or_else(|_| String::new(), |now| now.to_string())
}

/// The load average of the last minute, from `/proc/loadavg`.
fn load() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// The model of the first processor, from `/proc/cpuinfo`. On aarch64 the file has numbers instead of a name.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let numbers = || {
        let (maker, part) = (value("CPU implementer")?, value("CPU part")?);
        Some(format!("implementer {maker}, part {part}"))
    };
    value("model name").or_else(numbers).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_says_what_it_is() {
        let maker = Maker {
            command: vec!["stackwitness".into(), "run".into()],
            version: "1.2.3".into(),
            commit: None,
        };
        let mut origin = here(&maker, Some("ab".into()));
        let time: jiff::Timestamp = origin.started.parse().expect("it is RFC 3339");
        assert!(time.duration_until(jiff::Timestamp::now()).as_secs() < 60);
        assert!(!origin.host.is_empty() && origin.system.starts_with("Linux "));
        assert!(!origin.processor.is_empty());
        assert!(origin.cores >= Some(1) && origin.memory > Some(1 << 20));
        assert!(origin.load_before >= Some(0.0) && origin.load_after.is_none());
        end(&mut origin, Duration::from_secs(2));
        assert!(origin.load_after >= Some(0.0) && origin.seconds == 2.0);
        let json = serde_json::to_string(&origin).expect("plain data");
        let back: Origin = serde_json::from_str(&json).expect("just written");
        assert_eq!(back, origin);
        let nothing: Origin = serde_json::from_str("{}").expect("all fields are optional");
        assert_eq!(nothing, Origin::default());
    }
}
