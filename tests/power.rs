//! `docs/results/power.md`: which faults each layer sees, measured by fault injection.
//!
//! The page must list every kind of fault, and every layer with a walker that is usual or of steps. `BLESS=1 cargo test --test
//! power` injects faults into the fixtures on all JDKs and writes the page.

mod support;

use oracle::judge::Unseen;
use oracle::mutants::{Detection, FaultKind};
use oracle::record::FaultCount;
use oracle::{LAYERS, Layer, Verdict, When};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use support::jdks;

/// One answer of this many is faulty.
const ONE_IN: u32 = 20;

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/results/power.md")
}

fn layers() -> Vec<Layer> {
    let walked = LAYERS.iter().filter(|row| {
        row.walker.is_some() && (row.usual || row.when == When::Step) && !row.layer.is_recorded()
    });
    walked.map(|row| row.layer).collect()
}

/// The settings of the runs: hooks, and the layers of steps where threads step. One walker is asked at each step.
const SETTINGS: [(&str, &[Layer]); 5] = [
    ("exact", &[]),
    ("light", &[]),
    ("none", &[]),
    ("none", &[Layer::GstStep, Layer::AsgctStep]),
    ("none", &[Layer::GstStep, Layer::AsgstStep]),
];

#[test]
fn the_page_has_every_fault_and_every_layer() {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(page(), measured()).unwrap();
    }
    let text = std::fs::read_to_string(page()).unwrap();
    let has_line = |start: &str| text.lines().any(|line| line.starts_with(start));
    for kind in FaultKind::ALL {
        assert!(has_line(&format!("| `{kind}` |")), "no row of {kind}");
    }
    for layer in layers() {
        assert!(has_line(&format!("## `{layer}`")), "no section of {layer}");
    }
}

/// Injects faults into the fixtures, and renders how the faults ended.
fn measured() -> String {
    let (mut faults, mut versions) = (vec![], vec![]);
    for jdk in jdks() {
        for (hooks, steps) in SETTINGS {
            let all = format!("all:all:{ONE_IN}");
            let ran = support::run_scenario(&jdk, &scenario(hooks, steps), 1, &["--fault", &all]);
            faults.extend(support::faults_of(&ran));
            versions.extend(
                ran.report.runs[0]
                    .jdk
                    .as_ref()
                    .map(|jdk| jdk.version.clone()),
            );
        }
    }
    versions.dedup();
    render(&faults, &versions)
}

fn scenario(hooks: &str, steps: &[Layer]) -> String {
    let budgets = layers().into_iter().map(|layer| format!("{layer} = 1\n"));
    let budgets: String = budgets.collect();
    let names: Vec<_> = steps.iter().map(|layer| layer.name()).collect();
    let (layers, sampling) = if names.is_empty() {
        (String::new(), "no_pause = true\ngst_every = 4\n")
    } else {
        (
            format!("layers = {names:?}\n"),
            "steps = true\ngst_every = 0\n",
        )
    };
    format!(
        "name = \"power\"\n{layers}[budget]\n{budgets}[sampling]\ncheck_share = 0.5\n{sampling}\
         evidence_limit = 1\n[[program]]\nname = \"fixtures\"\nbaseline = false\n\
         fixtures = {{ seconds = 10 }}\nhooks = \"{hooks}\"\ndeadline_s = 600\n"
    )
}

/// How the faults of one kind ended in one layer.
type Ends = BTreeMap<(String, String), u64>;

fn render(faults: &[FaultCount], versions: &[String]) -> String {
    let mut text = format!(
        "# What each layer can see\n\n\
         Written by `BLESS=1 cargo test --test power`, which runs all fixtures with exact hooks, light hooks\n\
         and no hooks, and one instruction at a time, on each JDK ({}). One answer of a walker in {ONE_IN} is replaced by a faulty answer\n\
         (`oracle::mutants`). What must become of the fault is computed from the faulty stack, the walker's\n\
         answer and the truth of the layer, before the layer's judge is asked. A fault is\n\n\
         - *caught*, if the judge gives the right verdict;\n\
         - *misjudged*, if the judge reports the fault under another verdict;\n\
         - *missed*, if the judge does not report the fault, and nothing explains that;\n\
         - otherwise not to be seen in the layer, for one of the reasons at the end of this page. The\n  \
           verdict that the faulty stack gets stands behind the reason.\n\n\
         Faults of these programs are not faults of a JVM: `docs/mutants.md` measures those. Faults of the\n\
         hooks (`ground`) are in `tests/faults.rs`.\n\n\
         | fault | a faulty stack has |\n| --- | --- |\n",
        versions.join(", ")
    );
    for kind in FaultKind::ALL {
        let _ = writeln!(text, "| `{kind}` | {} |", kind.phrase());
    }
    for layer in layers() {
        section(&mut text, layer, faults);
    }
    text += "\n## Why a fault is not to be seen\n\n| reason | means |\n| --- | --- |\n";
    for reason in Unseen::ALL {
        let _ = writeln!(text, "| {} | {} |", name(reason), reason.phrase());
    }
    text
}

fn section(text: &mut String, layer: Layer, faults: &[FaultCount]) {
    let of_layer = || faults.iter().filter(|fault| fault.layer == layer);
    let sum: u64 = of_layer().map(|fault| fault.count).sum();
    let _ = write!(
        text,
        "\n## `{layer}`\n\n{sum} faults in {}.\n\n| fault | injected | caught | not caught |\n| --- | ---: | ---: | --- |\n",
        layer.row().walker.unwrap_or_default()
    );
    for kind in FaultKind::ALL {
        let mut ends = Ends::new();
        for fault in of_layer().filter(|fault| fault.kind == kind.name()) {
            *ends.entry(end(fault)).or_default() += fault.count;
        }
        let injected: u64 = ends.values().sum();
        let share = |n: u64| format!("{:.1} %", n as f64 * 100.0 / injected as f64);
        let caught = ends.remove(&Default::default()).unwrap_or_default();
        let mut rest: Vec<_> = ends.into_iter().collect();
        rest.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
        let rest = rest.into_iter();
        let rest: Vec<_> = rest
            .map(|((reason, verdict), n)| format!("{reason} {} ({verdict})", share(n)))
            .collect();
        let caught = match injected {
            0 => "no data".into(),
            _ => share(caught),
        };
        let _ = writeln!(
            text,
            "| `{kind}` | {injected} | {caught} | {} |",
            rest.join(", ")
        );
    }
}

/// Why a fault was not caught, and its verdict; empty if the fault was caught.
fn end(fault: &FaultCount) -> (String, String) {
    let verdict = match fault.verdict {
        Verdict::Error(code) => format!("error {code}"),
        verdict => name(verdict),
    };
    match fault.outcome {
        Detection::Caught => Default::default(),
        Detection::Misjudged => ("**misjudged**".into(), verdict),
        Detection::Missed => ("**missed**".into(), verdict),
        Detection::Explained(reason) => (name(reason), verdict),
    }
}

/// The name in reports.
fn name(value: impl serde::Serialize) -> String {
    let json = serde_json::to_value(value).unwrap();
    json.as_str().unwrap_or_default().replace('-', " ")
}
