//! JVMs whose published tables are changed: a field renamed, a type gone, a constant with another value. Whatever Stackwitness
//! cannot read it must say first, by name; it must not judge what rests on it, and must not end as if all was well.

mod support;

use oracle::Layer;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use support::{jdks, report, run, stackwitness};
use test_support::feature;
use test_support::patched::{Change, changed_jdk};

/// A program without hooks, whose stacks AsyncGetCallTrace and AsyncGetStackTrace are asked for. A true false stack in a
/// few checks would be over the usual budgets.
fn scenario(seconds: u32) -> String {
    format!(
        "\
name = 'blind'
layers = ['gst', 'asgct-event', 'asgct-gst', 'call-edge', 'asgst-gst']
[budget]
asgct-event = 1.0
asgct-gst = 1.0
call-edge = 1.0
[[program]]
name = 'trial'
hooks = 'none'
fixtures = {{ names = ['math-parser'], seconds = {seconds} }}
baseline = false
"
    )
}

/// Fields that all releases have.
const FIELDS: &[&str] = &[
    "CodeCache::_heaps",
    "CodeHeap::_segmap",
    "CodeBlob::_frame_size",
    "VirtualSpace::_low_boundary",
    "Method::_constMethod",
    "ConstMethod::_code_size",
    "ConstMethod::_name_index",
    "Symbol::_body",
    "JavaThread::_thread_state",
    "JavaThread::_anchor",
    "JavaFrameAnchor::_last_Java_pc",
    "JavaCallWrapper::_anchor",
    "StubRoutines::_call_stub_return_address",
    "StubQueue::_stub_buffer",
    "InterpreterCodelet::_description",
    "JVMFlag::flags",
    "ThreadsSMRSupport::_java_thread_list",
    "InstanceKlass::_methods_jmethod_ids",
];

/// Fields that some releases have.
const OF_RELEASE: &[(u32, &[&str])] = &[
    (
        17,
        &[
            "nmethod::_scopes_pcs_offset",
            "CompiledMethod::_deopt_handler_begin",
        ],
    ),
    (
        25,
        &["nmethod::_deopt_handler_offset", "CodeBlob::_mutable_data"],
    ),
    (
        28,
        &[
            "nmethod::_deopt_handler_entry_offset",
            "CodeBlob::_mutable_data",
        ],
    ),
];

const TYPES: &[&str] = &["PcDesc", "ConstMethod", "HeapBlock", "InterpreterCodelet"];

/// Constants, with values that are not true.
const CONSTANTS: &[(&str, i64)] = &[
    ("_thread_in_native", 77),
    ("_thread_in_vm", 80),
    ("_thread_in_Java", 78),
    // Up to JDK 27 it is that of another state.
    ("_thread_blocked", 8),
    ("frame::entry_frame_call_wrapper_offset", -9),
    ("JavaThread::_not_terminated", 79),
];

/// Constants that some releases have, or use.
const CONSTANTS_OF_RELEASE: &[(u32, &str, i64)] = &[
    (17, "_thread_in_native_trans", 81),
    (25, "_thread_in_vm_trans", 82),
    // Headers are compact unless flags say otherwise.
    (28, "markWord::klass_shift", 10),
];

fn changes(release: u32) -> Vec<(String, Change)> {
    let of_release = OF_RELEASE.iter().filter(|(of, _)| *of == release);
    let fields = FIELDS
        .iter()
        .chain(of_release.flat_map(|(_, fields)| *fields));
    let fields = fields.map(|name| {
        let (owner, field) = name.split_once("::").expect("a field");
        (name.to_string(), Change::Field(owner.into(), field.into()))
    });
    let types = TYPES
        .iter()
        .map(|name| (name.to_string(), Change::Type(name.to_string())));
    let of_release = CONSTANTS_OF_RELEASE.iter();
    let of_release = of_release.filter(|(of, ..)| *of == release);
    let of_release = of_release.map(|&(_, name, value)| (name, value));
    let constants = CONSTANTS.iter().copied().chain(of_release);
    let constants =
        constants.map(|(name, value)| (name.to_string(), Change::Constant(name.into(), value)));
    fields.chain(types).chain(constants).collect()
}

