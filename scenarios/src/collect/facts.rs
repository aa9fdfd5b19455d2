//! Facts of a run that the agent does not write, and how the facts and the agent's records become a
//! [`Run`].

use super::crash::Crash;
use super::records::{self, Records};
use crate::Error;
use crate::jdk::{OLDEST, is_too_old};
use crate::store::{self, names};
use joining::Joined;
use oracle::bias::Sampler;
use oracle::cost::{Cost, Effort};
use oracle::record::{Lost, WalkerFunction};
use oracle::report::{Exit, GivenProfiler, Jdk, LayerCounts, Report, Run};
use oracle::tally::Tally;
use oracle::{Hooking, Layer, TruthKind};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How many mismatches of joined events of each layer, verdict and cause are kept in a run, with their evidence.
const MOST_JOINED: usize = 50;

/// Facts of a run that the agent does not write.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// The session that the run belongs to; empty in runs of earlier versions.
    #[serde(default)]
    pub session: String,
    pub scenario: String,
    pub java_args: Vec<String>,
    /// How classes are hooked; absent in runs of earlier versions.
    #[serde(default)]
    pub hooks: Option<Hooking>,
    /// The probability with which each method is hooked, if it is below 1.
    #[serde(default)]
    pub probability: Option<f64>,
    pub seed: u64,
    pub exit: Exit,
    /// Processes of the run that could not be ended.
    #[serde(default)]
    pub alive: Vec<u32>,
    pub wall_s: f64,
    #[serde(default)]
    pub cpu_s: Option<f64>,
    #[serde(default)]
    pub without_agent: Option<Effort>,
    #[serde(default)]
    pub not_compared: Option<String>,
    pub layers: Vec<Layer>,
    /// The function that was asked in place of a walker.
    #[serde(default)]
    pub walker: Option<WalkerFunction>,
    /// The profiler whose samples are judged.
    #[serde(default)]
    pub profiler: Option<GivenProfiler>,
    pub foreground: bool,
    pub dir: String,
    pub axes: BTreeMap<String, String>,
}

