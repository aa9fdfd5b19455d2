//! Lines that a terminal need not break.

/// Length of a line, in characters.
pub(super) const WIDTH: usize = 100;

/// The words of a text on lines of at most `width` characters. A longer word has a line to itself, and a number stays with its
/// per cent sign.
pub(super) fn lines(text: &str, width: usize) -> Vec<String> {
    let mut words: Vec<String> = vec![];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match words.last_mut() {
            Some(number) if word.starts_with('%') => *number += &format!(" {word}"),
            _ => words.push(word.into()),
        }
    }
    let mut lines = vec![String::new()];
    for word in &words {
        let line = lines.last_mut().expect("there is a line");
        let length = line.chars().count();
        if length > 0 && length + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            line.push_str(if length > 0 { " " } else { "" });
            line.push_str(word);
        }
    }
    lines
}
