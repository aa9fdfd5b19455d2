//! The workspace on disk: its crates, their manifests and their Rust files.

use crate::modules::Files;
use crate::source::Source;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

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
    /// The files below `src`.
    pub files: Files,
    /// The crate's root file below `src`.
    pub root: &'static str,
}

/// A Rust file: its path from the workspace's root on, and its text.
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

/// All crates of the workspace at `root`.
pub fn crates(root: &Path) -> Vec<Crate> {
    let manifest = manifest(root);
    let members = manifest["workspace"]["members"].as_array();
    let members = members.expect("a workspace has members").iter();
    let members = members.map(|member| member.as_str().expect("a member is a folder").to_owned());
    let folders: Vec<String> = std::iter::once(String::new()).chain(members).collect();
    let names: BTreeMap<String, String> = folders
        .iter()
        .map(|folder| {
            let manifest = self::manifest(&root.join(folder));
            let name = manifest["package"]["name"].as_str();
            (
                folder.clone(),
                name.expect("a package has a name").to_owned(),
            )
        })
        .collect();
    let ours: BTreeSet<&String> = names.values().collect();
    let read = |folder: &String| {
        let manifest = self::manifest(&root.join(folder));
        let tables = ["dependencies", "build-dependencies"];
        let tables = tables
            .iter()
            .filter_map(|table| manifest.get(*table)?.as_table());
        let needs = tables.flat_map(|table| table.keys());
        let src = root.join(folder).join("src");
        let files: Files = rust_files(&src)
            .into_iter()
            .map(|file| (file.path, file.source))
            .collect();
        Crate {
            name: names[folder].clone(),
            needs: needs.filter(|name| ours.contains(name)).cloned().collect(),
            root: if files.contains_key("lib.rs") {
                "lib.rs"
            } else {
                "main.rs"
            },
            files,
            folder: folder.clone(),
        }
    };
    folders.iter().map(read).collect()
}

fn manifest(folder: &Path) -> toml::Table {
    let text = fs::read_to_string(folder.join("Cargo.toml")).expect("a crate has a manifest");
    text.parse().expect("cargo has read it")
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
