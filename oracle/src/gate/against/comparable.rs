//! Whether a report can be compared with a baseline.

use crate::gate::baseline::{Baseline, Platform, Set, What, samples};
use crate::report::Report;
use std::collections::BTreeSet;

/// If a layer of a program has fewer checks than this share of the checks in a run of the baseline,
/// it counts as not measured.
const LEAST_SHARE: f64 = 0.05;

/// If a run of the baseline has fewer checks than this, the report may have none.
const FEW: f64 = 50.0;

/// What the report lacks, or has in another form than the baseline. Empty if both can be compared.
pub(super) fn obstacles(platform: &Platform, base: &Set, new: &Set) -> Vec<String> {
    let mut obstacles = vec![];
    for (name, program) in &base.programs {
        match new.programs.get(name) {
            None => obstacles.push(format!(
                "{platform}: the baseline has the program {name}, the report does not"
            )),
            Some(other) if other != program => obstacles.push(format!(
                "{platform}: {name} was run in another way: {other}; in the baseline {program}"
            )),
            Some(_) => obstacles.extend(missing(platform, base, new, name)),
        }
    }
    let known: BTreeSet<_> = base.programs.keys().collect();
    let unknown = new.programs.keys().filter(|name| !known.contains(name));
    obstacles.extend(unknown.map(|name| format!("{platform}: the baseline has no program {name}")));
    obstacles
}

/// The programs of a report that have hardly any checks in a layer, where a run of the baseline has many. A busy machine gives the JVM
/// so little time that another run of them is needed. `arch` is the architecture of the machine that ran the report.
pub fn hardly_measured(report: &Report, baseline: &Baseline, arch: &str) -> BTreeSet<String> {
    let mut programs = BTreeSet::new();
    for (platform, new) in samples(report, arch).unwrap_or_default() {
        let Some(base) = baseline.sets.get(&platform) else {
            continue;
        };
        let known = new.programs.keys();
        let hardly = known.filter(|name| !missing(&platform, base, &new, name).is_empty());
        programs.extend(hardly.cloned());
    }
    programs
}

/// The layers of a program that count as not measured.
fn missing(platform: &Platform, base: &Set, new: &Set, program: &str) -> Vec<String> {
    let mut missing = vec![];
    let checks = base.counts.iter();
    let checks = checks.filter(|(cell, _)| cell.program == program && cell.what == What::Checks);
    for (cell, counts) in checks {
        let measured: Vec<u64> = counts.iter().copied().filter(|&n| n > 0).collect();
        let usual = measured.iter().sum::<u64>() as f64 / measured.len().max(1) as f64;
        let found = new.total(cell);
        if usual >= FEW && (found as f64) < usual * LEAST_SHARE {
            let layer = cell.layer;
            missing.push(format!(
                "{platform}: {program} has {found} checks in {layer}; runs of the baseline have {usual:.0}"
            ));
        }
    }
    missing
}
