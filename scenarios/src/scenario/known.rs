//! Files of known issues.

use crate::Error;
use crate::text::{plain, position};
use oracle::gate::KnownIssues;
use oracle::record::CauseName;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fs;
use std::path::Path;
use toml::Spanned;

/// Reads a file of known issues. `is_cause` says whether there is a cause of this name.
pub fn read(path: &Path, is_cause: impl Fn(&CauseName) -> bool) -> Result<KnownIssues, Error> {
    let fail = |what: String| Error::Scenario(format!("{}{what}", path.display()));
    let text = fs::read_to_string(path)
        .map_err(|e| fail(format!(": {e}; docs/ci.md shows such a file")))?;
    let known: KnownIssues = toml::from_str(&text).map_err(|e| {
        let (line, column) = position(&text, e.span().unwrap_or(0..0).start);
        fail(format!(":{line}:{column}: {}", plain(e.message())))
    })?;
    let unknown = known.issues.iter().enumerate().find_map(|(at, issue)| {
        let cause = issue.cause.as_ref().filter(|cause| !is_cause(cause))?;
        Some((at, format!("{}: there is no cause `{cause}`", issue.id)))
    });
    match known.complaint().or(unknown) {
        Some((at, complaint)) => {
            let (line, column) = position(&text, place(&text, at));
            Err(fail(format!(
                ":{line}:{column}: {complaint}; docs/ci.md shows such a file"
            )))
        }
        None => Ok(known),
    }
}

/// Where the issue with this number, from 0, begins in the text of a file.
fn place(text: &str, number: usize) -> usize {
    #[derive(Deserialize)]
    struct Places {
        issue: Vec<Spanned<IgnoredAny>>,
    }
    let places: Option<Places> = toml::from_str(text).ok();
    let issue = places.as_ref().and_then(|places| places.issue.get(number));
    issue.map_or(0, |issue| issue.span().start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::Layer;

    const GOOD: &str = "[[issue]]\nid = 'JDK-1'\njdk = '17-21'\nlayer = 'asgct-async'\nverdict = 'wrong'\n\
        cause = 'leaf-call'\nmax_rate = 0.001\nlink = 'https://example.org/1'\n";

    #[test]
    fn mistakes_are_shown_with_their_place() {
        let dir = tempfile::tempdir().unwrap();
        let read = |text: String| {
            let path = dir.path().join("known.toml");
            fs::write(&path, text).unwrap();
            let causes = ["leaf-call", "unexplained"];
            let error = super::read(&path, |cause| causes.contains(&cause.as_str()))
                .map(|known| known.issues.len())
                .map_err(|e| e.to_string());
            error.map_err(|e| e.replace(&*dir.path().to_string_lossy(), "DIR"))
        };
        assert_eq!(read(GOOD.into()), Ok(1));
        assert_eq!(read(String::new()), Ok(0));
        insta::assert_snapshot!(
            [
                read(GOOD.replace("layer", "lair")),
                read(GOOD.replace("asgct-async", "async")),
                read(GOOD.replace("0.001", "3.5")),
                read(GOOD.replace("0.001", "nan")),
                read(format!("{GOOD}\n{}", GOOD.replace("0.001", "-1e308"))),
                read(GOOD.replace("17-21", "old")),
                read(GOOD.replace("leaf-call", "leaf")),
                read(GOOD.replace("leaf-call", "unexplained")),
                read(GOOD.replace("wrong", "match")),
                read(GOOD.replace("cause = 'leaf-call'\n", "")),
                read(format!("{GOOD}\n{GOOD}place = 'A.b'\n")),
            ]
            .map(|result| result.unwrap_err())
            .join("\n")
            .replace(&Layer::ALL.map(Layer::name).join(", "), "LAYERS")
        );
    }
}
