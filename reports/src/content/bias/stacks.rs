//! Whole stacks of each profiler: how much of the true profile is in the claimed one, and both as flame graphs.

use super::super::frames::short;
use super::super::names;
use crate::model::Kind::{Numbers, Words};
use crate::model::{Block, Both, Cell, Room, Section, Table, Tone, TwoFlames};
use oracle::bias::{Sampler, StackProfiles};
use oracle::report::{Report, Run};

/// The largest number of profilers with flame graphs, so that the page stays small.
const DRAWN: usize = 24;

/// Frames with a smaller share of both graphs than one in this many are not drawn.
const FINEST: u64 = 1000;

/// The stacks of a profiler in a run.
type Row<'r> = (&'r Run, Sampler, &'r StackProfiles);

/// All profilers of all runs.
pub(super) fn section(report: &Report) -> Option<Section> {
    let rows: Vec<Row<'_>> = report.runs.iter().flat_map(of_run).collect();
    let mut blocks = vec![
        Block::Table(table(&rows)),
        Block::Note(format!(
            "Flame graphs: what ran on the left, what the profiler shows on the right, both by hooked methods. A frame \
             is red if its share of the profile is above its true share, and blue if it is below; grey frames have equal \
             shares. Frames with less than one in {FINEST} of both are not drawn. Click a frame to zoom in, the lowest \
             to zoom out."
        )),
    ];
    let drawn = rows.iter().filter(|(.., of)| of.answered > 0).take(DRAWN);
    for (number, (run, sampler, profiles)) in drawn.enumerate() {
        let heading = format!("{}: {}", run.title(), names::of_sampler(run, *sampler));
        blocks.push(Block::Note(heading));
        blocks.push(Block::TwoFlames(flames(number, profiles)));
    }
    (!rows.is_empty()).then_some(Section {
        id: "bias-stacks",
        title: "Whole stacks, the true and the claimed",
        room: Room::Page,
        blocks,
    })
}

fn of_run(run: &Run) -> impl Iterator<Item = Row<'_>> {
    let all = run.bias_stacks.iter();
    all.map(move |(&sampler, profiles)| (run, sampler, profiles))
}

fn table(rows: &[Row<'_>]) -> Table {
    let mut table = Table::new([
        ("run", Words),
        ("profiler", Words),
        ("asked", Numbers),
        ("answered", Numbers),
        ("same stack", Words),
        ("overlap", Words),
        ("total variation", Words),
        ("truly most frequent is", Words),
        ("not told apart", Words),
    ]);
    for (run, sampler, of) in rows {
        let percent = |share: Option<f64>| match share {
            None => "no data".to_owned(),
            Some(share) => format!("{:.2} %", 100.0 * share),
        };
        let part = |n: u64, of: u64| (of > 0).then(|| n as f64 / of as f64);
        let rank = match of.rank {
            None => "never shown".to_owned(),
            Some(rank) => format!("number {rank}"),
        };
        let cells = vec![
            Cell::text(run.title()),
            Cell::text(names::short(run, *sampler)),
            Cell::Count(of.instants),
            Cell::Count(of.answered),
            Cell::text(percent(part(of.same, of.answered))),
            Cell::text(percent(of.overlap)),
            Cell::text(percent(of.total_variation())),
            Cell::text(rank),
            Cell::text(percent(part(of.other.truth, of.instants))),
        ];
        table.push(Tone::Plain, cells);
    }
    table
}

/// True and claimed stacks as one graph. Stacks that were not told apart are left out.
pub(in crate::content) fn flames(number: usize, of: &StackProfiles) -> TwoFlames {
    let mut root = Both {
        n: [of.instants, of.answered],
        ..Both::default()
    };
    of.tree.for_each(|stack, seen| {
        root.add(stack.iter().map(|method| short(method)), seen);
    });
    root.prune(root.n, FINEST);
    let titles = [("what ran", of.instants), ("what it shows", of.answered)];
    TwoFlames {
        id: format!("bias-flame-{number}"),
        titles: titles.map(|(what, n)| format!("{what}: {n} stacks")),
        root,
        left_out: of.other.truth,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracle::bias::{Claim, StackCounts};
    use oracle::report::Exit;
    use oracle::trace::HookId;
    use oracle::{Layer, report::SCHEMA};

    fn profiles() -> StackProfiles {
        let mut counts = StackCounts::default();
        let stack =
            |methods: &[u32]| -> Vec<HookId> { methods.iter().map(|&m| HookId(m)).collect() };
        for _ in 0..2000 {
            counts.add(&stack(&[0, 1]), Claim::Same);
        }
        counts.add(&stack(&[0, 2]), Claim::Named(&stack(&[0])));
        for _ in 0..500 {
            counts.add(&stack(&[0, 3]), Claim::Named(&stack(&[0, 4])));
        }
        counts.profiles(|hook| format!("a.B<{}>.m()V", hook.0))
    }

    #[test]
    fn two_graphs_have_the_same_frames() {
        let flames = flames(3, &profiles());
        assert_eq!(flames.id, "bias-flame-3");
        assert_eq!(flames.root.n, [2501, 2501]);
        let bottom = &flames.root.c["B<0>.m"];
        assert_eq!(bottom.n, [2501, 2501]);
        let above: Vec<(&str, [u64; 2])> =
            bottom.c.iter().map(|(k, v)| (k.as_str(), v.n)).collect();
        let expected = [
            ("B<1>.m", [2000, 2000]),
            ("B<3>.m", [500, 0]),
            ("B<4>.m", [0, 500]),
        ];
        assert_eq!(above, expected, "one of 2,501 is not drawn");
        assert_eq!(flames.left_out, 0);
    }

    #[test]
    fn a_report_has_a_row_for_each_profiler() {
        let mut run = Run::new("p", Exit::Code(0));
        let sampler = Sampler::Walker(Layer::Jfr);
        run.bias_stacks.insert(sampler, profiles());
        let mut report = crate::sample::report();
        assert_eq!(report.schema, SCHEMA);
        assert!(section(&report).is_none());
        report.runs = vec![run];
        let section = section(&report).expect("it has stacks");
        let Block::Table(table) = &section.blocks[0] else {
            panic!("{section:?}");
        };
        let cells: Vec<String> = table.rows[0].cells.iter().map(Cell::plain).collect();
        let expected = [
            "p", "jfr", "2,501", "2,501", "79.97 %", "79.97 %", "20.03 %", "number 1", "0.00 %",
        ];
        assert_eq!(cells, expected);
        assert!(matches!(section.blocks.last(), Some(Block::TwoFlames(_))));
    }
}
