//! The JDKs of this machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A JDK.
#[derive(Clone, Debug)]
pub struct Jdk {
    pub home: PathBuf,
    /// Its feature release, such as 17.
    pub feature: u32,
}

impl Jdk {
    fn at(home: &Path) -> Option<Self> {
        let release = std::fs::read_to_string(home.join("release")).ok()?;
        let version = release
            .lines()
            .find_map(|l| l.strip_prefix("JAVA_VERSION=\""))?;
        let feature = version.split(['.', '"', '-', '+']).next()?.parse().ok()?;
        (home.join("bin/javac").exists() && home.join("lib/modules").exists()).then(|| Self {
            home: home.to_owned(),
            feature,
        })
    }

    /// Every JDK found, the oldest first, one of each feature release.
    pub fn all() -> Vec<Self> {
        let mut homes = BTreeSet::new();
        homes.extend(std::env::var_os("JAVA_HOME").map(PathBuf::from));
        for place in [
            "/usr/lib/jvm",
            "/opt/java",
            "/Library/Java/JavaVirtualMachines",
        ] {
            let Ok(entries) = std::fs::read_dir(place) else {
                continue;
            };
            homes.extend(entries.flatten().map(|e| e.path()));
        }
        let mut all: Vec<Self> = homes
            .iter()
            .filter_map(|h| Self::at(h))
            .filter(|j| j.feature >= 17)
            .collect();
        all.sort_by_key(|j| j.feature);
        all.dedup_by_key(|j| j.feature);
        if all.is_empty() {
            println!("skipped: no JDK found (JAVA_HOME, /usr/lib/jvm)");
        }
        all
    }

    /// A tool of this JDK.
    pub fn tool(&self, name: &str) -> Command {
        Command::new(self.home.join("bin").join(name))
    }

    /// Unpacks the classes of the modules that match `pattern`.
    pub fn extract(&self, pattern: &str, to: &Path) {
        let mut c = self.tool("jimage");
        c.arg("extract")
            .arg("--include")
            .arg(format!("regex:{pattern}"))
            .arg("--dir")
            .arg(to);
        run(c.arg(self.home.join("lib/modules")), 60).expect_success();
    }

    /// Compiles Java sources, for JDK 17 and later unless told otherwise.
    pub fn javac(&self, args: &[&str], to: &Path, sources: &[&Path]) {
        run(
            self.tool("javac")
                .args(args)
                .arg("-nowarn")
                .arg("-d")
                .arg(to)
                .args(sources),
            60,
        )
        .expect_success();
    }
}

/// What a process printed and how it ended.
#[derive(Debug)]
pub struct Output {
    pub out: String,
    pub err: String,
    pub success: bool,
}

impl Output {
    #[track_caller]
    pub fn expect_success(&self) -> &Self {
        assert!(self.success, "{}\n{}", self.out, self.err);
        self
    }
}

/// Runs a process to its end, or kills it after so many seconds.
#[track_caller]
pub fn run(command: &mut Command, seconds: u64) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name| std::fs::File::create(folder.path().join(name)).expect("a temporary file");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file("out"))
        .stderr(file("err"))
        .env_remove("JAVA_TOOL_OPTIONS")
        .spawn()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let success = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break status.success();
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{command:?} took more than {seconds} s");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let read = |name| {
        String::from_utf8_lossy(&std::fs::read(folder.path().join(name)).unwrap_or_default())
            .into_owned()
    };
    Output {
        out: read("out"),
        err: read("err"),
        success,
    }
}
