//! What is stored of a report: the numbers of the results, and where they come from.

use oracle::When;
use oracle::bias::{Summary, TrueProfile};
use oracle::record::altered::AlteredWalks;
use oracle::record::{EdgeCounts, Hooking, JoinCounts, KindCount, Origin, StepCounts};
use oracle::report::{Exit, LayerCounts, Report, Run};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// A report without its evidence, of runs of one scenario on one JDK. A file of `docs/results/data`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Digest {
    /// Name of the scenario.
    pub scenario: String,
    /// Version of the VM.
    pub version: String,
    /// Vendor of the JDK.
    pub vendor: String,
    /// Where the runs come from, an entry for each session.
    pub made: Vec<Made>,
    /// The runs, in their order.
    pub runs: Vec<DigestRun>,
}

/// The parts of an [`Origin`] that say nothing about whose machine it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// Start of the session, in UTC, as RFC 3339 writes it.
    pub started: String,
    /// Duration of the session, in seconds.
    pub seconds: f64,
    /// Model of the processor.
    pub processor: String,
    /// Number of processors that the session might use.
    pub cores: Option<usize>,
    /// Load average of the last minute before the session.
    pub load_before: Option<f64>,
    /// Load average of the last minute after the session.
    pub load_after: Option<f64>,
    /// Version of Stackwitness.
    pub stackwitness: String,
    /// Commit from which Stackwitness was built.
    pub commit: Option<String>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DigestRun {
    /// Name of the program.
    pub program: String,
    /// Its place in the scenario's matrix: axis and value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub axes: BTreeMap<String, String>,
    /// How its hooks kept the trace stack.
    pub hooks: Hooking,
    /// How the JVM ended.
    pub exit: Exit,
    /// The results of the checks.
    pub layers: Vec<LayerCounts>,
    /// How often mismatches of each cause were seen, over all places.
    pub kinds: Vec<KindCount>,
    /// CPU time as a multiple of that of the same work without the agent, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowdown_cpu: Option<f64>,
    /// What the profiles were worth.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfileDigest>,
    /// What was joined of the recordings of samplers; with the kinds of code where they were asked at chosen instructions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<JoinCounts>,
    /// The walks from altered contexts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub altered: Option<AlteredWalks>,
    /// The findings on call edges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<EdgeCounts>,
    /// What threads did that ran one instruction at a time, without what was not visited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepCounts>,
}

/// What one profiler's profile was worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileDigest {
    /// Name of the profiler.
    pub profiler: String,
    /// Instants with a truth at which it was asked.
    pub asked: u64,
    /// Of these, the instants at which it answered.
    pub answered: u64,
    /// Of the answers, those that name another method than ran.
    pub renamed: u64,
    /// Common part of its profile of methods and the true one, from 0 to 1.
    pub overlap: Option<f64>,
    /// The same of whole stacks.
    pub overlap_of_stacks: Option<f64>,
    /// Place of the truly hottest method in its profile, from 1.
    pub hottest_rank: Option<usize>,
    /// Whether it counts methods falsely, beyond chance.
    pub is_biased: bool,
    /// How much more the two profiles of methods differ than two honest ones by chance, from 0 to 1: their total variation
    /// less that of two profiles of as many answers, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tvd_excess: Option<f64>,
}

impl Digest {
    /// The digest of a report, or why there is none.
    pub fn new(report: &Report) -> Result<Digest, String> {
        let mut versions: Vec<&str> = report
            .runs
            .iter()
            .map(|run| report.jdk_of(run).version.as_str())
            .collect();
        versions.sort_unstable();
        versions.dedup();
        let [version] = versions[..] else {
            return Err(format!(
                "it has runs of {} JDKs; publish a report of one JDK",
                versions.len()
            ));
        };
        if let Some(run) = report.runs.iter().find(|run| run.invalid.is_some()) {
            let why = run.invalid.as_deref().unwrap_or_default();
            return Err(format!("its run {} is worthless: {why}", run.title()));
        }
        let jdk = report.jdk_of(&report.runs[0]);
        Ok(Digest {
            scenario: report.scenario.clone(),
            version: version.to_owned(),
            vendor: jdk.vendor.clone(),
            made: report.origins.iter().map(Made::new).collect(),
            runs: report.runs.iter().map(DigestRun::new).collect(),
        })
    }

