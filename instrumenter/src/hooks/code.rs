//! The code of the hooks, and how hooks are recognised in code.
//!
//! A method's hooks name its entry on the trace stack in one of two forms. With a token:
//!
//! | hook | stands | code |
//! |---|---|---|
//! | entry | at BCI 0 | `sipush hi; sipush lo; invokestatic push(II)I; istore L`, then maybe `invokestatic check()V` |
//! | exit | before every return | `iload L; invokestatic pop(I)V` |
//! | caught | at every handler of the method | `astore E; aload E; iload L; invokestatic caught(Ljava/lang/Object;I)V; aconst_null; pop; aload E` |
//! | thrown | behind the method's code, as catch-all handler | `dup; iload L; invokestatic thrown(Ljava/lang/Object;I)V; athrow` |
//!
//! By the id alone, in methods without handlers:
//!
//! | hook | stands | code |
//! |---|---|---|
//! | entry | at BCI 0 | `sipush hi; sipush lo; invokestatic enter(II)V`, then maybe `invokestatic check()V` |
//! | exit | before every return | `sipush hi; sipush lo; invokestatic exit(II)V` |
//! | thrown | behind the method's code, as catch-all handler | `sipush hi; sipush lo; invokestatic unwind(Ljava/lang/Object;II)Ljava/lang/Throwable; athrow` |
//!
//! Where the plan says so, the hooks at entry and exit are *plain*: they call `pushPlainly`, `popPlainly`, `enterPlainly`
//! and `exitPlainly`.
//!
//! `hi` and `lo` are the halves of the [`HookId`], so that a method's bytecode alone names it.
//! `L` is a local variable of the hooks' own, behind those of the method: it holds the token, the
//! depth of the trace stack before the push. `E`, the local variable behind it, there only in
//! methods with handlers, keeps the exception that a handler caught.
//!
//! # Why the id is enough
//! The newest entry with a method's id is the entry of the frame that runs the hook, if all entries
//! above are of frames that have ended, none of these frames is of the same method, and the
//! frame's own entry is there. This holds because
//!
//! * only a constructor whose call of another constructor threw ends without a hook (see
//!   `cover::constructor`), and such constructors keep a token. So no method without a token
//!   leaves an entry behind. The call of `Object.<init>` throws nothing, apart from errors of the
//!   VM;
//! * a method without a token has no handlers, and its catch-all covers neither its returns nor
//!   its exit hooks. So nothing runs after the exit hook that could ask for the entry again.
//!
//! A method with handlers keeps a token, because its handlers may cover a return. There an
//! exception may reach the handler after the exit hook (an interpreter's return throws
//! `IllegalMonitorStateException`), and in a recursion the newest entry with the method's id would
//! be the caller's.
//!
//! Errors of the VM (a `StackOverflowError` in a hook, an exception from another thread) may end
//! any frame without a hook. Then the id is not enough. `unwind` gets the exception, so that the
//! agent notices such an error.
//!
//! # Where the stack is full
//! A hook's call may need more of the thread's stack than there is, and throw a
//! `StackOverflowError` where the method alone would not.
//!
//! * At a handler, the method alone would continue, so the hooked method continues too. An
//!   exception entry of the hook's own leads from the call to the `pop`, which drops the error in
//!   place of the null. Without it, a `finally` block could be left out. Only `StackOverflowError`
//!   is dropped: an exception from another thread is thrown on. The trace stack is then as it was
//!   before the call. It may have entries above the method's own only if the `thrown` hook of a
//!   callee failed just before, and keeps them until the next hook for exceptions that does not
//!   fail.
//! * At entry, the error is the error of a method that finds no room for its frame.
//! * At a return or an exceptional exit, the method is left by the error instead. Were the error
//!   dropped, the method's entry would stay on the trace stack, unknown to its caller.

use classfile::Opcode;
use classfile::entry::HookId;
use classfile::instruction::Instructions;

/// Length of a load or store of the hooks' local variable.
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

/// BCI of the call of `push` or `enter` in the entry hook.
pub(crate) const PUSH_AT: u32 = 6;

/// How the hooks of a method name its entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// By the id alone; with `plain` hooks, which ask nothing.
    Id { id: HookId, plain: bool },
    /// By a token in the local variable `local`.
    Token { id: HookId, local: u16, plain: bool },
}

impl Form {
    /// The local variable that holds the token.
    pub(crate) fn token(self) -> Option<u16> {
        match self {
            Form::Id { .. } => None,
            Form::Token { local, .. } => Some(local),
        }
    }

    fn id(self) -> HookId {
        let (Form::Id { id, .. } | Form::Token { id, .. }) = self;
        id
    }

    /// The slots of operand stack that the exit hook takes in addition to the slots in use.
    pub(crate) fn exit_slots(self) -> u16 {
        match self {
            Form::Id { .. } => 2,
            Form::Token { .. } => 1,
        }
    }

