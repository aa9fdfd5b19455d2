//! The hooks of small methods, as snapshots, and the maps of these methods.

use classfile_testing::assemble::{Class, Code, V};
use classfile_testing::dump::dump;
use instrumenter::{
    Choice, Growth, HookClass, HookId, HookKind, MethodInfo, OriginalBci, Presence, Reason,
    Rewritten, RewrittenBci, Tokens, hook_id_of, rewrite,
};

fn hooks(tokens: Tokens) -> HookClass<'static> {
    let name = "java/lang/StackwitnessTrace";
    HookClass { name, tokens }
}

fn hook(file: &[u8], check: bool) -> Rewritten {
    hook_with(Tokens::Always, file, check)
}

fn hook_with(tokens: Tokens, file: &[u8], check: bool) -> Rewritten {
    let mut next = 0xABCD_0000;
    let mut all = |_: &MethodInfo<'_>| {
        next += 1;
        Choice::Hook {
            id: HookId(next),
            check,
            plain: false,
        }
    };
    rewrite(file, hooks(tokens), &mut all).expect("a class file")
}

fn hooked(class: Class, check: bool) -> (String, Rewritten) {
    let r = hook(&class.bytes(), check);
    let text = dump(r.bytes.as_deref().expect("something is hooked"));
    (text, r)
}

/// The class hooked with tokens only where needed.
fn hooked_by_id(class: Class, check: bool) -> (String, Rewritten) {
    let r = hook_with(Tokens::WhereNeeded, &class.bytes(), check);
    let text = dump(r.bytes.as_deref().expect("something is hooked"));
    (text, r)
}

fn object() -> V {
    V::Object("java/lang/Object".into())
}

#[test]
fn entry_and_exit() {
    let mut class = Class::new("T", 61);
    let mut code = Code::new(1, 1);
    code.line(7);
    code.op(26).line(8);
    code.op(172);
    class.method(8, "m", "(I)I", &code);
    insta::assert_snapshot!(hooked(class, true).0);
}

#[test]
fn entry_and_exit_by_id() {
    let mut class = Class::new("T", 61);
    let mut code = Code::new(3, 1);
    code.op(26).op(172);
    class.method(8, "m", "(I)I", &code);
    let (text, r) = hooked_by_id(class, true);
    insta::assert_snapshot!(text);
    let same_shape = Growth {
        locals: 0,
        stack: 0,
    };
    assert_eq!(r.hooked[0].growth, same_shape);
}

/// A class with methods that keep a token, and methods that do not.
fn of_both_forms() -> Class {
    let object = "java/lang/Object";
    let mut class = Class::new("T", 61);
    let constructor = |class: &mut Class, descriptor: &str, called: &str, of: &str| {
        let mut code = Code::new(3, 3);
        let called = class.pool.method(called, "<init>", of);
        code.op(42).op_u2(183, called).op(177);
        class.method(1, "<init>", descriptor, &code);
    };
    constructor(&mut class, "()V", object, "()V");
    constructor(&mut class, "(I)V", "T", "()V");
    constructor(&mut class, "(J)V", "S", "()V");
    let mut code = Code::new(3, 1);
    let start = code.here();
    code.op(0);
    let end = code.here();
    code.op(177);
    let handler = code.here();
    code.op(191);
    code.exception(start, end, handler, 0);
    code.frame(
        handler,
        vec![],
        vec![V::Object("java/lang/Throwable".into())],
    );
    class.method(8, "handles", "()V", &code);
    class.method(8, "returns", "()V", Code::new(0, 0).op(177));
    class
}

/// Which methods keep a token, and so get a local variable.
#[test]
fn tokens_are_kept_where_the_id_is_not_enough() {
    let (_, r) = hooked_by_id(of_both_forms(), false);
    let growth: Vec<_> = r
        .hooked
        .iter()
        .map(|m| (&*m.name, &*m.descriptor, m.growth.locals, m.growth.stack))
        .collect();
    assert_eq!(
        growth,
        [
            ("<init>", "()V", 0, 0),
            ("<init>", "(I)V", 1, 0),
            ("<init>", "(J)V", 1, 0),
            ("handles", "()V", 2, 0),
            ("returns", "()V", 0, 2),
        ]
    );
}

