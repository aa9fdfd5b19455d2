//! `stackwitness doctor`: what this machine lacks for a run, and what to do about it.

mod diagnosis;
mod trial;

use crate::cli::{DoctorArgs, OUT};
use crate::error::Error;
use crate::exit;
use crate::output::{Stream, print};
use diagnosis::Diagnosis;
use scenarios::process::machine;
use std::path::Path;

/// The bytes that a run of the default scenario needs, with a reserve.
const SPACE: u64 = 500 << 20;

/// The bytes that a core file of a JVM may need.
const CORE: u64 = 4 << 30;

/// Checks what a run needs. Exits with 3 if there is a problem.
pub fn command(args: &DoctorArgs) -> Result<u8, Error> {
    // The folder itself may not exist yet.
    let out = args.out.as_deref().unwrap_or(Path::new(OUT));
    let folder = out.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut diagnoses = vec![memory(), space(folder), core_files(folder)];
    diagnoses.extend(trial::diagnoses(args.jdk.as_deref(), folder));
    if args.json {
        let all: Vec<_> = diagnoses.iter().map(Diagnosis::json).collect();
        print(
            Stream::Output,
            &format!("{:#}\n", serde_json::json!({ "findings": all })),
        )?;
    } else {
        for diagnosis in &diagnoses {
            print(Stream::Output, &diagnosis.line())?;
        }
    }
    Ok(if diagnoses.iter().all(Diagnosis::is_fine) {
        exit::WITHIN
    } else {
        exit::NOT_MEASURED
    })
}

fn memory() -> Diagnosis {
    let about = "process_vm_readv";
    match machine::reads_own_memory() {
        Ok(()) => Diagnosis::fine(about, "the agent can read the VM's memory"),
        // The agent can also read `/proc/self/mem`, so the trial run decides.
        Err(error) => Diagnosis::fine(
            about,
            format!("{error}; the agent reads /proc/self/mem instead"),
        ),
    }
}

fn space(folder: &Path) -> Diagnosis {
    let about = "free space";
    let remedy = "free some space, or name another folder with -o";
    match machine::free_space(folder) {
        Ok(free) if free >= SPACE => Diagnosis::fine(about, format!("{} MB", free >> 20)),
        Ok(free) => {
            let what = format!("{} MB, and a run may need {} MB", free >> 20, SPACE >> 20);
            Diagnosis::problem(about, what, remedy)
        }
        Err(error) => Diagnosis::problem(about, format!("{}: {error}", folder.display()), remedy),
    }
}

fn core_files(folder: &Path) -> Diagnosis {
    let about = "core files";
    let free = machine::free_space(folder).unwrap_or(0);
    match machine::core_limit() {
        Ok(Some(0)) => Diagnosis::fine(about, "a JVM that crashes writes no core file"),
        Ok(limit) if free < CORE.min(limit.unwrap_or(u64::MAX)) => {
            let what = "the core file of a JVM that crashes may fill the disk";
            Diagnosis::problem(about, what, "turn core files off with `ulimit -c 0`")
        }
        Ok(_) => Diagnosis::fine(
            about,
            "a JVM that crashes may write a core file, and the disk has room",
        ),
        Err(error) => Diagnosis::problem(about, error, "mount /proc"),
    }
}
