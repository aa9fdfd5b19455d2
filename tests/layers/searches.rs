//! What layer `call-edge` shows of AsyncGetCallTrace while compiled code searches a short string.
//!
//! C2 copies a short string to the stack (`C2_MacroAssembler::string_indexof`), and keeps the stack pointer of the body on
//! the stack. Where `String.indexOf` is not inlined, it is called again and again from the same depth, so the word that the
//! walker takes for the return address is often one of an older call of the same method.

use crate::support::{self, on_each_jdk, seeds};

use oracle::record::CauseName;
use oracle::{Layer, Verdict};
use std::collections::BTreeMap;

/// False stacks have the cause `moved-stack-pointer`; at most 2 % have none.
#[test]
fn searches_in_methods_of_their_own_have_moved_the_stack_pointer() {
    const SCENARIO: &str = r#"
        name = "searches"
        layers = ["ground", "call-edge"]
        [budget]
        call-edge = 1
        [sampling]
        evidence_limit = 20000
        [[program]]
        name = "searches"
        jvm_args = ["-XX:-TieredCompilation", "-XX:CompileCommand=dontinline,java.lang.String::indexOf"]
        fixtures = { names = ["moved-stack-pointer"], seconds = 5 }
        hooks = "none"
        baseline = false
    "#;
    on_each_jdk(|jdk| {
        let mut causes: BTreeMap<String, u64> = BTreeMap::new();
        for seed in seeds(&format!("{jdk:?}: waiting for false stacks")) {
            let ran = support::run_well(jdk, SCENARIO, seed, &[]);
            let kinds = ran.report.runs.iter().flat_map(|run| &run.kinds);
            let is_false = |verdict| matches!(verdict, Verdict::Wrong | Verdict::Truncated);
            for kind in kinds.filter(|it| it.layer == Layer::CallEdge && is_false(it.verdict)) {
                let cause = kind.cause.as_ref().map_or("", CauseName::as_str);
                *causes.entry(cause.into()).or_default() += kind.count;
            }
            if causes.values().sum::<u64>() >= 1000 {
                break;
            }
        }
        println!("{jdk:?}: {causes:?}");
        let of = |cause: &str| causes.get(cause).copied().unwrap_or(0);
        let all: u64 = causes.values().sum();
        assert!(2 * of("moved-stack-pointer") > all, "{jdk:?}: {causes:?}");
        assert!(
            50 * of(CauseName::UNEXPLAINED) <= all,
            "{jdk:?}: {causes:?}"
        );
    });
}