#[test]
fn plain_hooks_have_other_names_alone() {
    let file = of_both_forms().bytes();
    let text = |plain: bool| {
        let mut next = 0;
        let mut all = |_: &MethodInfo<'_>| {
            next += 1;
            Choice::Hook {
                id: HookId(next),
                check: true,
                plain,
            }
        };
        let hooked = rewrite(&file, hooks(Tokens::WhereNeeded), &mut all).expect("a class file");
        dump(&hooked.bytes.expect("something is hooked"))
    };
    let (asking, plain) = (text(false), text(true));
    assert!(!asking.contains("Plainly"));
    let calls = |name: &str| plain.matches(&format!(".{name}Plainly(")).count();
    assert_eq!(["enter", "exit", "push", "pop"].map(calls), [2, 2, 3, 3]);
    assert_eq!(plain.replace("Plainly", ""), asking);
}

#[test]
fn a_constructor_by_id_has_two_catch_alls_that_leave_returns_open() {
    let mut class = Class::new("T", 61);
    let mut code = Code::new(2, 2);
    let other = code.label();
    let object_init = class.pool.method("java/lang/Object", "<init>", "()V");
    code.op(42).op_u2(183, object_init);
    code.op(27).branch(153, other).op(177);
    code.bind(other)
        .frame(other, vec![V::Object("T".into()), V::Int], vec![]);
    code.op(0).op(177);
    class.method(1, "<init>", "(I)V", &code);
    insta::assert_snapshot!(hooked_by_id(class, false).0);
}

#[test]
fn an_empty_method_by_id_needs_no_catch_all() {
    let mut class = Class::new("T", 61);
    class.method(8, "m", "()V", Code::new(0, 0).op(177));
    insta::assert_snapshot!(hooked_by_id(class, false).0);
}

#[test]
fn handlers_are_hooked_at_their_start() {
    let mut class = Class::new("T", 61);
    let mut code = Code::new(1, 2);
    let start = code.here();
    code.op_u2(184, class.pool.method("T", "f", "()V"));
    let end = code.here();
    code.op(177);
    let handler = code.here();
    code.op(76).op(177);
    code.exception(start, end, handler, class.pool.class("java/lang/Exception"));
    code.frame(
        handler,
        vec![object()],
        vec![V::Object("java/lang/Exception".into())],
    );
    class.method(8, "m", "(Ljava/lang/Object;)V", &code);
    insta::assert_snapshot!(hooked(class, false).0);
}

#[test]
fn a_handler_that_covers_itself_does_not_cover_its_hook() {
    let mut class = Class::new("T", 61);
    let mut code = Code::new(1, 2);
    let start = code.here();
    code.op(0).op(177);
    let handler = code.here();
    code.op(76);
    let end = code.here();
    code.op(177);
    // javac writes such code for `synchronized`, with the block in the range.
    code.exception(handler, end, handler, 0);
    code.exception(start, end, handler, 0);
    let caught = V::Object("java/lang/Throwable".into());
    code.frame(handler, vec![object()], vec![caught]);
    class.method(8, "m", "(Ljava/lang/Object;)V", &code);
    insta::assert_snapshot!(hooked(class, false).0);
}

#[test]
fn a_constructor_has_two_catch_alls_and_a_gap_at_super() {
    let mut class = Class::new("T", 61);
    let mut code = Code::new(2, 2);
    let other = code.label();
    let object_init = class.pool.method("java/lang/Object", "<init>", "()V");
    // A `new Object()` among the arguments; then a branch; then super().
    code.op_u2(187, class.pool.class("java/lang/Object"))
        .op(89)
        .op_u2(183, object_init)
        .op(87);
    code.op(27).branch(153, other).raw(&[132, 1, 1]);
    code.bind(other)
        .frame(other, vec![V::UninitializedThis, V::Int], vec![]);
    code.op(42).op_u2(183, object_init).op(177);
    class.method(1, "<init>", "(I)V", &code);
    insta::assert_snapshot!(hooked(class, false).0);
}

