//! Threads that ran one instruction at a time: how fast, and at which instructions the walker was right.

use crate::model::Kind::{Numbers, Words};
use crate::model::{Block, Cell, Room, Section, Table, Tone};
use oracle::record::{Coverage, InstructionCounts, StepCounts};
use oracle::report::{Report, Run};

/// The instructions of each run that has steps, by the kind of their code.
pub(super) fn sections(report: &Report) -> impl Iterator<Item = Section> {
    let has_steps = report.runs.iter().any(|run| run.steps.is_some());
    let section = || Section {
        id: "steps",
        title: "Instructions by code",
        room: Room::Terminal,
        blocks: sum(report)
            .into_iter()
            .chain(stepped(report).flat_map(blocks))
            .collect(),
    };
    has_steps.then(section).into_iter()
}

fn stepped(report: &Report) -> impl Iterator<Item = (&Run, &StepCounts)> {
    let runs = report.runs.iter();
    runs.filter_map(|run| Some((run, run.steps.as_ref()?)))
}

/// All runs together, if there are several.
fn sum(report: &Report) -> Option<Block> {
    let all = || stepped(report).map(|(_, counts)| counts);
    let sum = |of: fn(&StepCounts) -> u64| all().map(of).sum::<u64>();
    (all().nth(1).is_some()).then(|| {
        Block::Note(format!(
            "All runs: {} steps, {} instants judged, at {} different instructions. Each run has its own \
             compiled code, and its instructions count for themselves.",
            sum(|counts| counts.steps),
            sum(judged),
            sum(|counts| counts.instructions.values().map(|of| of.all).sum()),
        ))
    })
}

fn judged(counts: &StepCounts) -> u64 {
    counts.instants.saturating_sub(counts.unjudged)
}

fn blocks((run, counts): (&Run, &StepCounts)) -> Vec<Block> {
    let seconds = (counts.nanos as f64 / 1e9).max(1e-9);
    let rate = |n: u64| (n as f64 / seconds).round();
    let speed = format!(
        "{}: {} steps ({} a second), the walker asked at {} instants, of which {} were not judged and {} were ({} a second)",
        run.title(),
        counts.steps,
        rate(counts.steps),
        counts.instants,
        counts.unjudged,
        judged(counts),
        rate(judged(counts)),
    );
    let ends = counts.ends.iter();
    let ends: Vec<_> = ends.map(|(end, n)| format!("{end}: {n}")).collect();
    let ends = format!("A thread ran on freely, because: {}", ends.join("; "));
    let notes = [Some(speed), Some(ends), crashes(counts)];
    let notes = notes.into_iter().flatten().map(Block::Note);
    let of_ended = ended(counts).into_iter().flatten();
    let of_kinds = kinds(counts).map(Block::Table);
    notes
        .chain([Block::Table(table(counts))])
        .chain(of_kinds)
        .chain(of_ended)
        .collect()
}

/// Where the walker has crashed, if anywhere.
fn crashes(counts: &StepCounts) -> Option<String> {
    let places = counts.crashes.iter();
    let places: Vec<_> = places.map(|(place, n)| format!("{place}: {n}")).collect();
    (!places.is_empty()).then(|| {
        let places = places.join(", ");
        format!(
            "The walker crashed, which would have ended the JVM, at different instants: {places}"
        )
    })
}

