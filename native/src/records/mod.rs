//! Counts and records of a run, which survive a crash.

pub mod error_codes;
pub mod file;
pub mod pairs;
pub mod profile;
pub mod slots;

use error_codes::ErrorCodes;
use file::RecordsFile;
use oracle::record::{RECORDS_FILE, Record, SLOTS_FILE};
use pairs::PairCounts;
use profile::StacksOfWalkers;
use slots::Slots;
use std::io;
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
