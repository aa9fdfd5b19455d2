//! How each run went.

pub(super) mod altered;
pub(super) mod cost;

use crate::model::{Block, Group, Groups, Room, Section};
use oracle::record::{FlagOrigin, MOST_KEPT_IDS, Rewriting, VmFlag};
use oracle::report::{Exit, Report, Run};
use std::collections::BTreeMap;

/// A group for each run, and for each program that did not run.
pub(super) fn section(report: &Report) -> Section {
    let mut groups: Vec<Group> = report.runs.iter().map(group).collect();
    groups.extend(report.skipped.iter().map(|skipped| Group {
        count: None,
        title: format!("{}: skipped: {}", skipped.scenario, skipped.why),
        open: false,
        blocks: vec![],
    }));
    Section {
        id: "runs",
        title: "Runs",
        room: Room::Terminal,
        blocks: vec![Block::Groups(Groups { groups, cut: false })],
    }
}

/// How a run ended, in a few words.
pub(super) fn exit(run: &Run) -> String {
    match &run.exit {
        Exit::Code(code) => format!("exit {code}"),
        Exit::Signal(signal) => format!("killed by signal {signal}"),
        Exit::Deadline => "over its deadline".into(),
        Exit::Interrupted => "interrupted".into(),
        Exit::NotStarted(why) => format!("not started: {why}"),
    }
}

fn group(run: &Run) -> Group {
    let title = format!(
        "{}: {} after {:.1} s, seed {}, {}",
        run.title(),
        exit(run),
        run.wall_s,
        run.seed,
        hooked(run)
    );
    let mut notes: Vec<String> = run.invalid.iter().chain(&run.failed).cloned().collect();
    notes.extend(cost::line(run));
    notes.extend(run.class_data.map(|data| data.to_string()));
    notes.extend(flags(run));
    if let Some(rewriting) = &run.rewriting {
        notes.extend(left("classes", &rewriting.classes_left));
        notes.extend(left("methods", &rewriting.methods_left));
        notes.extend(more(rewriting));
        notes.extend(in_java(rewriting));
        notes.extend(altered(rewriting));
        notes.extend(without_ids(rewriting));
        if rewriting.repairs > 0 {
            let repairs = rewriting.repairs;
            notes.push(format!(
                "trace stacks repaired after an overflow: {repairs}"
            ));
        }
    }
    notes.extend(in_handlers(run));
    notes.extend(run.notes.iter().cloned());
    for counts in run.layers.iter().filter(|counts| !counts.error.is_empty()) {
        let codes = counts.error.iter().rev();
        let codes: Vec<_> = codes.map(|(code, n)| format!("{code}: {n}")).collect();
        let codes = codes.join(", ");
        notes.push(format!("{} errors by code: {codes}", counts.layer));
    }
    let mut blocks: Vec<Block> = notes.into_iter().map(Block::Note).collect();
    blocks.push(Block::Code(format!("{}/", run.dir)));
    blocks.push(Block::Code(format!("java {}", run.java_args.join(" "))));
    Group {
        count: None,
        title,
        open: false,
        blocks,
    }
}

/// How much of the program has hooks, in a few words.
fn hooked(run: &Run) -> String {
    match &run.rewriting {
        Some(rewriting) => format!(
            "{} methods hooked in {} classes",
            rewriting.methods_hooked, rewriting.classes_hooked
        ),
        None => "unknown how many methods were hooked".into(),
    }
}

/// The flags that neither the build nor the command line below gave.
fn flags(run: &Run) -> Option<String> {
    let of_line = |flag: &&VmFlag| flag.set_by == FlagOrigin::CommandLine;
    let flags = run.flags.iter().filter(|flag| !of_line(flag));
    let flags: Vec<String> = flags.map(ToString::to_string).collect();
    (!flags.is_empty()).then(|| format!("flags set by the VM and others: {}", flags.join(", ")))
}

/// How many methods have larger frames than without hooks.
fn more(rewriting: &Rewriting) -> Option<String> {
    let (locals, stack) = (
        rewriting.methods_with_more_locals,
        rewriting.methods_with_more_stack,
    );
    (locals + stack > 0).then(|| {
        format!(
            "larger frames by hooks: {locals} methods have a local variable more, {stack} a slot of \
             operand stack more"
        )
    })
}

/// How many exact hooks were native calls, and how many ran in Java.
fn in_java(rewriting: &Rewriting) -> Option<String> {
    let (native, in_java) = (rewriting.hooks_native, rewriting.hooks_in_java);
    (in_java > 0).then(|| {
        format!(
            "hooks: {native} were native calls; {in_java} ran in Java, because their threads ran over half a \
             million hooks a second"
        )
    })
}

/// How many methods another agent has changed after ours, and some of them.
fn altered(rewriting: &Rewriting) -> Option<String> {
    let methods = rewriting.methods_altered;
    let examples = rewriting.altered_examples.join(", ");
    (methods > 0).then(|| {
        format!(
            "another agent has changed the code of {methods} methods after ours, so that neither hooks \
             nor class files say where their frames stand: {examples}"
        )
    })
}

/// How many classes got no method ids.
fn without_ids(rewriting: &Rewriting) -> Option<String> {
    let classes = rewriting.classes_without_ids;
    (classes > 0).then(|| {
        let megabytes = MOST_KEPT_IDS >> 20;
        format!(
            "{classes} classes got no method IDs, because this JVM keeps those of unloaded classes for ever, and they \
             take {megabytes} MB already: stacks with these classes are not judged"
        )
    })
}

/// How often threads were met in handlers of other signals, and whose handlers they were.
fn in_handlers(run: &Run) -> Option<String> {
    let libraries = run.in_handlers.iter();
    let libraries: Vec<_> = libraries
        .map(|(name, n)| format!("{n} of {name}"))
        .collect();
    (!libraries.is_empty()).then(|| {
        format!(
            "instants within handlers of other signals, which were not judged: {}",
            libraries.join(", ")
        )
    })
}

fn left(what: &str, left: &BTreeMap<String, u64>) -> Option<String> {
    let reasons: Vec<_> = left.iter().map(|(why, n)| format!("{n} {why}")).collect();
    (!reasons.is_empty()).then(|| format!("{what} left alone: {}", reasons.join(", ")))
}
