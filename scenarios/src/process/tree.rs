//! Processes as the kernel lists them in `/proc` (proc(5)).

use std::fs;
use std::process;

/// A process.
#[derive(Copy, Clone, Debug)]
pub(super) struct Entry {
    pub pid: u32,
    /// Whether the process runs; a zombie does not.
    runs: bool,
    parent: u32,
    group: u32,
    pub session: u32,
    /// User and system time, with that of the children for which the process waited, in clock
    /// ticks.
    pub cpu: u64,
    /// When the process started, in clock ticks since the machine's start.
    pub started: u64,
}

/// The process with this id, if such a process runs.
pub(super) fn entry(pid: u32) -> Option<Entry> {
    any_entry(pid).filter(|entry| entry.runs)
}

/// The process with this id, if there is such a process. It may have ended.
pub(super) fn any_entry(pid: u32) -> Option<Entry> {
    listed(pid).filter(|entry| entry.pid != process::id())
}

fn listed(pid: u32) -> Option<Entry> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(pid, &String::from_utf8_lossy(&stat))
}

fn parse(pid: u32, stat: &str) -> Option<Entry> {
    // The name stands in parentheses, and may contain parentheses.
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let number = |at: usize| fields.get(at)?.parse().ok();
    let times: Option<Vec<u64>> = (11..15).map(number).collect();
    Some(Entry {
        pid,
        runs: !matches!(*fields.first()?, "Z" | "X"),
        cpu: times?.iter().sum(),
        parent: number(1)? as u32,
        group: number(2)? as u32,
        session: number(3)? as u32,
        started: number(19)?,
    })
}

impl Entry {
    /// Whether the process is of the same session as this one.
    ///
    /// The session has the number 0 where its leader is outside our PID namespace
    /// (pid_namespaces(7)), as in many containers. getsid(2) of rustix panics there.
    pub fn is_of_our_session(&self) -> bool {
        listed(process::id()).is_some_and(|own| own.session == self.session)
    }
}

/// All processes that run below `roots`, these included, and those of the process group `group`
/// in our session or in its own.
pub(super) fn below(roots: &[u32], group: Option<u32>) -> Vec<u32> {
    let entries: Vec<Entry> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|process| entry(process.file_name().to_str()?.parse().ok()?))
        .collect();
    // When the child has ended and its group is empty, another process may get the id, and lead a group of its own.
    let is_taken =
        |group: &u32| !roots.contains(group) && entries.iter().any(|entry| entry.pid == *group);
    let group = group.filter(|group| !is_taken(group));
    let is_root = |entry: &&Entry| {
        let is_ours = entry.is_of_our_session() || entry.session == entry.group;
        roots.contains(&entry.pid) || group == Some(entry.group) && is_ours
    };
    let mut found: Vec<u32> = entries.iter().filter(is_root).map(|e| e.pid).collect();
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        let children = entries.iter().filter(|entry| entry.parent == parent);
        let new: Vec<u32> = children
            .map(|e| e.pid)
            .filter(|pid| !found.contains(pid))
            .collect();
        found.extend(new);
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_session_is_known() {
        let mut child = process::Command::new("sleep").arg("60").spawn().unwrap();
        let listed = entry(child.id()).map(|entry| entry.is_of_our_session());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(listed, Some(true));
    }

    #[test]
    fn odd_process_names_are_read() {
        let rest = "12 34 56 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987 0 0";
        let stat = format!("7 (a ) S (b) R {rest}");
        let entry = parse(7, &stat).unwrap();
        let numbers = (entry.parent, entry.group, entry.session, entry.started);
        assert_eq!(numbers, (12, 34, 56, 987));
        assert_eq!((entry.runs, entry.cpu), (true, 5 + 6 + 7 + 8));
        assert!(!parse(7, &stat.replace(") R ", ") Z ")).unwrap().runs);
        assert!(parse(7, "7 (a").is_none() && parse(7, "7 (a) R 1").is_none());
    }
}
