//! The part of a page between two marks that these tests write.

use crate::workspace::root;
use std::fs;

const START: &str = "<!-- written by `BLESS=1 cargo test --test architecture` -->\n";
const END: &str = "<!-- end of what the test writes -->\n";

/// Compares the part of a page with `text`; with `BLESS` in the environment, writes it.
pub fn check(page: &str, text: &str) {
    let path = root().join(page);
    let stored = fs::read_to_string(&path).expect("the page can be read");
    let (before, rest) = stored.split_once(START).expect("the page has a mark");
    let (_, after) = rest.split_once(END).expect("the page has the second mark");
    let new = format!(
        "{before}{START}\n{}\n\n{END}{after}",
        text.trim_matches('\n')
    );
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &new).expect("the page can be written");
        return;
    }
    assert!(
        stored == new,
        "{page} is stale: run `BLESS=1 cargo test --test architecture`"
    );
}
