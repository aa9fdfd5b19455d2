//! The files of an installed program: `bin`, `lib` and `share`, as below `/usr`.

use crate::build::Program;
use crate::command::output;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Completions: the shell, and the file below `share` where the shell looks.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/stackwitness"),
    ("fish", "fish/vendor_completions.d/stackwitness.fish"),
    ("zsh", "zsh/vendor-completions/_stackwitness"),
];

/// Removes `root` with all files in it.
pub fn clear(root: &Path) -> Result<(), String> {
    if root.exists() {
        fs::remove_dir_all(root).map_err(|e| format!("{}: {e}", root.display()))?;
    }
    Ok(())
}

/// Puts all files of the program into `root`.
pub fn lay_out(workspace: &Path, built: &Program, root: &Path) -> Result<(), String> {
    let program = copy(&built.program, &root.join("bin"))?;
    for library in &built.libraries {
        copy(library, &root.join("lib/stackwitness"))?;
    }
    let share = root.join("share");
    let print = |arguments: &[&str], file: &Path| {
        write(file, &output(Command::new(&program).args(arguments))?)
    };
    let pages = share.join("man/man1").display().to_string();
    output(Command::new(&program).args(["man", "-o", &pages]))?;
    for (shell, file) in COMPLETIONS {
        print(&["completions", shell], &share.join(file))?;
    }
    let docs = share.join("doc/stackwitness");
    for file in [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "packaging/Dockerfile",
    ] {
        copy(&workspace.join(file), &docs)?;
    }
    copy_all(&workspace.join("docs"), &docs.join("docs"))
}

/// Copies the files of a folder and of the folders in it.
fn copy_all(from: &Path, to: &Path) -> Result<(), String> {
    let fail = |e| format!("{}: {e}", from.display());
    for entry in fs::read_dir(from).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_dir() {
            copy_all(&path, &to.join(path.file_name().unwrap_or_default()))?;
        } else {
            copy(&path, to)?;
        }
    }
    Ok(())
}

/// Copies a file into a folder.
pub fn copy(file: &Path, folder: &Path) -> Result<PathBuf, String> {
    let name = file
        .file_name()
        .ok_or_else(|| format!("{} is no file", file.display()))?;
    let target = folder.join(name);
    copy_as(file, &target)?;
    Ok(target)
}

/// Copies a file to a path, whose folder may have to be made.
pub fn copy_as(file: &Path, target: &Path) -> Result<(), String> {
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::copy(file, target))
        .map_err(|e| format!("{} to {}: {e}", file.display(), target.display()))?;
    Ok(())
}

/// Writes a file, whose folder may have to be made.
pub fn write(file: &Path, content: &[u8]) -> Result<(), String> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(file, content))
        .map_err(|e| format!("{}: {e}", file.display()))
}
