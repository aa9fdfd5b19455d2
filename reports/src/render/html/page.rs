//! What all pages have: style and script, warnings, a top, sections with a list of links to them, and an end.

use crate::render::escape::visible_lines;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A page.
pub(super) struct Page<'p> {
    /// The title of its window.
    pub title: String,
    pub warnings: &'p [String],
    pub header: Markup,
    /// The most important numbers.
    pub cards: Markup,
    pub parts: Vec<Part>,
    pub footer: Markup,
}

/// A section of a page.
pub(super) struct Part {
    pub id: &'static str,
    /// Its name in the list of links.
    pub name: &'static str,
    pub title: &'static str,
    pub content: Markup,
}

impl Part {
    pub(super) fn new(
        id: &'static str,
        name: &'static str,
        title: &'static str,
        content: Markup,
    ) -> Part {
        Part {
            id,
            name,
            title,
            content,
        }
    }
}

impl Page<'_> {
    pub(super) fn render(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { "Stackwitness: " (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#main" { "Skip to the results" }
                    @for warning in self.warnings {
                        p.warning role="alert" { (warning) }
                    }
                    (self.header)
                    nav aria-label="Sections" {
                        @for part in &self.parts {
                            a href={ "#" (part.id) } { (part.name) }
                        }
                    }
                    main id="main" {
                        (self.cards)
                        @for part in &self.parts {
                            section id=(part.id) aria-labelledby={ (part.id) "-title" } {
                                h2 id={ (part.id) "-title" } { (part.title) }
                                (part.content)
                            }
                        }
                    }
                    (self.footer)
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        // Names of other programs may hold characters that change the direction of text.
        with_units(&visible_lines(&page.into_string()))
    }
}

/// No line ends between a number and its per cent sign.
fn with_units(page: &str) -> String {
    let mut kept = String::with_capacity(page.len());
    let mut texts = page.split(" %");
    kept.extend(texts.next());
    for text in texts {
        let is_number = kept.ends_with(|c: char| c.is_ascii_digit());
        kept.push_str(if is_number { "\u{a0}%" } else { " %" });
        kept.push_str(text);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::with_units;

    #[test]
    fn a_number_keeps_its_per_cent_sign() {
        let page = with_units("below 0.0023 %, 12 %; hash % 14 and 3% %");
        assert_eq!(page, "below 0.0023\u{a0}%, 12\u{a0}%; hash % 14 and 3% %");
        assert_eq!(with_units(""), "");
    }
}
