//! Lines at the bottom of a terminal that are drawn again and again.

/// What stands on the terminal and is to be replaced.
#[derive(Debug, Default)]
pub struct Drawing {
    /// The number of lines.
    lines: usize,
}

/// More columns would go on in the next line of a narrow terminal.
const COLUMNS: usize = 79;

impl Drawing {
    /// The text that replaces the last drawing with `lines`.
    ///
    /// ECMA-48: CUU moves the cursor up, ED erases what follows.
    pub fn redraw(&mut self, lines: &[String]) -> String {
        let mut text = match self.lines {
            0 => String::new(),
            above => format!("\x1b[{above}A\r\x1b[J"),
        };
        for line in lines {
            text.extend(line.chars().take(COLUMNS));
            text.push('\n');
        }
        self.lines = lines.len();
        text
    }

    /// Lets the last drawing stand for good.
    pub fn keep(&mut self) {
        self.lines = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_takes_the_place_of_the_last_one() {
        let mut drawing = Drawing::default();
        let lines = ["a".to_owned(), "b".repeat(200)];
        assert_eq!(
            drawing.redraw(&lines),
            format!("a\n{}\n", "b".repeat(COLUMNS))
        );
        assert_eq!(drawing.redraw(&lines[..1]), "\x1b[2A\r\x1b[Ja\n");
        drawing.keep();
        assert_eq!(drawing.redraw(&lines[..1]), "a\n");
    }
}
