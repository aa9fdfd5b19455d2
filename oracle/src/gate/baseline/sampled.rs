//! From reports to samples.

use super::cell::{Cell, What};
use super::set::{Platform, Program, Sample, Set};
use crate::gate::kinds;
use crate::gate::reason::blindness;
use crate::record::{CauseName, InstantCount, KindCount, Statement};
use crate::report::{Report, Run};
use crate::{Hooking, Layer, TruthKind, Verdict, When};
use std::collections::BTreeMap;

/// A sample of each JDK in a report, with what was not counted. `arch` is the architecture of the
/// machine that ran it.
///
/// Fails where something that a layer needs could not be read, where the JDK of a run is not known, or where one program was run in two ways.
pub fn samples(report: &Report, arch: &str) -> Result<Vec<(Platform, Set)>, String> {
    samples_without(report, arch, |_, _| false)
}

/// As [`samples`], without the mismatches of kinds that are known in their run.
pub(in crate::gate) fn samples_without(
    report: &Report,
    arch: &str,
    is_known: impl Fn(&Run, &KindCount) -> bool,
) -> Result<Vec<(Platform, Set)>, String> {
    // What is lost changes kinds and causes, so a difference may be ours and not the JVM's.
    let blind = blindness(report);
    if !blind.is_empty() {
        let texts: Vec<String> = blind.into_iter().map(|one| one.text).collect();
        return Err(texts.join("; "));
    }
    let mut homes: BTreeMap<&str, (Platform, Set)> = BTreeMap::new();
    for run in &report.runs {
        let jdk = report.jdk_of(run);
        let feature = crate::gate::known::feature(&jdk.version)
            .ok_or_else(|| format!("{}: the version of its JDK is not known", run.title()))?;
        let platform = Platform {
            feature,
            arch: arch.into(),
        };
        let first = || {
            let mut set = Set::default();
            set.samples.push(Sample {
                version: jdk.version.clone(),
                seed: run.seed,
                seconds: 0.0,
            });
            (platform, set)
        };
        let (_, set) = homes.entry(&jdk.home).or_insert_with(first);
        set.samples[0].seconds += run.wall_s;
        set.add(run, &kinds::of_run(report, run), |kind| is_known(run, kind))?;
    }
    let mut samples: Vec<_> = homes.into_values().collect();
    for (_, set) in &mut samples {
        let seconds = &mut set.samples[0].seconds;
        *seconds = (*seconds * 10.0).round() / 10.0;
        set.add_totals();
    }
    Ok(samples)
}

impl Set {
    /// The counts of one run, as a sample.
    pub(in crate::gate) fn of_run(report: &Report, run: &Run) -> Result<Set, String> {
        let mut set = Set::default();
        set.samples.push(Sample {
            version: report.jdk_of(run).version.clone(),
            seed: run.seed,
            seconds: run.wall_s,
        });
        set.add(run, &kinds::of_run(report, run), |_| false)?;
        set.add_totals();
        Ok(set)
    }