#[test]
fn a_loop_at_entry_goes_behind_the_entry_hook() {
    let mut class = Class::new("T", 61);
    let mut code = Code::new(1, 1);
    let head = code.here();
    code.line(3);
    code.raw(&[132, 0, 0xFF]).op(26).branch(157, head).op(177);
    let end = code.here();
    code.frame(head, vec![V::Int], vec![]);
    let (name, descriptor) = (class.pool.utf8("n"), class.pool.utf8("I"));
    code.variable(head, end, name, descriptor, 0);
    class.method(8, "m", "(I)V", &code);
    insta::assert_snapshot!(hooked(class, false).0);
}

#[test]
fn a_method_that_starts_with_its_return_has_both_hooks_there() {
    let mut class = Class::new("T", 61);
    class.method(8, "m", "()V", Code::new(0, 0).op(177));
    let (text, r) = hooked(class, false);
    insta::assert_snapshot!(text);
    let map = &r.hooked[0].map;
    let kinds: Vec<_> = map.windows().map(|w| w.kind).collect();
    assert_eq!(kinds, [HookKind::Entry, HookKind::Exit, HookKind::Thrown]);
    assert_eq!(r.hooked[0].id, HookId(0xABCD_0001));
}

#[test]
fn switches_keep_their_alignment() {
    let mut class = Class::new("T", 49);
    let mut code = Code::new(1, 1);
    let (a, b, c) = (code.label(), code.label(), code.label());
    code.op(26).table_switch(-1, &[a, b], c);
    code.bind(a).op(26).lookup_switch(&[(5, b), (1000, a)], c);
    code.bind(b).op(0);
    code.bind(c).op(177);
    class.method(8, "m", "(I)V", &code);
    insta::assert_snapshot!(hooked(class, false).0);
}

#[test]
fn subroutines_of_old_classes() {
    let mut class = Class::new("T", 46);
    let mut code = Code::new(1, 2);
    let routine = code.label();
    code.branch(168, routine).op(177);
    code.bind(routine).op(76).raw(&[169, 1]);
    class.method(8, "m", "(I)V", &code);
    insta::assert_snapshot!(hooked(class, false).0);
}

#[test]
fn uninitialized_types_name_the_new_behind_its_hook() {
    let mut class = Class::new("T", 61);
    let mut code = Code::new(4, 2);
    let (other, join) = (code.label(), code.label());
    let start = code.here();
    code.op(0);
    let end = code.here();
    code.op(177);
    // A handler that starts with a `new`.
    let handler = code.here();
    let new = code.here();
    let throwable = || V::Object("java/lang/Throwable".into());
    code.exception(start, end, handler, 0);
    code.op_u2(187, class.pool.class("java/lang/Object"));
    code.op(26).branch(153, other).op(0);
    code.bind(other);
    code.op_u2(183, class.pool.method("java/lang/Object", "<init>", "()V"));
    code.bind(join).op(191);
    code.frame(handler, vec![V::Int], vec![throwable()]);
    code.frame(
        other,
        vec![V::Int],
        vec![throwable(), V::Uninitialized(new)],
    );
    class.method(8, "m", "(I)V", &code);
    insta::assert_snapshot!(hooked(class, false).0);
}

#[test]
fn many_locals_take_wide_hooks() {
    let mut class = Class::new("T", 61);
    class.method(8, "m", "()V", Code::new(0, 300).op(177));
    let (text, r) = hooked(class, true);
    insta::assert_snapshot!(text.replace("\"top\", ", ""));
    assert_eq!(r.hooked[0].map.length(), 16 + 7 + 1 + 9);
}

#[test]
fn branches_grow_when_they_must() {
    for major in [49, 61] {
        let mut class = Class::new("T", major);
        let mut code = Code::new(1, 1);
        let head = code.here();
        let mid = code.label();
        code.op(26).branch(153, mid);
        // 64 returns far apart: their hooks move the branches' targets just out of reach.
        let returns: Vec<_> = (0..64).map(|_| code.label()).collect();
        code.op(26).table_switch(0, &returns, mid);
        for r in returns {
            code.bind(r);
            code.bytes.resize(code.bytes.len() + 505, 0);
            code.op(177);
            if major > 50 {
                code.frame(r, vec![V::Int], vec![]);
            }
        }
        code.bind(mid).op(26).branch(157, head).op(177);
        if major > 50 {
            code.frame(head, vec![V::Int], vec![]);
            code.frame(mid, vec![V::Int], vec![]);
        }
        class.method(8, "m", "(I)V", &code);
        let (text, _) = hooked(class, false);
        let lines = text.lines().filter(|l| {
            ["if", "goto", "frame"].iter().any(|w| l.contains(w)) && !l.contains("same")
        });
        let text: Vec<_> = lines.collect();
        insta::assert_snapshot!(format!("branches_grow_{major}"), text.join("\n"));
    }
}

