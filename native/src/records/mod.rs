//! Counts and records of a run, which survive a crash.

pub mod error_codes;
pub mod instants;
pub mod pairs;
pub mod places;
pub mod profile;
pub mod slots;

use error_codes::ErrorCodes;
use instants::Instants;
use oracle::record::{CLAIM_FILE, RECORDS_FILE, Record, SLOTS_FILE};
use pairs::PairCounts;
use places::Places;
use profile::StacksOfWalkers;
use slots::Slots;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::Mutex;

/// The counts and the records of a run.
pub struct Records {
    /// The counts.
    pub slots: Slots,
    /// What the truth and the walkers named at the same instants.
    pub pairs: PairCounts,
    /// The true stacks and the stacks that the walkers showed.
    pub stacks: StacksOfWalkers,
    /// How often each error code was returned in signal handlers, and at which code.
    pub errors: Mutex<ErrorCodes>,
    /// What walkers answered at each kind of instant.
    pub instants: Mutex<Instants>,
    /// The names of the kinds of code at which samples were taken.
    pub places: Mutex<Places>,
    file: RecordsFile,
}

impl Records {
    /// The counts and records in the folder of a run.
    pub fn open(run_dir: &Path) -> Result<Records, String> {
        let io = |what: &'static str| move |e: io::Error| format!("cannot open the {what}: {e}");
        Ok(Records {
            slots: Slots::map(&run_dir.join(SLOTS_FILE)).map_err(io("slots"))?,
            pairs: PairCounts::default(),
            stacks: StacksOfWalkers::default(),
            errors: Mutex::default(),
            instants: Mutex::default(),
            places: Mutex::default(),
            file: RecordsFile::open(&run_dir.join(RECORDS_FILE)).map_err(io("records"))?,
        })
    }

    /// Writes a record.
    pub fn write(&self, record: &Record) {
        self.file.write(record);
    }

    /// Marks the run as invalid from here on.
    pub fn invalid(&self, reason: String) {
        self.write(&Record::Invalid(reason));
    }
}

/// Appends records: each is a line of JSON, written at once. Every thread may use it, but no signal handler.
struct RecordsFile(File);

impl RecordsFile {
    /// Opens the file at `path`, which is made if absent.
    fn open(path: &Path) -> io::Result<RecordsFile> {
        Ok(RecordsFile(
            OpenOptions::new().append(true).create(true).open(path)?,
        ))
    }

    /// Appends `record`. If the record cannot be written (a full disk), it is lost. Its check is
    /// counted nevertheless, and the program must not suffer.
    fn write(&self, record: &Record) {
        if let Ok(mut line) = serde_json::to_vec(record) {
            line.push(b'\n');
            // A single write, so that lines of several threads do not mix (O_APPEND).
            _ = (&self.0).write_all(&line);
        }
    }
}

/// Claims the run in `run_dir` for this process: a program can start further JVMs that get the agent as well, for example
/// through `JAVA_TOOL_OPTIONS`. In those the agent does nothing. Returns false if a JVM has claimed the run
/// before. Fails if the file of the claim cannot be made.
pub fn claim_run(run_dir: &Path) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    match options
        .write(true)
        .create_new(true)
        .open(run_dir.join(CLAIM_FILE))
    {
        Ok(mut file) => {
            // The name of the file is the claim. A full disk may leave the file empty.
            _ = writeln!(file, "{}", std::process::id());
            Ok(true)
        }
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    }
}
