//! The rules of docs/architecture.md: arrows between crates, no circles between files or folders,
//! short files, `unsafe` in few places, architectures in their folders, layers named in their table alone, and documentation without broken links.

mod docs;
mod graph;
mod keys;
mod modules;
mod overview;
mod part;
mod schema;
mod source;
mod workspace;

use modules::Modules;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use workspace::{crates, root, rust_files};

/// The crates on which each crate may depend.
const ARROWS: &[(&str, &[&str])] = &[
    ("classfile", &[]),
    ("instrumenter", &["classfile"]),
    ("oracle", &["classfile"]),
    ("hotspot", &["oracle", "classfile"]),
    ("vm", &["hotspot"]),
    ("walker", &["vm", "hotspot"]),
    ("libasgst", &["walker"]),
    (
        "native",
        &[
            "walker",
            "vm",
            "hotspot",
            "oracle",
            "instrumenter",
            "classfile",
        ],
    ),
    ("channel-models", &[]),
    ("fixture-natives", &[]),
    ("java-fixtures", &[]),
    ("libraries", &["native", "fixture-natives"]),
    ("joining", &["hotspot", "oracle", "recordings"]),
    (
        "scenarios",
        &["oracle", "java-fixtures", "libraries", "joining"],
    ),
    ("xtask", &[]),
    ("reports", &["oracle", "hotspot"]),
    ("recordings", &[]),
    ("test-support", &[]),
    ("mutants", &["oracle"]),
    ("classfile-testing", &["classfile", "test-support"]),
    (
        "stackwitness",
        &[
            "classfile",
            "instrumenter",
            "oracle",
            "hotspot",
            "walker",
            "java-fixtures",
            "scenarios",
            "reports",
            "recordings",
        ],
    ),
];

/// The places where `unsafe` is allowed: the architectures, the safe face of the JVM, the truth that hooks keep, the
/// agent's walkers, and the crates `vm` and `walker`.
const UNSAFE: &[&str] = &[
    "native/src/arch/",
    "native/src/jvm/",
    "native/src/truth/",
    "native/src/walkers/",
    "vm/",
    "walker/",
];

/// The table of layers, and what serves measurements and tests alone. All other code asks the table.
const NAMES_LAYERS: &[&str] = &[
    "oracle/src/model/layer.rs",
    "benches/",
    "reports/src/sample.rs",
];

/// A file with more lines, tests aside, needs a reason.
const MOST_LINES: usize = 500;

/// The reason, in the file's own documentation.
const REASON: &str = "//! Long because:";

