//! Checks of many real classes, and the judges of the rewritten classes.

use classfile::identity;
use classfile_testing::folder::classes;
use classfile_testing::jdk::{Jdk, run};
use classfile_testing::readers::others_agree;
use instrumenter::{Choice, HookClass, HookId, MethodInfo, Tokens, rewrite};
use std::fs;
use std::path::{Path, PathBuf};

/// The class that exact hooks call.
pub const HOOKS: HookClass<'_> = HookClass {
    name: "java/lang/StackwitnessTrace",
    tokens: Tokens::WhereNeeded,
};

/// Round trip, rewriting and cross-reading of every class below `from`. One class of `read_every`
/// is read by the other readers too. Writes the hooked classes to `to`.
pub fn rewrite_all(label: &str, from: &Path, to: &Path, read_every: usize) {
    let (mut next, mut hooked, mut left, mut read) = (0u32, 0, Vec::new(), 0);
    let all = classes(from);
    for (n, path) in all.iter().enumerate() {
        let bytes = fs::read(path).expect("a file");
        let same = identity(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(
            same == bytes,
            "{} is not written back identical",
            path.display()
        );
        let mut plan = |_: &MethodInfo<'_>| {
            next += 1;
            Choice::Hook {
                id: HookId(next),
                check: next % 16 == 0,
                plain: false,
            }
        };
        let r =
            rewrite(&bytes, HOOKS, &mut plan).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        hooked += r.hooked.len();
        left.extend(
            r.left
                .iter()
                .map(|m| format!("{}.{}{}: {}", r.class_name, m.name, m.descriptor, m.reason)),
        );
        let new = to.join(path.strip_prefix(from).expect("below"));
        fs::create_dir_all(new.parent().expect("a folder")).expect("a folder");
        if let Some(bytes) = &r.bytes
            && n % read_every == 0
        {
            read += 1;
            others_agree(bytes);
        }
        fs::write(new, r.bytes.as_deref().unwrap_or(&bytes)).expect("a file");
    }
    println!(
        "{label}: {} classes identical, {hooked} methods hooked, {} left, {read} read by others",
        all.len(),
        left.len()
    );
    assert!(hooked > 1000 && left.len() * 1000 < hooked, "{left:#?}");
}

/// The Java sources of the tests.
pub fn java() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java")
}

/// `ClassFile.verify` rejects nothing below `hooked` that it accepts below `plain`.
pub fn verify(label: &str, plain: &Path, hooked: &Path, minutes: u64) {
    let all = Jdk::all();
    let Some(judge) = all.iter().find(|j| j.feature >= 24) else {
        println!("skipped: ClassFile.verify needs a JDK 24 or later");
        return;
    };
    let tools = tempfile::tempdir().expect("a temporary folder");
    judge.javac(&[], tools.path(), &[&java().join("Verify.java")]);
    let mut c = judge.tool("java");
    c.args(["-Xmx3g", "-cp"]).arg(tools.path());
    let result = run(c.arg("Verify").arg(plain).arg(hooked), minutes).ok();
    println!("{label} by ClassFile.verify: {}", result.trim());
}

/// Compiles the class that the hooks call, with hooks that do nothing, as a patch for `java.base`.
pub fn compile_owner(jdk: &Jdk, to: &Path) {
    let owner = java().join("owner");
    let patch = format!("java.base={}", owner.display());
    let source = owner.join("StackwitnessTrace.java");
    jdk.javac(&["--patch-module", &patch], to, &[&source]);
}