    pub(crate) fn entry_length(self, check: bool) -> u32 {
        PUSH_AT + INVOKE + self.token().map_or(0, access_length) + if check { INVOKE } else { 0 }
    }

    /// Writes the entry hook, which calls `push`, or `enter` without a token.
    pub(crate) fn entry(self, out: &mut Vec<u8>, push: u16, check: Option<u16>) {
        push_id(out, self.id());
        invoke(out, push);
        if let Some(local) = self.token() {
            access(out, Opcode::Istore, Opcode::Istore0, local);
        }
        if let Some(check) = check {
            invoke(out, check);
        }
    }

    pub(crate) fn exit_length(self) -> u32 {
        self.name_length() + INVOKE
    }

    /// Writes the exit hook, which calls `pop`, or `exit` without a token.
    pub(crate) fn exit(self, out: &mut Vec<u8>, pop: u16) {
        self.name(out);
        invoke(out, pop);
    }

    pub(crate) fn thrown_length(self) -> u32 {
        let copy = u32::from(self.token().is_some());
        copy + self.name_length() + INVOKE + 1
    }

    /// Writes the catch-all, which calls `thrown`, or `unwind` without a token. `unwind` returns
    /// the exception, because a copy would take another slot of operand stack.
    pub(crate) fn thrown(self, out: &mut Vec<u8>, thrown: u16) {
        if self.token().is_some() {
            out.push(Opcode::Dup.byte());
        }
        self.name(out);
        invoke(out, thrown);
        out.push(Opcode::Athrow.byte());
    }

    fn name_length(self) -> u32 {
        self.token().map_or(PUSH_AT, access_length)
    }

    fn name(self, out: &mut Vec<u8>) {
        match self {
            Form::Id { id, .. } => push_id(out, id),
            Form::Token { local, .. } => access(out, Opcode::Iload, Opcode::Iload0, local),
        }
    }
}

fn push_id(out: &mut Vec<u8>, id: HookId) {
    let [a, b, c, d] = id.0.to_be_bytes();
    let sipush = Opcode::Sipush.byte();
    out.extend_from_slice(&[sipush, a, b, sipush, c, d]);
}

/// Slots of operand stack that an entry hook takes: the halves of the id.
pub(crate) const ENTRY_SLOTS: u16 = 2;

/// Slots of operand stack that a catch-all takes, the exception included.
pub(crate) const THROWN_SLOTS: u16 = 3;

/// The local variable `E`, if the hooks' local variable `L` is `local`.
fn exception_local(local: u16) -> u16 {
    local + 1
}

/// Distance from the start of the hook at a handler to its call.
pub(crate) fn caught_call_at(local: u16) -> u32 {
    2 * access_length(exception_local(local)) + access_length(local)
}

/// Distance from the start of the hook at a handler to the place where it continues if its call
/// fails.
pub(crate) fn caught_resumes_at(local: u16) -> u32 {
    caught_call_at(local) + INVOKE + 1
}

pub(crate) fn caught_length(local: u16) -> u32 {
    caught_resumes_at(local) + 1 + access_length(exception_local(local))
}

/// Writes the hook at a handler up to its call.
pub(crate) fn caught(out: &mut Vec<u8>, method: u16, local: u16) {
    let exception = exception_local(local);
    access(out, Opcode::Astore, Opcode::Astore0, exception);
    access(out, Opcode::Aload, Opcode::Aload0, exception);
    access(out, Opcode::Iload, Opcode::Iload0, local);
    invoke(out, method);
}

/// Writes the rest of the hook at a handler, which also runs if the call fails.
pub(crate) fn resume(out: &mut Vec<u8>, local: u16) {
    out.extend_from_slice(&[Opcode::AconstNull.byte(), Opcode::Pop.byte()]);
    access(out, Opcode::Aload, Opcode::Aload0, exception_local(local));
}

/// The id that the first hook in a method's bytecode names; `None` if no hook in it names any.
/// `bytecode` is the method's code array. The entry hook stands at BCI 0, unless somebody has changed
/// the code since.
///
/// Other code may have two constants and a call, too: whoever knows the method compares its
/// name with that of the hooked method.
pub fn hook_id_of(bytecode: &[u8]) -> Option<HookId> {
    let starts = Instructions::new(bytecode, 0).map_while(Result::ok);
    let mut hooks = starts.map(|instruction| hook_at(&bytecode[instruction.bci as usize..]));
    hooks.find_map(|hook| hook)
}

fn hook_at(code: &[u8]) -> Option<HookId> {
    const SIPUSH: u8 = Opcode::Sipush.byte();
    const INVOKESTATIC: u8 = Opcode::Invokestatic.byte();
    let [SIPUSH, a, b, SIPUSH, c, d, INVOKESTATIC, _, _, _] = *code.first_chunk::<10>()? else {
        return None;
    };
    Some(HookId(u32::from_be_bytes([a, b, c, d])))
}
