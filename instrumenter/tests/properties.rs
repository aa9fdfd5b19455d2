//! Properties that hold for every generated class.

use classfile::file::ClassFile;
use classfile::file::{Code, ExceptionEntry};
use classfile::instruction::Instruction;
use classfile::operators::Flow;
use classfile::{Opcode, identity};
use classfile_testing::generate;
use instrumenter::{
    Choice, HookClass, HookId, HookKind, HookWindow, HookedMethod, MethodInfo, OriginalBci,
    Presence, RewrittenBci, Tokens, hook_id_of, rewrite,
};
use proptest::prelude::*;

/// The instructions of a method's code.
fn instructions<'a>(class: &ClassFile<'a>, name: &str) -> (Code<'a>, Vec<Instruction<'a>>) {
    let method = class
        .methods
        .iter()
        .find(|m| m.name == name.as_bytes())
        .expect("the method");
    let code = Code::parse(class, method.code().expect("well-formed").expect("code"))
        .expect("well-formed");
    let all = code
        .instructions()
        .map(|i| i.expect("an instruction"))
        .collect();
    (code, all)
}

/// A branch that grew has another opcode, or two instructions.
fn same_instruction(old: &Instruction<'_>, new: &Instruction<'_>) -> bool {
    old.opcode == new.opcode
        || matches!(
            (old.opcode, new.opcode),
            (Opcode::Goto, Opcode::GotoW) | (Opcode::Jsr, Opcode::JsrW)
        )
        || old.opcode.opposite() == Some(new.opcode)
}

fn hooks(always: bool) -> HookClass<'static> {
    let name = "Trace";
    let tokens = [Tokens::WhereNeeded, Tokens::Always][usize::from(always)];
    HookClass { name, tokens }
}