#[test]
fn maps_know_every_place() {
    let mut class = Class::new("T", 61);
    let mut code = Code::new(1, 1);
    code.op(26).op(172);
    class.method(8, "m", "(I)I", &code);
    let r = hook(&class.bytes(), false);
    let map = &r.hooked[0].map;
    // sipush, sipush, push, istore, iload, iload, pop, ireturn, dup, iload, thrown, athrow.
    let expected = [
        (0, 0, Presence::Absent),
        (3, 0, Presence::Absent),
        (6, 0, Presence::Pushing),
        (9, 0, Presence::Present),
        (10, 0, Presence::Present),
        (11, 1, Presence::Present),
        (12, 1, Presence::Popping),
        (15, 1, Presence::Absent),
        (16, 1, Presence::Catching),
        (17, 1, Presence::Catching),
        (18, 1, Presence::Unwinding),
        (21, 1, Presence::Absent),
    ];
    for (bci, original, presence) in expected {
        assert_eq!(
            map.original(RewrittenBci(bci)),
            OriginalBci(original),
            "{bci}"
        );
        assert_eq!(map.presence(RewrittenBci(bci)), presence, "{bci}");
    }
    assert_eq!(map.length(), 22);
}

#[test]
fn the_id_is_read_back_from_the_code() {
    for id in [0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000, u32::MAX] {
        for locals in [0, 3, 4, 255, 256, 65534] {
            let mut class = Class::new("T", 49);
            class.method(8, "m", "()V", Code::new(0, locals).op(177));
            let file = class.bytes();
            let mut plan = |_: &MethodInfo<'_>| Choice::Hook {
                id: HookId(id),
                check: false,
                plain: false,
            };
            let r = rewrite(&file, hooks(Tokens::Always), &mut plan).expect("a class file");
            let bytes = r.bytes.expect("hooked");
            let class = classfile::file::ClassFile::parse(&bytes).expect("a class file");
            let attribute = class.methods[0].code().expect("well-formed").expect("code");
            let code = classfile::file::Code::parse(&class, attribute).expect("code");
            assert_eq!(hook_id_of(code.code), Some(HookId(id)));
        }
    }
    assert_eq!(hook_id_of(&[177]), None);
    assert_eq!(hook_id_of(&[17, 0, 0, 17, 0, 0, 182, 0, 0, 87]), None);
}

#[test]
fn another_generation_of_a_class_has_the_outline_of_the_first() {
    let mut class = Class::new("T", 61);
    class.method(8, "m", "()V", Code::new(0, 1).op(177));
    let file = class.bytes();
    for tokens in [Tokens::Always, Tokens::WhereNeeded] {
        let generation = |first: u32| {
            let mut plan = |_: &MethodInfo<'_>| Choice::Hook {
                id: HookId(first),
                check: true,
                plain: false,
            };
            let rewritten = rewrite(&file, hooks(tokens), &mut plan).expect("a class file");
            rewritten.bytes.expect("hooked")
        };
        let (first, later) = (generation(1), generation(0x1234_5678));
        assert_ne!(first, later);
        let outline = |file| classfile::Outline::read(file).expect("a class file");
        assert_eq!(outline(&first), outline(&later));
    }
}

