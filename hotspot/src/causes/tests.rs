use super::*;
use crate::arch::{Aarch64, X86_64};
use crate::case::Instant;
use crate::code::CodeKind;
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
        stubs: &[],
        instant: Some(instant),
    };
    Cause::of::<A>(case).name
}

fn cause(verdict: Verdict, lowest: &str, true_lowest: &str, instant: Instant<'_>) -> &'static str {
    cause_on::<X86_64>(verdict, lowest, true_lowest, instant)
}

#[test]
fn the_lowest_frame_tells_who_called_it() {
    let main = "a.Main.main([Ljava/lang/String;)V";
    let thrown = "java.lang.ArithmeticException.<init>()V";
    let loads = "a.Loader.loadClass(Ljava/lang/String;)Ljava/lang/Class;";
    for low in [thrown, loads, "a.B.<clinit>()V"] {
        assert_eq!(cause(Verdict::Truncated, low, main, AT), "called-by-vm");
        assert_eq!(cause(Verdict::Wrong, low, main, AT), "called-by-vm");
        assert_eq!(cause(Verdict::Wrong, low, low, AT), "unexplained");
    }
    let other = cause(Verdict::Truncated, "a.B.c()V", main, AT);
    assert_eq!(other, "unwalkable-caller");
}

#[test]
fn frames_that_a_virtual_thread_left_in_the_heap_are_missing_above_its_carrier() {
    let enter = "jdk.internal.vm.Continuation.enterSpecial(Ljdk/internal/vm/Continuation;ZZ)V";
    let worker = "java.util.concurrent.ForkJoinWorkerThread.run()V";
    let of = |at| {
        let case = Case {
            verdict: Verdict::Truncated,
            reason: Reason::BottomMissing,
            at,
            lowest: Some(worker),
            true_lowest: None,
            stubs: &[],
            instant: None,
        };
        Cause::of::<X86_64>(case).name
    };
    assert_eq!(of(Some(enter)), "frozen-frames");
    assert_eq!(of(Some(worker)), "unwalkable-caller");
    assert_eq!(of(None), "unwalkable-caller");
}

#[test]
fn the_code_tells_what_it_was_doing() {
    let of = |instant| cause(Verdict::Wrong, "a.B.c()V", "a.B.c()V", instant);
    let (native, stub) = (Some(CodeKind::NativeWrapper), Some(CodeKind::Stub));
    let code = |code| Instant { code, ..AT };
    assert_eq!(of(AT), "unexplained");
    assert_eq!(of(code(CodeKind::Interpreter)), "interpreter-frame");
    assert_eq!(of(code(CodeKind::Library)), "leaf-call");
    assert_eq!(of(code(CodeKind::Stub)), "below-stub");
    let anchored = |anchor| Instant {
        in_java: false,
        code: CodeKind::Library,
        anchor,
        ..AT
    };
    assert_eq!(of(anchored(stub)), "below-stub");
    assert_eq!(of(anchored(native)), "unexplained");
}

#[test]
fn what_runs_explains_no_cut() {
    for code in [CodeKind::Interpreter, CodeKind::Library, CodeKind::Stub] {
        let instant = Instant { code, ..AT };
        let cut = cause(Verdict::Truncated, "a.B.c()V", "a.B.d()V", instant);
        assert_eq!(cut, "unwalkable-caller");
    }
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
    assert_eq!(of(CodeKind::Stub, &compiled), "below-stub");
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
fn a_return_address_out_of_place_tells_what_the_code_did() {
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
            stubs: &[],
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
    for cause in &CAUSES {
        assert!(names.insert(cause.name), "{} twice", cause.name);
        assert_eq!(
            Cause::named(&CauseName::from(cause)).map(|found| found.name),
            Some(cause.name)
        );
        let title = format!("(`{}`)", cause.name);
        let mut titles = docs.lines().filter(|line| line.starts_with("## "));
        let has_section = titles.any(|line| line.ends_with(&title));
        assert!(
            has_section,
            "docs/findings.md has no section on `{}`",
            cause.name
        );
    }
}

#[test]
fn every_known_cause_has_a_program() {
    let [known @ .., unexplained] = &CAUSES;
    assert!(unexplained.programs.is_empty());
    for cause in known {
        assert!(!cause.programs.is_empty(), "{}", cause.name);
        let variants: HashSet<_> = cause
            .programs
            .iter()
            .map(|program| program.variant)
            .collect();
        assert_eq!(variants.len(), cause.programs.len(), "{}", cause.name);
    }
}