fn check_method(before: &ClassFile<'_>, after: &ClassFile<'_>, method: &HookedMethod) {
    let (name, map) = (&method.name, &method.map);
    let (old_code, old) = instructions(before, name);
    let (new_code, new) = instructions(after, name);
    assert_eq!(map.length() as usize, new_code.code.len());
    let windows: Vec<_> = map.windows().collect();
    let in_hook = |bci: u32| windows.iter().any(|w| w.start.0 <= bci && bci < w.end.0);

    // Without the hooks, the code is the original code, instruction for instruction.
    let mut rest = new.iter().filter(|i| !in_hook(i.bci)).peekable();
    for i in &old {
        let moved = rest.next().expect("every instruction is still there");
        assert_eq!(map.original(RewrittenBci(moved.bci)), OriginalBci(i.bci));
        assert!(same_instruction(i, moved), "{i:?} became {moved:?}");
        // A conditional branch that grew has become two instructions.
        if moved.opcode != i.opcode && moved.length == 3 {
            rest.next();
        }
    }
    assert!(rest.next().is_none());

    // Hooks map to the instruction behind them.
    for w in &windows {
        let there = old
            .iter()
            .find(|i| i.bci == map.original(w.start).0)
            .expect("an instruction");
        for bci in w.start.0..w.end.0 {
            assert_eq!(map.original(RewrittenBci(bci)).0, there.bci);
        }
        assert_eq!(
            new.iter().find(|i| i.bci == w.call.0).map(|i| i.opcode),
            Some(Opcode::Invokestatic),
            "the call of a hook"
        );
    }

    // Original BCIs never decrease, except in the catch-alls at the end.
    let mut last = 0;
    for i in &new {
        let original = map.original(RewrittenBci(i.bci)).0;
        assert!(original >= last);
        last = original;
    }

    // A frame is absent only at the entry hook, at a return and at the athrow of a catch-all.
    for i in &new {
        if map.presence(RewrittenBci(i.bci)) == Presence::Absent {
            assert!(
                i.bci < windows[0].call.0 || matches!(i.opcode.flow(), Flow::Return | Flow::Throw),
                "{i:?}"
            );
        }
        if i.opcode.flow() == Flow::Return {
            assert_eq!(map.presence(RewrittenBci(i.bci)), Presence::Absent);
        }
    }

    // First come the hooks at handlers. Each leads from its call to its own rest.
    let mut is: Vec<_> = new_code.exceptions().collect();
    let caught: Vec<_> = windows
        .iter()
        .filter(|w| w.kind == HookKind::Caught)
        .collect();
    for (w, e) in caught.iter().zip(is.drain(..caught.len())) {
        assert_eq!(
            (u32::from(e.start), u32::from(e.end)),
            (w.call.0, w.call.0 + 3)
        );
        assert!(w.call.0 + 3 < u32::from(e.handler) && u32::from(e.handler) < w.end.0);
        assert_eq!(
            map.presence(RewrittenBci(e.handler.into())),
            Presence::Catching
        );
    }

    // Then comes the old table: the same instructions have the same handlers in the same order. The
    // hook at a handler does not have this handler.
    let handlers = |all: &[ExceptionEntry], bci: u32| -> Vec<_> {
        let covers = |e: &&ExceptionEntry| u32::from(e.start) <= bci && bci < u32::from(e.end);
        all.iter()
            .filter(covers)
            .map(|e| (u32::from(e.handler), e.catch_type))
            .collect()
    };
    let was: Vec<_> = old_code.exceptions().collect();
    let catch_all = windows.last().expect("a catch-all");
    assert_eq!(catch_all.kind, HookKind::Thrown);
    let is_catch_all = |e: &ExceptionEntry| u32::from(e.handler) == catch_all.start.0;
    let (catch_alls, own): (Vec<_>, Vec<_>) = is.into_iter().partition(is_catch_all);
    for i in new.iter().filter(|i| !in_hook(i.bci)) {
        let moved = handlers(&own, i.bci).into_iter();
        let moved = moved.map(|(at, ty)| (map.original(RewrittenBci(at)).0, ty));
        let before = handlers(&was, map.original(RewrittenBci(i.bci)).0);
        assert_eq!(moved.collect::<Vec<_>>(), before, "{i:?}");
    }
    for w in &caught {
        let covering = handlers(&own, w.call.0);
        assert!(covering.iter().all(|&(at, _)| at != w.start.0), "{w:?}");
    }

    // The catch-all covers the code in which the entry is certainly there. With a token, this is
    // all code from the push on.
    let keeps_token = method.growth.locals > 0;
    let is_exit = |bci: u32| {
        let exit = |w: &HookWindow| w.kind == HookKind::Exit;
        windows
            .iter()
            .any(|w| exit(w) && w.start.0 <= bci && bci < w.end.0)
    };
    for i in new.iter().filter(|i| i.bci > windows[0].call.0 + 3) {
        let is_left_open = i.bci >= catch_all.start.0
            || (!keeps_token && (is_exit(i.bci) || i.opcode.flow() == Flow::Return));
        let covering = handlers(&catch_alls, i.bci).len();
        assert_eq!(covering, usize::from(!is_left_open), "{i:?}");
    }

    // The frames have their original numbers of slots, plus `growth`.
    assert_eq!(
        new_code.max_locals,
        old_code.max_locals + method.growth.locals
    );
    assert_eq!(new_code.max_stack, old_code.max_stack + method.growth.stack);
    assert!(keeps_token || was.is_empty());
    assert!(new_code.max_stack >= 3 && method.growth.stack <= 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rewriting_keeps_every_instruction(class in generate::class(), check in any::<bool>(), tokens in any::<bool>()) {
        let file = class.bytes();
        prop_assert_eq!(identity(&file), Ok(file.clone()));
        let mut next = 0;
        let mut plan = |_: &MethodInfo<'_>| {
            next += 1;
            Choice::Hook { id: HookId(next), check, plain: false }
        };
        let r = rewrite(&file, hooks(tokens), &mut plan).expect("well-formed");
        let Some(bytes) = &r.bytes else { return Ok(()) };
        prop_assert_eq!(identity(bytes), Ok(bytes.clone()));
        let (before, after) = (ClassFile::parse(&file).expect("well-formed"), ClassFile::parse(bytes).expect("well-formed"));
        // Constants of the file keep their indices.
        for i in 1..before.pool.count() {
            prop_assert_eq!(before.pool.tag(i), after.pool.tag(i));
        }
        for m in &r.hooked {
            let (code, _) = instructions(&after, &m.name);
            prop_assert_eq!(hook_id_of(code.code), Some(m.id));
            check_method(&before, &after, m);
        }
    }

    #[test]
    fn methods_that_are_not_chosen_stay_byte_for_byte(class in generate::class(), chosen in any::<u8>(), tokens in any::<bool>()) {
        let file = class.bytes();
        let mut nth = 0;
        let mut plan = |_: &MethodInfo<'_>| {
            nth += 1;
            if chosen >> (nth % 8) & 1 == 0 { Choice::Leave } else { Choice::Hook { id: HookId(nth), check: false, plain: false } }
        };
        let r = rewrite(&file, hooks(tokens), &mut plan).expect("well-formed");
        let Some(bytes) = &r.bytes else { return Ok(()) };
        let (before, after) = (ClassFile::parse(&file).expect("well-formed"), ClassFile::parse(bytes).expect("well-formed"));
        for (was, is) in before.methods.iter().zip(&after.methods) {
            let same = file[was.start..was.end] == bytes[is.start..is.end];
            let hooked = r.hooked.iter().any(|m| m.name.as_bytes() == was.name);
            prop_assert_eq!(same, !hooked);
        }
    }
}
