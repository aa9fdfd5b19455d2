//! Whatever a report holds: text, Markdown, HTML, JUnit XML and annotations tell the outcome of the
//! decision, and so the exit code.

mod generated;

use generated::{known, report};
use oracle::Layer;
use oracle::gate::{Baseline, Decision, Detect, Judging, Rule, decide};
use oracle::outcome::Outcome;
use oracle::report::Report;
use proptest::prelude::*;
use reports::render::Style;
use reports::{Format, render};

/// The outcome that each format tells, read from the rendering alone.
fn told(report: &Report, decision: &Decision) -> [String; 8] {
    let shown = |format| render(report, decision, "report.json", format);
    let after = |text: &str, start: &str| {
        let line = text.lines().rfind(|line| line.starts_with(start));
        line.map_or("nothing".into(), |line| line[start.len()..].to_owned())
    };
    let html = shown(Format::Html);
    let class = html.split("<p class=\"verdict ").nth(1).unwrap_or_default();
    let class = class.split('"').next().unwrap_or_default();
    let of_class = Outcome::ALL
        .into_iter()
        .find(|outcome| outcome.name() == class);
    [
        after(&shown(Format::Text(Style::Plain)), "verdict: "),
        after(&shown(Format::Brief(Style::Plain)), "verdict: "),
        // Behind the outcome stands why.
        verdict(&shown(Format::Verdict(Style::Plain))),
        answer(&shown(Format::Answer)),
        after(&shown(Format::Markdown), "## Stackwitness: "),
        of_class.map_or("nothing".into(), |outcome| outcome.to_string()),
        junit(&shown(Format::Junit)),
        annotations(&shown(Format::Annotations)),
    ]
}

/// What the line with the verdict tells.
fn verdict(line: &str) -> String {
    let mut parts = line.split(": ");
    match (parts.next(), parts.next()) {
        (Some("verdict"), Some(outcome)) if line.lines().count() == 1 => outcome.into(),
        _ => "nothing".into(),
    }
}

/// What the JSON of the answer tells.
fn answer(json: &str) -> String {
    let answer: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let outcome = |outcome: &Outcome| answer["outcome"] == outcome.name();
    let outcome = Outcome::ALL.into_iter().find(outcome);
    outcome.map_or("nothing".into(), |outcome| outcome.to_string())
}

/// The number at the start of a text, without separators.
fn number(text: &str) -> Option<u64> {
    let digits: String = text
        .trim_start()
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == ',')
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

/// False and judged stacks of a layer: `12 of 3,456`.
fn pair(text: &str) -> Option<(u64, u64)> {
    let (before, after) = text.split_once(" of ")?;
    let last = before
        .rsplit(|c: char| !c.is_ascii_digit() && c != ',')
        .next()?;
    Some((number(last)?, number(after)?))
}

