//! Sessions of their own (setsid(2)) for the programs of runs.
//!
//! Linux shares the processors evenly among sessions first, and then among the threads of each (sched(7), "The autogroup feature").
//! So a JVM in a session of its own gets its part, however many busy threads were started from the same terminal.

use super::Group;
use std::env;
use std::ffi::OsStr;
use std::process::Command;

/// The program of util-linux that calls setsid(2) and then becomes another program.
const SETSID: &str = "setsid";

/// A command that becomes `program` in a session of its own, and the group to spawn it with. Without `setsid` on the machine
/// the program gets a group of its own alone.
pub(crate) fn command(program: impl AsRef<OsStr>) -> (Command, Group) {
    let path = env::var_os("PATH").unwrap_or_default();
    if env::split_paths(&path).any(|folder| folder.join(SETSID).is_file()) {
        let mut command = Command::new(SETSID);
        command.arg(program);
        (command, Group::Session)
    } else {
        (Command::new(program), Group::Own)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Process;
    use super::*;
    use std::io::Read;
    use std::path::Path;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    #[test]
    fn the_program_leads_its_session_and_is_ended_with_all_that_it_started() {
        let (mut command, group) = command("sh");
        if group != Group::Session {
            println!("skipped: there is no `{SETSID}` here");
            return;
        }
        // The session is the sixth field of /proc/self/stat.
        let script = "sleep 600 & cut -d ' ' -f 6 /proc/$$/stat; exec >/dev/null; sleep 600";
        command.args(["-c", script]).stdout(Stdio::piped());
        let dir = env::temp_dir();
        let mut process = Process::spawn_run(&mut command, group, &dir).unwrap();
        let mut output = process.take_stdout().unwrap();
        let mut line = vec![0; 16];
        let length = output.read(&mut line).unwrap();
        let session = String::from_utf8_lossy(&line[..length]);
        assert_eq!(session.trim(), process.id().to_string());
        assert!(process.end(Path::new("/")).is_empty());
        // The first sleep holds the pipe open until it is ended.
        let start = Instant::now();
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert!(start.elapsed() < Duration::from_secs(300), "{rest}");
    }
}
