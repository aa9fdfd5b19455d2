//! What runs cost, for people.

use oracle::cost::Cost;
use oracle::report::Run;

/// The heads of [`row`].
pub(crate) const HEAD: [&str; 5] = [
    "run",
    "CPU s",
    "async checks per CPU s",
    "times the CPU time without the agent",
    "times the time",
];

/// A run's cost as a row of a table.
pub(crate) fn row(run: &Run) -> [String; 5] {
    let cost = run.cost.as_ref();
    let of = |part: fn(&Cost) -> Option<f64>, digits| match cost.and_then(part) {
        Some(number) => format!("{number:.digits$}"),
        None => "no data".into(),
    };
    [
        run.title(),
        of(|cost| Some(cost.cpu_s), 1),
        of(|cost| cost.async_checks_per_cpu_s, 0),
        of(|cost| cost.slowdown_cpu, 2),
        of(|cost| cost.slowdown_wall, 2),
    ]
}

/// A run's cost as a line of text, if it is known.
pub(crate) fn line(run: &Run) -> Option<String> {
    let cost = run.cost.as_ref()?;
    let [_, cpu, checks, slowdown, wall] = row(run);
    let checks = match cost.async_checks_per_cpu_s {
        Some(_) => format!("{checks} async checks per second of it"),
        None => "no async checks".into(),
    };
    let slowdown = match (cost.slowdown_cpu, &cost.not_compared) {
        (Some(_), _) => format!(
            "{slowdown} times the CPU time of the same work without the agent, {wall} times the time"
        ),
        (None, Some(why)) => format!("slowdown: no data, {why}"),
        (None, None) => "slowdown: no data".into(),
    };
    let edges = run.edges.judged_per_cpu_s();
    let edges = edges.map_or(String::new(), |rate| {
        format!("; call edges of {rate:.0} stacks judged per second of CPU that judging took")
    });
    Some(format!("{cpu} s of CPU, {checks}; {slowdown}{edges}"))
}
