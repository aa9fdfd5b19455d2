//! What hooks in Java do with the words of a trace stack.

use crate::truth::trace_stack::TraceStack;

/// The words before the entries at this address: depth, gate, mask, and the differences of ids.
pub fn words(entries: usize) -> *mut [u32; 4] {
    (entries - 24) as *mut [u32; 4]
}

/// The entry at `index`, as hooks find it.
fn entry(stack: &TraceStack, index: u32) -> *mut [u32; 2] {
    // SAFETY: the words before the entries, as the hook class uses them; one thread has the stack.
    let mask = unsafe { (*words(stack.entries_address()))[2] };
    let at = stack.entries_address() + (index & mask) as usize * 8;
    at as *mut [u32; 2]
}

/// What an exact hook does: a push, or the pop of the newest entry. False if the hook may not.
pub fn in_java(stack: &TraceStack, push: bool) -> bool {
    let words = words(stack.entries_address());
    // SAFETY: as in `entry`.
    unsafe {
        let [depth, gate, ..] = *words;
        if gate == 0 {
            return false;
        }
        if push {
            let entry = entry(stack, depth);
            *entry = [7, (*entry.sub(1))[1]];
        }
        (*words)[1] = gate - 1;
        (*words)[0] = if push { depth + 1 } else { depth - 1 };
    }
    true
}

/// What `enterPlainly` does.
pub fn enter_plainly(stack: &TraceStack, hook: u32) {
    let words = words(stack.entries_address());
    // SAFETY: as in `entry`.
    unsafe {
        let depth = (*words)[0];
        let entry = entry(stack, depth);
        *entry = [hook, (*entry.sub(1))[1]];
        (*words)[0] = depth.wrapping_add(1);
    }
}

/// What `exitPlainly` does.
pub fn exit_plainly(stack: &TraceStack, hook: u32) {
    let words = words(stack.entries_address());
    // SAFETY: as in `entry`.
    unsafe {
        let newest = (*words)[0].wrapping_sub(1);
        (*words)[3] |= (*entry(stack, newest))[0] ^ hook;
        (*words)[0] = newest;
    }
}

/// What `pushPlainly` does.
pub fn push_plainly(stack: &TraceStack, hook: u32) -> u32 {
    enter_plainly(stack, hook);
    stack.depth() - 1
}

/// What `popPlainly` does.
pub fn pop_plainly(stack: &TraceStack, token: u32) {
    let words = words(stack.entries_address());
    // SAFETY: as in `entry`.
    unsafe {
        (*words)[3] |= (*words)[0] ^ (token + 1);
        (*words)[0] = token;
    }
}
