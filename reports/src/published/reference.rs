//! References that are tables of the program.

use super::findings;
use super::part::Part;
use super::table::Table;
use crate::numbers;
use hotspot::causes::CAUSES;
use hotspot::walkers::{ErrorCode, WALKERS, Walker};
use oracle::{LAYERS, LayerRow, ProgramKind, When};

/// The generated parts of the pages that come from tables of the program.
pub fn references() -> Vec<Part> {
    vec![
        Part::new("reference/layers.md", layers()),
        Part::new("reference/codes.md", codes()),
        findings::part(),
    ]
}

fn layers() -> String {
    let mut table = Table::new(["layer", "compares"]);
    for row in &LAYERS {
        table.row([format!("`{}`", row.name), row.compares.to_owned()]);
    }
    let mut facts = Table::new([
        "layer",
        "walker",
        "truths",
        "asked",
        "programs",
        "usual",
        "budget:",
        "imprecise:",
        "… light:",
        "unexplained:",
    ]);
    for row in &LAYERS {
        facts.row([
            format!("`{}`", row.name),
            row.walker
                .map_or("–".into(), |walker| format!("`{walker}`")),
            truths(row),
            instant(row.when).into(),
            programs(row.program).into(),
            if row.usual { "yes" } else { "" }.into(),
            numbers::exact(row.budget),
            numbers::exact(row.imprecise),
            numbers::exact(row.imprecise_light),
            row.unexplained.map_or("–".into(), numbers::exact),
        ]);
    }
    format!(
        "{}\n## Walker, truth and instant\n\n\"Usual\" layers are those of a scenario that lists none. The budget is the highest share of false stacks that a scenario\nallows if it names none; \"imprecise\" is that of imprecise stacks, with exact and with light hooks. More false\nstacks that no [known defect](../findings.md) explains than \"unexplained\" fail in any scenario.\n\n{}",
        table.markdown(),
        facts.markdown()
    )
}

fn truths(row: &LayerRow) -> String {
    let truths = row.truths.iter().map(|truth| format!("`{}`", truth.name()));
    truths.collect::<Vec<_>>().join(", ")
}

fn instant(when: When) -> &'static str {
    match when {
        When::Hook => "in every hook",
        When::Check => "in hooks that make a check",
        When::Event => "in events of JVMTI",
        When::Signal => "in a signal handler",
        When::Suspend => "while the thread is suspended",
        When::Step => "at each instruction",
        When::Request => "when a sampler of the JVM or a profiler asks",
    }
}

fn programs(kind: ProgramKind) -> &'static str {
    match kind {
        ProgramKind::Hooked => "hooked",
        ProgramKind::Unmodified => "unmodified",
        ProgramKind::Either => "both",
    }
}

fn codes() -> String {
    let mut text = String::from("## Causes\n\n");
    let mut causes = Table::new(["cause", "means", "since JDK", "programs that show it"]);
    for cause in CAUSES {
        let programs = cause.programs().iter().map(|program| {
            let flags = program.jvm_args.join(" ");
            let flags = if flags.is_empty() {
                flags
            } else {
                format!(", {flags}")
            };
            format!("`{}` (hooks: {}{flags})", program.fixture, program.hooks)
        });
        causes.row([
            format!("[`{name}`](../findings.md#{name})", name = cause.name),
            cause.meaning.to_owned(),
            if cause.since == 0 {
                "–".into()
            } else {
                cause.since.to_string()
            },
            programs.collect::<Vec<_>>().join("; "),
        ]);
    }
    text += &causes.markdown();
    text += "\n## Error codes\n";
    let mut rest = WALKERS;
    while let [first, ..] = rest {
        // Walkers of one kind have the same codes.
        let is_alike = |walker: &&Walker| same_codes(walker.codes, first.codes);
        let (alike, others) = rest.split_at(rest.iter().take_while(is_alike).count());
        rest = others;
        let titles: Vec<_> = alike.iter().map(|walker| walker.title).collect();
        let names: Vec<_> = alike
            .iter()
            .map(|walker| format!("`{}`", walker.name))
            .collect();
        text += &format!(
            "\n### {}\n\nWalkers {}; the codes are those of {}.\n\n",
            titles.join(", "),
            names.join(", "),
            first.source
        );
        let mut table = Table::new(["code:", "name", "means"]);
        for code in first.codes {
            let name = match code.name {
                "" => "–".to_owned(),
                name => format!("`{name}`"),
            };
            table.row([code.code.to_string(), name, code.meaning.to_owned()]);
        }
        text += &table.markdown();
    }
    text
}

fn same_codes(one: &[ErrorCode], other: &[ErrorCode]) -> bool {
    let facts = |codes: &[ErrorCode]| {
        codes
            .iter()
            .map(|code| (code.code, code.name))
            .collect::<Vec<_>>()
    };
    facts(one) == facts(other)
}
