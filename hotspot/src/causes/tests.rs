use super::*;
use crate::arch::{Aarch64, X86_64};
use crate::case::Instant;
use crate::code::CodeKind;
use crate::proofs::{InterpreterFrame, Proofs};
use crate::return_address::ReturnAddress;
use oracle::{Reason, Verdict};
use std::collections::HashSet;

const AT: Instant<'_> = Instant {
    in_java: true,
    code: CodeKind::Compiled,
    anchor: None,
    bytes: &[0x90],
    return_address: ReturnAddress::Usual,
};

fn cause_on<A: Arch>(
    verdict: Verdict,
    lowest: &str,
    true_lowest: &str,
    instant: Instant<'_>,
) -> &'static str {
    let case = Case {
        verdict,
        reason: Reason::OtherMethod,
        at: None,
        lowest: Some(lowest),
        true_lowest: Some(true_lowest),
        is_hook_alone: false,
        proofs: &Proofs::default(),
        instant: Some(instant),
    };
    Cause::of::<A>(case).name
}

fn cause(verdict: Verdict, lowest: &str, true_lowest: &str, instant: Instant<'_>) -> &'static str {
    cause_on::<X86_64>(verdict, lowest, true_lowest, instant)
}

const LOW: &str = "a.B.c()V";
const MAIN: &str = "a.Main.main([Ljava/lang/String;)V";

/// The cause with these proofs. The walk ends as the truth does, unless it is cut.
fn with(proofs: &Proofs, verdict: Verdict, reason: Reason, instant: Instant<'_>) -> &'static str {
    let case = Case {
        verdict,
        reason,
        at: None,
        lowest: Some(LOW),
        true_lowest: Some(LOW),
        is_hook_alone: false,
        proofs,
        instant: Some(instant),
    };
    Cause::of::<X86_64>(case).name
}

#[test]
fn a_java_calls_entry_from_a_stub_shows_that_the_vm_called() {
    let of = |low, true_low, verdict, entries: &[CodeKind]| {
        let proofs = Proofs {
            entries: entries.into(),
            ..Proofs::default()
        };
        let case = Case {
            verdict,
            reason: Reason::BottomMissing,
            at: None,
            lowest: Some(low),
            true_lowest: Some(true_low),
            is_hook_alone: false,
            proofs: &proofs,
            instant: Some(AT),
        };
        Cause::of::<X86_64>(case).name
    };
    let thrown = "java.lang.ArithmeticException.<init>()V";
    let loads = "a.Loader.loadClass(Ljava/lang/String;)Ljava/lang/Class;";
    let (cut, wrong) = (Verdict::Truncated, Verdict::Wrong);
    let stub = &[CodeKind::Interpreter, CodeKind::Stub];
    for low in [thrown, loads, "a.B.<clinit>()V"] {
        assert_eq!(of(low, MAIN, cut, stub), "called-by-vm");
        assert_eq!(of(low, MAIN, wrong, stub), "called-by-vm");
        assert_eq!(of(low, low, wrong, stub), "unexplained");
        // From such an entry the walker passes to the Java frames below.
        assert_eq!(of(low, MAIN, cut, &[CodeKind::Interpreter]), "unexplained");
        assert_eq!(of(low, MAIN, cut, &[]), "unexplained");
    }
    assert_eq!(of(LOW, MAIN, cut, stub), "unexplained");
}

#[test]
fn a_caller_that_names_the_method_may_have_called_the_method_itself() {
    let of = |is_lowest_named| {
        let proofs = Proofs {
            entries: vec![CodeKind::Stub],
            is_lowest_named,
            ..Proofs::default()
        };
        let case = Case {
            verdict: Verdict::Truncated,
            reason: Reason::BottomMissing,
            at: None,
            lowest: Some("java.lang.ArithmeticException.<init>()V"),
            true_lowest: Some(MAIN),
            is_hook_alone: false,
            proofs: &proofs,
            instant: Some(AT),
        };
        Cause::of::<X86_64>(case).name
    };
    assert_eq!(of(false), "called-by-vm");
    assert_eq!(of(true), "unexplained");
}

#[test]
fn a_deoptimisation_handler_shows_the_caller_that_the_walker_refuses() {
    let refused = Proofs {
        deoptimised: vec!["a.B.d".into()],
        ..Proofs::default()
    };
    let of = |proofs, verdict| with(proofs, verdict, Reason::BottomMissing, AT);
    assert_eq!(of(&refused, Verdict::Truncated), "unwalkable-caller");
    assert_eq!(of(&refused, Verdict::Wrong), "unexplained");
    assert_eq!(of(&Proofs::default(), Verdict::Truncated), "unexplained");
}

#[test]
fn a_walk_ends_at_the_frame_that_was_extended() {
    let of = |method: &str| {
        let proofs = Proofs {
            extended: vec![method.into()],
            ..Proofs::default()
        };
        let case = Case {
            verdict: Verdict::Truncated,
            reason: Reason::BottomMissing,
            at: None,
            lowest: Some("a.B.down(La/P;)La/P;"),
            true_lowest: Some(MAIN),
            is_hook_alone: false,
            proofs: &proofs,
            instant: Some(AT),
        };
        Cause::of::<X86_64>(case).name
    };
    assert_eq!(of("a.B.down"), "extended-frame");
    assert_eq!(of("a.B.up"), "unexplained");
}

#[test]
fn frames_that_a_virtual_thread_left_in_the_heap_are_missing_above_its_carrier() {
    let enter = "jdk.internal.vm.Continuation.enterSpecial(Ljdk/internal/vm/Continuation;ZZ)V";
    let worker = "java.util.concurrent.ForkJoinWorkerThread.run()V";
    let of = |at, is_return_barrier| {
        let case = Case {
            verdict: Verdict::Truncated,
            reason: Reason::BottomMissing,
            at,
            lowest: Some(worker),
            true_lowest: None,
            is_hook_alone: false,
            proofs: &Proofs {
                is_return_barrier,
                ..Proofs::default()
            },
            instant: None,
        };
        Cause::of::<X86_64>(case).name
    };
    assert_eq!(of(Some(enter), true), "frozen-frames");
    assert_eq!(of(Some(enter), false), "unexplained");
    assert_eq!(of(Some(worker), true), "unexplained");
    assert_eq!(of(None, true), "unexplained");
}

#[test]
fn an_instant_alone_proves_nothing() {
    let anchored = Instant {
        in_java: false,
        code: CodeKind::Library,
        anchor: Some(CodeKind::Stub),
        ..AT
    };
    let running = [CodeKind::Interpreter, CodeKind::Library, CodeKind::Stub];
    let running = running.map(|code| Instant { code, ..AT });
    for instant in running.into_iter().chain([AT, anchored]) {
        for verdict in [Verdict::Wrong, Verdict::Truncated] {
            let found = with(&Proofs::default(), verdict, Reason::TopMissing, instant);
            assert_eq!(found, "unexplained", "{instant:?}");
        }
    }
}

#[test]
fn the_interpreter_without_a_frame_loses_frames_of_the_top() {
    let not_built = Proofs {
        interpreter: InterpreterFrame::NotBuilt,
        is_top_at_call: true,
        ..Proofs::default()
    };
    let removed = Proofs {
        interpreter: InterpreterFrame::Removed,
        ..not_built.clone()
    };
    let not_a_caller = Proofs {
        is_top_at_call: false,
        ..not_built.clone()
    };
    let code = CodeKind::Interpreter;
    let of = |proofs, reason| with(proofs, Verdict::Wrong, reason, Instant { code, ..AT });
    for proofs in [&not_built, &removed] {
        assert_eq!(of(proofs, Reason::TopMissing), "interpreter-frame");
        for other in [Reason::NotThere, Reason::OtherLocation, Reason::OtherMethod] {
            assert_eq!(of(proofs, other), "unexplained");
        }
    }
    assert_eq!(of(&not_a_caller, Reason::TopMissing), "unexplained");
    let compiled = with(&not_built, Verdict::Wrong, Reason::TopMissing, AT);
    assert_eq!(compiled, "unexplained");
}

#[test]
fn a_return_address_below_the_frame_shows_a_leaf_call() {
    let leaf = Proofs {
        is_leaf_call: true,
        ..Proofs::default()
    };
    let code = CodeKind::Library;
    let of = |reason| with(&leaf, Verdict::Wrong, reason, Instant { code, ..AT });
    assert_eq!(of(Reason::TopMissing), "leaf-call");
    assert_eq!(of(Reason::NotThere), "leaf-call");
    assert_eq!(of(Reason::OtherLocation), "unexplained");
    // A walker may also cut any stack at this instant.
    let cut = |proofs| {
        with(
            proofs,
            Verdict::Truncated,
            Reason::BottomMissing,
            Instant { code, ..AT },
        )
    };
    let misplaced = Proofs {
        is_caller_misplaced: true,
        ..leaf.clone()
    };
    assert_eq!(cut(&leaf), "unexplained");
    assert_eq!(cut(&misplaced), "leaf-call");
}

#[test]
fn the_next_record_shows_a_call_into_a_stub() {
    let next = Proofs {
        is_next_record: true,
        ..Proofs::default()
    };
    let of = |instant| with(&next, Verdict::Wrong, Reason::NotThere, instant);
    let code = CodeKind::Stub;
    assert_eq!(of(Instant { code, ..AT }), "below-stub");
    let anchored = |anchor| Instant {
        in_java: false,
        code: CodeKind::Library,
        anchor: Some(anchor),
        ..AT
    };
    assert_eq!(of(anchored(CodeKind::Stub)), "below-stub");
    assert_eq!(of(anchored(CodeKind::NativeWrapper)), "unexplained");
}

#[test]
fn code_that_returns_has_removed_its_frame() {
    let of = |code, bytes| {
        let instant = Instant { code, bytes, ..AT };
        cause(Verdict::Wrong, "a.B.c()V", "a.B.c()V", instant)
    };
    // `ja …`, `ret`, and `leave`, `cmp …`, `jne …`, `ret`.
    let compiled = [0x0f, 0x87, 5, 6, 7, 8, 0xc3];
    let wrapper = [0xc9, 0x49, 0x83, 0x7f, 8, 0, 0x0f, 0x85, 1, 0, 0, 0, 0xc3];
    assert_eq!(of(CodeKind::Compiled, &compiled), "frame-removed");
    assert_eq!(of(CodeKind::Compiled, &wrapper), "unexplained");
    assert_eq!(of(CodeKind::NativeWrapper, &wrapper), "frame-removed");
    assert_eq!(of(CodeKind::NativeWrapper, &compiled), "unexplained");
    assert_eq!(of(CodeKind::Stub, &compiled), "unexplained");
}

#[test]
fn a_part_of_the_frame_of_a_stub_is_none() {
    let at = |return_address| Instant {
        code: CodeKind::Stub,
        return_address,
        ..AT
    };
    let of = |place| cause(Verdict::Wrong, LOW, LOW, at(place));
    assert_eq!(of(ReturnAddress::AtTop(12)), "frame-removed");
    assert_eq!(of(ReturnAddress::InLink), "frame-removed");
    assert_eq!(of(ReturnAddress::Beyond(2)), "moved-stack-pointer");
    assert_eq!(of(ReturnAddress::Usual), "unexplained");
    let instant = at(ReturnAddress::AtTop(1));
    let next_record = Proofs {
        is_next_record: true,
        ..Proofs::default()
    };
    let of_next = with(&next_record, Verdict::Wrong, Reason::OtherMethod, instant);
    assert_eq!(of_next, "below-stub");
    let in_vm = Instant {
        in_java: false,
        ..instant
    };
    assert_eq!(cause(Verdict::Wrong, LOW, LOW, in_vm), "unexplained");
}

#[test]
fn the_processor_decides_what_bytes_mean() {
    let of = |bytes| {
        let instant = Instant { bytes, ..AT };
        let (verdict, low) = (Verdict::Wrong, "a.B.c()V");
        [
            cause_on::<X86_64>(verdict, low, low, instant),
            cause_on::<Aarch64>(verdict, low, low, instant),
        ]
    };
    let (x86_ret, a64_ret) = ([0xc3, 0x90, 0x90, 0x90], 0xd65f_03c0u32.to_le_bytes());
    assert_eq!(of(&x86_ret), ["frame-removed", "unexplained"]);
    assert_eq!(of(&a64_ret), ["unexplained", "frame-removed"]);
}

#[test]
fn a_return_address_out_of_place_shows_what_the_code_did() {
    let of = |verdict, instant| cause(verdict, "a.B.c()V", "a.B.c()V", instant);
    let at = |return_address| Instant {
        return_address,
        ..AT
    };
    let (moved, removed) = (at(ReturnAddress::Beyond(2)), at(ReturnAddress::AtTop(1)));
    for verdict in [Verdict::Wrong, Verdict::Truncated] {
        assert_eq!(of(verdict, moved), "moved-stack-pointer");
        assert_eq!(of(verdict, removed), "frame-removed");
    }
    // The code has called a library, such as a barrier of a collector.
    let in_library = |instant| Instant {
        code: CodeKind::Library,
        ..instant
    };
    assert_eq!(of(Verdict::Wrong, in_library(moved)), "moved-stack-pointer");
    assert_eq!(of(Verdict::Wrong, in_library(removed)), "unexplained");
    let linked = at(ReturnAddress::InLink);
    let of_linked = |instant| cause_on::<Aarch64>(Verdict::Wrong, "a.B.c()V", "a.B.c()V", instant);
    assert_eq!(of_linked(linked), "frame-removed");
    // `sub sp, sp, 64`: the frame is not built yet.
    let bytes = &0xd101_03ffu32.to_le_bytes();
    assert_eq!(of_linked(Instant { bytes, ..linked }), "unexplained");
    let elsewhere = [CodeKind::Compiled, CodeKind::Library].map(|code| Instant {
        code,
        in_java: false,
        ..moved
    });
    for instant in elsewhere {
        assert_eq!(of(Verdict::Wrong, instant), "unexplained");
    }
}

#[test]
fn a_reason_that_names_its_cause_is_believed() {
    let of = |reason| {
        let case = Case {
            verdict: Verdict::Wrong,
            reason,
            at: None,
            lowest: None,
            true_lowest: None,
            is_hook_alone: false,
            proofs: &Proofs::default(),
            instant: None,
        };
        Cause::of::<X86_64>(case).name
    };
    assert_eq!(of(Reason::NextRecord), "no-record");
    assert_eq!(of(Reason::StartOfMethod), "no-record");
    assert_eq!(of(Reason::OtherMethod), "unexplained");
}

#[test]
fn every_cause_has_a_name_of_its_own_and_a_section_in_the_docs() {
    let docs = include_str!("../../../docs/findings.md");
    let mut names = HashSet::new();
    for cause in CAUSES {
        assert!(names.insert(cause.name), "{} twice", cause.name);
        assert_eq!(
            Cause::named(&CauseName::from(cause)).map(|found| found.name),
            Some(cause.name)
        );
        let (title, anchor) = (
            format!("(`{}`)", cause.name),
            format!("<a id=\"{}\"></a>", cause.name),
        );
        let lines: Vec<&str> = docs.lines().collect();
        let is_section = |pair: &[&str]| {
            pair[0] == anchor && pair[1].starts_with("## ") && pair[1].ends_with(&title)
        };
        let has_section = lines.windows(2).any(is_section);
        assert!(
            has_section,
            "docs/findings.md has no section on `{}` below its anchor",
            cause.name
        );
    }
}

#[test]
fn every_cause_has_programs_or_says_why_not() {
    for cause in CAUSES {
        match cause.programs {
            Ok(programs) => assert!(!programs.is_empty(), "{}", cause.name),
            Err(why) => assert!(!why.is_empty(), "{}", cause.name),
        }
        let programs = cause.programs();
        let variants: HashSet<_> = programs.iter().map(|program| program.variant).collect();
        assert_eq!(variants.len(), programs.len(), "{}", cause.name);
    }
}
