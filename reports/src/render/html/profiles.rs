//! What became of each question, and which methods a profile counts too often or too rarely.

use crate::model::{Advice, Biased, Profile, Rate, Summary};
use crate::numbers::{count, counted, interval, part, share, signed, tenths};
use maud::{Markup, html};

/// Largest number of methods of a forest plot.
const METHODS: usize = 16;

/// Largest number of profilers with a forest plot.
const PROFILES: usize = 2;

pub(super) fn section(of: &Summary) -> Markup {
    let asked = of
        .rates
        .iter()
        .filter(|rate| !rate.is_foundation && rate.checks > 0);
    let asked: Vec<&Rate> = asked.collect();
    let mut biased: Vec<&Profile> = of
        .profiles
        .iter()
        .filter(|of| !of.biased.is_empty())
        .collect();
    biased.sort_by_key(|of| (of.program.contains("fixtures"), std::cmp::Reverse(of.asked)));
    html! {
        @if !of.profiles.is_empty() { (advice(&of.profiles)) }
        @if !asked.is_empty() {
            h3 { "What became of each question" }
            p.keys {
                span.key.right {} "right " span.key.imprecise {} "imprecise " span.key.false {} "false "
                span.key.silent {} "no answer " span.key.unknown {} "not verifiable"
            }
            ul.fates { @for rate in asked { (fate(rate)) } }
        }
        @for profile in biased.iter().take(PROFILES) { (forest(profile, &profile.label(&of.profiles))) }
        @if biased.len() > PROFILES {
            p.foot { (biased.len() - PROFILES) " further profiles miscount methods: see \u{201c}All tables\u{201d}." }
        }
    }
}

fn fate(of: &Rate) -> Markup {
    let right = of.judged - of.bad - of.imprecise;
    let parts = [
        ("right", right),
        ("imprecise", of.imprecise),
        ("false", of.bad),
        ("silent", of.unanswered),
        ("unknown", of.unverifiable),
    ];
    let width = |n: u64| 100.0 * n as f64 / of.checks as f64;
    let imprecise = if of.imprecise > 0 {
        format!(", {} imprecise", part(of.imprecise, of.checks))
    } else {
        String::new()
    };
    html! {
        li {
            div.what { strong { (of.title) } " " code { (of.layer) } br; small { (count(of.checks)) " questions" } }
            div.stack aria-hidden="true" {
                @for (class, n) in parts {
                    @if n > 0 { i class=(class) style={ "width:" (format!("{:.3}", width(n))) "%" } {} }
                }
            }
            div.numbers {
                strong { (part(right, of.checks)) } " right"
                br;
                small {
                    (share(of.bad as f64 / of.checks as f64)) " false, " (part(of.unanswered, of.checks)) " no answer" (imprecise)
                }
            }
        }
    }
}

fn advice(profiles: &[Profile]) -> Markup {
    let of = |advice: Advice| profiles.iter().filter(move |of| of.advice == advice);
    let kinds = [
        (Advice::Trust, "Trust"),
        (Advice::TakeCare, "Take care"),
        (Advice::DoNotUse, "Do not use"),
        (Advice::TooFew, "Too few instants to say"),
    ];
    html! {
        div.wide tabindex="0" role="group" aria-label="What profiles are worth" {
            table.plain.verdicts {
                thead { tr {
                    th scope="col" { "profile by" } th.n scope="col" { "instants" } th.n scope="col" { "lost" }
                    th.n scope="col" { "overlap" } th.n scope="col" { "hottest method" } th.n scope="col" { "misnamed" } th.n scope="col" { "lost unevenly" }
                    th scope="col" { "verdict" }
                } }
                tbody {
                    @for (kind, name) in kinds { @for profile in of(kind) {
                        tr {
                            th scope="row" { (profile.label(profiles)) br; small { (profile.program) } } td.n { (count(profile.asked)) }
                            td.n { (part(profile.lost, profile.asked)) }
                            td.n { (profile.overlap.map_or("no data".into(), tenths)) }
                            td.n {
                                @match (profile.rank, &profile.hottest) {
                                    (Some(rank), Some((name, truth, shown))) => {
                                        "number " (rank) br; small { (name) ": " (tenths(*truth)) " ran, " (tenths(*shown)) " shown" }
                                    }
                                    _ => "never named",
                                }
                            }
                            td.n { (count(profile.misnamed() as u64)) } td.n { (count(profile.uneven() as u64)) }
                            td { strong { (name) } br; small { (profile.reason) } }
                        }
                    } }
                }
            }
        }
        p.foot {
            "Overlap is the part that a profile has in common with what truly ran. All profiles of one JVM are compared with "
            "one truth, the methods that ran at all instants: what a profiler leaves out is lost. A method is misnamed if the "
            "profile certainly shows it where another one ran, or another one in its place; it is lost unevenly if its samples "
            "are certainly lost more often, or less often, than others. "
            @if let Some((profile, visible)) = profiles.iter().find_map(|of| Some((of, of.visible?))) {
                "A bias of the hottest method below " (share(visible)) " would not have been seen with the "
                (count(profile.answered())) " answers of " (profile.title) "."
            }
        }
    }
}

/// The methods that a profile certainly miscounts, with intervals.
fn forest(of: &Profile, label: &str) -> Markup {
    let shown: Vec<&Biased> = of.biased.iter().take(METHODS).collect();
    let ends = shown
        .iter()
        .filter_map(|of| of.relative)
        .flat_map(|of| [of.low, of.high]);
    let (low, high) = ends.fold((-0.1f64, 0.1f64), |(low, high), end| {
        (low.min(end), high.max(end))
    });
    let (low, high) = (low, high.min(2.0));
    let at = |bias: f64| 100.0 * (bias.clamp(low, high) - low) / (high - low);
    html! {
        h3 { "Methods that " (label) " miscounts in " (of.program) }
        p.lead {
            (counted(of.biased.len() as u64, "method is", "methods are"))
            " certainly counted too rarely (left, blue) or too often (right, red): " (of.misnamed()) " by false names, "
            (of.uneven()) " because samples are lost unevenly. The line is the 95 % interval."
        }
        ul.forest {
            @for method in shown {
                li {
                    div.what { code { (method.name) } }
                    div.strip aria-hidden="true" {
                        i.zero style=(format!("left:{:.2}%", at(0.0))) {}
                        @if let Some(of) = method.relative {
                            @let side = if of.value < 0.0 { "rare" } else { "often" };
                            i.ci.(side) style=(format!("left:{:.2}%;width:{:.2}%", at(of.low), (at(of.high) - at(of.low)).max(0.3))) {}
                            i.dot.(side) style=(format!("left:{:.2}%", at(of.value))) {}
                        }
                    }
                    div.numbers {
                        @match method.relative {
                            Some(of) => { strong { (signed(of.value)) } " " small { "(" (interval(of.low, of.high)) ")" } }
                            None => { strong { "never ran" } }
                        }
                        br; small {
                            "ran " (count(method.truth)) ", shown " (count(method.claimed))
                            @if method.is_misnamed { ", misnamed" }
                        }
                    }
                }
            }
        }
    }
}
