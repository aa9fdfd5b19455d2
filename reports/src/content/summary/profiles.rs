//! What a profile of each profiler is worth, and what to do with it.

use crate::content::bias::{Row, name_of, of_run};
use crate::content::frames::short;
use crate::model::{Advice, Biased, Profile};
use crate::numbers::part;
use oracle::When;
use oracle::bias::{OTHERS, Sampler, Summary};
use oracle::report::{Report, Run};
use std::collections::BTreeMap;

/// A profile that misses a larger part of the instants is not to be used.
const MOST_LOST: f64 = 1.0 / 3.0;

/// A profile with a smaller common part is not to be used.
const LEAST_OVERLAP: f64 = 0.8;

/// A profile with a smaller common part, or with more lost instants, needs care.
const GOOD_OVERLAP: f64 = 0.95;
const FEW_LOST: f64 = 0.2;

/// A profile with more miscounted methods needs care.
const FEW_BIASED: usize = 10;

/// Largest bias of the hottest method that a run may fail to see and still speak for a profile.
const VISIBLE: f64 = 0.5;

/// How many standard deviations a bias needs to be seen. A test of one method with an error of 0.1 % needs 3.3; the
/// correction for many methods asks for a little more.
const DEVIATIONS: f64 = 4.0;

/// The axis of a matrix whose values run one program under several profilers, as scenario `profilers` has it.
const AXIS: &str = "profiler";

/// All profilers of all runs.
pub(super) fn profiles(report: &Report) -> Vec<Profile> {
    let runs = report.runs.iter();
    let runs: Vec<(&Run, Vec<Row<'_>>)> = runs.map(|run| (run, of_run(run).collect())).collect();
    let of_run = |(run, rows): &(&Run, Vec<Row<'_>>)| {
        // Where no sampler of this JVM has a truth at arbitrary instants, that of another run of the program is nearer
        // to what ran than instants at safepoints are.
        let alike = runs.iter().filter(|(other, _)| is_alike(run, other));
        let best = best(rows).or_else(|| best(alike.flat_map(|(_, rows)| rows)));
        let profiles = rows.iter().map(|row| profile(row, best));
        profiles.collect::<Vec<_>>()
    };
    runs.iter().flat_map(of_run).collect()
}

/// The row with the best truth: the one with the most arbitrary instants.
fn best<'a, 'r: 'a>(rows: impl IntoIterator<Item = &'a Row<'r>>) -> Option<&'a Row<'r>> {
    let rows = rows.into_iter();
    let rows = rows.filter(|row| at_any_instant(row.sampler));
    rows.max_by_key(|row| row.summary.instants)
}

/// Whether two runs differ in the profiler alone.
fn is_alike(one: &Run, other: &Run) -> bool {
    let axes = |run: &Run| {
        let mut axes = run.axes.clone();
        axes.remove(AXIS);
        axes
    };
    (&one.scenario, &one.jdk, axes(one)) == (&other.scenario, &other.jdk, axes(other))
}

/// Whether the truth of the sampler's instants is that of the whole program. Instants at safepoints, and those at which
/// a thread could be suspended, are a choice: code without safepoints is missing among them.
fn at_any_instant(sampler: Sampler) -> bool {
    match sampler {
        Sampler::Walker(layer) => matches!(layer.row().when, When::Signal | When::Request),
        Sampler::Safepoint => false,
    }
}

fn profile(row: &Row<'_>, best: Option<&Row<'_>>) -> Profile {
    let own = &row.summary;
    let other = best.filter(|best| best.sampler != row.sampler && !at_any_instant(row.sampler));
    let truth = other.map_or(own, |best| &best.summary);
    let (overlap, own_overlap) = match other {
        None => (own.overlap, None),
        Some(_) => (common(truth, own), own.overlap),
    };
    let hottest = truth.methods.iter().find(|of| of.name != OTHERS);
    let claimed = |name: &str| {
        let of = own.methods.iter().find(|of| of.name == name);
        of.map_or(0, |of| of.claimed)
    };
    let rank = hottest.and_then(|hottest| {
        let hot = claimed(&hottest.name);
        let named = own.methods.iter().filter(|of| of.name != OTHERS);
        let above = named.filter(|of| is_above(of.claimed, hot)).count();
        (hot > 0).then_some(above + 1)
    });
    let shown = hottest.map(|of| {
        (
            short(&of.name).to_owned(),
            share(of.truth, truth.instants),
            share(claimed(&of.name), own.answered),
        )
    });
    let biased = biased(own);
    let (asked, lost) = (own.instants, own.instants - own.answered);
    let visible = hottest.and_then(|of| visible(share(of.truth, truth.instants), own.answered));
    let lost_share = share(lost, asked);
    let (advice, reason) = advice(own.answered, lost_share, overlap, rank, &biased, visible);
    Profile {
        title: name_of(row.sampler).to_owned(),
        name: row.sampler.name().to_owned(),
        program: row.run.title(),
        program_name: row.run.scenario.clone(),
        jdk: (row.run.jdk.as_ref()).map_or_else(String::new, |jdk| jdk.version.clone()),
        asked,
        lost,
        renamed: own.renamed,
        overlap,
        own_overlap,
        hottest: shown,
        rank,
        biased,
        visible,
        advice,
        reason: match lost {
            0 => reason,
            _ => format!("{reason}; {} of the instants lost", part(lost, asked)),
        },
    }
}

