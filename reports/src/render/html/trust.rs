//! What speaks for and against the report itself.

use crate::model::{Point, Tone};
use maud::{Markup, html};

pub(super) fn section(points: &[Point]) -> Markup {
    html! {
        ul.points { @for point in points { (row(point)) } }
    }
}

fn row(of: &Point) -> Markup {
    let (class, mark, says) = match of.tone {
        Tone::Good => ("good", "\u{2713}", "good: "),
        Tone::Bad => ("bad", "!", "look at this: "),
        Tone::Plain => ("plain", "\u{2013}", ""),
    };
    html! {
        li class=(class) {
            span.mark aria-hidden="true" { (mark) }
            span.hidden { (says) }
            strong { (of.what) } " " (of.text)
        }
    }
}