    /// Adds the counts of a run to the only sample, but for the kinds that are known.
    fn add(
        &mut self,
        run: &Run,
        kinds: &[KindCount],
        is_known: impl Fn(&KindCount) -> bool,
    ) -> Result<(), String> {
        let name = name(run);
        self.know(&name, program(run))?;
        // Each seed hooks another part of the methods, and other frames can be judged: equal JVMs differ.
        // The budgets hold for such a program, too.
        if run.probability.is_some() {
            return Ok(());
        }
        for counts in &run.layers {
            let mut count = |what, n| self.count(Cell::new(&name, counts.layer, what), n);
            count(What::Checks, counts.checks);
            count(What::Milliseconds, (run.wall_s * 1e3) as u64);
            count(What::Window, counts.window);
            count(What::Imprecise, counts.imprecise);
            count(
                What::Unverifiable,
                counts.unverifiable - counts.dropped.min(counts.unverifiable),
            );
            count(What::Dropped, counts.dropped);
            // A report of an earlier version, or of a JVM that crashed, does not know all kinds.
            let unknown = |verdict, n: u64| n.saturating_sub(total(kinds, counts.layer, verdict));
            let cause = || CauseName::NOT_LOOKED_AT.to_owned();
            count(What::Wrong(cause()), unknown(Verdict::Wrong, counts.wrong));
            count(
                What::Truncated(cause()),
                unknown(Verdict::Truncated, counts.truncated),
            );
            for (&code, &n) in &counts.error {
                count(What::Error(code), n);
            }
            let compared = counts.compared;
            count(What::Frames, compared.frames);
            count(
                What::MethodNotCompared,
                compared.frames.saturating_sub(compared.by_method),
            );
            if compares_bcis_of_its_own(counts.layer) {
                let rest = compared.frames.saturating_sub(compared.by_bci);
                count(What::BciNotCompared, rest);
            }
        }
        for joined in &run.joined {
            let mut count = |what, n| self.count(Cell::new(&name, joined.layer, what), n);
            count(What::Samples, joined.samples());
            count(What::Stacks, joined.stacks());
            // A request without an event is an error with code 0 already.
            let said = |statement: &Statement| *statement != Statement::Unanswered;
            for statement in Statement::ALL.into_iter().filter(said) {
                count(What::Stated(statement), joined.stated(statement));
            }
        }
        self.add_instructions(run, &name);
        self.add_instants(run, &name);
        for kind in kinds.iter().filter(|kind| !is_known(kind)) {
            let cause = kind.cause.as_ref().map(|cause| cause.as_str().to_owned());
            let what = match kind.verdict {
                Verdict::Wrong => What::Wrong(cause.unwrap_or_default()),
                Verdict::Truncated => What::Truncated(cause.unwrap_or_default()),
                // Which inlined frames are imprecise depends on what the compilers inlined in a run.
                _ => continue,
            };
            let cell = Cell::new(&name, kind.layer, what.clone());
            self.count(cell.clone(), kind.count);
            if kind.place != KindCount::OTHER {
                self.count_at_place(&cell, &kind.place, kind.count);
            }
        }
        for error in &run.errors {
            let cell = Cell::new(&name, error.layer, What::Error(error.code));
            let place = format!("{}, {}", error.state, error.kind());
            self.count_at_place(&cell, &place, error.count);
            if error.intact {
                let refused = What::Refused(error.code);
                self.count(Cell::new(&name, error.layer, refused), error.count);
            }
        }
        Ok(())
    }

    /// Adds the instructions of a run whose threads ran one at a time: those of compiled methods by kind, those of other
    /// code by the name of the code.
    fn add_instructions(&mut self, run: &Run, name: &str) {
        let mut layers = Layer::of_steps();
        let asked = layers.find(|&layer| run.layers.iter().any(|counts| counts.layer == layer));
        let (Some(steps), Some(layer)) = (&run.steps, asked) else {
            return;
        };
        let others = steps.instructions.iter();
        let others = others.filter(|(code, _)| !code.starts_with(COMPILED));
        for (kind, of) in steps.kinds.iter().chain(others) {
            let mut count = |what: fn(String) -> What, n| {
                self.count(Cell::new(name, layer, what(kind.clone())), n);
            };
            count(What::Instructions, of.all.saturating_sub(of.unverifiable));
            count(What::FalseAt, of.mismatch);
            count(What::NoAnswerAt, of.error);
        }
    }

    /// Adds to the count of a cell in the only sample.
    pub(in crate::gate) fn count(&mut self, cell: Cell, n: u64) {
        if n > 0 {
            self.counts.entry(cell).or_insert_with(|| vec![0])[0] += n;
        }
    }

    /// Adds to the count of a program's cell at one kind of instant in the only sample.
    pub(in crate::gate) fn count_at_instant(&mut self, cell: Cell, instant: &str, n: u64) {
        if n > 0 {
            let kinds = self.instants.entry(cell).or_default();
            kinds.entry(instant.into()).or_insert_with(|| vec![0])[0] += n;
        }
    }

    /// Adds the answers of a run by the kinds of instants at which they were given.
    fn add_instants(&mut self, run: &Run, name: &str) {
        for of in &run.instants {
            let mut count = |what, n| {
                self.count_at_instant(Cell::new(name, of.layer, what), &of.at, n);
            };
            count(What::Checks, of.checks);
            for (&code, &n) in &of.errors {
                count(What::Error(code), n);
            }
            for mismatch in &of.mismatches {
                let cause = mismatch.cause.as_ref().map(|cause| cause.as_str());
                let cause = cause.unwrap_or_default().to_owned();
                let what = match mismatch.verdict {
                    Verdict::Wrong => What::Wrong(cause),
                    Verdict::Truncated => What::Truncated(cause),
                    Verdict::Imprecise => What::Imprecise,
                    _ => continue,
                };
                let cell = Cell::new(name, of.layer, what);
                self.count_at_instant(cell.clone(), &of.at, mismatch.count);
                if cell.what != What::Imprecise && mismatch.place != KindCount::OTHER {
                    let place = Some(mismatch.place.clone());
                    self.count_at_instant(Cell { place, ..cell }, &of.at, mismatch.count);
                }
            }
        }
        for error in run.errors.iter().filter(|error| error.intact) {
            let refused = Cell::new(name, error.layer, What::Refused(error.code));
            // Errors are counted by the name of the library alone, and a run has one build of it.
            let place = format!("{}, {}", error.state, error.kind());
            let mut of_layer = run.instants.iter().filter(|of| of.layer == error.layer);
            if let Some(of) = of_layer.find(|of| InstantCount::is_place(&of.at, &place)) {
                self.count_at_instant(refused, &of.at, error.count);
            }
        }
    }

