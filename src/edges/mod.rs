//! `stackwitness judge`: judges recorded stacks of any profiler, by class files alone.

mod classes;
mod counted;
mod examples;
mod faults;
mod gather;
mod judging;
mod loose;
mod names;
mod stack;
mod summary;

use crate::error::Error;
use crate::exit;
use crate::output::{self, Stream, is_standard, print};
use classes::{Classes, path};
use counted::Counted;
use examples::Examples;
use gather::Gathered;
use hotspot::runtime::{HotSpot, JFR_REWRITES, is_launched_by_jdk, is_made_by_jfr};
use judging::Judging;
use names::{Named, Names};
use oracle::edge::{Judge, Of, Runtime, Starts};
use recordings::{Note, PWD, Sink};
use scenarios::jdk::Jdk;
use stack::Collected;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};
use tempfile::NamedTempFile;

/// The options of `judge`.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "\
Examples:
  stackwitness judge recording.jfr                    JFR files of the JDK or of async-profiler
  stackwitness judge --jdk HOME --classpath app.jar stacks.txt
  jcmd PID Thread.print | stackwitness judge --jdk HOME -",
    after_help = "\
FILE is a JFR recording of the JDK or of async-profiler, collapsed stacks (`frame;frame COUNT`), a
pprof profile, a thread dump of jstack or jcmd, or has one JSON record a line:
  {\"frames\": [FRAME, …], \"start\": \"java\", \"thread\": \"main\"}
frames, top first: {\"class\": \"a.B\", \"method\": \"m\", \"descriptor\": \"()V\", \"bci\": 5}, without
bci in native frames; start: `java` if Java or the VM started the thread, `launcher` if it is the
main thread of `java`, `unknown`; without it the lowest frame is not judged; thread is optional.
A FILE may be packed (.gz, .lz4) or an archive of such files (.zip). A folder stands for all files
in it.

The class files must be those that ran: another build of the JDK has other BCIs.

Exit codes: 0 no edge is impossible; 1 some are; 2 bad usage, or the recording is of another JDK;
3 a file cannot be read or written, holds no stack, or too much is unknown."
)]
pub struct EdgesArgs {
    /// The JDK that ran, or an image that jlink made [default: the JDK of the recording, else the
    /// JDK that `run` would take]
    #[arg(long, value_name = "HOME")]
    pub jdk: Option<PathBuf>,
    /// Where the program's classes are, as for `java -cp` [default: as the recording has it]
    #[arg(long, value_name = "CP")]
    pub classpath: Option<String>,
    /// Where the program's modules are, as for `java --module-path` [default: as recorded]
    #[arg(long, value_name = "MP")]
    pub module_path: Option<String>,
    /// Write the findings as JSON to this file, too
    #[arg(long, short = 'o', visible_alias = "out", value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
    /// Which events of a recording to judge; may be given several times [default: samples]
    #[arg(long, value_name = "NAME")]
    pub event: Vec<String>,
    /// The share of unknown edges, from 0 to 1, above which the exit code is 3
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, value_parser = share)]
    pub max_unknown: f64,
    /// Inject each kind of fault into each stack, and show how many faults are found
    #[arg(long, alias = "lies", hide = true)]
    pub faults: bool,
    /// The stacks: files, or folders of files; `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().map_err(|e| e.to_string())?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err("a share is a number from 0 to 1".into())
    }
}

