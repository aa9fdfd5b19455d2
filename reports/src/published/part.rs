//! The generated part of a page.

/// The line before the generated part of a page.
const START: &str = "<!-- written by `stackwitness dev publish` -->\n";

/// The line behind it.
const END: &str = "<!-- end of what `stackwitness dev publish` writes -->\n";

/// The generated part of a page of the documentation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Part {
    /// The page, from `docs` on.
    pub page: &'static str,
    text: String,
}

impl Part {
    /// The part of `page` with this text.
    pub fn new(page: &'static str, text: String) -> Part {
        Part { page, text }
    }

    /// The page with this part in place of what is between its marks; `None` if it has no marks.
    pub fn put_into(&self, page: &str) -> Option<String> {
        let (before, rest) = page.split_once(START)?;
        let (_, after) = rest.split_once(END)?;
        let text = self.text.trim_matches('\n');
        Some(format!("{before}{START}\n{text}\n\n{END}{after}"))
    }
}
