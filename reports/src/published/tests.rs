use super::*;
use oracle::Layer;
use oracle::report::LayerCounts;
use oracle::tally::Tally;

/// A digest of the report that all renderers show, as if a scenario of the results had made it.
fn digest(scenario: &str) -> Digest {
    let mut digest = Digest::new(&crate::sample::report()).expect("it is of one JDK");
    digest.scenario = scenario.into();
    digest
}

#[test]
fn a_digest_keeps_the_counts_of_its_report_and_no_evidence() {
    let report = crate::sample::report();
    let digest = digest("results-causes");
    for (kept, run) in digest.runs.iter().zip(&report.runs) {
        assert_eq!(kept.layers, run.layers);
        let counts = |kinds: &[oracle::record::KindCount]| -> u64 {
            kinds.iter().map(|kind| kind.count).sum()
        };
        assert_eq!(counts(&kept.kinds), counts(&run.kinds));
    }
    let text = serde_json::to_string(&digest).expect("plain data");
    for origin in &report.origins {
        let words = origin.command.iter().chain([&origin.host]);
        for word in words.filter(|word| word.contains('/') || **word == origin.host) {
            assert!(word.is_empty() || !text.contains(word.as_str()), "{word}");
        }
    }
    assert_eq!(
        serde_json::from_str::<Digest>(&text).expect("just written"),
        digest
    );
}

#[test]
fn a_report_of_two_jdks_has_no_digest() {
    let mut report = crate::sample::report();
    let mut other = report.runs[0].clone();
    let mut jdk = report.jdk_of(&other).clone();
    jdk.version = "99+1".into();
    other.jdk = Some(jdk);
    report.runs.push(other);
    let refused = Digest::new(&report).expect_err("two JDKs");
    assert!(refused.contains("publish a report of one JDK"), "{refused}");
}

#[test]
fn versions_are_short_and_sorted_by_release() {
    let of = |version: &str| Digest {
        version: version.into(),
        ..digest("results-causes")
    };
    let digests = ["28-ea+18-x", "17.0.15+6", "25.0.3+9-LTS", "17.0.9+9"].map(of);
    let jdks = digests.each_ref().map(|of| (of.jdk(), of.feature()));
    assert_eq!(
        jdks,
        [
            ("28-ea", 28),
            ("17.0.15", 17),
            ("25.0.3", 25),
            ("17.0.9", 17)
        ]
    );
    assert_eq!(digests[0].file(), "causes-28-ea.json");
    let shown = |columns: Vec<table::Column<'_>>| -> Vec<String> {
        columns.iter().map(|column| column.jdk.to_owned()).collect()
    };
    assert_eq!(
        shown(table::Column::of(&digests, "results-causes")),
        ["17.0.9", "17.0.15", "25.0.3", "28-ea"]
    );
    assert_eq!(
        shown(table::Column::newest(&digests, "results-causes")),
        ["17.0.15", "25.0.3", "28-ea"]
    );
}

#[test]
fn a_rate_of_nothing_is_no_rate() {
    assert_eq!(table::rate(0, 0), "no data");
    // The upper 95 % bound of 0 of 1,000 is 1 - 0.05^(1/1000).
    assert_eq!(table::rate(0, 1_000), "none (below 0.30 %)");
    assert!(table::rate(3, 1_000).starts_with("0.30 % (0.06"));
}

#[test]
fn the_tables_sum_the_runs_of_a_jdk() {
    let layer = Layer::ALL
        .into_iter()
        .find(|layer| {
            let row = layer.row();
            row.walker == Some("asgct") && row.program == oracle::ProgramKind::Unmodified
        })
        .expect("a walker is asked in unmodified programs");
    let counts = |wrong, matches| {
        let tally = Tally {
            wrong,
            matches,
            ..Tally::default()
        };
        vec![LayerCounts::new(layer, &tally)]
    };
    let mut digest = digest("results-causes");
    digest.runs.truncate(1);
    let run = digest.runs.pop().expect("a run");
    for (wrong, matches) in [(1, 9), (2, 8)] {
        digest.runs.push(DigestRun {
            program: "fixtures-plain".into(),
            layers: counts(wrong, matches),
            ..run.clone()
        });
    }
    let text = causes::tables(&[digest], &Sources::default());
    assert!(text.contains("| judged stacks |  | 20 |"), "{text}");
    assert!(text.contains("| cut short or wrong | 15 % ("), "{text}");
}

#[test]
fn the_catalogue_names_the_files_of_fixtures() {
    let sources = Sources::new(
        "DEFAULT.put(\"fresh-code\", FreshCode::new);\nSTRESS.put(\"threads\", () -> new LiveThreads(60));",
    );
    let text = format!("{sources:?}");
    assert!(
        text.contains("\"fresh-code\": \"FreshCode.java\""),
        "{text}"
    );
    assert!(text.contains("\"threads\": \"LiveThreads.java\""), "{text}");
}

#[test]
fn a_part_is_put_between_the_marks_alone() {
    let page = "# Title\n<!-- written by `stackwitness dev publish` -->\nold\n<!-- end of what `stackwitness dev publish` writes -->\nend\n";
    let part = Part::new("results/index.md", "new\n".into());
    let written = part.put_into(page).expect("it has marks");
    assert!(written.starts_with("# Title\n") && written.ends_with("-->\nend\n"));
    assert!(written.contains("\nnew\n") && !written.contains("old"));
    assert_eq!(part.put_into(&written).as_deref(), Some(written.as_str()));
    assert_eq!(part.put_into("# Title\n"), None);
}