/// Judges the stacks and prints the findings. The exit code says whether an edge is impossible. An
/// impossible edge need not be a JVM's fault.
pub fn command(args: &EdgesArgs) -> Result<u8, Error> {
    // Before the files are read, so that a mistake in the command line costs no time.
    if let Some(home) = &args.jdk {
        Jdk::find(Some(home.as_path()))?;
    }
    let (files, _input) = files(&args.files)?;
    let (mut judge, mut names) = (Judge::new(&HotSpot), Names::default());
    let input = gather(&files, args, &mut judge, &mut names)?;
    let jdk = jdk(args, &input.properties)?;
    let mut classes = Classes::new(jdk.home(), jdk.feature().unwrap_or(0))?;
    for part in class_path(args, &input.properties) {
        classes.add(&part)?;
    }
    let world = judge.world_mut();
    let of_any_jdk = classes.of_any_jdk.iter();
    of_any_jdk.for_each(|class| world.distrust(class.as_bytes()));
    // JFR rewrites some classes of a JVM that JFR records. Files of other tools do not say whether JFR
    // recorded the JVM, too.
    let rewritten = JFR_REWRITES.iter();
    rewritten.for_each(|class| world.distrust(class.as_bytes()));
    for class in needed() {
        classes.load(world, class, false);
    }
    for class in &input.classes {
        classes.load(world, class, true);
    }
    let launcher = input.properties.get("sun.java.launcher");
    let mut starts = Starts::new(is_launched_by_jdk(launcher.map(String::as_str)));
    for bottom in input.counted.bottoms.keys() {
        if let (None, Some(thread), Named::Known(lowest)) =
            (bottom.told, &bottom.thread, Named::of(bottom.lowest.method))
        {
            starts.learn(judge.world(), thread.clone(), lowest);
        }
    }
    let starts = (!input.properties.is_empty()).then_some(starts);
    if args.faults {
        classes.load_others(judge.world_mut())?;
        let mut collected = Collected::new(judge.world_mut(), &mut names, starts.as_ref());
        each(&files, &args.event, &mut collected, |sink, at| {
            sink.file = at
        })?;
        let stacks = collected.stacks;
        print(
            Stream::Output,
            &faults::inject_all(&stacks, &mut judge).to_string(),
        )?;
        return Ok(exit::WITHIN);
    }
    let starts = starts.as_ref();
    let mut summary = Judging::new(&mut judge, &mut names, starts).summary(&input.counted);
    if summary.wants_other_classes() {
        classes.load_others(judge.world_mut())?;
        summary = Judging::new(&mut judge, &mut names, starts).summary(&input.counted);
    }
    if summary.impossible().next().is_some() {
        let mut judging = Judging::new(&mut judge, &mut names, starts);
        let mut examples = Examples::new(&mut judging, &mut summary);
        each(&files, &args.event, &mut examples, |sink, at| {
            sink.file = at
        })?;
    }
    let notes = notes(&input.notes, &input.classes, &mut classes);
    notes.iter().for_each(output::say);
    let json = || summary.json(judge.world(), &names, &notes);
    if let Some(path) = args.output.as_deref().filter(|path| !is_standard(path)) {
        fs::write(path, json()).map_err(Error::about(path))?;
    }
    let text = if args.json || args.output.as_deref().is_some_and(is_standard) {
        json()
    } else {
        summary.text(judge.world(), &names)
    };
    print(Stream::Output, &text)?;
    let [possible, impossible, unknown] = summary.sums();
    let share = unknown as f64 / (possible + impossible + unknown).max(1) as f64;
    if impossible > 0 {
        return Ok(exit::OVER);
    }
    if share > args.max_unknown {
        output::say(format!(
            "{:.1} % of the edges are unknown, more than --max-unknown {} allows",
            share * 100.0,
            args.max_unknown
        ));
        return Ok(exit::NOT_MEASURED);
    }
    Ok(exit::WITHIN)
}

/// What was found out before the first stack is judged.
struct Input {
    properties: BTreeMap<String, String>,
    classes: BTreeSet<String>,
    counted: Counted,
    notes: Vec<Note>,
}

