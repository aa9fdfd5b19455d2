//! Folders of class files.

use std::fs;
use std::path::{Path, PathBuf};

/// All class files below a folder.
pub fn classes(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "class") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