    /// Places are numerous and rare: they are counted over all programs.
    fn count_at_place(&mut self, cell: &Cell, place: &str, n: u64) {
        let cell = Cell {
            place: Some(place.into()),
            ..cell.of_all_programs()
        };
        self.count(cell, n);
    }

    /// Adds the sums over all programs.
    pub(in crate::gate) fn add_totals(&mut self) {
        let of_programs: Vec<_> = self
            .counts
            .iter()
            .map(|(cell, n)| (cell.clone(), n[0]))
            .collect();
        for (cell, n) in of_programs {
            if !cell.is_of_all_programs() {
                self.count(cell.of_all_programs(), n);
            }
        }
    }
}

/// The names of the VM for compiled code begin with it.
const COMPILED: &str = "nmethod";

/// Whether the BCIs that a layer compares depend on its walker alone. A trace stack knows the BCIs of the frames
/// that stood at the check before: a busy machine makes fewer checks, and fewer frames stand from one check to the
/// next. In signals class files judge the BCIs.
fn compares_bcis_of_its_own(layer: Layer) -> bool {
    !layer.rests_on(TruthKind::Trace) || layer.row().when == When::Signal
}

/// How many mismatches of a layer and verdict have a kind.
fn total(kinds: &[KindCount], layer: Layer, verdict: Verdict) -> u64 {
    let of = kinds
        .iter()
        .filter(|kind| kind.layer == layer && kind.verdict == verdict);
    of.map(|kind| kind.count).sum()
}

/// Axes that tell equal runs apart.
const NOT_OF_THE_PROGRAM: [&str; 2] = ["repetition", "jdk"];

/// The program with its place in the matrix.
fn name(run: &Run) -> String {
    let axes = run.axes.iter();
    let axes = axes.filter(|(axis, _)| !NOT_OF_THE_PROGRAM.contains(&axis.as_str()));
    let axes = axes
        .map(|(axis, value)| (axis.clone(), value.clone()))
        .collect();
    crate::report::title(&run.scenario, &axes)
}

/// How the run's program was run: flags that choose how the VM works, then what follows the class
/// path, without times and folders.
fn program(run: &Run) -> Program {
    let args = &run.java_args;
    let is_flag = |arg: &&String| arg.starts_with("-X");
    let flags: Vec<&str> = args.iter().filter(is_flag).map(String::as_str).collect();
    let after = args
        .iter()
        .position(|arg| arg == "-cp")
        .map_or(0, |at| at + 2);
    let mut work = vec![];
    let mut rest = args[after.min(args.len())..].iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--millis" => _ = rest.next(),
            arg if arg.starts_with('-') || arg.contains('/') => {}
            arg => work.push(arg),
        }
    }
    Program {
        flags: flags.join(" "),
        hooks: hooks(run),
        work: work.join(" "),
    }
}

/// How classes were hooked. A report of an earlier version does not say, but only hooked programs
/// have a trace stack.
fn hooks(run: &Run) -> Hooking {
    let traced = run
        .layers
        .iter()
        .any(|counts| counts.layer == TruthKind::Trace.checked_by());
    run.hooks.unwrap_or(if traced {
        Hooking::Exact
    } else {
        Hooking::None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::ErrorCount;
    use crate::report::Exit;

    #[test]
    fn refusals_are_counted_where_the_walker_was_asked() {
        let layer = Layer::AsgctAsync;
        let at = format!("in native, {}", InstantCount::of_build("libc.so.6", "1f"));
        let mut run = Run::new("p", Exit::Code(0));
        run.instants = vec![InstantCount {
            layer,
            at: at.clone(),
            checks: 9,
            errors: BTreeMap::from([(-4, 2)]),
            mismatches: vec![],
        }];
        run.errors = vec![ErrorCount {
            layer,
            code: -4,
            state: "in native".into(),
            place: "libc.so.6".into(),
            intact: true,
            count: 2,
        }];
        let mut set = Set::default();
        set.add_instants(&run, "p");
        for (what, n) in [
            (What::Checks, 9),
            (What::Error(-4), 2),
            (What::Refused(-4), 2),
        ] {
            assert_eq!(set.count_at(&Cell::new("p", layer, what), &at), n);
        }
    }
}
