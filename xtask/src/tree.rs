//! The files of an installed program: `bin`, `lib` and `share`, as below `/usr`.

use crate::build::Built;
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

/// Puts all files into `root`, a new folder.
pub fn lay_out(workspace: &Path, built: &Built, root: &Path) -> Result<PathBuf, String> {
    let fail = |e| format!("{}: {e}", root.display());
    if root.exists() {
        fs::remove_dir_all(root).map_err(fail)?;
    }
    let program = copy(&built.program, &root.join("bin"))?;
    for library in &built.libraries {
        copy(library, &root.join("lib/stackwitness"))?;
    }
    let share = root.join("share");
    let print = |arguments: &[&str], file: &Path| {
        write(file, &output(Command::new(&program).args(arguments))?)
    };
    print(&["man"], &share.join("man/man1/stackwitness.1"))?;
    for (shell, file) in COMPLETIONS {
        print(&["completions", shell], &share.join(file))?;
    }
    let docs = share.join("doc/stackwitness");
    for file in ["README.md", "LICENSE", "packaging/Dockerfile"] {
        copy(&workspace.join(file), &docs)?;
    }
    for entry in fs::read_dir(workspace.join("docs")).map_err(fail)? {
        copy(&entry.map_err(fail)?.path(), &docs.join("docs"))?;
    }
    Ok(root.into())
}

fn copy(file: &Path, folder: &Path) -> Result<PathBuf, String> {
    let name = file
        .file_name()
        .ok_or_else(|| format!("{} is no file", file.display()))?;
    let target = folder.join(name);
    fs::create_dir_all(folder)
        .and_then(|()| fs::copy(file, &target))
        .map_err(|e| format!("{} to {}: {e}", file.display(), folder.display()))?;
    Ok(target)
}

fn write(file: &Path, content: &[u8]) -> Result<(), String> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(file, content))
        .map_err(|e| format!("{}: {e}", file.display()))
}
