//! What profiles are worth, on one screen of a terminal.

use super::super::screen::Lines;
use crate::model::{Advice, Profile, Summary, Tone};
use crate::numbers::{count, counted, part, signed, tenths};

/// Largest number of profilers.
const PROFILES: usize = 6;

/// Width of the column with the profilers. A longer name has a line of its own.
const PROFILER: usize = 29;

/// The profiler with the most instants.
pub(super) fn largest(out: &mut Lines, profiles: &[Profile]) {
    let Some(of) = profiles
        .iter()
        .max_by_key(|of| (!of.program.contains("fixtures"), of.asked))
    else {
        return;
    };
    let overlap = of.overlap.map_or("no data".into(), tenths);
    let rank = match of.rank {
        Some(1) => "hottest method right".into(),
        Some(rank) => format!("hottest method only number {rank}"),
        None => "hottest method never named".into(),
    };
    let named = of
        .biased
        .iter()
        .take(2)
        .map(biased)
        .collect::<Vec<_>>()
        .join(", ");
    let named = if named.is_empty() {
        String::new()
    } else {
        format!(": {named}")
    };
    let text = format!(
        "{} on {}: overlap {overlap}, {rank}, {} of instants lost; {} misnamed, {} lost unevenly{named}",
        of.title,
        of.program,
        part(of.lost, of.asked),
        counted(of.misnamed() as u64, "method", "methods"),
        of.uneven()
    );
    out.wrapped(Tone::Plain, "profile   ", &text, 2);
}

fn biased(of: &crate::model::Biased) -> String {
    match of.relative {
        Some(relative) => format!("{} {}", of.name, signed(relative.value)),
        None => format!("{} never ran", of.name),
    }
}

/// The same with the number first, because the end of a long name may be cut off.
fn worst(of: &crate::model::Biased) -> String {
    match of.relative {
        Some(relative) => format!("{} {}", signed(relative.value), of.name),
        None => format!("never ran: {}", of.name),
    }
}

/// Shows what each profile is worth, and returns the number of profilers.
pub(super) fn all(out: &mut Lines, profiles: &[Profile]) -> usize {
    let all = profiles;
    let best = all.iter().max_by_key(|of| of.asked);
    let hottest = best.and_then(|of| Some((of, of.hottest.as_ref()?)));
    if let Some((of, (name, truth, _))) = hottest {
        let line = format!(
            "Truly hottest: {name}, {} of {} instants",
            tenths(*truth),
            count(of.asked)
        );
        out.line(Tone::Plain, &line);
        out.empty();
    }
    let label = |of: &Profile| of.label(all).replace(" at the next ", ", next ");
    let profiles = Profile::once_each(all);
    let head = format!(
        "{:PROFILER$} {:>9} {:>7} {:>9} {:>8} {:>8}  {}",
        "profile by", "instants", "lost", "renamed", "overlap", "hottest", "misnamed + uneven loss"
    );
    out.line(Tone::Plain, &head);
    for of in profiles.iter().take(PROFILES) {
        let overlap = of.overlap.map_or("-".into(), tenths);
        let shown = of
            .hottest
            .as_ref()
            .map_or("-".into(), |(.., shown)| tenths(*shown));
        let worst = of
            .biased
            .first()
            .map_or(String::new(), |of| format!("  {}", worst(of)));
        let mut name = label(of);
        if name.chars().count() > PROFILER {
            out.line(Tone::Plain, &name);
            name.clear();
        }
        out.line(
            Tone::Plain,
            &format!(
                "{name:PROFILER$} {:>9} {:>7} {:>9} {overlap:>8} {shown:>8}  {} + {}{worst}",
                count(of.asked),
                part(of.lost, of.asked),
                part(of.renamed, of.answered()),
                of.misnamed(),
                of.uneven()
            ),
        );
    }
    if profiles.len() > PROFILES {
        out.line(
            Tone::Plain,
            &format!(
                "and {} further profiles: -v shows them",
                profiles.len() - PROFILES
            ),
        );
    }
    out.empty();
    let parts = [
        (Advice::Trust, "Trust       "),
        (Advice::TakeCare, "Take care   "),
        (Advice::DoNotUse, "Do not use  "),
        (Advice::TooFew, "Too few     "),
    ];
    for (advice, name) in parts {
        let of_kind = profiles.iter().filter(|of| of.advice == advice);
        for (at, of) in of_kind.take(PROFILES).enumerate() {
            let head = if at == 0 { name } else { "            " };
            let text = format!("{}: {}", label(of), of.reason);
            out.wrapped(Tone::Plain, head, &text, 1);
        }
    }
    profiles.len()
}

/// How many profiles can be used, where that is the question. Good only if all can be trusted.
pub(super) fn verdict(of: &Summary) -> Option<(Tone, String)> {
    let profiles = Profile::once_each(&of.profiles);
    let count = |advice: Advice| profiles.iter().filter(|of| of.advice == advice).count();
    let [trusted, care, not, few] = [
        Advice::Trust,
        Advice::TakeCare,
        Advice::DoNotUse,
        Advice::TooFew,
    ]
    .map(count);
    let tone = if not > 0 {
        Tone::Bad
    } else if care + few > 0 {
        Tone::Plain
    } else {
        Tone::Good
    };
    let all = profiles.len();
    let parts = [
        (trusted, "can be trusted"),
        (care, "only with care"),
        (not, "not at all"),
        (few, "could not be judged"),
    ];
    let parts = parts.iter().filter(|(n, _)| *n > 0).enumerate();
    let parts = parts.map(|(at, (n, what))| match at {
        0 => format!(
            "{n} of {} {what}",
            counted(all as u64, "profile", "profiles")
        ),
        _ => format!("{n} {what}"),
    });
    let text = parts.collect::<Vec<_>>().join(", ");
    (of.is_about_profiles && all > 0).then_some((tone, text))
}

#[cfg(test)]
mod tests {
    use crate::render::Style;
    use crate::{Format, render, sample};
    use oracle::Layer;
    use oracle::bias::{Claim, Pairs, Sampler};
    use oracle::gate::{Rule, decide};
    use oracle::report::{Exit, Run};

    /// The last line of a report about two profiles: one that can be trusted, and one that has `false_names` of 1,000.
    fn last_line(false_names: u64) -> String {
        let mut run = Run::new("p", Exit::Code(0));
        for (layer, named) in [(Layer::AsgctAsync, 0), (Layer::Jfr, false_names)] {
            let mut pairs = Pairs::default();
            pairs.add("A.hot()V", Claim::Same, 6000 - 6 * named);
            pairs.add("A.hot()V", Claim::Named("A.other()V"), 6 * named);
            pairs.add("A.other()V", Claim::Same, 4000);
            run.bias.insert(Sampler::Walker(layer), pairs);
        }
        let mut report = sample::report();
        report.runs = vec![run];
        report.required = vec![Layer::Jfr];
        let decision = decide(&report, Rule::ObservedRates, &[]);
        let text = render(&report, &decision, "out", Format::Brief(Style::Plain));
        text.lines().last().expect("the verdict").to_owned()
    }

    #[test]
    fn the_last_words_are_about_the_profiles() {
        let trusted = last_line(0);
        assert!(
            trusted.contains("2 of 2 profiles can be trusted"),
            "{trusted}"
        );
        let one = last_line(900);
        assert!(
            one.contains("1 of 2 profiles can be trusted, 1 not at all"),
            "{one}"
        );
    }
}