fn gather(
    files: &[PathBuf],
    args: &EdgesArgs,
    judge: &mut Judge,
    names: &mut Names,
) -> Result<Input, Error> {
    let mut gathered = Gathered {
        world: judge.world_mut(),
        names,
        file: 0,
        properties: BTreeMap::new(),
        classes: BTreeSet::new(),
        counted: Counted::default(),
        notes: vec![],
        edges: 0,
    };
    each(files, &args.event, &mut gathered, |sink, at| sink.file = at)?;
    if gathered.counted.stacks == 0 {
        let notes = gathered
            .notes
            .iter()
            .map(|note| format!("; {}", shown(note)));
        let what = format!(
            "there is no stack in it; `--event NAME` reads other events of a JFR recording{}",
            notes.collect::<String>()
        );
        return Err(Error::about(&files[0])(what));
    }
    if gathered.edges == u64::MAX {
        let what = "the counts of the stacks add up to more than 64 bits hold";
        return Err(Error::about(&files[0])(what));
    }
    Ok(Input {
        properties: gathered.properties,
        classes: gathered.classes,
        counted: gathered.counted,
        notes: gathered.notes,
    })
}

/// Reads all files into `sink`, and calls `sink` with the place of each file.
fn each<S: Sink>(
    files: &[PathBuf],
    events: &[String],
    sink: &mut S,
    begin: impl Fn(&mut S, usize),
) -> Result<(), Error> {
    for (at, file) in files.iter().enumerate() {
        begin(sink, at);
        recordings::read(file, events, sink).map_err(|e| match e {
            recordings::Error::Io(e) if e.kind() == std::io::ErrorKind::NotFound => {
                let file = file.display();
                Error::usage(format!(
                    "there is no file {file}: give a recording, or a folder with recordings"
                ))
            }
            recordings::Error::NoSuchEvent { .. } => {
                Error::usage(format!("{}: {e}", file.display()))
            }
            e => Error::about(file)(e),
        })?;
    }
    Ok(())
}

/// All files that the user named, and the file that stands for standard input. Files of folders come in the order of
/// their names.
fn files(given: &[PathBuf]) -> Result<(Vec<PathBuf>, Option<NamedTempFile>), Error> {
    let mut files = vec![];
    let mut input = None;
    for path in given {
        if is_standard(path) {
            let read = input.insert(standard_input().map_err(Error::about(path))?);
            files.push(read.path().to_owned());
            continue;
        }
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = fs::read_dir(path).map_err(Error::about(path))?;
        let mut inside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        inside.retain(|file| file.is_file());
        inside.sort();
        if inside.is_empty() {
            return Err(Error::about(path)("no file is in this folder"));
        }
        files.extend(inside);
    }
    Ok((files, input))
}

/// Standard input as a file: the readers look at a file more than once.
fn standard_input() -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    io::copy(&mut io::stdin().lock(), &mut file)?;
    Ok(file)
}

/// Where the program's class files are.
fn class_path(args: &EdgesArgs, properties: &BTreeMap<String, String>) -> Vec<PathBuf> {
    if args.classpath.is_none() && args.module_path.is_none() {
        // A recording of the JDK has the environment, and not the folder in which the JVM ran. Most
        // recordings are written there.
        let recorded = ["user.dir", PWD].map(|name| properties.get(name).map(PathBuf::from));
        let beside = args.files.iter().filter_map(|file| file.parent());
        let mut folders: Vec<PathBuf> = recorded.into_iter().flatten().collect();
        folders.extend(beside.map(Path::to_owned));
        folders.push(PathBuf::from("."));
        return path::of_jvm(properties, &folders);
    }
    let given = [
        ("java.class.path", &args.classpath),
        ("jdk.module.path", &args.module_path),
    ];
    let given = given.map(|(name, value)| (name.into(), value.clone().unwrap_or_default()));
    path::of_jvm(&given.into(), &[PathBuf::from(".")])
}

/// Classes that the rules of the VM name.
fn needed() -> impl Iterator<Item = &'static str> {
    let upcalls = HotSpot
        .upcalls()
        .iter()
        .filter_map(|upcall| match upcall.of {
            Of::Class(name) | Of::Subtypes(name) => Some(name),
            Of::Package(_) => None,
        });
    let thrown = HotSpot.thrown().iter().chain(HotSpot.rewritten()).copied();
    let roots = [
        "java/lang/Throwable",
        "java/lang/LinkageError",
        "java/lang/VirtualMachineError",
    ];
    upcalls.chain(thrown).chain(roots)
}

