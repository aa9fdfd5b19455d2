//! `stackwitness rewrite`: what the agent does to classes at load, done to files.

use instrumenter::{Choice, HookId, Malformed, MethodInfo, Patterns};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use zip::{ZipArchive, ZipWriter};

/// The class with the hook methods, as the agent defines it.
const OWNER: &str = "java/lang/StackwitnessTrace";

/// What `rewrite` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
PATTERN is CLASS, CLASS.METHOD or CLASS.METHOD(DESCRIPTOR), CLASS with slashes (java/util/List);
`*` stands for any characters.

Rewritten classes call java/lang/StackwitnessTrace, which the agent brings along.

Exit codes: 0 done; 1 done, but some class is malformed and was copied as it is;
2 bad usage; 3 a file could not be read or written.")]
pub struct RewriteArgs {
    /// Only read each class whole and write it back
    #[arg(long, conflicts_with_all = ["include", "exclude", "probability"])]
    pub identity: bool,
    /// Hook only what matches a pattern [default: everything]
    #[arg(long, value_name = "PATTERN")]
    pub include: Vec<String>,
    /// Don't hook what matches a pattern
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Hook each of these methods with this probability only
    #[arg(long, value_name = "P", default_value_t = 1.0, value_parser = probability)]
    pub probability: f64,
    /// Seed of the choice by probability
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Print no line for each hooked method
    #[arg(long, short)]
    pub quiet: bool,
    /// A class, a jar or a folder
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// Where to write the same, rewritten
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
        _ => Err("a probability is a number from 0 to 1".to_owned()),
    }
}

/// A file that could not be read or written.
#[derive(Debug)]
pub struct Error {
    what: String,
    usage: bool,
}

impl Error {
    /// The arguments are wrong.
    pub fn is_usage(&self) -> bool {
        self.usage
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {}

/// Turns an error about `path` into ours.
fn about<E: fmt::Display>(path: &Path) -> impl Fn(E) -> Error {
    move |e| Error {
        what: format!("{}: {e}", path.display()),
        usage: false,
    }
}

fn usage(what: String) -> Error {
    Error { what, usage: true }
}

/// What was done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Classes read.
    pub classes: u64,
    /// Of these, how many were written back as they are: all with `--identity`.
    pub unchanged: u64,
    /// Classes copied because they are malformed.
    pub malformed: u64,
    /// Files that are no classes, copied.
    pub others: u64,
    /// Methods hooked.
    pub hooked: u64,
    /// Methods that the patterns did not choose.
    pub not_chosen: u64,
    /// Methods chosen, but left: by reason.
    pub left: BTreeMap<String, u64>,
    /// Attributes that may hold code offsets of hooked methods, but which nobody knows.
    pub unknown_attributes: u64,
}

impl Summary {
    /// 0, or 1 if a class is malformed.
    pub fn exit_code(&self) -> u8 {
        u8::from(self.malformed > 0)
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary {
            classes,
            unchanged,
            malformed,
            others,
            hooked,
            not_chosen,
            left,
            unknown_attributes,
        } = self;
        writeln!(
            f,
            "classes: {classes}, unchanged: {unchanged}, malformed: {malformed}; other files: {others}"
        )?;
        write!(
            f,
            "methods hooked: {hooked}, not chosen: {not_chosen}, left: {}",
            left.values().sum::<u64>()
        )?;
        for (reason, n) in left {
            write!(f, "\n  {reason}: {n}")?;
        }
        if *unknown_attributes > 0 {
            write!(
                f,
                "\nunknown attributes in hooked code, kept as they are: {unknown_attributes}"
            )?;
        }
        Ok(())
    }
}

/// Rewrites `args.input` to `args.output`, telling `log` what happens to each method.
pub fn rewrite(args: &RewriteArgs, log: &mut dyn Write) -> Result<Summary, Error> {
    let (from, to) = (&args.input, &args.output);
    let mut patterns = Patterns::all().probability(args.probability, args.seed);
    for p in &args.include {
        patterns = patterns.include(p);
    }
    for p in &args.exclude {
        patterns = patterns.exclude(p);
    }
    let mut job = Job {
        args,
        patterns,
        next: 0,
        log,
        done: Summary::default(),
    };
    let metadata = fs::metadata(from).map_err(|e| usage(format!("{}: {e}", from.display())))?;
    let inside =
        |inner: &Path, outer: &Path| match (fs::canonicalize(inner), fs::canonicalize(outer)) {
            (Ok(inner), Ok(outer)) => inner.starts_with(outer),
            _ => false,
        };
    // A place that does not exist yet is judged by the folder that it will be in.
    let place = if to.exists() {
        to.as_path()
    } else {
        to.parent().unwrap_or(to)
    };
    let overlap = if metadata.is_dir() {
        inside(place, from)
    } else {
        to.exists() && inside(to, from)
    };
    if overlap {
        return Err(usage(format!(
            "{} would be written over {}",
            to.display(),
            from.display()
        )));
    }
    if metadata.is_dir() {
        job.folder(from, to)?;
    } else {
        let mut start = [0; 4];
        let n = File::open(from)
            .and_then(|mut f| f.read(&mut start))
            .map_err(about(from))?;
        match &start[..n] {
            [0xCA, 0xFE, 0xBA, 0xBE] => job.class_file(from, to)?,
            [b'P', b'K', ..] => job.jar(from, to)?,
            _ => {
                return Err(usage(format!(
                    "{}: neither a class nor a jar nor a folder",
                    from.display()
                )));
            }
        }
    }
    Ok(job.done)
}

struct Job<'j> {
    args: &'j RewriteArgs,
    patterns: Patterns,
    next: u32,
    log: &'j mut dyn Write,
    done: Summary,
}