/// Names without which Stackwitness does all its work, in at least one release (`hotspot/tests/layouts.rs` says why). The bits of
/// `ConstMethod` say where the generic signature of a method is, which `libasgst` alone gives: nothing contradicts another bit.
const NOT_MISSED: &[&str] = &[
    "ConstMethod::_has_generic_signature",
    "ConstMethod::_has_method_annotations",
    "ConstMethod::_has_parameter_annotations",
    "ConstMethod::_has_type_annotations",
    "ConstMethod::_has_default_annotations",
    "ConstMethodFlags::_misc_has_generic_signature",
    "ConstMethodFlags::_misc_has_method_annotations",
    "ConstMethodFlags::_misc_has_parameter_annotations",
    "ConstMethodFlags::_misc_has_type_annotations",
    "ConstMethodFlags::_misc_has_default_annotations",
    "JavaThread::_cont_entry",
    "ContinuationEntry::_return_pc",
    "ContinuationEntry::_parent",
    "UpcallStub::_frame_data_offset",
    "markWord::klass_shift",
    "CodeBlob::_code_begin",
    "CodeBlob::_code_end",
    "CodeBlob::_data_offset",
];

/// A change of every name that Stackwitness asks for in this release, with another value where the name is a constant.
fn all_changes(release: u32) -> Vec<(String, Change)> {
    /// Types whose size is asked for. The other rows of types say whose fields follow.
    const SIZES: &[&str] = &["ConstantPool", "JVMFlag", "JavaThread"];
    let file = format!(
        "{}/hotspot/tests/layouts/jdk-{release}.txt",
        env!("CARGO_MANIFEST_DIR")
    );
    let Ok(text) = std::fs::read_to_string(file) else {
        return vec![];
    };
    let mut all = vec![];
    for line in text.lines() {
        let mut parts = line.split('\t');
        let (name, value) = (parts.next().expect(line), parts.next().expect(line));
        let is_constant = name.starts_with('_')
            || [
                "frame::",
                "markWord::",
                "JavaThread::_not_terminated",
                "ConstMethod::_has_",
                "ConstMethodFlags::_misc_",
            ]
            .iter()
            .any(|start| name.starts_with(start));
        let is_owner = text.contains(&format!("\n{name}::"));
        let change = match name.rsplit_once("::") {
            _ if is_constant => {
                let value: i64 = value.parse().expect(line);
                Change::Constant(name.into(), value + 40)
            }
            Some((owner, field)) if !is_owner => Change::Field(owner.into(), field.into()),
            _ if TYPES.contains(&name) || SIZES.contains(&name) => Change::Type(name.into()),
            _ => continue,
        };
        all.push((name.to_owned(), change));
    }
    all
}

/// What Stackwitness says of a JDK.
struct Answer {
    code: Option<i32>,
    text: String,
    /// What the report has lost.
    lost: Vec<String>,
    /// Layers that need it, and have judged all the same.
    judged: Vec<Layer>,
}

