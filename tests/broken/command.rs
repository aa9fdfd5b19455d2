//! A command that reads broken input.

use crate::breaking::each;
use crate::support::{Output, Place};

/// Runs a command. Fails the test after a deadline, and if the command panics or ends with an exit code that no command
/// has.
#[track_caller]
pub fn answer(place: &Place, words: &str, input: &[u8]) -> Output {
    let output = place.run(words);
    let told = || {
        let input = String::from_utf8_lossy(input);
        format!("{words}: {output:#?}\nThe input:\n{input}")
    };
    assert!(matches!(output.code, Some(0..=4)), "{}", told());
    assert!(!output.stderr.contains("panicked"), "{}", told());
    // A command that fails must say why.
    let silent = output.stderr.is_empty() && output.stdout.is_empty();
    assert!(output.code == Some(0) || !silent, "{}", told());
    output
}

/// Breaks a file in many ways, and runs the command for each.
pub fn each_answer(
    place: &Place,
    words: &str,
    (name, whole): (&str, &[u8]),
    mut check: impl FnMut(&Output, &[u8]),
) {
    each(whole, |bytes| {
        place.write(name, bytes);
        check(&answer(place, words, bytes), bytes);
    });
}

/// Likewise, for what must hold of input that a command accepts.
pub fn each_accepted(
    place: &Place,
    words: &str,
    file: (&str, &[u8]),
    mut check: impl FnMut(&Output, &[u8]),
) {
    each_answer(place, words, file, |output, bytes| {
        if output.code == Some(0) {
            check(output, bytes);
        }
    });
}
