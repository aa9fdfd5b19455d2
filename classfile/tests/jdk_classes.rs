//! Classes of every JDK found: written back identical, read alike by other readers, listed alike by
//! `javap`, with the stack maps that follow from their code.

use classfile::file::{ClassFile, Code, Member};
use classfile::types::{AnyClass, RawFrames, State, VType, initial_locals, next_bci};
use classfile::{Opcode, identity};
use classfile_testing::folder::classes;
use classfile_testing::jdk::{Jdk, run};
use classfile_testing::readers::others_agree;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// Counts over the classes of one JDK.
#[derive(Default)]
struct Seen {
    classes: usize,
    /// How often code continued or branched to an instruction with a frame.
    frames: usize,
    opcodes: BTreeSet<Opcode>,
}

#[test]
fn classes_of_java_base() {
    for jdk in Jdk::all() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        jdk.extract("/java\\.base/.*\\.class", folder.path());
        let mut seen = Seen::default();
        let all = classes(folder.path());
        for (n, path) in all.iter().enumerate() {
            let bytes = fs::read(path).expect("a file");
            let same = identity(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            assert!(
                same == bytes,
                "{} is written back otherwise",
                path.display()
            );
            if n % 20 == 0 {
                others_agree(&bytes);
            }
            let class = ClassFile::parse(&bytes).expect("it was read before");
            for method in &class.methods {
                frames_follow(&class, method, &mut seen);
            }
            seen.classes += 1;
        }
        listed_alike(&jdk, &all.iter().step_by(50).cloned().collect::<Vec<_>>());
        let missing = Opcode::all().filter(|opcode| !seen.opcodes.contains(opcode));
        let missing: Vec<_> = missing.map(Opcode::mnemonic).collect();
        println!(
            "JDK {}: {} classes, {} frames reached, as they follow from the code; no class has {missing:?}",
            jdk.feature, seen.classes, seen.frames
        );
        assert!(seen.classes > 5000 && seen.frames > 100_000);
        // javac generates neither subroutines nor these opcodes. `wide` is a part of other
        // instructions.
        assert!(missing.len() < 12, "{missing:?}");
    }
}

/// Where code continues or branches to an instruction with a frame, the types that follow from the
/// code are those of the frame. The compiler wrote the frames without knowledge of our table.
fn frames_follow<'a>(class: &ClassFile<'a>, method: &Member<'a>, seen: &mut Seen) {
    let Some(attribute) = method.code().expect("well-formed") else {
        return;
    };
    let code = Code::parse(class, attribute).expect("well-formed");
    let mut locals = Vec::new();
    initial_locals(class, method, attribute, &mut locals).expect("well-formed");
    let mut state = State::default();
    state.set(&locals, std::iter::empty(), code.max_locals);
    let frames = frames(class, &code, locals);
    let mut reached = true;
    for i in code.instructions() {
        let i = i.expect("well-formed");
        seen.opcodes.insert(i.opcode);
        let place = || {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            format!("{}.{} at {}", text(class.name), text(method.name), i.bci)
        };
        if let Some(frame) = frames.get(&i.bci) {
            if reached {
                seen.frames += 1;
                assert_fits(&state, frame, place);
            }
            state.clone_from(frame);
            reached = true;
        }
        assert!(reached, "{}: nothing leads here", place());
        state
            .step(&i, &class.pool, class.this_class, &mut AnyClass)
            .unwrap_or_else(|lost| panic!("{}: {lost:?}", place()));
        for target in i.targets() {
            let frame = frames.get(&target).expect("a branch leads to a frame");
            seen.frames += 1;
            assert_fits(&state, frame, place);
        }
        reached = !i.opcode.flow().ends();
    }
}

/// The frames of a method, by their BCIs; `locals` are those at its start.
fn frames<'a>(
    class: &ClassFile<'a>,
    code: &Code<'a>,
    mut locals: Vec<VType>,
) -> BTreeMap<u32, State> {
    let mut all = BTreeMap::new();
    let Some(table) = code.single(b"StackMapTable").expect("well-formed") else {
        return all;
    };
    let mut frames = RawFrames::new(table.reader(class.file)).expect("well-formed");
    let mut last = None;
    while let Some(frame) = frames.next_frame().expect("well-formed") {
        let bci = next_bci(last, frame.delta);
        frame
            .apply(&mut locals, code.max_locals)
            .expect("well-formed");
        let mut state = State::default();
        let stack = frame.stack.iter().map(|(_, ty)| ty);
        state.set(&locals, stack, code.max_locals);
        all.insert(bci, state);
        last = Some(bci);
    }
    all
}

fn assert_fits(own: &State, frame: &State, place: impl Fn() -> String) {
    assert_eq!(own.stack.len(), frame.stack.len(), "{}", place());
    let stack = own.stack.iter().zip(&frame.stack);
    for (&own, &theirs) in stack.chain(own.locals.iter().zip(&frame.locals)) {
        assert!(fits(own, theirs), "{}: {own:?}, {theirs:?}", place());
    }
}

/// Whether a value of type `own` may be used where a frame has `theirs`. Classes are not compared.
fn fits(own: VType, theirs: VType) -> bool {
    use VType::{Null, Object, Parameter, Top};
    match theirs {
        Top => true,
        Object(_) | Parameter(_) => matches!(own, Object(_) | Parameter(_) | Null),
        other => own == other,
    }
}

/// `javap` lists the same instructions as `classfile`, by BCI and mnemonic.
fn listed_alike(jdk: &Jdk, files: &[PathBuf]) {
    let mut javap = jdk.tool("javap");
    let listed = run(javap.args(["-c", "-p"]).args(files), 5).ok();
    let theirs = listed.lines().filter_map(|line| {
        let (bci, rest) = line.trim_start().split_once(": ")?;
        let mnemonic = rest.split_whitespace().next()?;
        // Cases of a switch look like instructions, but have a number in place of the mnemonic.
        let is_mnemonic = mnemonic.starts_with(|c: char| c.is_ascii_lowercase());
        Some((
            bci.parse::<u32>().ok().filter(|_| is_mnemonic)?,
            mnemonic.to_owned(),
        ))
    });
    let mut ours = Vec::new();
    for file in files {
        let bytes = fs::read(file).expect("a file");
        let class = ClassFile::parse(&bytes).expect("it was read before");
        for method in &class.methods {
            let Some(attribute) = method.code().expect("well-formed") else {
                continue;
            };
            let code = Code::parse(&class, attribute).expect("well-formed");
            for i in code.instructions() {
                let i = i.expect("well-formed");
                // `javap` writes `wide` as a suffix.
                let suffix = if i.wide { "_w" } else { "" };
                ours.push((i.bci, format!("{}{suffix}", i.opcode.mnemonic())));
            }
        }
    }
    assert!(ours.len() > 1000);
    let theirs: Vec<_> = theirs.collect();
    let differs = ours.iter().zip(&theirs).find(|(own, theirs)| own != theirs);
    assert_eq!(differs, None);
    assert_eq!(ours.len(), theirs.len());
}
