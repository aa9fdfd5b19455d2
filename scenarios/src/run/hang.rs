//! What a hanging JVM was doing: its Java threads, if it still answers, and what the kernel
//! knows of each thread in any case.

use crate::process::output;
use crate::store::names;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How long a hanging JVM is asked for its Java threads.
const PATIENCE: Duration = Duration::from_secs(10);

/// Writes down the threads of the process `pid`.
pub(crate) fn dump(pid: u32, jcmd: &Path, dir: &Path) {
    let mut text = String::from("Threads as the kernel sees them (id, state, waits in, name):\n");
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    for task in tasks.into_iter().flatten().flatten() {
        let read = |name| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let stat = read("stat");
        // The name is in parentheses and may hold any of them itself.
        let state = stat
            .rsplit_once(") ")
            .and_then(|(_, rest)| rest.chars().next())
            .unwrap_or('?');
        let id = task.file_name().to_string_lossy().into_owned();
        let _ = writeln!(
            text,
            "{id:>8} {state} {:<24} {}",
            read("wchan"),
            read("comm").trim_end()
        );
    }
    let mut command = Command::new(jcmd);
    command.args([&pid.to_string(), "Thread.print", "-l"]);
    match output(command, PATIENCE) {
        Ok(threads) => text += &format!("\n{threads}"),
        Err(e) => text += &format!("\nNo Java threads: jcmd: {e}\n"),
    }
    // The run is over either way; a full disk must not stop the report.
    let _ = fs::write(dir.join(names::THREADS), text);
}