fn assert_none(found: Vec<String>) {
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn crates_need_each_other_as_the_arrows_say() {
    let allowed: BTreeMap<_, _> = ARROWS.iter().copied().collect();
    let mut wrong = vec![];
    for one in crates() {
        match allowed.get(one.name.as_str()) {
            None => wrong.push(format!("{} is not in the table of arrows", one.name)),
            Some(allowed) => {
                let other = one.needs.iter().filter(|n| !allowed.contains(&n.as_str()));
                wrong.extend(other.map(|needed| format!("{} -> {needed}", one.name)));
            }
        }
    }
    assert_none(wrong);
}

#[test]
fn no_files_and_no_folders_of_a_crate_import_each_other_in_a_circle() {
    let mut found = vec![];
    for one in crates() {
        let files = rust_files(&root().join(&one.folder).join("src"));
        let files = files.iter().map(|file| (file.path.as_str(), &file.source));
        let edges = Modules::new(files).edges();
        let of_crate = |circle| format!("{}/src: {circle}", one.folder);
        found.extend(graph::circles(&edges).into_iter().map(of_crate));
    }
    assert_none(found);
}

#[test]
fn files_are_short_or_say_why_not() {
    let files = rust_files(root());
    let long = files.iter().filter(|file| !is_test(&file.path));
    let long = long.filter_map(|file| {
        let lines = file.text.lines().count() - file.source.test_lines;
        let head = file.text.lines().take_while(|line| line.starts_with("//!"));
        let has_reason = head.into_iter().any(|line| line.starts_with(REASON));
        let is_long = lines > MOST_LINES && !has_reason;
        is_long.then(|| format!("{}: {lines} lines, and no `{REASON}`", file.path))
    });
    assert_none(long.collect());
}

#[test]
fn names_of_the_vms_fields_stand_in_one_folder() {
    // A name is looked up through this trait alone.
    const KNOWS: &[&str] = &["hotspot/src/layout/", "vm/src/tables.rs"];
    const PASSES_ON: &[&str] = &["vm/src/threads.rs", "vm/src/current.rs"];
    let files = rust_files(root());
    let others = files.iter().filter(|file| {
        !is_in(KNOWS, &file.path) && !is_in(PASSES_ON, &file.path) && !is_test(&file.path)
    });
    let uses = |text: &str| text.contains("fields::Fields") || text.contains("fields::{Fields");
    let others = others.filter(|file| uses(&file.text));
    let looks_up = |text: &str| {
        [".field(", ".size(", ".constant("]
            .iter()
            .any(|it| text.contains(it))
    };
    let passing = files.iter().filter(|file| is_in(PASSES_ON, &file.path));
    let all = others.chain(passing.filter(|file| looks_up(&file.text)));
    assert_none(all.map(|file| file.path.clone()).collect());
}

#[test]
fn no_other_code_spells_a_name_that_a_vm_publishes() {
    let names = published_names();
    assert!(names.len() > 100, "{names:?}");
    let files = rust_files(root());
    let others = files
        .iter()
        .filter(|file| !is_in(&["hotspot/src/layout/"], &file.path) && !is_test(&file.path));
    let spelled = others.flat_map(|file| {
        let between_quotes = file.text.split('"');
        let found = between_quotes.filter(|text| names.contains(*text));
        found.map(|name| format!("{}: {name}", file.path))
    });
    assert_none(spelled.collect());
}

/// The names of fields and constants in `hotspot/tests/layouts`, with and without the type of a field. Without it, names that
/// are words of their own are left out.
fn published_names() -> BTreeSet<String> {
    let files = fs::read_dir(root().join("hotspot/tests/layouts")).expect("the folder");
    let texts = files.map(|file| fs::read_to_string(file.expect("a file").path()).expect("text"));
    let mut names = BTreeSet::new();
    for text in texts {
        for line in text.lines() {
            let (name, _) = line.split_once('\t').expect(line);
            let field = name.rsplit("::").next().unwrap_or(name);
            let is_telling = |name: &&str| name.contains("::") || name.starts_with('_');
            names.extend(
                [name, field]
                    .iter()
                    .filter(|name| is_telling(name))
                    .map(|name| name.to_string()),
            );
        }
    }
    names
}

#[test]
fn unsafe_code_stays_where_it_belongs() {
    let files = rust_files(root());
    let others = files.iter().filter(|file| {
        let is_allowed = is_in(UNSAFE, &file.path);
        !is_allowed && !is_test(&file.path)
    });
    let lines = others.flat_map(|file| {
        let lines = file.source.unsafe_lines.iter();
        lines.map(move |line| format!("{}:{line}: unsafe", file.path))
    });
    assert_none(lines.collect());
}

/// The folders of the architectures: `hotspot` knows the machine code, and the crates that read a running VM have twins.
const ARCHITECTURES: &[&str] = &[
    "hotspot/src/arch/",
    "vm/src/arch/",
    "walker/src/arch/",
    "native/src/arch/",
];

#[test]
fn registers_and_architectures_are_named_in_their_folders_alone() {
    let files = rust_files(root());
    let others = files
        .iter()
        .filter(|file| !is_in(ARCHITECTURES, &file.path) && !is_test(&file.path));
    let named = others.flat_map(|file| {
        let lines = file.text.lines().enumerate();
        // Unit tests follow the code, and may have machine code of either architecture.
        let lines = lines.take_while(|(_, line)| *line != "#[cfg(test)]");
        let of_lines = lines.filter_map(|(at, line)| {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            let word = words.find(|word| is_of_architecture(word))?;
            Some(format!("{}:{}: {word}", file.path, at + 1))
        });
        let types = ["x86_64", "aarch64", "X86_64", "Aarch64"];
        let paths = file.source.paths.iter();
        let paths = paths.chain(file.source.uses.iter().map(|used| &used.path));
        let of_paths = paths.filter(move |path| path.iter().any(|part| types.contains(&&**part)));
        of_lines.chain(of_paths.map(|path| format!("{}: {}", file.path, path.join("::"))))
    });
    assert_none(named.collect());
}

/// Whether a word asks for the architecture, or is a register's name as assemblers and the C library spell it.
fn is_of_architecture(word: &str) -> bool {
    const NAMES: [&str; 24] = [
        "target_arch",
        "gregs",
        "rax",
        "rbx",
        "rcx",
        "rdx",
        "rsi",
        "rdi",
        "rbp",
        "rsp",
        "rip",
        "eax",
        "ebx",
        "ecx",
        "edx",
        "esi",
        "edi",
        "ebp",
        "esp",
        "eip",
        "rbcp",
        "rmethod",
        "x29",
        "x30",
    ];
    let is_numbered = |number: &str| matches!(number.parse(), Ok(8..=15));
    let lower = word.to_lowercase();
    NAMES.contains(&&*lower)
        || lower.strip_prefix('r').is_some_and(is_numbered)
        || word.starts_with("REG_")
}

#[test]
fn only_the_table_of_layers_names_a_layer() {
    let files = rust_files(root());
    let others = files.iter().filter(|file| {
        let is_allowed = is_in(NAMES_LAYERS, &file.path);
        !is_allowed && !is_test(&file.path)
    });
    let names = others.flat_map(|file| {
        let names = file.source.paths.iter().filter(|path| names_a_layer(path));
        names.map(|path| format!("{}: {}", file.path, path.join("::")))
    });
    assert_none(names.collect());
}

/// Whether a path in code is that of a row of the table: `Layer::Gst`, but not `Layer::ALL` or `Layer::usual`.
fn names_a_layer(path: &[String]) -> bool {
    let mut pairs = path.windows(2);
    pairs.any(|pair| {
        let is_row =
            pair[1].starts_with(char::is_uppercase) && pair[1].contains(char::is_lowercase);
        pair[0] == "Layer" && is_row
    })
}

#[test]
fn links_in_the_documentation_lead_somewhere() {
    assert_none(docs::broken_links(&docs::pages()));
}

#[test]
fn the_reference_of_the_report_is_that_of_its_types() {
    let (path, page) = (root().join(schema::PAGE), schema::page());
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &page).expect("the page can be written");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == page,
        "{} is stale: run `BLESS=1 cargo test --test architecture`",
        schema::PAGE
    );
}

