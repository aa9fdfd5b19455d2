//! `stackwitness edges`: judges stacks that somebody recorded, by class files alone.

mod classes;
mod liars;
mod lines;
mod recording;
mod stack;
mod summary;

use crate::error::Error;
use crate::exit;
use crate::output::{self, Stream, print};
use classes::Source;
use hotspot::runtime::{HotSpot, JFR_REWRITES};
use oracle::edge::Judge;
use recording::Recording;
use scenarios::jdk::Jdk;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use summary::Summary;

/// What `edges` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
FILE is a JFR recording, or has one JSON record a line:
  {\"frames\": [FRAME, …], \"start\": \"java\", \"thread\": \"main\"}
frames, top first: {\"class\": \"a.B\", \"method\": \"m\", \"descriptor\": \"()V\", \"bci\": 5}, without
bci in native frames; start: `java` if Java or the VM started the thread, `launcher` if it is the
main thread of `java`, `unknown`; without it the lowest frame is not judged; thread is optional.

The class files must be those that ran: another build of the JDK has other BCIs.

Exit codes: 0 no edge is impossible; 1 some are; 2 bad usage, or the recording is of another JDK;
3 a file cannot be read or written, or holds no stack.")]
pub struct EdgesArgs {
    /// The JDK that ran [default: the recording's, else the one that `run` would take]
    #[arg(long, value_name = "HOME")]
    pub jdk: Option<PathBuf>,
    /// Where the program's classes are, as for `java -cp` [default: as the recording has it]
    #[arg(long, value_name = "CP")]
    pub classpath: Option<String>,
    /// Write the findings to this file
    #[arg(long, value_name = "OUT")]
    pub json: Option<PathBuf>,
    /// Which events of a recording to judge; may be given several times [default: samples]
    #[arg(long, value_name = "NAME")]
    pub event: Vec<String>,
    /// Tell each lie about each stack, and show how many are found out
    #[arg(long, hide = true)]
    pub lies: bool,
    /// The stacks
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Judges and prints what was found. The exit code says whether an edge is impossible, which need
/// not be a JVM's fault.
pub fn command(args: &EdgesArgs) -> Result<u8, Error> {
    let mut judge = Judge::new(&HotSpot);
    let world = judge.world_mut();
    let mut recording = match is_recording(&args.file)? {
        true => {
            let default = || recording::SAMPLES.iter().map(|&name| name.to_owned());
            let events: Vec<_> = match args.event.is_empty() {
                true => default().collect(),
                false => args.event.clone(),
            };
            for class in JFR_REWRITES {
                world.distrust(class.as_bytes());
            }
            recording::read(&args.file, &events, world)?
        }
        false => Recording {
            stacks: lines::read(&args.file, world)?,
            ..Recording::default()
        },
    };
    if recording.stacks.is_empty() {
        return Err(Error::about(&args.file)("it holds no stack"));
    }
    let jdk = jdk(args, &recording)?;
    let mut source = Source::new(world, jdk.feature().unwrap_or(0));
    source.jdk(jdk.home())?;
    let own = recording.properties.get("java.class.path");
    if let Some(path) = args.classpath.as_ref().or(own) {
        source.class_path(path)?;
    }
    if source.malformed > 0 {
        output::say(format!("{} malformed classes left out", source.malformed));
    }
    if !recording.properties.is_empty() {
        recording.tell_starts(world);
    }
    if args.lies {
        let table = liars::lie(&recording.stacks, &mut judge);
        print(Stream::Output, &table.to_string())?;
        return Ok(exit::WITHIN);
    }
    let mut summary = Summary::default();
    let mut found = Vec::new();
    for stack in &recording.stacks {
        judge.stack(&stack.frames, stack.bottom, &mut found);
        summary.add(&stack.frames, &found);
    }
    if let Some(path) = &args.json {
        let json = summary.json(judge.world());
        fs::write(path, json).map_err(Error::about(path))?;
    }
    let text = summary.text(judge.world());
    print(Stream::Output, &format!("{text}{}\n", summary.counts))?;
    Ok(match summary.counts.sums() {
        [_, 0, _] => exit::WITHIN,
        _ => exit::OVER,
    })
}

fn is_recording(path: &Path) -> Result<bool, Error> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(Error::about(path))?;
    let length = recording::MAGIC.len() as u64;
    file.take(length)
        .read_to_end(&mut start)
        .map_err(Error::about(path))?;
    Ok(start == recording::MAGIC)
}

/// The JDK whose classes ran. A recording tells which; another one is refused.
fn jdk(args: &EdgesArgs, recording: &Recording) -> Result<Jdk, Error> {
    let property = |name| recording.properties.get(name);
    let home = property("java.home").map(PathBuf::from);
    let home = home.filter(|home| home.is_dir());
    let jdk = Jdk::find(args.jdk.as_deref().or(home.as_deref()))?;
    if let Some(recorded) = property("java.vm.version")
        && let Some(version) = jdk.version()
        && !is_version(recorded, version)
    {
        return Err(Error::usage(format!(
            "{} is of JDK {recorded}, {} is {version}; give the JDK that ran with --jdk",
            args.file.display(),
            jdk.home().display(),
        )));
    }
    Ok(jdk)
}

/// Whether a VM version such as `17.0.15+6-Debian-1` is of this release, such as `17.0.15`.
fn is_version(vm: &str, release: &str) -> bool {
    let rest = vm.strip_prefix(release);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
}

#[cfg(test)]
mod tests {
    use super::is_version;

    #[test]
    fn a_release_is_told_from_another() {
        assert!(is_version("17.0.15+6-Debian-1deb12u1", "17.0.15"));
        assert!(is_version("25+36-LTS", "25"));
        assert!(!is_version("17.0.15+6", "17.0.1"));
        assert!(!is_version("17.0.1+6", "17.0.15"));
        assert!(!is_version("25.0.3+9", "25"));
    }
}
