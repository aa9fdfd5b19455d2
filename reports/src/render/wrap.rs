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

/// A command on lines of at most `width` characters, which a shell reads as one: it is broken at spaces outside of quotation
/// marks. A longer word has a line to itself.
pub(super) fn shell_lines(command: &str, width: usize) -> Vec<String> {
    const GOES_ON: &str = " \\";
    let (mut words, mut quote) = (vec![String::new()], None);
    for c in command.chars() {
        match (quote, c) {
            (None, ' ') => {
                words.push(String::new());
                continue;
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(mark), _) if mark == c => quote = None,
            _ => {}
        }
        words.last_mut().expect("a word").push(c);
    }
    let mut lines = vec![String::new()];
    for word in words {
        let line = lines.last_mut().expect("there is a line");
        let length = line.chars().count();
        if length > 0 && length + 1 + word.chars().count() + GOES_ON.len() > width {
            line.push_str(GOES_ON);
            lines.push(word);
        } else {
            line.push_str(if length > 0 { " " } else { "" });
            line.push_str(&word);
        }
    }
    lines
}

/// A line of at most `width` characters. What was cut off is marked.
pub(super) fn cut(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.into();
    }
    let kept: String = line.chars().take(width - 1).collect();
    format!("{}\u{2026}", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_quoted_word_of_a_command_stays_whole() {
        let lines = shell_lines("run --jdk 'a folder with spaces' --seed 1", 20);
        assert_eq!(
            lines,
            ["run --jdk \\", "'a folder with spaces' \\", "--seed 1"]
        );
    }

    proptest! {
        #[test]
        fn a_broken_command_is_the_same_command(
            words in prop::collection::vec("[a-z]{1,12}|'[a-z ]{1,12}'|\"[a-z ']{1,9}\"", 1..30),
        ) {
            let command = words.join(" ");
            let lines = shell_lines(&command, 40);
            prop_assert_eq!(lines.join("\n").replace(" \\\n", " "), command);
            prop_assert!(lines.iter().all(|line| line.chars().count() <= 40), "{:?}", lines);
        }
    }
}
