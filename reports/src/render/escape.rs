//! Text that cannot break out of its place. The shown text comes from other programs: names of
//! classes and threads, messages, paths.

/// Makes characters visible on which a terminal would act: control characters, and characters that
/// change the direction of text. They become `
/// `, `\t` or `\u{1b}`.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' | '\r' => out.extend(c.escape_default()),
            c if acts(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// As [`visible`], for text of several lines. Line ends stay.
pub(super) fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// Whether a terminal acts on a character.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}')
}

/// Escapes text of one or several lines for the content and the quoted attributes of XML and HTML.
pub(super) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible_lines(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

/// Escapes text for one line of Markdown, cells of tables among them: nothing in it becomes a
/// link, a tag, code, emphasis or another cell.
pub(crate) fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Text of several lines as a fenced block of Markdown. The fence is longer than any in the text.
pub(crate) fn fenced(text: &str) -> String {
    let text = visible_lines(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_a_terminal() {
        assert_eq!(
            visible("a\x1b[31mb\nc\u{202e}"),
            "a\\u{1b}[31mb\\nc\\u{202e}"
        );
        assert_eq!(visible_lines("a\nb\r\nc"), "a\nb\\r\nc");
        assert_eq!(visible("Ü µ 漢 …"), "Ü µ 漢 …");
    }

    #[test]
    fn nothing_acts_in_markdown() {
        let nasty = "a|b `c` <d> [e](f) *g* _h_ \x07\nnext";
        let expected = r"a\|b \`c\` &lt;d&gt; \[e\](f) \*g\* \_h\_ \\u{7}\\nnext";
        assert_eq!(markdown(nasty), expected);
    }

    #[test]
    fn no_fence_ends_early() {
        let text = "one\n```\n````\ntwo\n";
        let fence = "`````";
        assert_eq!(
            fenced(text),
            format!("{fence}\none\n```\n````\ntwo\n{fence}\n")
        );
        assert_eq!(fenced("plain"), "```\nplain\n```\n");
    }

    #[test]
    fn nothing_acts_in_xml() {
        assert_eq!(
            xml("<a b='c'>&\x01\n"),
            "&lt;a b=&#39;c&#39;&gt;&amp;\\u{1}\n"
        );
    }
}