/// What to say in addition to the findings.
fn notes(notes: &[Note], named: &BTreeSet<String>, classes: &mut Classes) -> Vec<String> {
    let mut all: Vec<String> = notes.iter().map(shown).collect();
    if classes.malformed > 0 {
        all.push(format!("{} malformed classes left out", classes.malformed));
    }
    let ordinary = |class: &&String| {
        HotSpot.kind(class.as_bytes()).1 == oracle::edge::ClassKind::Ordinary
            && !class.starts_with('[')
            && !is_made_by_jfr(class)
    };
    let missing: Vec<&String> = named
        .iter()
        .filter(ordinary)
        .filter(|class| !classes.has(class))
        .collect();
    if let Some(first) = missing.first() {
        let shown: Vec<String> = missing
            .iter()
            .take(5)
            .map(|c| c.replace('/', "."))
            .collect();
        let more = missing.len() - shown.len();
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let option = if first.starts_with("java/") || first.starts_with("jdk/") {
            "--jdk"
        } else {
            "--classpath or --module-path"
        };
        let list = shown.join(", ");
        all.push(format!(
            "no class file of {list}{more}: give them with {option}"
        ));
    }
    all
}

fn shown(note: &Note) -> String {
    match note {
        Note::Cut(what) => format!("not read: {what}"),
        Note::Interference(what) => {
            format!("{what}: classes or calls that are not in the class files may have run")
        }
        Note::Failed(n) => format!("{n} samples failed and have no stack"),
        Note::WithoutStack(n) => format!("{n} samples have no stack"),
        Note::WithoutJava(n) => {
            format!("{n} samples have no frame of a Java method, as in threads of the VM: left out")
        }
        Note::ClassesOnTop(n) => format!(
            "{n} samples have a class on top, such as java.lang.String: read as the class of an allocated object or of a lock"
        ),
        Note::NoPackages => "no class has a package: record without simple names of classes \
             (`simple` of async-profiler), which do not tell the class"
            .into(),
        Note::Biased(n) => format!("{n} samples are biased: their stacks are of a later instant"),
    }
}

/// The JDK whose classes ran. A recording names its JDK; another JDK is refused.
fn jdk(args: &EdgesArgs, properties: &BTreeMap<String, String>) -> Result<Jdk, Error> {
    let home = properties.get("java.home").map(PathBuf::from);
    let home = home.filter(|home| home.is_dir());
    let jdk = Jdk::find(args.jdk.as_deref().or(home.as_deref()))?;
    if let Some(recorded) = properties.get("java.vm.version")
        && let Some(version) = jdk.version()
        && !is_version(recorded, version)
    {
        return Err(Error::usage(format!(
            "{} is of JDK {recorded}, {} is {version}; give the JDK that ran with --jdk",
            args.files[0].display(),
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
    use super::{Classes, is_version, notes};
    use std::collections::BTreeSet;

    #[test]
    fn files_are_asked_for_of_classes_that_may_have_files() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("modules")).unwrap();
        let mut classes = Classes::new(dir.path(), 17).unwrap();
        let named = [
            "[La/B;",
            "a/B",
            "a/B$$Lambda$7+0x12/5",
            "jdk/jfr/internal/handlers/EventHandler1418_17-3",
        ];
        let named = BTreeSet::from(named.map(String::from));
        let expected = "no class file of a.B: give them with --classpath or --module-path";
        assert_eq!(notes(&[], &named, &mut classes), [expected]);
    }

    #[test]
    fn releases_are_distinguished() {
        assert!(is_version("17.0.15+6-Debian-1deb12u1", "17.0.15"));
        assert!(is_version("25+36-LTS", "25"));
        assert!(!is_version("17.0.15+6", "17.0.1"));
        assert!(!is_version("17.0.1+6", "17.0.15"));
        assert!(!is_version("25.0.3+9", "25"));
    }
}
