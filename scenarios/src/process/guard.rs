//! Ends a child and its group if this process is killed and so cannot end them itself.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Waits for the end of its input, which comes with the end of this process. Arguments: the number
/// of the child; when the child started; the process group to end, or nothing; the file with which
/// a JVM claims the run, or nothing. The start time matters because another process may get the id
/// of a process that has ended.
const SCRIPT: &str = r#"
read -r _
[ -n "$3" ] && kill -KILL -- "-$3"
started=$(sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 20)
[ "$started" = "$2" ] && kill -KILL "$1"
pid=$(cat "$4") && grep -q stackwitness_agent "/proc/$pid/maps" && kill -KILL "$pid"
"#;

/// A shell that waits for the end of this process.
#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    /// Guards the child with this number, which started at `started` as `/proc` has it, and `group`
    /// and the JVM of `claim`, if there are any.
    pub fn new(
        (child, started): (u32, u64),
        group: Option<u32>,
        claim: Option<&Path>,
    ) -> io::Result<Guard> {
        let group = group.map_or(String::new(), |group| group.to_string());
        let mut command = Command::new("sh");
        command
            .args(["-c", SCRIPT, "sh"])
            .args([child.to_string(), started.to_string(), group])
            .arg(claim.unwrap_or(Path::new("")))
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A signal of the terminal must not end the guard before the child.
            .process_group(0);
        command.spawn().map(Guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The guard must end before its input is closed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
