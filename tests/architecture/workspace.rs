//! The workspace: its crates, as cargo knows them, and its Rust files.

use crate::source::Source;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders without code of this project.
const NOT_OURS: [&str; 3] = ["target", ".git", "stackwitness-out"];

/// One crate of the workspace.
pub struct Crate {
    /// The folder, from the workspace's root on; empty for the root package.
    pub folder: String,
    /// The package's name.
    pub name: String,
    /// The crates of the workspace that the crate needs, without those that only its tests need.
    pub needs: BTreeSet<String>,
}

/// A Rust file: its path from a folder on, and its text.
pub struct RustFile {
    /// The path, with `/`.
    pub path: String,
    /// The text.
    pub text: String,
    /// The declarations, imports and names of the file.
    pub source: Source,
}

/// The workspace's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All crates of the workspace.
pub fn crates() -> Vec<Crate> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--format-version=1"]);
    let output = cargo.current_dir(root()).output().expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"]
        .as_array()
        .expect("a workspace has packages");
    let text = |value: &Value| value.as_str().expect("it is a text").to_owned();
    let read = |package: &Value| {
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        let folder = manifest
            .parent()
            .and_then(|folder| folder.strip_prefix(root()).ok());
        let needs = package["dependencies"].as_array().into_iter().flatten();
        // Only crates of the workspace have a path.
        let needs = needs.filter(|needed| needed["kind"] != "dev" && needed["path"].is_string());
        Crate {
            folder: folder
                .expect("it lies in the workspace")
                .display()
                .to_string(),
            name: text(&package["name"]),
            needs: needs.map(|needed| text(&needed["name"])).collect(),
        }
    };
    packages.iter().map(read).collect()
}

/// All Rust files below `folder`, with paths from `folder` on.
pub fn rust_files(folder: &Path) -> Vec<RustFile> {
    let mut open: Vec<PathBuf> = vec![folder.into()];
    let mut files = vec![];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                if !NOT_OURS.contains(&&*name) {
                    open.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("the file can be read");
                let below = path.strip_prefix(folder).expect("it lies below");
                let place = below.to_string_lossy().replace('\\', "/");
                let source = Source::read(&text).unwrap_or_else(|e| panic!("{place}: {e}"));
                files.push(RustFile {
                    path: place,
                    text,
                    source,
                });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}
