//! Lines at the bottom of a terminal that are drawn again and again.

/// The lines on the terminal that the next drawing replaces.
#[derive(Debug, Default)]
pub struct Drawing {
    /// The number of lines.
    lines: usize,
}

/// The width of a line. A wider line would wrap on a narrow terminal.
const COLUMNS: usize = 79;

impl Drawing {
    /// The text that replaces the last drawing by `lines`.
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

    /// Keeps the last drawing on the terminal.
    pub fn keep(&mut self) {
        self.lines = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_replaces_the_last_drawing() {
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
