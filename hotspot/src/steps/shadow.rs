//! The shadow stack: the calls that a thread has made and that have not returned, as its steps show
//! them.
//!
//! A call pushes a return address. A return takes the address from the same slot. Generated code also
//! moves return addresses: adapters and the interpreter pop the address to a register, and push the
//! address again elsewhere or jump to it. So a call stays on the shadow stack while its return address
//! is in a register, until the thread continues at the address or in the caller's code.

use super::{Code, Piece, Place, Stack, WORD};
use crate::unwind::interpreted::{BCP, METHOD};
use oracle::random::mix;

/// The size of the part of an interpreter frame that all methods have, in bytes below the frame pointer
/// (`interpreter_frame_initial_sp_offset` in `frame_x86.hpp`).
const FIXED: usize = 9 * WORD;

/// The stub in which compiled code begins to handle an exception is no longer than this. It calls the code that looks for the
/// handler (`LIR_Assembler::emit_exception_handler`).
const HANDLER_STUB: usize = 32;

/// What is known of the interpreter at an instant.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub enum Interpreted {
    /// The frame at the frame pointer is whole. Its method.
    Whole(usize),
    /// A frame is being built, or was removed. The content of the register that has the method where a
    /// frame is being built.
    InPart(usize),
    /// The program counter is not in the interpreter.
    #[default]
    No,
}

/// A call that has not returned.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Call {
    /// The address at which the return address lies; 0 while a register has the return address.
    pub slot: usize,
    /// The return address.
    pub ret: usize,
    /// The frame pointer at the call.
    pub fp: usize,
    /// The caller's code.
    pub code: Code,
    /// The caller's code.
    pub piece: Piece,
    /// Whether interpreted code has called a Java method. Other calls of the interpreter are its own.
    pub is_invoke: bool,
    /// Of a compiled caller that has just begun to handle an exception: the return address of the callee that threw; 0
    /// otherwise.
    pub origin: usize,
    /// Of an interpreted caller: the VM's address of the method.
    pub method: usize,
    /// Of an interpreted caller: the bytecode pointer.
    pub bcp: usize,
    /// Whether an older call was made by the same interpreter frame, which has called the VM meanwhile.
    pub is_of_same_frame: bool,
    /// A number for this call alone, without its address on the stack.
    pub own_hash: u64,
    /// A number for this call and all older calls, without their addresses on the stack.
    pub hash: u64,
}

impl Call {
    /// Whether Java frames stand for the caller.
    pub fn has_frames(&self) -> bool {
        matches!(
            self.code,
            Code::Compiled | Code::Interpreter | Code::NativeWrapper
        )
    }
}

/// Why the shadow stack cannot follow a step.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Lost {
    /// The code at the program counter is not followed.
    Code,
    /// The stack has more calls than fit.
    TooDeep,
}

/// The calls, the oldest first. The memory is made once: nothing allocates later.
pub struct Shadow {
    calls: Box<[Call]>,
    count: usize,
    thrown: Thrown,
}

/// An exception that has ended a callee of compiled code.
#[derive(Copy, Clone, Debug, Default)]
struct Thrown {
    /// The return address of the callee.
    origin: usize,
    /// Where its caller began to handle the exception.
    handler: usize,
}

impl Shadow {
    /// No calls, with room for `capacity` calls.
    pub fn new(capacity: usize) -> Shadow {
        Shadow {
            calls: vec![Call::default(); capacity].into_boxed_slice(),
            count: 0,
            thrown: Thrown::default(),
        }
    }

    /// The calls, the oldest first.
    pub fn calls(&self) -> &[Call] {
        &self.calls[..self.count]
    }

    /// A number for all calls, without their addresses on the stack.
    pub fn hash(&self) -> u64 {
        self.calls().last().map_or(0, |call| call.hash)
    }

    /// Forgets all calls.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a call.
    pub fn push(&mut self, mut call: Call) -> Result<(), Lost> {
        let before = self.hash();
        let last_with_frames = self.calls().iter().rev().find(|call| call.has_frames());
        let is_interpreted = |call: &Call| call.code == Code::Interpreter;
        call.is_of_same_frame = is_interpreted(&call)
            && last_with_frames.is_some_and(|last| is_interpreted(last) && last.fp == call.fp);
        let place = self.calls.get_mut(self.count).ok_or(Lost::TooDeep)?;
        let words = [
            call.ret,
            call.method,
            call.bcp,
            call.piece.blob + usize::from(call.is_of_same_frame),
            call.piece.id as usize,
            call.origin,
        ];
        call.own_hash = words.iter().fold(0, |hash, &word| mixed(hash, word as u64));
        call.hash = mixed(before, call.own_hash);
        *place = call;
        self.count += 1;
        Ok(())
    }

