//! A report on one screen of a terminal: at most 25 lines of 100 columns.

mod profiles;

use super::escape::visible;
use super::screen::Lines;
use super::text::Style;
use super::wrap::WIDTH;
use crate::model::{CauseCount, Rate, Summary, Tone};
use crate::numbers::{count, counted, digits, duration, exact, interval, part, share};
use oracle::outcome::Outcome;

/// Number of lines, without the caller's hints on what to do next.
const LINES: usize = 21;

/// Largest number of warnings, layers, reasons and causes.
const WARNINGS: usize = 2;
const LAYERS: usize = 10;
const REASONS: usize = 3;

/// Renders a summary for a terminal.
pub fn brief(of: &Summary, style: Style) -> String {
    let mut out = Lines::new(style);
    warnings(&mut out, of);
    out.line(Tone::Plain, &title(of));
    out.empty();
    if of.is_about_profiles {
        let shown = profiles::all(&mut out, &of.profiles);
        // With one profiler the question is also how often its stacks are true.
        if shown == 1 {
            out.empty();
            rates(&mut out, &of.rates);
        }
    } else {
        // Where no program started, a table of nothing hides the reason.
        if of.rates.iter().any(|rate| rate.checks > 0) {
            rates(&mut out, &of.rates);
        }
        out.empty();
        causes(&mut out, &of.causes);
        profiles::largest(&mut out, &of.profiles);
        cost(&mut out, of);
    }
    out.empty();
    answer(&mut out, of);
    out.text
}

/// The verdict in one line.
pub fn verdict(of: &Summary, style: Style) -> String {
    let outcome = of.answer.outcome;
    let news = of.answer.headline.as_ref().or(of.answer.reasons.first());
    let why = news.map_or_else(|| visible(&of.sentences()), |news| visible(news));
    format!(
        "verdict: {}: {why}\n",
        style.paint(outcome.into(), &outcome.to_string())
    )
}

/// What must be known before anything else.
fn warnings(out: &mut Lines, of: &Summary) {
    for warning in of.warnings.iter().take(WARNINGS) {
        out.wrapped(Tone::Bad, "", warning, 3);
    }
    let more = of.warnings.len().saturating_sub(WARNINGS);
    if more > 0 {
        out.line(Tone::Bad, &format!("and {more} more: -v shows all"));
    }
}

fn title(of: &Summary) -> String {
    let about = &of.about;
    let jvm = match &about.jvms[..] {
        [one] => one.clone(),
        more => format!("{} JVMs builds", more.len()).replace("JVMs", "JVM"),
    };
    let version = about
        .origins
        .first()
        .map_or("", |origin| origin.version.as_str());
    let name = format!("Stackwitness {version}");
    let seed = about
        .shown_seeds()
        .map_or(String::new(), |seeds| format!(" | {seeds}"));
    let scenario = if about.scenario.is_empty() {
        String::new()
    } else {
        format!("scenario {}: ", about.scenario)
    };
    let title = format!(
        "{} | {jvm} | {scenario}{}, {}",
        name.trim_end(),
        counted(about.runs as u64, "JVM", "JVMs"),
        duration(about.seconds)
    );
    // A part of a seed is of no use, and all of it is in the report.
    let has_room = title.chars().count() + seed.chars().count() <= WIDTH;
    if has_room { title + &seed } else { title }
}

/// A line of the table of layers.
struct Row {
    name: String,
    bad: String,
    judged: String,
    rate: String,
    unanswered: String,
    budget: String,
    standing: String,
    tone: Tone,
}

fn rates(out: &mut Lines, rates: &[Rate]) {
    let mut groups: Vec<Vec<&Rate>> = vec![];
    for rate in rates {
        match groups.last_mut() {
            Some(group) if is_alike(group[0], rate) => group.push(rate),
            _ => groups.push(vec![rate]),
        }
    }
    let left_out = groups.len().saturating_sub(LAYERS);
    if left_out > 0 {
        // What speaks against the report stays.
        let mut order: Vec<usize> = (0..groups.len()).collect();
        let weight = |at: &usize| (groups[*at][0].tone != Tone::Bad, groups[*at][0].judged == 0);
        order.sort_by_key(weight);
        order.truncate(LAYERS - 1);
        order.sort_unstable();
        groups = order.into_iter().map(|at| groups[at].clone()).collect();
    }
    let rows: Vec<Row> = groups.iter().map(|group| row(group)).collect();
    let width = |cell: fn(&Row) -> &str, least: usize| {
        let widths = rows.iter().map(|row| cell(row).chars().count());
        widths.max().unwrap_or(0).max(least)
    };
    let name = width(|row| &row.name, 15);
    let bad = width(|row| &row.bad, 5);
    let judged = width(|row| &row.judged, 7);
    let rate = width(|row| &row.rate, 10);
    let head = format!("{:>bad$} of {:<judged$}", "false", "judged");
    let budget = width(|row| &row.budget, 6);
    out.line(
        Tone::Plain,
        &format!(
            "{:name$}  {head}  {:<rate$}  no answer  {:>budget$}",
            "layer", "rate (95 %)", "budget"
        ),
    );
    for row in &rows {
        let line = format!(
            "{:name$}  {:>bad$} of {:>judged$}  {:<rate$}  {:>9}  {:>budget$}  {}",
            row.name, row.bad, row.judged, row.rate, row.unanswered, row.budget, row.standing
        );
        // Only what fails is coloured.
        out.line(
            if row.tone == Tone::Bad {
                Tone::Bad
            } else {
                Tone::Plain
            },
            &line,
        );
    }
    if left_out > 0 {
        let more = left_out + 1;
        out.line(
            Tone::Plain,
            &format!("and {more} further layers within their budgets: -v shows them"),
        );
    }
}