/// The text that a reader sees: without styles, scripts and tags. Elements stand apart.
fn plain(html: &str) -> String {
    let mut html = html.to_owned();
    for element in ["style", "script"] {
        let (start, end) = (format!("<{element}"), format!("</{element}>"));
        while let Some(from) = html.find(&start) {
            let to = html[from..]
                .find(&end)
                .map_or(html.len(), |at| from + at + end.len());
            html.replace_range(from..to, "");
        }
    }
    let parts = html
        .split('<')
        .map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let text = parts.collect::<Vec<_>>().join(" ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What each format says of a layer: false and judged stacks. A terminal has one line for layers that say the
/// same, and leaves out layers that pass if there are many; so it may say nothing.
fn counts(report: &Report, decision: &Decision, layer: Layer) -> [Option<(u64, u64)>; 6] {
    let shown = |format| render(report, decision, "report.json", format);
    let name = layer.name();
    let brief = shown(Format::Brief(Style::Plain));
    let mut lines = brief.lines();
    let row = lines.find(|line| line.split_whitespace().next() == Some(name));
    let html = shown(Format::Html);
    let rows = html
        .split("<ul class=\"rates\">")
        .skip(1)
        .flat_map(|list| list.split("</ul>").next().unwrap_or_default().split("<li"));
    let mut rows = rows.filter(|row| row.contains(&format!("<code>{name}</code>")));
    let page = rows.next().and_then(|row| {
        let (_, numbers) = row.split_once("<div class=\"numbers\">")?;
        pair(&plain(numbers).replace('\u{b7}', " "))
    });
    let cells = |line: &str, separator: &str| -> Option<(u64, u64)> {
        let cells: Vec<&str> = line
            .split(separator)
            .map(str::trim)
            .filter(|c| !c.is_empty())
            .collect();
        (cells.first()?.replace('*', "") == name).then_some(())?;
        let [judged, bad, known] = [1, 2, 3].map(|at| cells.get(at).and_then(|cell| number(cell)));
        Some((bad? + known?, judged?))
    };
    let text = shown(Format::Text(Style::Plain));
    let markdown = shown(Format::Markdown).replace('\\', "");
    [
        row.and_then(pair),
        page,
        text.lines().find_map(|line| cells(line, "  ")),
        markdown.lines().find_map(|line| cells(line, "|")),
        of_case(&shown(Format::Junit), name),
        of_json(&shown(Format::Answer), name),
    ]
}

/// What the test case of a layer says, in the suite of the whole report.
fn of_case(xml: &str, name: &str) -> Option<(u64, u64)> {
    let suite = xml.split("<testsuite ").nth(1)?;
    let mut cases = suite.split("<testcase ").skip(1);
    let case = cases.find(|case| case.contains(&format!(" name=\"{name}\"")))?;
    let (_, output) = case.split_once("<system-out>")?;
    pair(output)
}

/// What the JSON of the answer says of a layer.
fn of_json(json: &str, name: &str) -> Option<(u64, u64)> {
    let answer: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let mut layers = answer["layers"].as_array()?.iter();
    let layer = layers.find(|layer| layer["layer"] == name)?;
    Some((layer["false"].as_u64()?, layer["judged"].as_u64()?))
}

/// Whether a text has a number with an exponent, such as `5.68e-5`.
fn has_exponent(text: &str) -> bool {
    let bytes = text.as_bytes();
    (1..bytes.len().saturating_sub(1)).any(|at| {
        let sign = matches!(bytes[at + 1], b'-' | b'+');
        let digit = bytes.get(at + 2).is_some_and(u8::is_ascii_digit);
        let number = bytes[..at]
            .iter()
            .rev()
            .take_while(|b| b.is_ascii_digit() || **b == b'.');
        let mut number = number.peekable();
        let before = number.peek().is_some();
        let start = at - number.count();
        let alone = start == 0 || !bytes[start - 1].is_ascii_alphanumeric();
        matches!(bytes[at], b'e' | b'E') && before && alone && sign && digit
    })
}

/// What the titles of annotations tell: those of errors, if there are any.
fn annotations(lines: &str) -> String {
    const TITLE: &str = " title=Stackwitness%3A ";
    let of = |command: &str| {
        let mut lines = lines.lines().filter_map(|line| line.strip_prefix(command));
        let title = lines.find_map(|line| line.strip_prefix(TITLE));
        title.and_then(|title| title.split("::").next())
    };
    match (of("::error"), of("::notice")) {
        (Some(error), _) if error != Outcome::Within.to_string() => error.into(),
        (None, Some(notice)) => notice.into(),
        _ => "nothing".into(),
    }
}

/// What the test case `verdict` tells. A CI system sees all cases; so no case may fail or have an
/// error if that one passed.
fn junit(xml: &str) -> String {
    let verdict = xml.lines().find(|line| line.contains("name=\"verdict\""));
    let verdict = verdict.unwrap_or_default();
    let message = verdict.split(" message=\"").nth(1).unwrap_or_default();
    let message = message.split('"').next().unwrap_or_default();
    // After the outcome comes what is new.
    let message = message.split(": ").next().unwrap_or_default();
    let all_well = !xml.contains("<error ") && !xml.contains("<failure ");
    match (verdict.contains("<failure "), verdict.contains("<error ")) {
        (false, false) if all_well => Outcome::Within.to_string(),
        (false, false) => "a failure elsewhere".into(),
        (failed, _) if failed != (message == Outcome::Over.to_string()) => "no failure".into(),
        _ => message.to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn every_format_shows_the_counts_and_reads_easily(report in report(), known in known()) {
        let bounds = Rule::UpperBounds { known: &known, platform: "x86_64" };
        for rule in [Rule::ObservedRates, bounds] {
            let decision = decide(&report, rule, &[]);
            let mut on_screen = 0;
            for counts in &report.layers {
                let tally = counts.tally();
                let expected = (tally.mismatches(), tally.decided());
                let [screen, others @ ..] = self::counts(&report, &decision, counts.layer);
                on_screen += usize::from(screen.is_some());
                // Rows without judged stacks say "no data".
                for told in screen.iter().map(|told| Some(*told)).chain(others) {
                    let is_right = told == Some(expected) || expected.1 == 0 && told.is_none_or(|t| t.1 == 0);
                    prop_assert!(is_right, "{}: {:?}, not {:?}", counts.layer, told, expected);
                }
            }
            // Layers without a judged stack have no row on a terminal.
            let mut judged = report.layers.iter().map(|counts| counts.tally().decided());
            prop_assert!(on_screen > 0 || judged.all(|judged| judged == 0), "{}", render(&report, &decision, "report.json", Format::Brief(Style::Plain)));
            let shown = |format| render(&report, &decision, "report.json", format);
            let brief = shown(Format::Brief(Style::Plain));
            prop_assert!(brief.lines().count() <= 21, "{}", brief);
            for line in brief.lines() {
                prop_assert!(line.chars().count() <= 100, "{}", line);
            }
            let formats = [
                brief,
                shown(Format::Verdict(Style::Plain)),
                shown(Format::Text(Style::Plain)),
                shown(Format::Markdown),
                plain(&shown(Format::Html)),
            ];
            for text in formats {
                prop_assert!(!has_exponent(&text), "{}", text);
            }
        }
    }
}

#[test]
fn exponents_are_found() {
    assert!(has_exponent("rate 5.68e-5 "));
    assert!(has_exponent("1.00e+0"));
    assert!(!has_exponent("type-2 e-mail 0x1e-5 1 in 3"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_format_shows_the_decision(
        report in report(), known in known(), others in prop::collection::vec(report(), 0..4),
        detect in prop::option::of(prop_oneof![Just(1e-6), Just(0.5)]),
    ) {
        let bounds = Rule::UpperBounds { known: &known, platform: "x86_64" };
        let mut baseline = Baseline::default();
        for other in &others {
            // Those that did not go well are no part of a baseline.
            _ = baseline.add_report(other, "x86_64");
        }
        let judging = Judging { alpha: 0.01 };
        let detect = detect.map(Detect);
        let since = Rule::Baseline { baseline: &baseline, known: &known, platform: "x86_64", judging, detect };
        for rule in [Rule::ObservedRates, bounds, since] {
            let decision = decide(&report, rule, &[]);
            let expected = decision.outcome.to_string();
            for told in told(&report, &decision) {
                prop_assert_eq!(&told, &expected, "{:?}", decision);
            }
            prop_assert_eq!(decision.reasons.is_empty(), decision.outcome == Outcome::Within);
        }
    }
}
