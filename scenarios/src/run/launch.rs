//! Builds the command that starts a JVM.

use crate::Error;
use crate::jdk::Jdk;
use crate::plan::Job;
use crate::process::{Group, output, setsid};
use crate::scenario::Start;
use crate::store::names;
use java_fixtures::Installed;
use joining::profiler::PROFILER_FILE;
use libraries::Library;
use oracle::Hooking;
use oracle::record::SLOTS_FILE;
use oracle::tally::SLOTS;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Stands for the folder of generated Java sources in a program's arguments.
const SOURCES: &str = "{sources}";

/// Stands for the folder of the run in options for the JVM.
const RUN: &str = "{run}";

/// How long generating sources may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The paths of the agent and of the fixtures' native methods. Where the program has no such files near, they are written
/// into `folder`.
pub fn place_libraries(folder: &Path) -> Result<[PathBuf; 2], Error> {
    let place = |library: &Library| {
        library.place(folder).map_err(|source| Error::Library {
            name: library.name,
            source,
        })
    };
    Ok([
        place(&libraries::AGENT)?,
        place(&libraries::FIXTURE_NATIVES)?,
    ])
}

/// Files that all runs of a session share.
pub(crate) struct Kit {
    agent: PathBuf,
    /// The native methods of the fixtures.
    natives: PathBuf,
    classes: Installed,
    sources: PathBuf,
}

impl Kit {
    /// Finds the libraries, or writes them below `dir`, and writes the class files.
    pub fn new(dir: &Path) -> Result<Kit, Error> {
        let lib = dir.join("lib");
        let [agent, natives] = place_libraries(&lib)?;
        let sources = lib.join("sources");
        let classes =
            java_fixtures::write_to(&lib).map_err(|source| Error::Out { path: lib, source })?;
        Ok(Kit {
            agent,
            natives,
            classes,
            sources,
        })
    }

    fn class_path(&self) -> [String; 2] {
        [
            "-cp".into(),
            self.classes.fixtures_jar.display().to_string(),
        ]
    }

    /// Generates the Java sources at the first call.
    fn sources(&self, jdk: &Jdk) -> io::Result<String> {
        if !self.sources.exists() {
            let mut command = Command::new(jdk.java());
            command
                .args(self.class_path())
                .args([JAVAC_CLASS, "--write"])
                .arg(&self.sources);
            output(command, PATIENCE)?;
        }
        Ok(self.sources.display().to_string())
    }
}

/// The driver of the JDK's own compiler.
pub(crate) const JAVAC_CLASS: &str = "stackwitness.fixtures.Javac";

/// One JVM to start.
pub(crate) struct Launch {
    /// The command, ready to be spawned.
    pub command: Command,
    /// The process group to spawn it with.
    pub group: Group,
    /// The arguments of `java`, without those for the agent.
    pub java_args: Vec<String>,
}

impl Launch {
    /// Prepares the folder of a run and the command.
    pub fn new(kit: &Kit, job: &Job, dir: &Path) -> Result<Launch, Error> {
        let fail = |source| Error::Out {
            path: dir.into(),
            source,
        };
        let config = prepare(kit, job, dir).map_err(fail)?;
        let java_args = java_args(kit, job, dir).map_err(fail)?;
        let (mut command, group) = java(job);
        // Agents start in the order of their options: the profiler has its handlers when ours looks for them.
        let profiler = job.program.profiler.as_ref();
        command
            .args(profiler.map(|profiler| profiler.option(dir)))
            .arg(format!(
                "-agentpath:{}={}",
                kit.agent.display(),
                config.display()
            ))
            // Without this option the VM would warn, on the program's standard output, that an
            // agent binds natives of a class of java.base. The class is the hook class.
            .arg("-Xlog:jni+resolve=off")
            .arg(error_file(dir))
            .args(&java_args);
        if !job.program.foreground {
            command.current_dir(dir.join("work"));
            keep_output(&mut command, dir).map_err(fail)?;
        }
        Ok(Launch {
            command,
            group,
            java_args,
        })
    }

    /// The command without the agent and with other arguments. A user's program runs in the same
    /// folder as before, but its output does not go to the terminal.
    pub fn without_agent(job: &Job, dir: &Path, java_args: Vec<String>) -> io::Result<Launch> {
        let (mut command, group) = java(job);
        command.arg(error_file(dir)).args(&java_args);
        prepare_work(job, dir)?;
        if !job.program.foreground {
            command.current_dir(dir.join("work"));
        }
        keep_output(&mut command, dir)?;
        Ok(Launch {
            command,
            group,
            java_args,
        })
    }
}