impl Facts {
    /// Writes the facts into the run's folder, so that a report can be made again.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        store::write_json(&dir.join(names::FACTS), self)
    }

    /// Adds the run in `dir` to `report`. Returns whether further runs on the same JDK would
    /// be of no use.
    pub fn collect(self, dir: &Path, report: &mut Report) -> bool {
        let mut records = records::read(dir);
        let blind = blind(&records.lost);
        // Nothing that the scenario asks for can be judged in this VM.
        let is_useless =
            !self.layers.is_empty() && self.layers.iter().all(|layer| blind.contains(layer));
        let mut evidence = records
            .mismatches
            .iter()
            .map(|kept| &kept.mismatch.evidence);
        if let Some(why) = evidence.find_map(|evidence| evidence.memory.as_ref()) {
            let note = format!("the agent finds no causes: it {why}");
            records.notes.push(note);
        }
        let mut joined = joining::join(dir, &self.layers, MOST_JOINED).unwrap_or_default();
        let kept = std::mem::take(&mut records.mismatches);
        let kept = kept.into_iter().map(|kept| kept.mismatch);
        let all = kept.chain(joined.mismatches.drain(..));
        for mut mismatch in all.filter(|mismatch| !blind.contains(&mismatch.layer)) {
            mismatch.evidence.run = Some(self.dir.clone());
            report.mismatches.push(mismatch);
        }
        let run = self.describe(dir, records, joined);
        if let (Some(jdk), true) = (&run.jdk, report.runs.is_empty()) {
            report.jdk = jdk.clone();
        }
        report.runs.push(run);
        is_useless
    }

    fn describe(self, dir: &Path, records: Records, joined: Joined) -> Run {
        let mut counted = records::tallies(dir, &self.layers);
        for (layer, tally) in &mut counted {
            if let Some(joined) = joined.counts.tallies.get(layer) {
                *tally += joined;
            }
        }
        let invalid = self.invalid(dir, &records, &counted);
        // What these layers have counted says nothing of the JVM.
        let blind = blind(&records.lost);
        for (layer, tally) in &mut counted {
            if blind.contains(layer) {
                *tally = Tally::default();
            }
        }
        let failed = match self.exit {
            Exit::Code(code) if code != 0 && !self.foreground && invalid.is_none() => {
                Some(format!(
                    "the program failed: java ended with {code}; see stderr.txt in {}",
                    self.dir
                ))
            }
            _ => None,
        };
        let mut notes = records.notes;
        notes.extend(joined.notes);
        notes.extend(self.walker.as_ref().map(|function| {
            let walker = function.signature.walker();
            format!("layers of the walker {walker} asked {function} in its place")
        }));
        let mut kinds = records.kinds;
        kinds.extend(joined.kinds);
        kinds.retain(|kind| !blind.contains(&kind.layer));
        let mut errors = records.errors;
        errors.retain(|error| !blind.contains(&error.layer));
        let mut instants = records.instants;
        instants.retain(|instant| !blind.contains(&instant.layer));
        notes.extend(
            self.alive
                .iter()
                .map(|pid| format!("process {pid} of this run could not be ended: it still runs")),
        );
        if let (None, Exit::Code(_)) = (&records.started, &self.exit)
            && invalid.is_none()
        {
            notes.push("the agent's records are missing: was the disk full?".into());
        }
        notes.extend(Crash::read(dir).map(|crash| crash.to_string()));
        if dir.join(names::THREADS).exists() {
            notes.push(format!(
                "its threads are in {}/{}",
                self.dir,
                names::THREADS
            ));
        }
        // Pairs of layers that nobody asked for are those of samples on which other layers live.
        let is_asked_for = |sampler: &Sampler| match sampler {
            Sampler::Walker(layer) => self.layers.contains(layer),
            Sampler::Safepoint => self
                .layers
                .iter()
                .any(|layer| layer.rests_on(TruthKind::Next)),
        };
        let bias = records.bias.into_iter().chain(joined.bias);
        let bias = bias.filter(|(sampler, _)| is_asked_for(sampler)).collect();
        let stacks = records.bias_stacks.into_iter().chain(joined.stacks);
        let stacks = stacks.filter(|(sampler, _)| is_asked_for(sampler));
        let class_data = records.started.as_ref().and_then(|it| it.class_data);
        let flags = records.started.as_ref().map(|it| it.flags.clone());
        Run {
            cost: self.cost(&counted),
            scenario: self.scenario,
            java_args: self.java_args,
            hooks: self.hooks,
            probability: self.probability,
            seed: self.seed,
            exit: self.exit,
            wall_s: self.wall_s,
            profiler: self.profiler,
            layers: counted
                .iter()
                .map(|(layer, tally)| LayerCounts::new(*layer, tally))
                .collect(),
            rewriting: records.rewriting,
            invalid,
            failed,
            dir: self.dir,
            jdk: records.started.map(|started| Jdk {
                home: started.home,
                vendor: started.vendor,
                version: started.version,
                vm: started.vm,
            }),
            class_data,
            flags: flags.unwrap_or_default(),
            axes: self.axes,
            lost: records.lost,
            notes,
            errors,
            in_handlers: records.in_handlers,
            instants,
            kinds,
            profile: records.profile,
            edges: records.edges,
            steps: records.steps,
            altered: records::altered(dir),
            joined: joined.counts.joined.into_values().collect(),
            bias,
            bias_stacks: stacks.collect(),
        }
    }

    /// What the run cost, where its CPU time is known.
    fn cost(&self, counted: &[(Layer, Tally)]) -> Option<Cost> {
        let effort = Effort {
            cpu_s: self.cpu_s?,
            wall_s: self.wall_s,
        };
        let of_async = counted
            .iter()
            .filter(|(layer, _)| layer.is_sampled_with_trace());
        let checks = of_async.map(|(_, tally)| tally.checks()).sum();
        let unknown = || self.not_compared.clone().unwrap_or_default();
        Some(Cost::new(
            effort,
            checks,
            self.without_agent.ok_or_else(unknown),
        ))
    }

    /// Where to read why `java` did not start, and what stands there. The launcher writes to standard error, and the VM
    /// to standard output (`defaultStream::output_stream`).
    fn message(&self, dir: &Path) -> String {
        if self.foreground {
            return "see its message above".into();
        }
        let mut outputs = [names::STDERR, names::STDOUT].into_iter();
        let found = outputs.find_map(|name| Some((name, first_words(&dir.join(name))?)));
        match found {
            Some((name, words)) => format!("see its message in {}/{name}: {words}", self.dir),
            None => format!("it wrote no message; the folder of the run is {}", self.dir),
        }
    }

    /// Why a run is worthless, if it is.
    fn invalid(&self, dir: &Path, records: &Records, counted: &[(Layer, Tally)]) -> Option<String> {
        if let Exit::NotStarted(why) = &self.exit {
            return Some(format!("java could not be started: {why}"));
        }
        if let Some(version) = records.started.as_ref().map(|started| &started.version)
            && is_too_old(version)
        {
            return Some(format!(
                "the JVM is of version {version}; the oldest JDK that can be judged is {OLDEST}"
            ));
        }
        if let Some(why) = &records.invalid {
            return Some(format!("the agent gave up: {why}"));
        }
        match (&records.started, &self.exit) {
            // Agents of earlier versions did not say what else they could not read.
            (Some(started), _) if !started.asgct && records.lost.is_empty() => Some(format!(
                "{} has no AsyncGetCallTrace; choose a HotSpot JDK with --jdk",
                started.vm
            )),
            (_, &Exit::Code(code)) if !has_started(records, code, counted) => Some(format!(
                "the program did not start: java ended with {code}; {}",
                self.message(dir)
            )),
            _ => None,
        }
    }
}

/// The layers that cannot be judged, because something that they need could not be read.
fn blind(lost: &[Lost]) -> BTreeSet<Layer> {
    lost.iter()
        .flat_map(|lost| lost.layers.iter().copied())
        .collect()
}

/// Most bytes of a program's message that are read, and most characters that are shown.
const MESSAGE: u64 = 4096;
const SHOWN: usize = 200;

/// The first line in which a file of output says why `java` did not start.
fn first_words(file: &Path) -> Option<String> {
    let mut text = vec![];
    let read = File::open(file).and_then(|file| file.take(MESSAGE).read_to_end(&mut text));
    read.ok()?;
    let text = String::from_utf8_lossy(&text);
    // What the launcher says of variables of the environment is no message. HotSpot's `vm_exit_during_initialization`
    // prints the reason below a title.
    let says_nothing = |line: &&str| {
        line.trim().is_empty()
            || line.starts_with("Picked up ")
            || *line == "Error occurred during initialization of VM"
    };
    let line = text.lines().find(|line| !says_nothing(line))?;
    Some(line.chars().take(SHOWN).collect())
}

/// Whether a program has started. `code` is the exit code of its JVM.
fn has_started(records: &Records, code: i32, counted: &[(Layer, Tally)]) -> bool {
    let Some(_) = records.started else {
        // On a full disk the agent cannot write that it has started.
        return counted.iter().any(|(_, tally)| tally.checks() > 0);
    };
    let own = records.rewriting.as_ref().map(|r| r.application_classes);
    // A JVM that ends at once, as with -XX:+ExitOnOutOfMemoryError, does not write what it ran.
    !(code != 0 && records.ended && own == Some(0))
}