#[test]
fn the_keys_of_files_are_those_of_their_types() {
    for keys in keys::KEYS {
        part::check(keys.page, &keys.tables());
    }
}

#[test]
fn the_page_of_the_crates_is_that_of_the_arrows() {
    part::check(overview::PAGE, &overview::text(ARROWS));
}

#[test]
fn only_results_and_the_change_log_have_a_history() {
    assert_none(docs::diary(&docs::pages()));
}

#[test]
fn results_come_from_stored_reports_or_say_that_they_do_not() {
    assert_none(docs::figures_of_unknown_origin(&docs::pages()));
}

/// The highest number of lines that people must keep right. A longer documentation says less: shorten another page first.
const MOST_BY_HAND: usize = 1700;

#[test]
fn the_documentation_by_hand_stays_short() {
    let pages = docs::pages();
    let lines = docs::lines_by_hand(&pages);
    let sum: usize = lines.iter().map(|(_, number)| number).sum();
    assert!(
        sum <= MOST_BY_HAND,
        "{sum} lines by hand, {MOST_BY_HAND} at most: {lines:#?}"
    );
    assert_none(docs::wide(&pages));
}

#[test]
fn each_crate_opens_with_a_page() {
    let mut bare = vec![];
    for one in crates() {
        let src = root().join(&one.folder).join("src");
        let root = ["lib.rs", "main.rs"].map(|file| src.join(file));
        let text = root.iter().find_map(|file| fs::read_to_string(file).ok());
        if !text.expect("a crate has a root file").starts_with("//! ") {
            bare.push(format!("{}: its root file has no documentation", one.name));
        }
    }
    assert_none(bare);
}

/// Whether a path is one of `places`, or below one of them.
fn is_in(places: &[&str], path: &str) -> bool {
    places.iter().any(|place| path.starts_with(place))
}

/// Whether a file serves tests alone.
fn is_test(path: &str) -> bool {
    let of_tests = ["tests", "tests.rs", "testing", "test-support"];
    path.split('/').any(|part| of_tests.contains(&part))
}
