//! Files that a JVM leaves behind if it is killed.

use std::fs;
use std::path::{Path, PathBuf};

/// Where HotSpot keeps these files on Linux, whatever `TMPDIR` says (`os_linux.cpp`).
const TEMP: &str = "/tmp";

/// Removes the files of the process `pid`, which has ended: those of the attach mechanism
/// (`attachListener_posix.cpp`, `VirtualMachineImpl.java`), which may be in the JVM's folder `work`
/// as well, and the file of performance counters (`perfMemory_posix.cpp`).
pub(crate) fn remove(pid: u32, work: &Path) {
    let temp = Path::new(TEMP);
    let attach = format!(".attach_pid{pid}");
    let mut files = vec![
        temp.join(format!(".java_pid{pid}")),
        temp.join(&attach),
        work.join(&attach),
    ];
    files.extend(counters(temp, pid));
    for file in files {
        // Most of the files do not exist.
        let _ = fs::remove_file(file);
    }
}

fn counters(temp: &Path, pid: u32) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(temp).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| {
        let name = entry.file_name();
        name.as_encoded_bytes().starts_with(b"hsperfdata_")
    });
    folders.map(move |folder| folder.path().join(pid.to_string()))
}