fn table(counts: &StepCounts) -> Table {
    let mut table = Table::new([
        ("code", Words),
        ("instructions", Numbers),
        ("false", Numbers),
        ("error", Numbers),
        ("imprecise", Numbers),
        ("flagged", Numbers),
        ("not judged", Numbers),
        ("true", Numbers),
        ("visited, %", Numbers),
        ("of those on ways taken, %", Numbers),
    ]);
    let mut rows: Vec<(&str, InstructionCounts)> = vec![];
    rows.extend(counts.instructions.iter().map(|(name, &n)| (&**name, n)));
    rows.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.all));
    for (name, counts) in rows {
        let InstructionCounts {
            all,
            mismatch,
            error,
            imprecise,
            flagged,
            unverifiable,
            coverage,
            ended: _,
        } = counts;
        let good = all - mismatch - error - imprecise - flagged - unverifiable;
        let numbers = [all, mismatch, error, imprecise, flagged, unverifiable, good];
        let cells = [Cell::text(name)].into_iter();
        let share = |of: fn(Coverage) -> f64| {
            let share = coverage.map(|coverage| Cell::Number(Some(of(coverage)), 1));
            share.unwrap_or(Cell::Absent)
        };
        let shares = [share(visited), share(visited_of_ways_taken)];
        let cells = cells.chain(numbers.map(Cell::Count)).chain(shares);
        table.push(Tone::Plain, cells.collect::<Vec<_>>());
    }
    table
}

/// The instructions of compiled methods by kind, if there are any: those with most false answers first.
fn kinds(counts: &StepCounts) -> Option<Table> {
    let mut table = Table::new([
        ("instructions of compiled methods", Words),
        ("visited", Numbers),
        ("false", Numbers),
        ("error", Numbers),
        ("imprecise", Numbers),
        ("flagged", Numbers),
        ("not judged", Numbers),
    ]);
    let mut rows: Vec<_> = counts.kinds.iter().collect();
    rows.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.mismatch));
    for (kind, of) in rows {
        let numbers = [
            of.all,
            of.mismatch,
            of.error,
            of.imprecise,
            of.flagged,
            of.unverifiable,
        ];
        let cells = [Cell::text(kind)].into_iter();
        table.push(
            Tone::Plain,
            cells.chain(numbers.map(Cell::Count)).collect::<Vec<_>>(),
        );
    }
    (!table.rows.is_empty()).then_some(table)
}

/// The methods that a thread has run from their call to their return, if there are any.
fn ended(counts: &StepCounts) -> Option<[Block; 2]> {
    let mut table = Table::new([
        ("methods run to their end", Words),
        ("methods", Numbers),
        ("instructions", Numbers),
        ("visited", Numbers),
        ("behind branches not taken", Numbers),
        ("behind other entries", Numbers),
        ("missed", Numbers),
        ("visited, %", Numbers),
        ("of those on ways taken, %", Numbers),
    ]);
    for (name, counts) in &counts.instructions {
        let Some(of) = counts.ended else {
            continue;
        };
        let missed = of.behind_visited;
        let other = of.instructions - of.visited - of.behind_branches - missed;
        let of_ways_taken = 100.0 * of.visited as f64 / (of.visited + missed).max(1) as f64;
        let numbers = [
            of.methods,
            of.instructions,
            of.visited,
            of.behind_branches,
            other,
            missed,
        ];
        let cells = [Cell::text(name)].into_iter();
        let cells = cells.chain(numbers.map(Cell::Count));
        let shares = [visited(of), of_ways_taken].map(|share| Cell::Number(Some(share), 1));
        table.push(Tone::Plain, cells.chain(shares).collect::<Vec<_>>());
    }
    let note = Block::Note(
        "Methods that a thread ran step by step from their call to their return. Not visited were: what stands behind \
         branches that no thread took, as slow paths do; exception handlers, entries that no thread used, and \
         targets of jumps by tables; and what was missed, which follows a visited instruction."
            .into(),
    );
    (!table.rows.is_empty()).then_some([note, Block::Table(table)])
}

fn visited(of: Coverage) -> f64 {
    100.0 * of.visited as f64 / of.instructions.max(1) as f64
}

/// Of the instructions that are not behind branches that no thread has taken.
fn visited_of_ways_taken(of: Coverage) -> f64 {
    let on_ways = of.instructions.saturating_sub(of.behind_branches);
    100.0 * of.visited as f64 / on_ways.max(1) as f64
}
