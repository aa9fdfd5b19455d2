//! A report for tests of renderers: a bit of everything that can go wrong.

use oracle::Layer;
use oracle::Verdict;
use oracle::budget::Budget;
use oracle::cost::{Cost, Effort};
use oracle::gate::KnownIssue;
use oracle::profile::Profile;
use oracle::record::{
    CauseName, ClassData, ErrorCount, Evidence, FlagOrigin, Mismatch, Rewriting, ShownFrame, VmFlag,
};
use oracle::report::{Exit, Jdk, LayerCounts, Report, Run, SCHEMA, Skipped, sum_layers};
use oracle::tally::{Compared, Drop, Tally};
use std::collections::BTreeMap;

pub(crate) fn report() -> Report {
    let runs = vec![
        run("fixtures", "g1", 1, Exit::Code(0), 3),
        run("fixtures", "g1", 2, Exit::Code(0), 0),
        run("fixtures", "serial", 1, Exit::Signal(6), 1),
        run("javac<&>", "g1", 1, Exit::Deadline, 0),
    ];
    let mismatches = (0..3).map(mismatch).collect();
    Report {
        schema: SCHEMA,
        scenario: "test".into(),
        jdk: Jdk {
            home: "/jdk".into(),
            vendor: "A & B".into(),
            version: "17.0.1+2".into(),
            vm: "Some VM".into(),
        },
        complete: true,
        layers: sum_layers(&runs),
        runs,
        mismatches,
        budget: Budget(BTreeMap::from([(Layer::AsgctAsync, 0.001)])),
        imprecise_budget: Default::default(),
        statement_budget: Default::default(),
        required: vec![Layer::Gst, Layer::AsgctAsync],
        planned: 5,
        skipped: vec![Skipped {
            scenario: "h2".into(),
            why: "there is no h2.jar".into(),
            dir: String::new(),
        }],
        origins: vec![],
    }
}

/// A known issue in layer `asgct-async` of some JDKs.
pub(crate) fn issue(id: &str, place: &str) -> KnownIssue {
    KnownIssue {
        id: id.into(),
        layer: Layer::AsgctAsync,
        verdict: Verdict::Wrong,
        cause: Some(CauseName::new("leaf-call")),
        place: Some(place.into()),
        jdk: Some("17-21".into()),
        flags: vec![],
        platform: None,
        max_rate: 0.01,
        link: "https://example.org".into(),
    }
}

const EFFORT: Effort = Effort {
    cpu_s: 2.0,
    wall_s: 1.5,
};

const WITHOUT: Effort = Effort {
    cpu_s: 0.16,
    wall_s: 0.25,
};

fn run(program: &str, collector: &str, repetition: u32, exit: Exit, wrong: u64) -> Run {
    let sampled = Tally {
        matches: 1000,
        window: 20,
        imprecise: 4,
        unverifiable: 5,
        truncated: 1,
        wrong,
        error: BTreeMap::from([(-3, 7), (-5, 9)]),
        dropped: BTreeMap::from([(Drop::TooDeep, 2)]),
        flagged: 0,
        compared: Compared {
            frames: 20_000,
            by_method: 15_000,
            by_bci: 9_000,
        },
    };
    let at_checks = Tally {
        matches: 50_000,
        ..Tally::default()
    };
    let crashed = exit == Exit::Signal(6);
    Run {
        java_args: vec!["-cp".into(), "a.jar".into(), "Main".into()],
        seed: 42,
        wall_s: 1.5,
        cost: (wrong < 3).then(|| match repetition {
            1 => Cost::new(EFFORT, 1044, Err("the program did not end well".into())),
            _ => Cost::new(EFFORT, 1044, Ok(WITHOUT)),
        }),
        layers: vec![
            LayerCounts::new(Layer::Gst, &at_checks),
            LayerCounts::new(Layer::AsgctAsync, &sampled),
            LayerCounts::new(Layer::AsgctGst, &Tally::default()),
        ],
        rewriting: Some(Rewriting {
            classes_hooked: 10,
            methods_hooked: 100,
            methods_left: BTreeMap::from([("empty finalizer".into(), 2)]),
            ..Rewriting::default()
        }),
        dir: format!("runs/{program}-{collector}-{repetition}"),
        axes: BTreeMap::from([
            ("collector".into(), collector.into()),
            ("repetition".into(), repetition.to_string()),
        ]),
        notes: if crashed {
            vec!["crash: SIGSEGV in `x`".into()]
        } else {
            vec![]
        },
        errors: vec![
            error(-5, "in Java", "nmethod tier 4", 6),
            error(-3, "in the VM", "libjvm.so", 7),
            error(-5, "in Java", "RuntimeStub<|>", 3),
        ],
        kinds: vec![],
        profile: profile(),
        edges: Default::default(),
        class_data: Some(ClassData::Archive),
        flags: vec![
            flag("UseG1GC", "true", FlagOrigin::Ergonomics),
            flag("MaxHeapSize", "536870912", FlagOrigin::CommandLine),
        ],
        ..Run::new(program, exit)
    }
}

fn flag(name: &str, value: &str, set_by: FlagOrigin) -> VmFlag {
    VmFlag {
        name: name.into(),
        value: value.into(),
        set_by,
    }
}

fn error(code: i32, state: &str, place: &str, count: u64) -> ErrorCount {
    ErrorCount {
        layer: Layer::AsgctAsync,
        code,
        state: state.into(),
        place: place.into(),
        intact: false,
        count,
    }
}

fn profile() -> Profile {
    let names = [
        "x.A.main()V",
        "x.A.<init>(I)V",
        "x.B.work()V",
        "x.B.rare()V",
    ];
    let names = names.map(String::from);
    let stacks = [(vec![0, 1], 700), (vec![0, 2], 320), (vec![0, 3], 1)];
    Profile::new(&names, stacks, 3, 4)
}

fn mismatch(number: i32) -> Mismatch {
    let frame = |method: &str, bci| ShownFrame {
        method: method.into(),
        bci: Some(bci),
        line: Some(7),
        rewritten_bci: None,
    };
    let bottom = frame("x.A.main([Ljava/lang/String;)V", 5);
    Mismatch {
        layer: Layer::AsgctAsync,
        verdict: if number == 2 {
            Verdict::Truncated
        } else {
            Verdict::Wrong
        },
        reason: "other | <than> it was".into(),
        thread: "12 (main)".into(),
        walker: vec![frame("x.A.<init>(I)V", number), bottom.clone()],
        truth: vec![frame("x.A.other()V", 3), bottom],
        at_frame: Some(0),
        cause: Some(if number == 2 {
            CauseName::new("called-by-vm")
        } else {
            CauseName::new("leaf-call")
        }),
        evidence: Evidence {
            run: Some("runs/fixtures-g1-1".into()),
            code: Some("libjvm.so +0x12".into()),
            ..Evidence::default()
        },
    }
}
