//! JUnit XML for a CI system's list of tests.

use super::escape::xml;
use crate::model::{Case, Suite, Verdict};
use std::fmt::Write;

/// Renders suites of test cases.
pub fn junit(suites: &[Suite]) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"stackwitness\">\n",
    );
    for suite in suites {
        let name = xml(&suite.name);
        let count = |wanted: fn(&Verdict) -> bool| {
            let cases = suite.cases.iter();
            cases.filter(|case| wanted(&case.verdict)).count()
        };
        let _ = writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" \
             skipped=\"{}\" time=\"{:.3}\">",
            suite.cases.len(),
            count(|verdict| matches!(verdict, Verdict::Failed(_))),
            count(|verdict| matches!(verdict, Verdict::Errored(_))),
            count(|verdict| matches!(verdict, Verdict::Skipped(_))),
            suite.seconds
        );
        suite
            .cases
            .iter()
            .for_each(|one| case(&mut out, &name, one));
        out += "  </testsuite>\n";
    }
    out += "</testsuites>\n";
    out
}

fn case(out: &mut String, suite: &str, case: &Case) {
    let _ = write!(
        out,
        "    <testcase classname=\"{suite}\" name=\"{}\" time=\"{:.3}\"",
        xml(&case.name),
        case.seconds
    );
    let result = match &case.verdict {
        Verdict::Passed => String::new(),
        Verdict::Failed(text) => element("failure", text),
        Verdict::Errored(text) => element("error", text),
        Verdict::Skipped(text) => element("skipped", text),
    };
    let counted = match case.counted.as_str() {
        "" => String::new(),
        counted => format!("<system-out>{}</system-out>", xml(counted)),
    };
    let _ = match (result.as_str(), counted.as_str()) {
        ("", "") => writeln!(out, "/>"),
        (result, counted) => writeln!(out, ">{result}{counted}</testcase>"),
    };
}

/// A result with its message, the first line of the text.
fn element(tag: &str, text: &str) -> String {
    let message = xml(text.lines().next().unwrap_or_default());
    if text.contains('\n') {
        format!("<{tag} message=\"{message}\">{}</{tag}>", xml(text))
    } else {
        format!("<{tag} message=\"{message}\"/>")
    }
}
