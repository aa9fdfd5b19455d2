//! What layer `asgct-step` shows of AsyncGetCallTrace at the end of methods that C2 has compiled.
//!
//! In the epilogue of C2 `add rsp, N` has removed the frame but for the caller's frame pointer, when `pop rbp` is
//! next. AsyncGetCallTrace still adds the whole size of the frame to the stack pointer
//! (`frame::sender_for_compiled_frame`). If the caller's frame has N bytes, the word that it takes for the return
//! address is the caller's own: the caller is missing.

use crate::steps::{unmodified, visited};
use crate::support::{self, on_each_jdk, seeds};
use oracle::record::{VISITED_FILE, VisitedCode, Worst};

/// The worst answer at `pop rbp`, behind `add rsp, imm8`, in the epilogue that was run; `None` if it was not visited.
fn at_pop_rbp(code: &VisitedCode) -> Option<Worst> {
    // Two digits for each byte.
    let is_pop_rbp = |at: usize| {
        let add = at
            .checked_sub(8)
            .and_then(|add| code.code.get(add..add + 6));
        add == Some("4883c4") && code.code.get(at..at + 2) == Some("5d")
    };
    let mut visited = code.visited.iter();
    let found = visited.find(|(at, _)| is_pop_rbp(2 * *at as usize));
    found.map(|(_, worst)| *worst)
}

/// In a method whose caller has a frame of the size that is removed, walks at `pop rbp` are false. A leaf method has no
/// false answer at all.
#[test]
fn walks_between_the_two_halves_of_an_epilogue_are_false_where_the_caller_fits() {
    if support::cannot_step() {
        return;
    }
    const OPTIONS: [&str; 3] = [
        "-XX:-TieredCompilation",
        "-Xbatch",
        "-XX:CompileCommand=dontinline,stackwitness.fixtures.Epilogues::*",
    ];
    on_each_jdk(|jdk| {
        for seed in seeds(&format!("{jdk:?}: waiting for epilogues")) {
            let program = format!(
                "jvm_args = {OPTIONS:?}\nfixtures = {{ names = [\"epilogues\"], seconds = 10 }}\n"
            );
            let ran = unmodified(jdk, seed, "step_seconds = 10\n", &program);
            let run = &ran.report.runs[0];
            let all = visited(&ran.out.join(&run.dir).join(VISITED_FILE));
            let of = |method: &str| {
                let name = format!("stackwitness.fixtures.Epilogues.{method}");
                let mut ended = all.iter().filter(|code| code.has_ended);
                ended.find(|code| code.method.as_ref() == Some(&name))
            };
            let (Some(wide), Some(leaf)) = (of("wide"), of("leaf")) else {
                continue;
            };
            let (Some(of_wide), Some(of_leaf)) = (at_pop_rbp(wide), at_pop_rbp(leaf)) else {
                continue;
            };
            println!("{jdk:?}: {of_wide:?} in a method whose caller fits, {of_leaf:?} in a leaf");
            assert_eq!(of_wide, Worst::Wrong, "{jdk:?}");
            let of_leaf = leaf.visited.iter();
            let false_ones: Vec<_> = of_leaf
                .filter(|(_, worst)| *worst == Worst::Wrong)
                .collect();
            assert!(false_ones.is_empty(), "{jdk:?}: {leaf:?}");
            break;
        }
    });
}
