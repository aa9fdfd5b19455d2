//! The names of the files in a folder of results, and in the folder of a run.

/// The report of a session.
pub const REPORT: &str = "report.json";

/// The request of a session: a report without runs.
pub(crate) const SESSION: &str = "session.json";

/// The runner's facts of a run.
pub(crate) const FACTS: &str = "run.json";

/// HotSpot's report of a crash.
pub(crate) const CRASH: &str = "hs_err.log";

/// The threads of a JVM that did not end in time.
pub(crate) const THREADS: &str = "threads.txt";

/// The program's standard output.
pub(crate) const STDOUT: &str = "stdout.txt";

/// The program's standard error.
pub(crate) const STDERR: &str = "stderr.txt";
