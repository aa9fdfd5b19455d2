//! What was judged.

use crate::model::About;
use oracle::merge::seeds;
use oracle::report::{Jdk, Report};

/// What was judged.
pub(super) fn about(report: &Report) -> About {
    let runs = &report.runs;
    let mut jvms: Vec<String> = vec![];
    for jdk in runs.iter().filter_map(|run| run.jdk.as_ref()) {
        add(&mut jvms, name(jdk));
    }
    if jvms.is_empty() {
        add(&mut jvms, name(&report.jdk));
    }
    let mut programs = vec![];
    for run in runs {
        add(&mut programs, run.scenario.clone());
    }
    About {
        jvms,
        scenario: report.scenario.clone(),
        programs,
        runs: runs.len(),
        seconds: runs.iter().map(|run| run.wall_s).sum(),
        seeds: seeds(runs),
        origins: report.origins.clone(),
    }
}

fn add(all: &mut Vec<String>, one: String) {
    if !all.contains(&one) {
        all.push(one);
    }
}

/// Such as `OpenJDK 17.0.15+6 (Debian)`.
pub(in crate::content) fn name(jdk: &Jdk) -> String {
    // The name of the VM begins with that of the product: `OpenJDK 64-Bit Server VM`.
    let product = jdk.vm.split(" 64-Bit").next().unwrap_or_default();
    let product = if product.is_empty() { "JDK" } else { product };
    let version = match jdk.version.as_str() {
        "" => "of unknown version",
        // The build without its vendor's marks: `17.0.15+6` of `17.0.15+6-Debian-1deb12u1`.
        version => match version.split_once('+') {
            None => version,
            Some((number, build)) => {
                let digits = build.find(|c: char| !c.is_ascii_digit());
                &version[..number.len() + 1 + digits.unwrap_or(build.len())]
            }
        },
    };
    let vendor = match jdk.vendor.as_str() {
        "" => String::new(),
        vendor => format!(" ({vendor})"),
    };
    format!("{product} {version}{vendor}")
}
