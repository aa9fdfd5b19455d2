//! False stacks whose cause is harder to prove than in the programs of scenario `causes`: at most 2 % of them have none.

use crate::support::{self, on_each_jdk, seeds};
use oracle::record::CauseName;
use oracle::{Layer, Verdict};
use std::collections::BTreeMap;

/// How many false stacks a test needs, and how many of 1,000 may have no cause.
const ENOUGH: u64 = 500;
const UNEXPLAINED: u64 = 20;

/// Runs `program` until `layer` has false stacks enough: most of them have this cause.
fn have_cause(cause: &str, layer: Layer, program: &str) {
    let scenario = format!(
        "name = \"proofs\"\nlayers = [\"ground\", \"{layer}\"]\n[budget]\n{layer} = 1\n\
         [sampling]\nevidence_limit = 20000\n[[program]]\nname = \"program\"\nbaseline = false\n{program}\n"
    );
    on_each_jdk(|jdk| {
        let mut causes: BTreeMap<String, u64> = BTreeMap::new();
        for seed in seeds(&format!("{jdk:?}: waiting for false stacks")) {
            let ran = support::run_well(jdk, &scenario, seed, &[]);
            let kinds = ran.report.runs.iter().flat_map(|run| &run.kinds);
            let is_false = |verdict| matches!(verdict, Verdict::Wrong | Verdict::Truncated);
            for kind in kinds.filter(|it| it.layer == layer && is_false(it.verdict)) {
                let cause = kind.cause.as_ref().map_or("", CauseName::as_str);
                *causes.entry(cause.into()).or_default() += kind.count;
            }
            if causes.values().sum::<u64>() >= ENOUGH {
                break;
            }
        }
        println!("{jdk:?}: {causes:?}");
        let of = |cause: &str| causes.get(cause).copied().unwrap_or(0);
        let all: u64 = causes.values().sum();
        assert!(2 * of(cause) > all, "{jdk:?}: {causes:?}");
        let unexplained = of(CauseName::UNEXPLAINED);
        assert!(
            1000 * unexplained <= UNEXPLAINED * all,
            "{jdk:?}: {causes:?}"
        );
    });
}

/// C2 copies a short string to the stack (`C2_MacroAssembler::string_indexof`), and keeps the stack pointer of the body on
/// the stack. Where `String.indexOf` is not inlined, it is called again and again from the same depth, so the word that the
/// walker takes for the return address is often one of an older call of the same method.
#[test]
fn searches_in_methods_of_their_own_have_moved_the_stack_pointer() {
    have_cause(
        "moved-stack-pointer",
        Layer::CallEdge,
        r#"jvm_args = ["-XX:-TieredCompilation", "-XX:CompileCommand=dontinline,java.lang.String::indexOf"]
        fixtures = { names = ["moved-stack-pointer"], seconds = 5 }
        hooks = "none""#,
    );
}

/// Where most methods have no hooks, the caller that the walker refuses is in no trace stack.
#[test]
fn callers_without_hooks_are_refused() {
    have_cause(
        "unwalkable-caller",
        Layer::AsgctAsync,
        r#"fixtures = { names = ["deopt-hierarchy"], seconds = 5 }
        probability = 0.3"#,
    );
}
