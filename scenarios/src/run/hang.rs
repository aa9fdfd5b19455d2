//! What a hanging JVM does: its Java threads, if the JVM still answers, and the kernel's view of
//! each thread.

use crate::process::output;
use crate::store::names;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How long to wait for the answer of a hanging JVM.
const PATIENCE: Duration = Duration::from_secs(10);

/// Writes the threads of the process `pid` into a file.
pub(crate) fn dump(pid: u32, jcmd: &Path, dir: &Path) {
    let mut text = String::from("Threads as the kernel sees them (id, state, waits in, name):\n");
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    for task in tasks.into_iter().flatten().flatten() {
        let read = |name| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let stat = read("stat");
        // The name stands in parentheses, and may contain parentheses.
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
    // A full disk must not stop the report.
    let _ = fs::write(dir.join(names::THREADS), text);
}
