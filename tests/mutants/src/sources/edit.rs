//! Edits of C++ text, described by the function and a short pattern, so that no text of
//! HotSpot is kept here.

use crate::error::Error;
use regex_lite::Regex;
use serde::Deserialize;
use std::ops::Range;
use std::path::PathBuf;

/// A place in a file, and the code for this place.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The file, below `src/hotspot`.
    pub file: PathBuf,
    /// The function whose body has the place. All overloads count.
    #[serde(rename = "in")]
    pub function: String,
    /// A pattern that matches once in the function's body.
    pub at: String,
    /// On which side of the match the code goes.
    pub put: Put,
    /// The code. `$MATCH` is the text that the pattern matched.
    pub code: String,
}

/// The position of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Put {
    Before,
    After,
    Instead,
}

/// A range of a text, and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    range: Range<usize>,
    text: String,
}

impl Edit {
    /// Finds the edit's place in `source`; `code` is the edit's code with all names filled in.
    pub fn locate(&self, source: &str, code: &str) -> Result<Change, Error> {
        let wrong = |why: String| Error::Edit {
            file: self.file.clone(),
            function: self.function.clone(),
            why,
        };
        let pattern = Regex::new(&self.at).map_err(|e| wrong(e.to_string()))?;
        let bodies = bodies(source, &self.function);
        if bodies.is_empty() {
            return Err(wrong("there is no such function".into()));
        }
        let matches: Vec<_> = bodies
            .into_iter()
            .flat_map(|body| {
                pattern
                    .find_iter(&source[body.clone()])
                    .map(move |found| body.start + found.start()..body.start + found.end())
            })
            .collect();
        let [found] = matches.as_slice() else {
            return Err(wrong(format!(
                "`{}` matches {} times",
                self.at,
                matches.len()
            )));
        };
        let code = code.replace("$MATCH", &source[found.clone()]);
        Ok(match self.put {
            Put::Before => Change {
                range: found.start..found.start,
                text: format!("{code}\n"),
            },
            Put::After => Change {
                range: found.end..found.end,
                text: format!("\n{code}\n"),
            },
            Put::Instead => Change {
                range: found.clone(),
                text: code,
            },
        })
    }
}

/// Makes all changes, each of which was located in `source`. Changes at one place follow each
/// other in their order; a change within the range of another is an error.
pub fn apply(source: &str, mut changes: Vec<Change>) -> Result<String, Error> {
    changes.sort_by_key(|change| (change.range.start, change.range.end));
    let mut out = String::with_capacity(source.len() * 2);
    let mut done = 0;
    for change in changes {
        let Some(kept) = source.get(done..change.range.start) else {
            return Err(Error::Overlap(change.text));
        };
        out += kept;
        out += &change.text;
        done = change.range.end;
    }
    Ok(out + &source[done..])
}

/// The bodies of all functions of this name that `source` defines at its outermost level.
/// A definition starts at the first column, and ends at the next brace in that column.
fn bodies(source: &str, name: &str) -> Vec<Range<usize>> {
    let head = Regex::new(&format!(r"(?m)^[^\s/#].*\b{}\(|^{}\(", name, name));
    let Ok(head) = head else { return vec![] };
    head.find_iter(source)
        .filter_map(|found| {
            let after = found.end();
            let open = after + source[after..].find(['{', ';'])?;
            if source.as_bytes()[open] == b';' {
                return None;
            }
            let end = open + source[open..].find("\n}")?;
            Some(open + 1..end)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
int twice(int x);
int twice(int x) {
  return x * 2;
}
int other(int x) {
  return x * 2;
}
Thing::twice(
    long x) {
  long y = x;
}
";

    fn edit(at: &str, put: Put, code: &str) -> Edit {
        Edit {
            file: "a.cpp".into(),
            function: "twice".into(),
            at: at.into(),
            put,
            code: code.into(),
        }
    }

    fn edited(edits: &[Edit]) -> Result<String, Error> {
        let changes: Result<Vec<_>, _> = edits
            .iter()
            .map(|edit| edit.locate(SOURCE, &edit.code))
            .collect();
        apply(SOURCE, changes?)
    }

    #[test]
    fn code_goes_before_after_or_instead_and_other_functions_stay() {
        let text = edited(&[
            edit("return", Put::Before, "A;"),
            edit(r"x \* (\d)", Put::Instead, "($MATCH) + 1"),
            edit(r"y = x;", Put::After, "B;"),
        ])
        .unwrap();
        assert_eq!(
            text,
            "int twice(int x);\nint twice(int x) {\n  A;\nreturn (x * 2) + 1;\n}\nint other(int x) \
             {\n  return x * 2;\n}\nThing::twice(\n    long x) {\n  long y = x;\nB;\n\n}\n"
        );
    }

    #[test]
    fn edits_at_one_place_keep_their_order() {
        let text = edited(&[
            edit("return", Put::Before, "A;"),
            edit("return", Put::Before, "B;"),
        ]);
        assert!(text.unwrap().contains("A;\nB;\nreturn"));
    }

    #[test]
    fn no_match_many_matches_and_no_function_are_errors() {
        for at in ["nothing", "x", "("] {
            assert!(edited(&[edit(at, Put::Before, "")]).is_err(), "{at}");
        }
        let mut elsewhere = edit("return", Put::Before, "");
        elsewhere.function = "thrice".into();
        assert!(edited(&[elsewhere]).is_err());
    }

    #[test]
    fn overlapping_edits_are_an_error() {
        let whole = edit(r"return x \* 2;", Put::Instead, "return;");
        let part = edit(r"x \* 2", Put::Instead, "0");
        assert!(matches!(edited(&[whole, part]), Err(Error::Overlap(_))));
    }
}