fn answer(jdk: &Path, dir: &Path, seconds: u32) -> Answer {
    let file = dir.join("scenario.toml");
    std::fs::write(&file, scenario(seconds)).expect("a file");
    let out = dir.join("out");
    let mut command: Command = stackwitness();
    command
        .args(["run", "--seed", "1", "--scenario"])
        .arg(&file);
    let output = run(command.arg("--jdk").arg(jdk).arg("--out").arg(&out));
    let report = report(&out);
    let has_judged = |layer: &Layer| {
        let counts = report.layer(*layer);
        let mut mismatches = report.mismatches.iter();
        counts.is_some_and(|counts| counts.checks > 0)
            || mismatches.any(|mismatch| mismatch.layer == *layer)
    };
    let blind = Layer::ALL.into_iter();
    let blind = blind.filter(|&layer| report.lost_of(layer).is_some());
    Answer {
        code: output.code,
        text: output.stdout,
        judged: blind.filter(has_judged).collect(),
        lost: report.lost().iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn what_a_vm_does_not_publish_is_said_first_and_never_blamed_on_the_vm() {
    judge_all(changes, |_, _| false);
}

#[test]
#[ignore = "runs some hundred JVMs"]
fn each_name_that_is_asked_for_is_missed() {
    judge_all(all_changes, |name, lost| {
        lost.is_empty() && NOT_MISSED.contains(&name)
    });
}

/// Makes these changes to each JDK, and judges what Stackwitness says. Nothing need be said where `is_not_missed`.
fn judge_all(
    changes: impl Fn(u32) -> Vec<(String, Change)>,
    is_not_missed: impl Fn(&str, &[String]) -> bool + Sync,
) {
    let mut all = vec![];
    for jdk in jdks() {
        let release = feature(&jdk).unwrap_or(0);
        if OF_RELEASE.iter().any(|(of, _)| *of == release) {
            let changes = changes(release).into_iter();
            all.extend(changes.map(|change| (jdk.clone(), change)));
        } else {
            println!(
                "skipped: {} is not of a release whose tables are changed",
                jdk.display()
            );
        }
    }
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(vec![]);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((jdk, (name, change))) = all.get(next.fetch_add(1, Relaxed)) {
                    let judged = judge(jdk, name, change, &is_not_missed);
                    failed.lock().expect("no panic").extend(judged.err());
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panic");
    println!("{} copies", all.len());
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// Fails with what Stackwitness says, if it does not say first what it misses, or ends as if it had judged.
fn judge(
    jdk: &Path,
    name: &str,
    change: &Change,
    is_not_missed: impl Fn(&str, &[String]) -> bool,
) -> Result<(), String> {
    let dir = tempfile::tempdir().expect("a folder");
    let changed = changed_jdk(jdk, &dir.path().join("jdk"), std::slice::from_ref(change));
    // What is not there is seen at the start. A constant is contradicted by samples.
    let seconds = match change {
        Change::Field(..) | Change::Type(_) => 1,
        Change::Constant(..) => 2,
    };
    let changed = changed.unwrap_or_else(|error| panic!("{}: {error}", jdk.display()));
    let Answer {
        code,
        text,
        lost,
        judged,
    } = answer(&changed, dir.path(), seconds);
    if is_not_missed(name, &lost) {
        return Ok(());
    }
    // Before the line of what was judged. Lines are broken at spaces.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = text.split("Stackwitness ").next().unwrap_or_default();
    let expected = [
        ("the exit code is 3", code == Some(3)),
        (
            "the name is lost",
            lost.iter().any(|lost| lost.contains(name)),
        ),
        (
            "that is said first",
            first.contains("cannot be read") && first.contains(name),
        ),
        ("nothing is judged that needs it", judged.is_empty()),
        ("nothing is accused", !text.contains("over budget")),
    ];
    match expected.iter().find(|(_, holds)| !holds) {
        None => Ok(()),
        Some((what, _)) => Err(format!(
            "{} without {name}: not so: {what}; {code:?}, {lost:?}\n{text}",
            jdk.display()
        )),
    }
}

#[test]
fn the_doctor_and_the_gate_say_the_same() {
    for jdk in jdks() {
        let dir = tempfile::tempdir().expect("a folder");
        let name = "nmethod::_stub_offset";
        let change = Change::Field("nmethod".into(), "_stub_offset".into());
        let changed = changed_jdk(&jdk, &dir.path().join("jdk"), &[change]).expect("a copy");
        let doctor = run(stackwitness().args(["doctor", "--jdk"]).arg(&changed));
        assert_eq!(doctor.code, Some(3), "{doctor:#?}");
        let says = |line: &str| line.starts_with("problem  VM: ") && line.contains(name);
        assert!(doctor.stdout.lines().any(says), "{doctor:#?}");
        let out = dir.path().join("out");
        let mut gate = stackwitness();
        gate.args(["run", "--gate", "--seed", "1", "--jdk"])
            .arg(&changed);
        let file = dir.path().join("scenario.toml");
        std::fs::write(&file, scenario(1)).expect("a file");
        gate.arg("--scenario").arg(&file);
        let gate = run(gate.arg("--out").arg(&out));
        assert_eq!(gate.code, Some(3), "{gate:#?}");
        assert!(gate.stdout.contains(name), "{gate:#?}");
        assert!(!gate.stdout.contains("over budget"), "{gate:#?}");
    }
}

#[test]
fn a_copy_that_is_as_it_was_lacks_nothing() {
    for jdk in jdks() {
        let dir = tempfile::tempdir().expect("a folder");
        let copy = changed_jdk(&jdk, &dir.path().join("jdk"), &[]).expect("a copy");
        let Answer { text, lost, .. } = answer(&copy, dir.path(), 2);
        assert!(lost.is_empty(), "{}: {lost:?}\n{text}", jdk.display());
    }
}
