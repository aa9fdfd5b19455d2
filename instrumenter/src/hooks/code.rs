//! The code of the hooks, and how to recognise it.
//!
//! | hook | stands | code |
//! |---|---|---|
//! | entry | at BCI 0 | `sipush hi; sipush lo; invokestatic push(II)I; istore L`, then maybe `invokestatic check()V` |
//! | exit | before every return | `iload L; invokestatic pop(I)V` |
//! | caught | at every handler of the method | `astore E; aload E; iload L; invokestatic caught(Ljava/lang/Object;I)V; aconst_null; pop; aload E` |
//! | thrown | behind the method's code, as catch-all handler | `dup; iload L; invokestatic thrown(Ljava/lang/Object;I)V; athrow` |
//!
//! `hi` and `lo` are the halves of the [`HookId`], so that a method's bytecode alone names it.
//! `L` is a local variable of the hooks' own, behind those of the method: it holds the depth of
//! the trace stack before the push. `E`, the local variable behind it, there only in methods with
//! handlers, keeps the exception that a handler caught.
//!
//! # Where the stack is full
//! A hook's call may need more of the thread's stack than there is, and throw a
//! `StackOverflowError` where the method alone would not.
//!
//! * At a handler, the method would go on: so it does. An exception entry of the hook's own leads
//!   from the call to the `pop`, which drops the error in place of the null. Without it, a
//!   `finally` block could be left out. Only `StackOverflowError` is dropped: what another thread
//!   throws into this one goes its way. The trace stack is then as it was before the call. It may
//!   have entries above the method's own only if the `thrown` hook of a callee failed just before,
//!   and keeps them until the next hook for exceptions that does not fail.
//! * At entry, it is as if the method itself had found no room for its frame.
//! * At a return or an exceptional exit, the method is left by the error instead. Were it dropped,
//!   the method's entry would stay on the trace stack, unknown to its caller.

use classfile::Opcode;
use trace_entry::HookId;

/// Length of the load or store of the hooks' local variable.
fn access_length(local: u16) -> u32 {
    match local {
        0..=3 => 1,
        4..=255 => 2,
        _ => 4,
    }
}

fn access(out: &mut Vec<u8>, long: Opcode, short: Opcode, local: u16) {
    match local {
        0..=3 => out.push(short.byte() + local as u8),
        4..=255 => out.extend_from_slice(&[long.byte(), local as u8]),
        _ => {
            let [a, b] = local.to_be_bytes();
            out.extend_from_slice(&[Opcode::Wide.byte(), long.byte(), a, b]);
        }
    }
}

/// Length of a call.
pub(crate) const INVOKE: u32 = 3;

fn invoke(out: &mut Vec<u8>, method: u16) {
    let [a, b] = method.to_be_bytes();
    out.extend_from_slice(&[Opcode::Invokestatic.byte(), a, b]);
}

/// BCI of the entry hook's call of `push`.
pub(crate) const PUSH_AT: u32 = 6;

pub(crate) fn entry_length(local: u16, check: bool) -> u32 {
    PUSH_AT + INVOKE + access_length(local) + if check { INVOKE } else { 0 }
}

pub(crate) fn entry(out: &mut Vec<u8>, id: HookId, push: u16, local: u16, check: Option<u16>) {
    let [a, b, c, d] = id.0.to_be_bytes();
    let sipush = Opcode::Sipush.byte();
    out.extend_from_slice(&[sipush, a, b, sipush, c, d]);
    invoke(out, push);
    access(out, Opcode::Istore, Opcode::Istore0, local);
    if let Some(check) = check {
        invoke(out, check);
    }
}

pub(crate) fn exit_length(local: u16) -> u32 {
    access_length(local) + INVOKE
}

pub(crate) fn exit(out: &mut Vec<u8>, pop: u16, local: u16) {
    access(out, Opcode::Iload, Opcode::Iload0, local);
    invoke(out, pop);
}

/// `E`, where the hooks' local is `local`.
fn exception_local(local: u16) -> u16 {
    local + 1
}

/// From the start of the hook at a handler to its call.
pub(crate) fn caught_call_at(local: u16) -> u32 {
    2 * access_length(exception_local(local)) + access_length(local)
}

/// From the start of the hook at a handler to where it goes on if its call failed.
pub(crate) fn caught_resumes_at(local: u16) -> u32 {
    caught_call_at(local) + INVOKE + 1
}

pub(crate) fn caught_length(local: u16) -> u32 {
    caught_resumes_at(local) + 1 + access_length(exception_local(local))
}

/// The hook at a handler up to its call.
pub(crate) fn caught(out: &mut Vec<u8>, method: u16, local: u16) {
    let exception = exception_local(local);
    access(out, Opcode::Astore, Opcode::Astore0, exception);
    access(out, Opcode::Aload, Opcode::Aload0, exception);
    access(out, Opcode::Iload, Opcode::Iload0, local);
    invoke(out, method);
}

/// Its rest, where it goes on also if the call failed.
pub(crate) fn resume(out: &mut Vec<u8>, local: u16) {
    out.extend_from_slice(&[Opcode::AconstNull.byte(), Opcode::Pop.byte()]);
    access(out, Opcode::Aload, Opcode::Aload0, exception_local(local));
}

pub(crate) fn thrown_length(local: u16) -> u32 {
    1 + access_length(local) + INVOKE + 1
}

pub(crate) fn thrown(out: &mut Vec<u8>, method: u16, local: u16) {
    out.push(Opcode::Dup.byte());
    access(out, Opcode::Iload, Opcode::Iload0, local);
    invoke(out, method);
    out.push(Opcode::Athrow.byte());
}