/// The folder in which a program runs. `dir` is the folder of the run.
pub(crate) fn work(job: &Job, dir: &Path) -> PathBuf {
    if job.program.foreground {
        PathBuf::from(".")
    } else {
        dir.join("work")
    }
}

/// The command `java` of a job, and its process group. A program that has the terminal stays in the terminal's session.
fn java(job: &Job) -> (Command, Group) {
    if job.program.foreground {
        (Command::new(job.jdk.java()), Group::Shared)
    } else {
        setsid::command(job.jdk.java())
    }
}

/// This option comes before the program's own arguments, which can override it.
fn error_file(dir: &Path) -> String {
    format!("-XX:ErrorFile={}", dir.join(names::CRASH).display())
}

/// Sends a program's output to files, and gives the program no input.
fn keep_output(command: &mut Command, dir: &Path) -> io::Result<()> {
    command
        .stdin(Stdio::null())
        .stdout(File::create(dir.join(names::STDOUT))?)
        .stderr(File::create(dir.join(names::STDERR))?);
    Ok(())
}

/// Makes the folders of a run, with the files that the program reads.
fn prepare_work(job: &Job, dir: &Path) -> io::Result<()> {
    let work = dir.join("work");
    fs::create_dir_all(if job.program.foreground { dir } else { &work })?;
    for (name, content) in &job.program.files {
        fs::write(work.join(name), content)?;
    }
    Ok(())
}

/// Writes the files that the agent and the program read. Returns the path of the agent's
/// configuration.
fn prepare(kit: &Kit, job: &Job, dir: &Path) -> io::Result<PathBuf> {
    let path = dir.join("config.json");
    if path.exists() {
        // An earlier session may have left files in the folder.
        fs::remove_dir_all(dir)?;
    }
    prepare_work(job, dir)?;
    let program = &job.program;
    let trace = match program.hooks {
        Hooking::Light => &kit.classes.trace_light,
        Hooking::None | Hooking::Exact => &kit.classes.trace_exact,
    };
    let config = program.config(dir, trace, job.seed);
    fs::write(&path, serde_json::to_vec_pretty(&config)?)?;
    if let Some(profiler) = &program.profiler {
        let started = serde_json::to_vec_pretty(&profiler.started())?;
        fs::write(dir.join(PROFILER_FILE), started)?;
    }
    fs::write(dir.join(SLOTS_FILE), [0; SLOTS * size_of::<u64>()])?;
    Ok(path)
}

/// The program's own options for a JVM whose run has the folder `dir`. They come first in [`Launch::java_args`].
pub(crate) fn options(job: &Job, dir: &Path) -> Vec<String> {
    let run = dir.display().to_string();
    let options = job.program.jvm_args.iter();
    options.map(|option| option.replace(RUN, &run)).collect()
}

fn java_args(kit: &Kit, job: &Job, dir: &Path) -> io::Result<Vec<String>> {
    let mut args = options(job, dir);
    match &job.program.start {
        Start::Fixtures { names, seconds } => {
            let count = match names.len() {
                0 => java_fixtures::FIXTURE_NAMES.len(),
                n => n,
            };
            let millis = (seconds * 1e3 / count as f64).ceil() as u64;
            args.extend(natives(&kit.natives, &job.jdk));
            args.extend(kit.class_path());
            let redefines = |name: &String| java_fixtures::REDEFINITIONS.contains(&name.as_str());
            if names.iter().any(redefines) {
                let jar = kit.classes.fixtures_jar.display();
                args.push(format!("-javaagent:{jar}"));
            }
            args.extend([
                java_fixtures::MAIN_CLASS.into(),
                "--times".into(),
                "--millis".into(),
                millis.to_string(),
            ]);
            args.extend(names.iter().cloned());
        }
        Start::Javac { seconds } => {
            let millis = (seconds * 1e3).ceil() as u64;
            args.extend(kit.class_path());
            args.extend([
                JAVAC_CLASS.into(),
                "--times".into(),
                "--millis".into(),
                millis.to_string(),
            ]);
        }
        Start::Java(given) => {
            for arg in given {
                args.push(match arg.as_str() {
                    SOURCES if !job.program.foreground => kit.sources(&job.jdk)?,
                    arg => arg.into(),
                });
            }
        }
        Start::Suite(_) => unreachable!("a plan has a program for each benchmark instead"),
    }
    Ok(args)
}

/// Options for the fixtures with native methods.
fn natives(library: &Path, jdk: &Jdk) -> Vec<String> {
    let mut args = vec![format!(
        "-Dstackwitness.fixture.natives={}",
        library.display()
    )];
    if jdk.feature().is_none_or(|feature| feature >= 24) {
        args.push("--enable-native-access=ALL-UNNAMED".into());
    }
    args
}
