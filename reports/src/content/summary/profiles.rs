//! What a profile of each profiler is worth, and what to do with it.

use crate::content::bias::{Row, of_run};
use crate::content::frames::short;
use crate::content::names;
use crate::model::{Advice, Biased, Profile};
use crate::numbers::{part, tenths};
use oracle::bias::{MethodBias, OTHERS, Summary};
use oracle::report::{Report, Run};

/// A profile that misses a larger part of the instants is not to be used.
const MOST_LOST: f64 = 1.0 / 3.0;

/// A profile with a smaller common part is not to be used.
const LEAST_OVERLAP: f64 = 0.8;

/// A profile with a smaller common part, or with more lost instants, needs care.
const GOOD_OVERLAP: f64 = 0.95;
const FEW_LOST: f64 = 0.2;

/// A profile with more methods that are named falsely needs care.
const FEW_MISNAMED: usize = 10;

/// A smaller share is not worth a word.
const LEAST_SHOWN: f64 = 0.001;

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
    let shown = own.hottest().map(|of| {
        (
            short(&of.name).to_owned(),
            of.true_share,
            share(of.claimed, own.answered),
        )
    });
    let profile = Profile {
        title: names::of_sampler(row.run, row.sampler),
        name: row.sampler.name().to_owned(),
        program: row.run.title(),
        program_name: row.run.scenario.clone(),
        jdk: (row.run.jdk.as_ref()).map_or_else(String::new, |jdk| jdk.version.clone()),
        asked: own.instants,
        lost: own.instants - own.answered - own.unjudged,
        unsure: own.unsure,
        unjudged: own.unjudged,
        renamed: own.renamed,
        overlap: own.overlap,
        hottest: shown,
        rank: own.hottest_rank,
        biased: biased(own),
        visible: own.visible(),
        advice: Advice::TooFew,
        reason: String::new(),
    };
    let (advice, reason) = advice(&profile);
    Profile {
        advice,
        reason: reason + &losses(&profile),
        ..profile
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Methods that are certainly counted falsely, and for which the sign of the sum is certain too: first those with wrong
/// names, the largest bias first.
fn biased(of: &Summary) -> Vec<Biased> {
    let methods = of.methods.iter();
    let certain = methods.filter(|of| {
        of.is_certain && (of.total.low > 0.0 || of.total.high < 0.0) && of.name != OTHERS
    });
    let mut certain: Vec<_> = certain.collect();
    let weight = |of: &MethodBias| (of.is_misnamed, of.total.value.abs());
    certain.sort_by(|a, b| {
        let ((a_named, a), (b_named, b)) = (weight(a), weight(b));
        b_named.cmp(&a_named).then(b.total_cmp(&a))
    });
    let certain = certain.into_iter().map(|method| Biased {
        name: short(&method.name).to_owned(),
        relative: method.relative(of.instants),
        truth: method.truth,
        claimed: method.claimed,
        is_misnamed: method.is_misnamed,
    });
    certain.collect()
}

fn advice(of: &Profile) -> (Advice, String) {
    let Some(overlap) = of.overlap.filter(|_| of.answered() > 0) else {
        return (Advice::TooFew, "no profile".into());
    };
    // What the judge could not decide speaks neither for a profiler nor against it.
    if share(of.unjudged, of.asked) > MOST_LOST {
        let reason = "too many instants could not be judged";
        return (Advice::TooFew, reason.into());
    }
    let lost = share(of.lost, of.asked - of.unjudged);
    match of.rank {
        None => (Advice::DoNotUse, "the hottest method is never named".into()),
        Some(rank @ 2..) if of.visible.is_some_and(|visible| visible <= VISIBLE) => (
            Advice::DoNotUse,
            format!("the hottest method is only number {rank}"),
        ),
        _ if of.visible.is_none_or(|visible| visible > VISIBLE) => {
            (Advice::TooFew, "too few instants to see a bias".into())
        }
        _ if lost > MOST_LOST => (Advice::DoNotUse, "too many instants are lost".into()),
        _ if overlap < LEAST_OVERLAP => (
            Advice::DoNotUse,
            format!("only {} of the profile is right", tenths(overlap)),
        ),
        // A longer run finds more methods with a smaller bias. So only false names count by their number; how much uneven
        // losses change the profile is in the overlap.
        _ if of.misnamed() > FEW_MISNAMED => (
            Advice::TakeCare,
            format!("{} methods are named falsely", of.misnamed()),
        ),
        _ if overlap < GOOD_OVERLAP => (
            Advice::TakeCare,
            format!("{} of the profile is right", tenths(overlap)),
        ),
        _ if lost > FEW_LOST => (Advice::TakeCare, "many instants are lost".into()),
        _ => (Advice::Trust, "the right hottest methods".into()),
    }
}

/// What the profile lacks, as an addition to the reason.
fn losses(of: &Profile) -> String {
    let judged = of.asked - of.unjudged;
    let unevenly = if of.uneven() > 0 { ", unevenly" } else { "" };
    let mut text = match of.lost {
        few if share(few, judged) < LEAST_SHOWN => String::new(),
        lost if lost == of.unsure => {
            format!("; no top method for {}{unevenly}", part(lost, judged))
        }
        lost => format!("; {} lost{unevenly}", part(lost, judged)),
    };
    if share(of.unjudged, of.asked) >= LEAST_SHOWN {
        text += &format!("; {} not judged", part(of.unjudged, of.asked));
    }
    text
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
        // The hot method has no safepoint: the profile shows the method behind it.
        let safepoint = pairs(&[
            ("x.A.hot()V", Claim::Named("x.A.other()V"), 5990),
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
        assert_eq!((at_safepoint.rank, at_safepoint.renamed), (Some(2), 5990));
        let overlap = at_safepoint.overlap.expect("it answered");
        assert!((overlap - 0.401).abs() < 1e-9, "{overlap}");
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

    fn of_walker(walker: Pairs) -> Profile {
        let told = told(walker, Pairs::default());
        let mut told = told.into_iter();
        told.find(|of| of.name == "asgct-async")
            .expect("it was asked")
    }

    /// A walker that says that it does not know the top method, at some methods more often than at others. None of its
    /// answers is false, and more instants make no other verdict.
    #[test]
    fn a_walker_that_says_what_it_does_not_know_miscounts_nothing() {
        for times in [1, 100] {
            let names: Vec<String> = (0..30).map(|n| format!("x.A.m{n}()V")).collect();
            let mut walker = pairs(&[("x.A.hot()V", Claim::Same, 1000 * times)]);
            for (n, name) in names.iter().enumerate() {
                let unsure = if n % 2 == 0 { 20 } else { 1 };
                walker.add(name, Claim::Unsure, unsure * times);
                walker.add(name, Claim::Same, (200 - unsure) * times);
            }
            let told = of_walker(walker);
            assert_eq!(told.advice, Advice::Trust, "{}", told.reason);
            assert_eq!((told.misnamed(), told.lost), (0, told.unsure));
            assert!(told.reason.contains("no top method for"), "{told:?}");
            assert_eq!(
                told.uneven() > FEW_MISNAMED,
                times == 100,
                "{}",
                told.uneven()
            );
        }
    }

    #[test]
    fn many_false_names_need_care() {
        let names: Vec<String> = (0..30).map(|n| format!("x.A.m{n}()V")).collect();
        let mut walker = pairs(&[("x.A.hot()V", Claim::Same, 100_000)]);
        for (n, name) in names.iter().enumerate() {
            let caller = &names[n / 2];
            walker.add(name, Claim::Named(caller), 200);
            walker.add(name, Claim::Same, 19_800);
        }
        let told = of_walker(walker);
        assert_eq!(told.advice, Advice::TakeCare, "{}", told.reason);
        assert!(told.misnamed() > FEW_MISNAMED, "{told:?}");
        assert!(told.biased[0].is_misnamed);
    }

    #[test]
    fn what_the_judge_left_out_is_no_fault_of_the_profiler() {
        let told = of_walker(pairs(&[
            ("x.A.hot()V", Claim::Unjudged, 5990),
            ("x.A.hot()V", Claim::Same, 10),
            ("x.A.other()V", Claim::Same, 4000),
        ]));
        assert_eq!((told.lost, told.unjudged), (0, 5990));
        assert_eq!(told.advice, Advice::TooFew, "{}", told.reason);
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