#[test]
fn what_cannot_be_hooked_is_left_for_a_reason() {
    let mut class = Class::new("T", 61);
    class.method(8, "locals", "()V", Code::new(0, 65535).op(177));
    // Code that cannot be followed is behind a return.
    class.method(8, "stack", "()V", Code::new(65535, 0).op(177).op(177));
    let mut long = Code::new(0, 0);
    long.bytes.resize(65534, 0);
    class.method(8, "long", "()V", long.op(177));
    class.method(1, "finalize", "()V", Code::new(0, 1).op(177));
    class.method(8, "fine", "()V", Code::new(0, 1).op(177));
    let r = hook(&class.bytes(), false);
    let left: Vec<_> = r.left.iter().map(|m| (&*m.name, m.reason)).collect();
    assert_eq!(
        left,
        [
            ("locals", Reason::NoSlotLeft),
            ("stack", Reason::NoSlotLeft),
            ("long", Reason::CodeTooLarge),
            ("finalize", Reason::EmptyFinalizer),
        ]
    );
    assert_eq!(r.hooked.len(), 1);
    insta::assert_snapshot!(
        dump(r.bytes.as_deref().expect("hooked"))
            .lines()
            .skip_while(|l| !l.starts_with("fine"))
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn nothing_chosen_means_nothing_written() {
    let mut class = Class::new("T", 61);
    class.method(8, "m", "()V", Code::new(0, 1).op(177));
    let mut none = |_: &MethodInfo<'_>| Choice::Leave;
    let r = rewrite(&class.bytes(), hooks(Tokens::WhereNeeded), &mut none).expect("a class file");
    assert_eq!((r.bytes, r.not_chosen), (None, 1));
}

#[test]
fn tables_with_code_offsets_move() {
    let mut class = Class::new("T", 61);
    let mut code = Code::new(2, 1);
    let exit = code.label();
    // 0: new, 3: dup, 4: init, 7: astore_0, 8: nop, 9: return
    code.op_u2(187, class.pool.class("java/lang/Object")).op(89);
    code.op_u2(183, class.pool.method("java/lang/Object", "<init>", "()V"))
        .op(75)
        .op(0);
    code.bind(exit).op(177);
    let annotation = class.pool.utf8("LA;").to_be_bytes();
    let [a, b] = annotation;
    let info = [
        &[0, 4][..],
        // new at 0
        &[0x44, 0, 0, 0, a, b, 0, 0],
        // a type argument of the return at 9: the instruction, not its hook
        &[0x48, 0, 9, 2, 0, a, b, 0, 0],
        // a local variable from 8 to 10
        &[0x40, 0, 1, 0, 8, 0, 2, 0, 0, 0, a, b, 0, 0],
        // an exception parameter: the index of its entry does not change
        &[0x42, 0, 0, 0, a, b, 0, 0],
    ]
    .concat();
    code.attributes
        .push((class.pool.utf8("RuntimeInvisibleTypeAnnotations"), info));
    // From 0 to 7, and 8 to 9, both inclusive.
    let ranges = [
        &[0, 2][..],
        &[0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1],
        &[0, 8, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1],
    ];
    code.attributes
        .push((class.pool.utf8("CharacterRangeTable"), ranges.concat()));
    code.attributes
        .push((class.pool.utf8("Unheard"), vec![1, 2, 3]));
    code.attributes
        .push((class.pool.utf8("StackMap"), vec![0, 0]));
    class.method(8, "m", "()V", &code);
    let (text, r) = hooked(class, false);
    insta::assert_snapshot!(text);
    assert_eq!(r.unknown_code_attributes, 1);
}

#[test]
fn the_short_code_header_of_the_first_versions() {
    let mut file = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 2, 0, 45, 0, 8];
    for text in ["T", "java/lang/Object", "m", "()V", "Code"] {
        file.extend([1, 0, text.len() as u8]);
        file.extend(text.bytes());
    }
    // Classes 6 and 7; public class 6 extends 7, one static method.
    file.extend([7, 0, 1, 7, 0, 2]);
    file.extend([0, 1, 0, 6, 0, 7, 0, 0, 0, 0, 0, 1]);
    file.extend([0, 8, 0, 3, 0, 4, 0, 1, 0, 5, 0, 0, 0, 9]);
    // Stack 1, locals 2 and length 1, in one, one and two bytes.
    file.extend([1, 2, 0, 1, 177, 0, 0, 0, 0]);
    file.extend([0, 0]);
    assert_eq!(
        classfile::identity(&file).as_ref(),
        Ok(&file),
        "written back the same"
    );
    let r = hook(&file, false);
    insta::assert_snapshot!(dump(r.bytes.as_deref().expect("hooked")));
}
