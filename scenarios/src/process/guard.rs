//! Ends the processes of a run if this process is killed, and cannot end them by itself.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Waits for the end of its input, which comes with the end of this process. Arguments: the process
/// group to end, or nothing; the file with which a JVM claims the run. Another process may have the
/// number of a JVM that is gone.
const SCRIPT: &str = r#"
read -r _
[ -n "$1" ] && kill -KILL -- "-$1"
pid=$(cat "$2") && grep -q stackwitness_agent "/proc/$pid/maps" && kill -KILL "$pid"
"#;

/// A shell that waits for the end of this process.
#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    pub fn new(group: Option<u32>, claim: &Path) -> io::Result<Guard> {
        let group = group.map_or(String::new(), |group| group.to_string());
        let mut command = Command::new("sh");
        command
            .args(["-c", SCRIPT, "sh", &group])
            .arg(claim)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Signals of the terminal must not end the guard first.
            .process_group(0);
        command.spawn().map(Guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Before its input ends.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