    /// One instruction has brought the thread from `before` to `after`, at least one of which is in the
    /// code cache.
    pub fn step(&mut self, before: &Place, after: &Place, stack: &impl Stack) -> Result<(), Lost> {
        if after.sp > before.sp {
            self.rise(before, after, stack);
        } else if before.sp.wrapping_sub(after.sp) == WORD {
            self.fall(before, after, stack)?;
        }
        self.arrive(before, after);
        match after.code {
            Code::NotFollowed => Err(Lost::Code),
            _ => Ok(()),
        }
    }

    /// What the interpreter does at `place`, where it would have the method that it enters in a register as
    /// `entered`.
    pub fn interpreted(&self, place: &Place, entered: usize, stack: &impl Stack) -> Interpreted {
        if place.code != Code::Interpreter {
            return Interpreted::No;
        }
        let is_own =
            |call: &&Call| call.code == Code::Interpreter && call.fp == place.fp && !call.is_invoke;
        let caller = self.calls().iter().rev().find(|call| !is_own(call));
        let has_frame = caller.is_some_and(|caller| caller.slot == place.fp.wrapping_add(WORD));
        if has_frame && place.sp <= place.fp.wrapping_sub(FIXED) {
            Interpreted::Whole(stack.word(place.fp.wrapping_sub(METHOD)))
        } else {
            Interpreted::InPart(entered)
        }
    }

    /// A word was pushed: by a call, or by another instruction.
    fn fall(&mut self, before: &Place, after: &Place, stack: &impl Stack) -> Result<(), Lost> {
        let word = stack.word(after.sp);
        let length = word.wrapping_sub(before.pc);
        let is_interpreted = before.code == Code::Interpreter;
        // The interpreter pushes the return address of an invocation before it jumps to the method.
        let is_invoke = is_interpreted && stack.is_invoke_return(word);
        if !(1..=15).contains(&length) || after.pc == word {
            if !before.pushes() {
                // The instruction has faulted, and the VM has let a stub call: the call is not seen.
                return match after.piece == before.piece {
                    true => Ok(()),
                    false => Err(Lost::Code),
                };
            }
            // Adapters push the return address again; some leave the first copy where it is.
            if let Some(newest) = self.calls[..self.count].last_mut()
                && newest.ret == word
                && (newest.slot == 0 || before.code == Code::Stub)
            {
                newest.slot = after.sp;
                return Ok(());
            }
            if !is_invoke {
                return Ok(());
            }
        }
        // An exception has ended the callee of this interpreted frame, which calls again.
        if let Some(&mut newest) = self.in_register()
            && is_interpreted
            && newest.code == Code::Interpreter
            && newest.fp == before.fp
        {
            self.count -= 1;
        }
        let of_frame = |distance: usize| match is_interpreted {
            true => stack.word(before.fp.wrapping_sub(distance)),
            false => 0,
        };
        let Thrown { origin, handler } = self.thrown;
        let is_handler = before.pc.wrapping_sub(handler) < HANDLER_STUB;
        self.push(Call {
            origin: if is_handler { origin } else { 0 },
            slot: after.sp,
            ret: word,
            fp: before.fp,
            code: before.code,
            piece: before.piece,
            is_invoke,
            method: of_frame(METHOD),
            bcp: of_frame(BCP),
            ..Call::default()
        })
    }

    /// The stack pointer rose above slots: their calls have returned, or registers have the return
    /// addresses.
    fn rise(&mut self, before: &Place, after: &Place, stack: &impl Stack) {
        let left = |call: &&Call| call.slot != 0 && call.slot < after.sp;
        let ended = |call: &&Call| call.slot == 0 || left(call);
        let newest = self.calls().iter().rev();
        let ended_calls = newest.take_while(ended).count();
        let first = self.count - ended_calls;
        if !self.calls()[first..].iter().any(|call| left(&call)) {
            return;
        }
        let oldest = &mut self.calls[first];
        let has_returned = oldest.slot != 0
            && (after.pc == stack.word(oldest.slot) || before.code == Code::Outside);
        oldest.slot = 0;
        self.count = first + usize::from(!has_returned);
    }

    /// The thread may have arrived at the return address that a register had, or at an exception handler
    /// of the caller.
    fn arrive(&mut self, before: &Place, after: &Place) {
        let Some(newest) = self.in_register() else {
            return;
        };
        let is_at_handler = after.piece == newest.piece && before.piece != newest.piece;
        let origin = newest.ret;
        if after.pc == origin || is_at_handler {
            self.count -= 1;
        }
        if is_at_handler {
            let handler = after.pc;
            self.thrown = Thrown { origin, handler };
        }
    }

    /// The newest call, if a register has its return address.
    fn in_register(&mut self) -> Option<&mut Call> {
        self.calls[..self.count]
            .last_mut()
            .filter(|newest| newest.slot == 0)
    }
}

/// Mixes a word into a hash.
pub fn mixed(hash: u64, word: u64) -> u64 {
    mix(hash ^ word)
}

#[cfg(test)]
mod tests;
