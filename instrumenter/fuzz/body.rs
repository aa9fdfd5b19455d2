//! Properties that hold for arbitrary bytes. The fuzz target and a stable test share them.

use classfile::identity;
use instrumenter::{Choice, CodeMap, HookClass, HookId, MethodInfo, Presence, Rewritten};
use instrumenter::{RewrittenBci, Tokens};
use instrumenter::{hook_id_of, rewrite};

/// Hooks every method, with a check in every second method.
pub fn hook_all(class_file: &[u8], tokens: Tokens) -> Option<Rewritten> {
    let name = "java/lang/StackwitnessTrace";
    let mut next = 0;
    let mut all = |_: &MethodInfo<'_>| {
        next += 1;
        Choice::Hook {
            id: HookId(next),
            check: next % 2 == 0,
            plain: false,
        }
    };
    rewrite(class_file, HookClass { name, tokens }, &mut all).ok()
}

/// Panics if a property does not hold.
pub fn check(data: &[u8]) {
    // A file that can be read is written back with the same bytes.
    let original = identity(data);
    if let Ok(same) = &original {
        assert_eq!(same, data);
    }
    let _ = hook_id_of(data);
    for tokens in [Tokens::Always, Tokens::WhereNeeded] {
        check_rewritten(data, original.is_ok(), tokens);
    }
}

fn check_rewritten(data: &[u8], is_well_formed: bool, tokens: Tokens) {
    let Some(r) = hook_all(data, tokens) else {
        return;
    };
    assert_eq!(r.bytes.is_some(), !r.hooked.is_empty());
    for m in &r.hooked {
        check_map(&m.map);
    }
    let Some(bytes) = r.bytes else { return };
    // A byte of code grows to a few bytes; a byte of frames grows up to the limit.
    assert!(
        bytes.len() <= 100 * data.len() + (1 << 20),
        "{} bytes from {}",
        bytes.len(),
        data.len()
    );
    // The result can be read, and hooked a second time. (A method that was left is not read whole:
    // it may be malformed, and the added constants may complete what makes it malformed.)
    if is_well_formed {
        assert_eq!(identity(&bytes).as_deref(), Ok(&bytes[..]));
    }
    if is_well_formed && r.left.is_empty() {
        let again = hook_all(&bytes, tokens).expect("what was written is well-formed");
        assert_eq!(
            again.hooked.len() + again.left.len(),
            r.hooked.len() + r.left.len()
        );
    }
}

/// Properties that hold for every map.
pub fn check_map(map: &CodeMap) {
    let mut end = 0;
    for w in map.windows() {
        assert!(end <= w.start.0 && w.start < w.end && w.end.0 <= map.length());
        assert!(w.start <= w.call && w.call < w.end);
        end = w.end.0;
    }
    assert_eq!(map.presence(RewrittenBci(0)), Presence::Absent);
    assert_eq!(map.original(RewrittenBci(0)).0, 0);
}