    /// The version without the name of the build: `17.0.15`, `28-ea`.
    pub fn jdk(&self) -> &str {
        self.version.split('+').next().unwrap_or_default()
    }

    /// The feature release, such as 17.
    pub fn feature(&self) -> u32 {
        let digits = self.version.split(|c: char| !c.is_ascii_digit()).next();
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }

    /// Name of its file.
    pub fn file(&self) -> String {
        let scenario = self.scenario.trim_start_matches("results-");
        format!("{scenario}-{}.json", self.jdk())
    }
}

impl Made {
    fn new(origin: &Origin) -> Made {
        Made {
            started: origin.started.clone(),
            seconds: origin.seconds.round(),
            processor: origin.processor.clone(),
            cores: origin.cores,
            load_before: origin.load_before,
            load_after: origin.load_after,
            stackwitness: origin.version.clone(),
            commit: origin.commit.clone(),
        }
    }
}

/// The total variation less the one that two honest profiles of as many answers have by chance; 0 at least. `None` without
/// answers.
fn excess(of: &Summary) -> Option<f64> {
    // A share `p` of `n` answers is off by `sqrt(2 p (1 - p) / (pi n))` on average, and the total variation is half the sum over
    // all methods. The true profile has more instants than a walker answers, and counts as exact.
    let answers = of.answered.max(1) as f64;
    let off = |share: f64| (2.0 * share * (1.0 - share) / (PI * answers)).sqrt();
    let chance: f64 = of.methods.iter().map(|of| off(of.true_share)).sum();
    Some((of.total_variation()? - chance / 2.0).max(0.0))
}

/// What was joined; the kinds of code are kept where a sampler is asked at chosen instructions.
fn stored(joined: &JoinCounts) -> JoinCounts {
    let mut stored = joined.clone();
    if joined.layer.row().when != When::Step {
        stored.codes.clear();
    }
    stored
}

fn without_coverage(steps: &StepCounts) -> StepCounts {
    let mut steps = steps.clone();
    for counts in steps
        .instructions
        .values_mut()
        .chain(steps.kinds.values_mut())
    {
        (counts.coverage, counts.ended) = (None, None);
    }
    steps
}

impl DigestRun {
    fn new(run: &Run) -> DigestRun {
        let mut kinds: Vec<KindCount> = vec![];
        for kind in &run.kinds {
            let kind = KindCount {
                place: KindCount::OTHER.into(),
                ..kind.clone()
            };
            match kinds.iter_mut().find(|known| known.is_of_kind(&kind)) {
                Some(known) => known.count += kind.count,
                None => kinds.push(kind),
            }
        }
        let truth = TrueProfile::of_run(&run.bias);
        let profiles = run.bias.iter().map(|(sampler, pairs)| {
            let summary = Summary::new(pairs, &truth);
            let stacks = run.bias_stacks.get(sampler);
            ProfileDigest {
                profiler: sampler.name().into(),
                asked: summary.instants,
                answered: summary.answered,
                renamed: summary.renamed,
                overlap: summary.overlap,
                overlap_of_stacks: stacks.and_then(|stacks| stacks.overlap),
                hottest_rank: summary.hottest_rank,
                is_biased: summary.is_biased(),
                tvd_excess: excess(&summary),
            }
        });
        DigestRun {
            program: run.scenario.clone(),
            axes: run.axes.clone(),
            hooks: run.hooks.unwrap_or_default(),
            exit: run.exit.clone(),
            layers: run.layers.clone(),
            kinds,
            slowdown_cpu: run.cost.as_ref().and_then(|cost| cost.slowdown_cpu),
            profiles: profiles.collect(),
            joined: run.joined.iter().map(stored).collect(),
            altered: run.altered.clone(),
            edges: Some(run.edges.clone()).filter(|edges| !edges.is_empty()),
            steps: run.steps.as_ref().map(without_coverage),
        }
    }
}
