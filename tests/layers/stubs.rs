//! Stubs, whose callers may have no frame.

use crate::steps::{unmodified_by, visited};
use crate::support::{self, on_each_jdk, seeds};
use oracle::Layer;
use oracle::record::{VISITED_FILE, Worst};

/// The interpreter's own entries of checksums and mathematical functions call stubs, and build no frame. Our walker has a true answer
/// at each instruction of them.
#[test]
fn stubs_are_walked_that_the_interpreter_calls_without_a_frame() {
    if support::cannot_step() {
        return;
    }
    /// As many as the stubs of the functions and of one checksum have.
    const ENOUGH: usize = 600;
    on_each_jdk(|jdk| {
        for seed in seeds(&format!("{jdk:?}: waiting for checksums")) {
            let program =
                "jvm_args = [\"-Xint\"]\nfixtures = { names = [\"checksums\"], seconds = 8 }\n";
            let ran = unmodified_by(jdk, seed, Layer::AsgstStep, "step_seconds = 8\n", program);
            let run = &ran.report.runs[0];
            let mut in_stubs = 0;
            for code in visited(&ran.out.join(&run.dir).join(VISITED_FILE)) {
                let bad = code.visited.iter().filter(|(_, worst)| {
                    !matches!(worst, Worst::Match | Worst::Flagged | Worst::Unverifiable)
                });
                let bad: Vec<_> = bad.collect();
                assert!(bad.is_empty(), "{jdk:?}: {} {bad:?}", code.name);
                if code.name.starts_with("StubRoutines") {
                    in_stubs += code.visited.len();
                }
            }
            println!("{jdk:?}: {in_stubs} instructions of stubs");
            if in_stubs >= ENOUGH {
                break;
            }
        }
    });
}