impl Job<'_> {
    fn folder(&mut self, from: &Path, to: &Path) -> Result<(), Error> {
        fs::create_dir_all(to).map_err(about(to))?;
        let mut entries = fs::read_dir(from)
            .and_then(|all| all.collect::<io::Result<Vec<_>>>())
            .map_err(about(from))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            if from.is_dir() {
                self.folder(&from, &to)?;
            } else if from.extension().is_some_and(|e| e == "class") {
                self.class_file(&from, &to)?;
            } else {
                fs::copy(&from, &to).map_err(about(&to))?;
                self.done.others += 1;
            }
        }
        Ok(())
    }

    fn class_file(&mut self, from: &Path, to: &Path) -> Result<(), Error> {
        let bytes = fs::read(from).map_err(about(from))?;
        let new = self.class(&from.display().to_string(), &bytes)?;
        fs::write(to, new.as_deref().unwrap_or(&bytes)).map_err(about(to))
    }

    fn jar(&mut self, from: &Path, to: &Path) -> Result<(), Error> {
        let mut old = File::open(from)
            .map_err(about(from))
            .and_then(|f| ZipArchive::new(io::BufReader::new(f)).map_err(about(from)))?;
        let mut new = ZipWriter::new(io::BufWriter::new(File::create(to).map_err(about(to))?));
        for i in 0..old.len() {
            let mut entry = old.by_index_raw(i).map_err(about(from))?;
            let name = entry.name().map_err(about(from))?.into_owned();
            if !name.ends_with(".class") || entry.is_dir() {
                if name.starts_with("META-INF/") && name.ends_with(".SF") && !self.args.identity {
                    self.say(format_args!(
                        "signed    {name} no longer matches the classes"
                    ))?;
                }
                new.raw_copy_file(entry).map_err(about(to))?;
                self.done.others += 1;
                continue;
            }
            let options = entry.options();
            drop(entry);
            entry = old.by_index(i).map_err(about(from))?;
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(about(from))?;
            drop(entry);
            match self.class(&name, &bytes)? {
                // Unchanged entries stay as they are, compressed bytes included.
                None => {
                    let entry = old.by_index_raw(i).map_err(about(from))?;
                    new.raw_copy_file(entry).map_err(about(to))?;
                }
                Some(bytes) => {
                    new.start_file(&*name, options).map_err(about(to))?;
                    new.write_all(&bytes).map_err(about(to))?;
                }
            }
        }
        new.finish().map_err(about(to))?.flush().map_err(about(to))
    }

    /// The class rewritten; `None` if it stays as it is.
    fn class(&mut self, place: &str, bytes: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.done.classes += 1;
        if self.args.identity {
            return match classfile::identity(bytes) {
                Ok(same) if same == bytes => {
                    self.done.unchanged += 1;
                    Ok(None)
                }
                Ok(other) => {
                    self.say(format_args!("differs   {place}"))?;
                    Ok(Some(other))
                }
                Err(e) => self.malformed(place, e),
            };
        }
        let Self { patterns, next, .. } = self;
        let mut plan = |method: &MethodInfo<'_>| {
            if !patterns.wants_method(method) {
                return Choice::Leave;
            }
            *next += 1;
            Choice::Hook {
                id: HookId(*next),
                check: false,
            }
        };
        let r = match instrumenter::rewrite(bytes, OWNER, &mut plan) {
            Ok(r) => r,
            Err(e) => return self.malformed(place, e),
        };
        if !self.args.quiet {
            for m in &r.hooked {
                self.say(format_args!(
                    "hooked    {}.{}{}",
                    r.class_name, m.name, m.descriptor
                ))?;
            }
        }
        for m in &r.left {
            self.say(format_args!(
                "left      {}.{}{}: {}",
                r.class_name, m.name, m.descriptor, m.reason
            ))?;
            *self.done.left.entry(m.reason.to_string()).or_default() += 1;
        }
        self.done.hooked += r.hooked.len() as u64;
        self.done.not_chosen += u64::from(r.not_chosen);
        self.done.unknown_attributes += u64::from(r.unknown_code_attributes);
        self.done.unchanged += u64::from(r.bytes.is_none());
        Ok(r.bytes)
    }

    fn malformed(&mut self, place: &str, e: Malformed) -> Result<Option<Vec<u8>>, Error> {
        self.done.malformed += 1;
        self.say(format_args!("malformed {place}: {e}"))?;
        Ok(None)
    }

    fn say(&mut self, what: fmt::Arguments<'_>) -> Result<(), Error> {
        writeln!(self.log, "{what}").map_err(|e| Error {
            what: format!("output: {e}"),
            usage: false,
        })
    }
}
