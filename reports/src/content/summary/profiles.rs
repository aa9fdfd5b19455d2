//! What a profile of each profiler is worth, and what to do with it.

use crate::content::bias::{Row, of_run};
use crate::content::frames::short;
use crate::content::names;
use crate::model::{Advice, Biased, Profile};
use crate::numbers::part;
use oracle::bias::{OTHERS, Summary};
use oracle::report::{Report, Run};

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

/// All profilers of all runs: the programs in the order of the runs, and the best profile of each first.
pub(super) fn profiles(report: &Report) -> Vec<Profile> {
    let first = |run: &Run| {
        let program = (&run.jdk, &run.scenario);
        let mut runs = report.runs.iter();
        runs.position(|other| (&other.jdk, &other.scenario) == program)
    };
    let of_runs = report.runs.iter().flat_map(|run| {
        let rows = of_run(run);
        rows.map(move |row| (first(run), profile(&row)))
    });
    let mut all: Vec<(Option<usize>, Profile)> = of_runs.collect();
    let overlap = |of: &Profile| of.overlap.unwrap_or(-1.0);
    all.sort_by(|(one, a), (other, b)| one.cmp(other).then(overlap(b).total_cmp(&overlap(a))));
    all.into_iter().map(|(_, profile)| profile).collect()
}

fn profile(row: &Row<'_>) -> Profile {
    let own = &row.summary;
    let (overlap, rank) = (own.overlap, own.hottest_rank);
    let shown = own.hottest().map(|of| {
        (
            short(&of.name).to_owned(),
            of.true_share,
            share(of.claimed, own.answered),
        )
    });
    let biased = biased(own);
    let (asked, lost) = (own.instants, own.instants - own.answered);
    let visible = own.visible();
    let lost_share = share(lost, asked);
    let (advice, reason) = advice(own.answered, lost_share, overlap, rank, &biased, visible);
    Profile {
        title: names::of_sampler(row.run, row.sampler),
        name: row.sampler.name().to_owned(),
        program: row.run.title(),
        program_name: row.run.scenario.clone(),
        jdk: (row.run.jdk.as_ref()).map_or_else(String::new, |jdk| jdk.version.clone()),
        asked,
        lost,
        renamed: own.renamed,
        overlap,
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

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
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
    use oracle::bias::{Claim, Pairs, Sampler};
    use oracle::report::{Exit, Run};

    /// A report of one run with the pairs of a walker at any instant and of a walk at the next safepoint.
    fn told(walker: Pairs, safepoint: Pairs) -> Vec<Profile> {
        let mut run = Run::new("p", Exit::Code(0));
        run.bias.insert(Sampler::Safepoint, safepoint);
        run.bias.insert(Sampler::Walker(Layer::AsgctAsync), walker);
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
    fn all_profiles_of_a_jvm_have_one_truth_and_the_best_is_first() {
        let walker = pairs(&[
            ("x.A.hot()V", Claim::Same, 6000),
            ("x.A.other()V", Claim::Same, 4000),
        ]);
        // The hot method has no safepoint: all but a few of its instants are those of windows. At the instants that are
        // left the answers are right.
        let safepoint = pairs(&[
            ("x.A.hot()V", Claim::Unjudged, 5990),
            ("x.A.hot()V", Claim::Same, 10),
            ("x.A.other()V", Claim::Same, 4000),
        ]);
        let [at_any, at_safepoint] = &told(walker, safepoint)[..] else {
            panic!("two profilers");
        };
        assert_eq!(
            (at_any.advice, at_any.name.as_str()),
            (Advice::Trust, "asgct-async")
        );
        assert_eq!(at_any.rank, Some(1));
        assert_eq!(at_safepoint.advice, Advice::DoNotUse, "{at_safepoint:?}");
        assert_eq!((at_safepoint.rank, at_safepoint.lost), (Some(2), 5990));
        let overlap = at_safepoint.overlap.expect("it answered");
        assert!((overlap - (10.0 / 4010.0 + 0.4)).abs() < 1e-9, "{overlap}");
        let truths = [at_any, at_safepoint].map(|of| of.hottest.clone().expect("it ran"));
        assert!(
            truths
                .iter()
                .all(|(name, truth, _)| name == "A.hot" && *truth == 0.6),
            "{truths:?}"
        );
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
        let rank = |other| {
            let told = told(claim(other), Pairs::default());
            let walker = told.iter().find(|of| of.name == "asgct-async");
            walker.expect("it was asked").rank
        };
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
        let told = told(lossy, Pairs::default());
        let at_any = told
            .iter()
            .find(|of| of.name == "asgct-async")
            .expect("it was asked");
        assert_eq!((at_any.advice, at_any.lost), (Advice::DoNotUse, 10_000));
        assert!(at_any.reason.contains("50.0 %"), "{}", at_any.reason);
    }
}
