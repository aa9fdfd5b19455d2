//! What a person wants to know of a report, in the order of the questions: what is the answer, how often is a stack
//! false, why, what does one look like, does it matter, and can I believe it.

use super::{Aligned, Answer, Tone, TwoFlames};
use oracle::Layer;
use oracle::bias::Estimate;
use oracle::record::Origin;

/// The summary of a report.
#[derive(Clone, Debug)]
pub struct Summary {
    /// What the reader must know before anything else, a sentence each.
    pub warnings: Vec<String>,
    /// What was judged.
    pub about: About,
    /// The decision, with the reasons.
    pub answer: Answer,
    /// Whether the report is about profiles: the JVM's own samplers are judged.
    pub is_about_profiles: bool,
    /// Which profiles can be trusted, in a sentence.
    pub of_profiles: Option<String>,
    /// How true the stacks are, in a sentence or two.
    pub of_stacks: String,
    /// What the decision does not say.
    pub caveat: Option<String>,
    /// How often stacks are false, a row for each layer, lowest first.
    pub rates: Vec<Rate>,
    /// Causes of false stacks, the most frequent first; those of imprecise stacks last.
    pub causes: Vec<CauseCount>,
    /// An example of each kind of mismatch, in the order of the causes.
    pub examples: Vec<Example>,
    /// The profilers, where the report compares profiles with what truly ran.
    pub profiles: Vec<Profile>,
    /// True and claimed stacks of the profile that has the most stacks.
    pub flame: Option<(String, TwoFlames)>,
    /// What the runs cost.
    pub costs: Vec<Cost>,
    /// What speaks for and against the report itself.
    pub trust: Vec<Point>,
    /// Mismatches whose evidence is in the report, and all mismatches.
    pub evidence: (u64, u64),
}

impl Summary {
    /// The answer in words.
    pub fn sentences(&self) -> String {
        let of_profiles = self.of_profiles.iter().map(String::as_str);
        let all = of_profiles.chain([&*self.of_stacks]);
        all.filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// What was judged.
#[derive(Clone, Debug)]
pub struct About {
    /// The JVMs: name, version and vendor.
    pub jvms: Vec<String>,
    /// The scenario's name.
    pub scenario: String,
    /// The programs, each once.
    pub programs: Vec<String>,
    /// How many JVMs ran.
    pub runs: usize,
    /// How long they ran, in seconds.
    pub seconds: f64,
    /// The seeds of the plans that the runs are of: several, if reports of parts with different seeds were merged.
    pub seeds: Vec<u64>,
    /// Where the runs come from; none in reports of earlier versions.
    pub origins: Vec<Origin>,
}

impl About {
    /// The seeds for a line; `None` without a run. Each run has its own in the list of runs.
    pub fn shown_seeds(&self) -> Option<String> {
        match &self.seeds[..] {
            [] => None,
            [seed] => Some(format!("seed {seed}")),
            few if few.len() <= 3 => {
                let few: Vec<String> = few.iter().map(u64::to_string).collect();
                Some(format!("seeds {}", few.join(", ")))
            }
            many => Some(format!("{} seeds", many.len())),
        }
    }
}

/// How often a walker's stacks are false in one layer.
#[derive(Clone, Debug)]
pub struct Rate {
    /// The layer.
    pub layer: Layer,
    /// The walker and the instants at which it is asked.
    pub title: String,
    /// What it is compared with.
    pub against: String,
    /// Whether other layers rest on this one.
    pub is_foundation: bool,
    /// Whether it is of unmodified programs.
    pub is_plain: bool,
    /// Truncated and wrong stacks.
    pub bad: u64,
    /// Stacks that were compared with a truth.
    pub judged: u64,
    /// The interval that holds the rate with 95 %, if checks are independent; up to the one-sided bound if none is
    /// false. `None` if nothing was judged.
    pub interval: Option<(f64, f64)>,
    /// The same for each program: its name, false stacks and judged stacks.
    pub programs: Vec<(String, u64, u64)>,
    /// Imprecise stacks, which are judged and not false.
    pub imprecise: u64,
    /// Questions without an answer: an error code instead of a stack.
    pub unanswered: u64,
    /// Answers without a truth to compare with.
    pub unverifiable: u64,
    /// All questions.
    pub checks: u64,
    /// The highest rate that the scenario allows; `None` if this decision has no budgets for it.
    pub budget: Option<f64>,
    /// The standing of the layer, in a few words.
    pub standing: String,
    /// Whether that is good or bad.
    pub tone: Tone,
}

impl Rate {
    /// The observed rate; `None` if nothing was judged.
    pub fn rate(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.bad as f64 / self.judged as f64)
    }
}

/// How often a cause was seen, over all layers. All mismatches count, also those without kept evidence.
#[derive(Clone, Debug)]
pub struct CauseCount {
    /// The name of the cause.
    pub name: String,
    /// What it is, in a few words.
    pub meaning: String,
    /// Why the walker's answer is false, in a sentence; empty where nobody knows.
    pub why: String,
    /// Mismatches in programs with hooks.
    pub hooked: u64,
    /// Mismatches in unmodified programs.
    pub plain: u64,
    /// If only programs with hooks show the cause: what unmodified programs say of it.
    pub only_hooked: Option<String>,
    /// Whether the physical frames are right, so that the stacks are imprecise and not false.
    pub is_imprecise: bool,
    /// Whether the cause is known.
    pub is_known: bool,
    /// The command that shows it, if there is a program for it.
    pub command: Option<String>,
    /// The page that explains it, if there is one.
    pub page: Option<String>,
}

impl CauseCount {
    /// All mismatches of the cause.
    pub fn total(&self) -> u64 {
        self.hooked + self.plain
    }
}

/// An example of a kind of mismatch.
#[derive(Clone, Debug)]
pub struct Example {
    /// The cause, or the layer where causes are not looked for.
    pub name: String,
    /// What is false, in a few words.
    pub title: String,
    /// Why, in a sentence; empty where nobody knows.
    pub why: String,
    /// The layer.
    pub layer: Layer,
    /// The walker.
    pub walker: String,
    /// Both stacks.
    pub stacks: Aligned,
    /// The thread.
    pub thread: String,
    /// Further evidence: name and value.
    pub evidence: Vec<(String, String)>,
    /// The command that runs the program alone.
    pub command: Option<String>,
}

/// What a profiler's profile is worth.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The profiler.
    pub title: String,
    /// Its short name in tables.
    pub name: String,
    /// The program, with its place in the matrix.
    pub program: String,
    /// The program's name alone.
    pub program_name: String,
    /// The version of the JDK.
    pub jdk: String,
    /// Instants with a truth.
    pub asked: u64,
    /// Instants without an answer, and those of `unsure`.
    pub lost: u64,
    /// Of `lost`, the answers that say that they do not know the top method.
    pub unsure: u64,
    /// Instants at which nobody can say what the profiler named: they speak neither for it nor against it.
    pub unjudged: u64,
    /// Answers that name another method than the one that ran.
    pub renamed: u64,
    /// The part that is common to this profile and to the true one, from 0 to 1.
    pub overlap: Option<f64>,
    /// The hottest method by the truth of the JVM: name, true share, and this profile's share.
    pub hottest: Option<(String, f64, f64)>,
    /// Place of the truly hottest method in this profile, from 1: behind those that were named more often beyond chance.
    pub rank: Option<usize>,
    /// Methods that are certainly counted too often or too rarely: first those that are named falsely, the worst first.
    pub biased: Vec<Biased>,
    /// The smallest bias that the run would have shown for the hottest method, as a share of its count; `None` without
    /// answers.
    pub visible: Option<f64>,
    /// What to do with such a profile.
    pub advice: Advice,
    /// Why, in a sentence.
    pub reason: String,
}

