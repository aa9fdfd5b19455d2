//! Class paths: as a user gives them, and as a JVM recorded them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The parts of a class path as `java -cp` takes it: `DIR/*` stands for all jars of the folder.
/// Relative parts are relative to `folder`.
pub fn parts(path: &str, folder: &Path) -> Vec<PathBuf> {
    let mut parts = vec![];
    for part in std::env::split_paths(path).filter(|part| !part.as_os_str().is_empty()) {
        let part = folder.join(part);
        if part.file_name().is_some_and(|name| name == "*") {
            parts.extend(jars(part.parent().unwrap_or(folder)));
        } else {
            parts.push(part);
        }
    }
    parts
}

/// All places of class files of a JVM with these system properties: its class path and its module
/// path, whose folders hold modules. Relative paths are relative to the first of `folders` in which one of
/// them exists.
pub fn of_jvm(properties: &BTreeMap<String, String>, folders: &[PathBuf]) -> Vec<PathBuf> {
    let get = |name: &str| {
        let path = properties.get(name).map_or("", String::as_str);
        parts(path, &folder_of(path, folders))
    };
    let mut found = get("java.class.path");
    for part in get("jdk.module.path") {
        found.extend(jars(&part));
        let modules = entries(&part).into_iter().filter(|entry| entry.is_dir());
        found.extend(modules);
        found.push(part);
    }
    found
}

/// The folder to which the parts of a path are relative.
fn folder_of(path: &str, folders: &[PathBuf]) -> PathBuf {
    let relative: Vec<PathBuf> = std::env::split_paths(path)
        .filter(|part| part.is_relative() && !part.as_os_str().is_empty())
        .map(|part| {
            if part.ends_with("*") {
                part.parent().unwrap_or(Path::new("")).into()
            } else {
                part
            }
        })
        .collect();
    let holds = |folder: &&PathBuf| relative.iter().any(|part| folder.join(part).exists());
    let folder = folders.iter().find(holds).or(folders.first());
    folder.cloned().unwrap_or_default()
}

/// The file of a URL in the `Class-Path` of a manifest, relative to the jar's folder.
pub fn of_url(folder: &Path, url: &str) -> PathBuf {
    let path = url
        .strip_prefix("file://")
        .or_else(|| url.strip_prefix("file:"));
    folder.join(path.unwrap_or(url).replace("%20", " "))
}

/// The internal names of all classes in a folder.
pub fn classes(folder: &Path, package: &str, names: &mut Vec<String>) {
    for entry in entries(folder) {
        let Some(name) = entry.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        // A symbolic link may lead back to a folder above.
        if entry.is_dir() && !entry.is_symlink() {
            classes(&entry, &format!("{package}{name}/"), names);
        } else if let Some(class) = name.strip_suffix(".class") {
            names.push(format!("{package}{class}"));
        }
    }
}

fn jars(folder: &Path) -> Vec<PathBuf> {
    let mut jars = entries(folder);
    jars.retain(|file| {
        let extension = file.extension();
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case("jar"))
    });
    jars
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_where_the_jvm_ran() {
        let properties = [("java.class.path", "a.jar:/b:c/d")];
        let properties = properties
            .map(|(key, value)| (key.into(), value.into()))
            .into();
        let dir = tempfile::tempdir().unwrap();
        let folders = ["/x".into(), dir.path().to_owned()];
        let expected = ["/x/a.jar", "/b", "/x/c/d"].map(PathBuf::from);
        assert_eq!(of_jvm(&properties, &folders), expected);
        fs::create_dir_all(dir.path().join("c/d")).unwrap();
        let expected = ["a.jar", "/b", "c/d"].map(|part| dir.path().join(part));
        assert_eq!(of_jvm(&properties, &folders), expected);
        assert_eq!(
            of_url(Path::new("/x"), "lib/a%20b.jar"),
            Path::new("/x/lib/a b.jar")
        );
        assert_eq!(
            of_url(Path::new("/x"), "file:/y/a.jar"),
            Path::new("/y/a.jar")
        );
    }
}
