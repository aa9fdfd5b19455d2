//! Gives the program the commit from which it is built, for its reports.
//!
//! `STACKWITNESS_COMMIT` in the environment says it where there is no repository; without both the program knows no
//! commit.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=STACKWITNESS_COMMIT");
    if std::env::var_os("STACKWITNESS_COMMIT").is_some() {
        return;
    }
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return;
    };
    // A commit changes these files; other changes are those of sources.
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", file]);
        watch(path.as_deref().unwrap_or_default());
    }
    let manifests = git(&["ls-files", "*Cargo.toml"]).unwrap_or_default();
    for manifest in manifests.lines() {
        let folder = Path::new(manifest).parent().unwrap_or(Path::new(""));
        watch(manifest);
        watch(&folder.join("src").display().to_string());
    }
    let changes = git(&["status", "--porcelain", "--untracked-files=no"]);
    let changed = changes.is_none_or(|changes| !changes.is_empty());
    let mark = if changed { "+changes" } else { "" };
    println!("cargo::rustc-env=STACKWITNESS_COMMIT={commit}{mark}");
}

fn watch(path: &str) {
    if Path::new(path).exists() {
        println!("cargo::rerun-if-changed={path}");
    }
}

/// What git prints, if it succeeds.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
