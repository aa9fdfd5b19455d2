//! A command that reads broken input.

use crate::support::{Output, run, stackwitness};
use std::path::Path;

/// Runs a command in `folder`. Fails the test after a deadline, and if the command panics or ends
/// with an exit code that no command has.
#[track_caller]
pub fn answer(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let output = run(stackwitness().args(arguments).current_dir(folder));
    let told = || {
        let input = String::from_utf8_lossy(input);
        format!("{arguments:?}: {output:#?}\nThe input:\n{input}")
    };
    assert!(matches!(output.code, Some(0..=4)), "{}", told());
    assert!(!output.stderr.contains("panicked"), "{}", told());
    // A command that fails must say why.
    let silent = output.stderr.is_empty() && output.stdout.is_empty();
    assert!(output.code == Some(0) || !silent, "{}", told());
    output
}