/// Whether a method was named more often than another one beyond chance: of two methods that are equally hot either may
/// come first.
fn is_above(claimed: u64, other: u64) -> bool {
    // The standard deviation of a difference of two counts.
    let deviation = (claimed as f64 + other as f64).sqrt();
    claimed as f64 - other as f64 > DEVIATIONS * deviation
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// The part that is common to what truly ran and to a profile, from 0 to 1.
fn common(truth: &Summary, profile: &Summary) -> Option<f64> {
    let ran: BTreeMap<&str, u64> = truth
        .methods
        .iter()
        .map(|of| (&*of.name, of.truth))
        .collect();
    let both = profile.methods.iter().map(|of| {
        let ran = ran.get(&*of.name).copied().unwrap_or(0);
        share(ran, truth.instants).min(share(of.claimed, profile.answered))
    });
    (profile.answered > 0 && truth.instants > 0).then(|| both.sum())
}

/// Methods that are certainly counted falsely, and for which the sign of the sum is certain too; the largest first.
fn biased(of: &Summary) -> Vec<Biased> {
    let methods = of.methods.iter();
    let certain = methods.filter(|of| {
        of.is_certain && (of.total.low > 0.0 || of.total.high < 0.0) && of.name != OTHERS
    });
    let mut certain: Vec<_> = certain.collect();
    certain.sort_by(|a, b| b.total.value.abs().total_cmp(&a.total.value.abs()));
    let certain = certain.into_iter().map(|method| Biased {
        name: short(&method.name).to_owned(),
        relative: method.relative(of.instants),
        truth: method.truth,
        claimed: method.claimed,
    });
    certain.collect()
}

/// The smallest bias of a method with this share that `answered` instants show, as a part of its count.
fn visible(share: f64, answered: u64) -> Option<f64> {
    let deviation = ((1.0 - share) / (share * answered as f64)).sqrt();
    (answered > 0 && share > 0.0).then_some(DEVIATIONS * deviation)
}

fn advice(
    answered: u64,
    lost: f64,
    overlap: Option<f64>,
    rank: Option<usize>,
    biased: &[Biased],
    visible: Option<f64>,
) -> (Advice, String) {
    let Some(overlap) = overlap.filter(|_| answered > 0) else {
        return (Advice::TooFew, "no profile".into());
    };
    match rank {
        None => (Advice::DoNotUse, "the hottest method is never named".into()),
        Some(rank @ 2..) if visible.is_some_and(|visible| visible <= VISIBLE) => (
            Advice::DoNotUse,
            format!("the hottest method is only number {rank}"),
        ),
        _ if visible.is_none_or(|visible| visible > VISIBLE) => {
            (Advice::TooFew, "too few instants to see a bias".into())
        }
        _ if lost > MOST_LOST => (Advice::DoNotUse, "too many instants are lost".into()),
        _ if overlap < LEAST_OVERLAP => {
            (Advice::DoNotUse, "the profile is mostly another one".into())
        }
        _ if overlap < GOOD_OVERLAP || lost > FEW_LOST || biased.len() > FEW_BIASED => (
            Advice::TakeCare,
            match biased.len() {
                1 => "1 method is miscounted".into(),
                n => format!("{n} methods are miscounted"),
            },
        ),
        _ => (Advice::Trust, "the right hottest methods".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::Layer;
    use oracle::bias::{Claim, Pairs};
    use oracle::report::{Exit, Run};

    /// A report of one run with the pairs of a walker at any instant and of a walk at the next safepoint.
    fn told(walker: Pairs, safepoint: Pairs) -> Vec<Profile> {
        let mut run = Run::new("p", Exit::Code(0));
        run.bias.insert(Sampler::Walker(Layer::AsgctAsync), walker);
        run.bias.insert(Sampler::Safepoint, safepoint);
        let mut report = crate::sample::report();
        report.runs = vec![run];
        profiles(&report)
    }

    fn pairs(counts: &[(&str, Claim<&str>, u64)]) -> Pairs {
        let mut pairs = Pairs::default();
        for &(truth, claim, n) in counts {
            pairs.add(truth, claim, n);
        }
        pairs
    }

    #[test]
    fn all_profiles_of_a_jvm_are_held_against_the_truth_at_any_instant() {
        let walker = pairs(&[
            ("x.A.hot()V", Claim::Same, 6000),
            ("x.A.other()V", Claim::Same, 4000),
        ]);
        // The hot method has no safepoint. At the instants that are left the answers are right.
        let safepoint = pairs(&[
            ("x.A.hot()V", Claim::Same, 10),
            ("x.A.other()V", Claim::Same, 3990),
        ]);
        let [at_any, at_safepoint] = &told(walker, safepoint)[..] else {
            panic!("two profilers");
        };
        assert_eq!(at_any.advice, Advice::Trust, "{at_any:?}");
        assert_eq!((at_any.rank, at_any.own_overlap), (Some(1), None));
        assert_eq!(at_safepoint.advice, Advice::DoNotUse, "{at_safepoint:?}");
        assert_eq!(at_safepoint.rank, Some(2));
        let overlap = at_safepoint.overlap.expect("it answered");
        assert!((overlap - (0.0025 + 0.4)).abs() < 1e-9, "{overlap}");
        assert_eq!(at_safepoint.own_overlap, Some(1.0));
        let (name, truth, shown) = at_safepoint.hottest.as_ref().expect("it ran");
        assert_eq!((name.as_str(), *truth), ("A.hot", 0.6));
        assert!((shown - 0.0025).abs() < 1e-9);
    }

    #[test]
    fn where_a_jvm_has_no_truth_at_any_instant_that_of_the_same_program_counts() {
        let run = |profiler: &str, sampler, pairs| {
            let mut run = Run::new("p", Exit::Code(0));
            run.axes = [("profiler".into(), profiler.into())].into();
            run.bias.insert(sampler, pairs);
            run
        };
        // The hot method has no safepoint.
        let dumps = || {
            pairs(&[
                ("x.A.hot()V", Claim::Same, 10),
                ("x.A.other()V", Claim::Same, 3990),
            ])
        };
        let signals = pairs(&[
            ("x.A.hot()V", Claim::Same, 6000),
            ("x.A.other()V", Claim::Same, 4000),
        ]);
        let mut report = crate::sample::report();
        report.runs = vec![
            run("dumps", Sampler::Safepoint, dumps()),
            run("signals", Sampler::Walker(Layer::AsgctAsync), signals),
        ];
        let advice = |report: &Report| profiles(report)[0].advice;
        assert_eq!(advice(&report), Advice::DoNotUse);
        // The truth of another program, or of the program with other flags, says nothing of this one.
        report.runs[1].scenario = "q".into();
        assert_eq!(advice(&report), Advice::Trust);
        report.runs[1].scenario = "p".into();
        report.runs[1].axes.insert("flags".into(), "-Xint".into());
        assert_eq!(advice(&report), Advice::Trust);
    }

    #[test]
    fn of_two_methods_that_are_equally_hot_either_may_come_first() {
        let claim = |other| {
            pairs(&[
                ("x.A.hot()V", Claim::Same, 5000),
                ("x.A.hot()V", Claim::Named("x.A.other()V"), other),
                ("x.A.other()V", Claim::Same, 5000),
            ])
        };
        let rank = |other| told(claim(other), Pairs::default())[0].rank;
        assert_eq!(rank(100), Some(1));
        assert_eq!(rank(1000), Some(2));
    }

    #[test]
    fn few_instants_are_no_acquittal() {
        let few = || {
            pairs(&[
                ("x.A.hot()V", Claim::Same, 10),
                ("x.B.b()V", Claim::Same, 20),
            ])
        };
        let profiles = told(few(), few());
        assert!(
            profiles.iter().all(|of| of.advice == Advice::TooFew),
            "{profiles:?}"
        );
        let none = told(Pairs::default(), Pairs::default());
        assert_eq!(none[0].advice, Advice::TooFew);
    }

    #[test]
    fn lost_instants_weigh() {
        let lossy = pairs(&[
            ("x.A.hot()V", Claim::Same, 6000),
            ("x.A.other()V", Claim::Same, 4000),
            ("x.A.hot()V", Claim::Silent, 6000),
            ("x.A.other()V", Claim::Silent, 4000),
        ]);
        let [at_any, _] = &told(lossy, Pairs::default())[..] else {
            panic!("two profilers");
        };
        assert_eq!((at_any.advice, at_any.lost), (Advice::DoNotUse, 10_000));
        assert!(at_any.reason.contains("50.0 %"), "{}", at_any.reason);
    }
}