impl Profile {
    /// Answers that could be judged.
    pub fn answered(&self) -> u64 {
        self.asked - self.lost - self.unjudged
    }

    /// The number of methods that are certainly named falsely.
    pub fn misnamed(&self) -> usize {
        self.biased.iter().filter(|of| of.is_misnamed).count()
    }

    /// The number of methods whose samples are certainly lost more often, or less often, than others, and that are not
    /// named falsely.
    pub fn uneven(&self) -> usize {
        self.biased.len() - self.misnamed()
    }

    /// Each profiler once, those of the best advice first. Of several runs with a profiler the one with the most instants counts.
    pub fn once_each(all: &[Profile]) -> Vec<&Profile> {
        let mut once: Vec<&Profile> = vec![];
        for of in all {
            let label = of.label(all);
            match once.iter_mut().find(|other| other.label(all) == label) {
                Some(other) if other.asked < of.asked => *other = of,
                Some(_) => {}
                None => once.push(of),
            }
        }
        once.sort_by_key(|of| of.advice);
        once
    }

    /// The profiler, with its JDK and program if `all` are not of one.
    pub fn label(&self, all: &[Profile]) -> String {
        let other_jdk = all.iter().any(|of| of.jdk != self.jdk);
        let other_program = all.iter().any(|of| of.program_name != self.program_name);
        let jdk = other_jdk.then_some(&*self.jdk);
        let program = other_program.then_some(&*self.program_name);
        let places: Vec<&str> = jdk.into_iter().chain(program).collect();
        match &places[..] {
            [] => self.title.clone(),
            places => format!("{} ({})", self.title, places.join(", ")),
        }
    }
}

/// A method that a profile certainly counts too often or too rarely.
#[derive(Clone, Debug)]
pub struct Biased {
    /// `Class.method`.
    pub name: String,
    /// Bias as a share of the true count; `None` for a method that never ran.
    pub relative: Option<Estimate>,
    /// Instants at which it ran.
    pub truth: u64,
    /// Instants at which the profiler named it.
    pub claimed: u64,
    /// Whether the profiler names it falsely. Else its samples are only lost more often, or less often, than others.
    pub is_misnamed: bool,
}

/// What to do with a profile.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum Advice {
    /// It shows what ran.
    Trust,
    /// It is right in the large, and miscounts some methods.
    TakeCare,
    /// It would mislead.
    DoNotUse,
    /// There are too few instants to say.
    TooFew,
}

/// What a run cost.
#[derive(Clone, Debug)]
pub struct Cost {
    /// The program.
    pub program: String,
    /// Whether it had hooks.
    pub is_hooked: bool,
    /// CPU time as a multiple of that without the agent.
    pub cpu: f64,
}

/// A point for or against believing the report.
#[derive(Clone, Debug)]
pub struct Point {
    /// Good: it speaks for the report; bad: against it; plain: unknown, or to be kept in mind.
    pub tone: Tone,
    /// The point in a few words.
    pub what: String,
    /// The facts.
    pub text: String,
}
