//! What hooks in Java do with the words of a trace stack, at the offsets that stand in the Java text.

use crate::truth::trace_stack::TraceStack;
use crate::truth::trace_stack::head::{Entry, Head};
use std::mem::offset_of;
use std::sync::LazyLock;

const LIGHT: &str =
    include_str!("../../../../../java-fixtures/java/trace/light/java/lang/StackwitnessTrace.java");
const EXACT: &str =
    include_str!("../../../../../java-fixtures/java/trace/exact/java/lang/StackwitnessTrace.java");

/// The value of a constant in the text of a class.
fn constant(java: &str, name: &str) -> i64 {
    let start = format!("private static final long {name} = ");
    let line = java
        .lines()
        .find_map(|line| line.trim().strip_prefix(&*start));
    let value = line.and_then(|line| line.strip_suffix(';')).expect(name);
    let number = |text: &str| match text.replace('_', "").trim_end_matches('L') {
        text if text.starts_with("0x") => u64::from_str_radix(&text[2..], 16).expect(name) as i64,
        text => text.parse().expect(name),
    };
    match value.split_once(" << ") {
        Some((value, by)) => number(value) << number(by),
        None => number(value),
    }
}

#[test]
fn both_classes_of_hooks_find_the_words_where_they_are() {
    let from_entries = |offset: usize| offset as i64 - size_of::<Head>() as i64;
    let depth = from_entries(offset_of!(Head, depth));
    let limit = from_entries(offset_of!(Head, limit));
    assert_eq!(constant(LIGHT, "DEPTH"), depth);
    assert_eq!(constant(LIGHT, "LIMIT"), limit);
    assert_eq!(
        constant(LIGHT, "MASK"),
        from_entries(offset_of!(Head, mask))
    );
    let mismatches = from_entries(offset_of!(Head, mismatches));
    assert_eq!(constant(LIGHT, "MISMATCHES"), mismatches);
    assert_eq!(constant(EXACT, "HEAD"), depth);
    assert_eq!(constant(EXACT, "ONE_HOOK"), 1 << (8 * (limit - depth)));
    let checked = i64::from(u32::MAX) << (8 * offset_of!(Entry, checked));
    for java in [LIGHT, EXACT] {
        assert_eq!(constant(java, "ENTRY"), size_of::<Entry>() as i64);
        assert_eq!(constant(java, "CHECKED"), checked);
    }
    assert_eq!(
        offset_of!(Entry, hook),
        0,
        "the id of an entry is its lower half"
    );
}

/// The words of a trace stack, as hooks in Java find them from the address of its entries.
#[derive(Copy, Clone)]
pub struct Words(usize);

impl Words {
    pub fn of(stack: &TraceStack) -> Words {
        Words(stack.entries_address())
    }

    /// At this address, which must be that of entries that no other thread uses.
    pub fn at(entries: usize) -> Words {
        Words(entries)
    }

    fn offset(name: &str) -> i64 {
        static OFFSETS: LazyLock<[i64; 4]> =
            LazyLock::new(|| NAMES.map(|name| constant(LIGHT, name)));
        const NAMES: [&str; 4] = ["DEPTH", "LIMIT", "MASK", "MISMATCHES"];
        OFFSETS[NAMES.iter().position(|known| *known == name).expect(name)]
    }

    fn address(self, offset: i64) -> *mut u32 {
        self.0.wrapping_add_signed(offset as isize) as *mut u32
    }

    pub fn get(self, name: &str) -> u32 {
        // SAFETY: one of the words before the entries; one thread has the stack.
        unsafe { *self.address(Words::offset(name)) }
    }

    fn set(self, name: &str, value: u32) {
        // SAFETY: as in `get`.
        unsafe { *self.address(Words::offset(name)) = value }
    }

    /// The id and the checked part of the entry at `index`, as plain hooks find it.
    fn entry(self, index: u32) -> *mut [u32; 2] {
        let index = index & self.get("MASK");
        self.address(i64::from(index) * size_of::<Entry>() as i64)
            .cast()
    }

    fn put(self, hook: u32) {
        let depth = self.get("DEPTH");
        let entry = self.entry(depth);
        // SAFETY: an entry, and the one below, which the lowest has too; one thread has the stack.
        unsafe { *entry = [hook, (*entry.sub(1))[1]] };
        self.set("DEPTH", depth.wrapping_add(1));
    }
}

/// What an exact hook does: a push, or the pop of the newest entry. False if the hook may not.
pub fn in_java(stack: &TraceStack, push: bool) -> bool {
    let words = Words::of(stack);
    let limit = words.get("LIMIT");
    if limit == 0 {
        return false;
    }
    words.set("LIMIT", limit - 1);
    if push {
        words.put(7);
    } else {
        words.set("DEPTH", words.get("DEPTH") - 1);
    }
    true
}

/// What `enterPlainly` does.
pub fn enter_plainly(stack: &TraceStack, hook: u32) {
    Words::of(stack).put(hook);
}

/// What `exitPlainly` does.
pub fn exit_plainly(stack: &TraceStack, hook: u32) {
    let words = Words::of(stack);
    let newest = words.get("DEPTH").wrapping_sub(1);
    // SAFETY: an entry; one thread has the stack.
    let found = unsafe { (*words.entry(newest))[0] };
    words.set("MISMATCHES", words.get("MISMATCHES") | found ^ hook);
    words.set("DEPTH", newest);
}

/// What `pushPlainly` does.
pub fn push_plainly(stack: &TraceStack, hook: u32) -> u32 {
    enter_plainly(stack, hook);
    stack.depth() - 1
}

/// What `popPlainly` does.
pub fn pop_plainly(stack: &TraceStack, token: u32) {
    let words = Words::of(stack);
    let difference = words.get("DEPTH") ^ (token + 1);
    words.set("MISMATCHES", words.get("MISMATCHES") | difference);
    words.set("DEPTH", token);
}