/// Whether two layers say the same, so that one line is enough.
fn is_alike(one: &Rate, other: &Rate) -> bool {
    let key = |rate: &Rate| {
        (
            rate.layer.row().when,
            rate.layer.row().program,
            rate.bad,
            rate.judged,
            rate.unanswered,
        )
    };
    let (a, b) = (one.budget.unwrap_or(-1.0), other.budget.unwrap_or(-1.0));
    key(one) == key(other)
        && a == b
        && one.standing == other.standing
        && one.is_foundation == other.is_foundation
}

fn row(group: &[&Rate]) -> Row {
    let first = group[0];
    let mut name = first.layer.to_string();
    let stem = name.split('-').next().unwrap_or_default().to_owned();
    for other in &group[1..] {
        let other = other.layer.to_string();
        name += " ";
        name += other
            .strip_prefix(&stem)
            .filter(|rest| rest.starts_with('-'))
            .unwrap_or(&other);
    }
    if first.is_plain {
        name += " (plain)";
    }
    let rate = match (first.rate(), first.interval) {
        (Some(_), Some((_, high))) if first.bad == 0 => format!("below {}", share(high)),
        (Some(rate), Some((low, high))) => {
            let within = interval(low, high);
            format!("{} ({})", share(rate), within.trim_end_matches(" %"))
        }
        _ => "no data".into(),
    };
    let standing = match (first.tone, &*first.standing) {
        (Tone::Good, _) => "ok",
        (_, standing) => standing,
    };
    Row {
        bad: count(first.bad),
        judged: count(first.judged) + if group.len() > 1 { " each" } else { "" },
        rate,
        unanswered: match first.checks {
            0 => "-".into(),
            _ if first.is_foundation && first.unanswered == 0 => "-".into(),
            _ => part(first.unanswered, first.checks),
        },
        budget: match first.budget {
            None => "-".into(),
            Some(0.0) => "none".into(),
            Some(limit) => exact(limit),
        },
        standing: standing.into(),
        tone: first.tone,
        name,
    }
}

fn causes(out: &mut Lines, causes: &[CauseCount]) {
    if causes.is_empty() {
        return;
    }
    let mut has_marks = false;
    let parts = causes.iter().map(|cause| {
        let mark = if cause.only_hooked.is_some() { "*" } else { "" };
        has_marks |= !mark.is_empty();
        let imprecise = if cause.is_imprecise {
            " (imprecise)"
        } else {
            ""
        };
        format!(
            "{}\u{a0}{}{mark}{imprecise}",
            count(cause.total()),
            cause.name
        )
    });
    let mut text = parts.collect::<Vec<_>>().join(", ");
    if has_marks {
        text += " (* only with hooks)";
    }
    out.wrapped(Tone::Plain, "causes    ", &text, 3);
}

fn cost(out: &mut Lines, of: &Summary) {
    let costs = |hooked: bool| {
        let costs = of.costs.iter().filter(move |cost| cost.is_hooked == hooked);
        let costs = costs.take(3);
        let texts = costs.map(|cost| format!("x {} ({})", digits(cost.cpu), cost.program));
        texts.collect::<Vec<_>>().join(", ")
    };
    let parts = [("hooked ", costs(true)), ("unmodified ", costs(false))];
    let parts = parts.iter().filter(|(_, text)| !text.is_empty());
    let parts: Vec<String> = parts.map(|(name, text)| format!("{name}{text}")).collect();
    if !parts.is_empty() {
        out.wrapped(Tone::Plain, "CPU time  ", &parts.join("; "), 1);
    }
}

fn answer(out: &mut Lines, of: &Summary) {
    let outcome = of.answer.outcome;
    let tone = outcome.into();
    if let Some(headline) = &of.answer.headline {
        out.wrapped(tone, "", headline, 2);
    }
    let room = |out: &Lines| LINES.saturating_sub(out.lines + 2);
    let reasons = of.answer.further_reasons();
    let reasons: Vec<&String> = reasons.filter(|it| !of.warnings.contains(it)).collect();
    let mut shown = 0;
    for reason in reasons.iter().take(REASONS) {
        // A line for the others, two of the sentence and the verdict follow.
        let left = LINES.saturating_sub(out.lines + 4);
        if shown > 0 && left == 0 {
            break;
        }
        out.wrapped(tone, "- ", reason, left.clamp(1, 2));
        shown += 1;
    }
    if reasons.len() > shown {
        let more = reasons.len() - shown;
        out.line(Tone::Plain, &format!("- and {more} more: -v shows all"));
    }
    // Profiles have a line each above.
    let sentence = if of.is_about_profiles {
        of.of_stacks.clone()
    } else {
        of.sentences()
    };
    let text = match &of.caveat {
        Some(caveat) if reasons.is_empty() && room(out) > 4 => format!("{sentence} {caveat}"),
        _ => sentence,
    };
    out.wrapped(Tone::Plain, "", &text, room(out).clamp(2, 4));
    let (tone, verdict) = match profiles::verdict(of) {
        Some((of_profiles, text)) if outcome == Outcome::Within => {
            (of_profiles, format!("{text}; stacks {outcome}"))
        }
        Some((_, text)) => (tone, format!("{outcome}; {text}")),
        None => (tone, outcome.to_string()),
    };
    out.line(tone, &format!("verdict: {verdict}"));
}
