//! What each part of a report shows: from reports and decisions to the model.

mod bias;
mod cases;
mod causes;
mod changes;
mod checked;
mod counts;
mod decision;
mod errors;
mod flames;
mod frames;
mod heat;
mod joined;
mod mismatches;
mod names;
mod observer;
mod runs;
mod steps;
mod summary;
mod warnings;

pub use cases::cases;
pub use changes::{base, check, comparison};
pub use checked::checked;
pub use decision::decision;
pub(crate) use frames::{signature, stacks};
pub use mismatches::evidence;
pub(crate) use summary::is_foundation;
pub use summary::summary;

use crate::model::{Block, Document, Room, Section};
use oracle::gate::Decision;
use oracle::report::{Jdk, Report};

/// All that is to say of a report. `source` is where a reader finds the report itself.
pub fn report(report: &Report, decided: &Decision, source: &str) -> Document {
    let against = decided.against.iter();
    let mut sections: Vec<Section> = against
        .flat_map(|against| changes::since::sections(report, against))
        .collect();
    sections.push(jdks(report));
    sections.extend(decision::sections(decided));
    sections.extend(counts::section(report, decided));
    sections.extend(observer::sections(report));
    sections.extend(joined::sections(report));
    sections.extend(bias::sections(report));
    sections.extend(steps::sections(report));
    sections.extend(runs::altered::sections(report));
    sections.push(heat::runs_by_layer(report));
    sections.extend(heat::trend(report));
    let changed = decided.against.as_ref().and_then(changes::since::cells);
    sections.extend(changed.map(|section| Section {
        room: Room::Summary,
        ..section
    }));
    sections.push(mismatches::section(report, decided, source));
    sections.extend(flames::mismatches(&report.mismatches));
    sections.extend(flames::profile(&report.runs));
    sections.extend(errors::sections(report));
    sections.extend(mismatches::places(report));
    sections.push(runs::cost::section(report));
    sections.push(runs::section(report));
    Document {
        warnings: warnings::warnings(report),
        answer: Some(decision::answer(decided)),
        sections,
    }
}

/// The JDKs of all runs, each once.
fn jdks(report: &Report) -> Section {
    let mut jdks: Vec<&Jdk> = vec![];
    for jdk in report.runs.iter().filter_map(|run| run.jdk.as_ref()) {
        if !jdks.contains(&jdk) {
            jdks.push(jdk);
        }
    }
    if jdks.is_empty() {
        jdks.push(&report.jdk);
    }
    let line = |jdk: &&Jdk| {
        let name = [&jdk.vm, &jdk.version, &jdk.vendor].map(String::as_str);
        Block::Note(format!("JDK {} ({})", jdk.home, name.join(" ").trim()))
    };
    Section {
        id: "jdks",
        title: "",
        room: Room::Terminal,
        blocks: jdks.iter().map(line).collect(),
    }
}
