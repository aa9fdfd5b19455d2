//! The shadow stack: the calls that a thread has made and that have not returned, as its steps show
//! them.
//!
//! A call pushes a return address. A return takes the address from the same slot. Generated code also
//! moves return addresses: adapters and the interpreter pop the address to a register, and push the
//! address again elsewhere or jump to it. So a call stays on the shadow stack while its return address
//! is in a register, until the thread continues at the address or in the caller's code.

use super::call::Diverted;
pub use super::call::{Call, Interpreted};
use super::replaced::Replaced;
use super::{Code, Piece, Place, Stack, WORD};
use crate::arch::{Arch, Flow, Follow, InterpretedFrame, Native};
use oracle::random::mix;

/// Where an interpreted frame has its parts.
const FRAME: InterpretedFrame = Native::INTERPRETED;

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
    diverted: Diverted,
    /// The compiled frame that interpreter frames are about to replace.
    replaced: Option<Replaced>,
    /// The compiled method that the last step has ended.
    ended: Option<Piece>,
    /// Whether the last step was a push.
    has_pushed: bool,
}

impl Shadow {
    /// No calls, with room for `capacity` calls.
    pub fn new(capacity: usize) -> Shadow {
        Shadow {
            calls: vec![Call::default(); capacity].into_boxed_slice(),
            count: 0,
            diverted: Diverted::default(),
            replaced: None,
            ended: None,
            has_pushed: false,
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
        self.diverted = Diverted::default();
        self.replaced = None;
        self.ended = None;
        self.has_pushed = false;
    }

    /// Whether the stack has a part of the interpreter frames that replace a compiled frame. The calls are not known
    /// then.
    pub fn is_replacing(&self) -> bool {
        self.replaced.is_some()
    }

    /// The compiled method that the last step has ended by a return, if steps have shown its call too.
    pub fn ended(&self) -> Option<Piece> {
        self.ended
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
        self.ended = None;
        if after.code == Code::NotFollowed {
            return Err(Lost::Code);
        }
        if let Some(replaced) = self.replaced {
            return match after.code {
                Code::Deoptimization | Code::Outside => Ok(()),
                _ => self.replace(&replaced, after, stack),
            };
        }
        if after.sp > before.sp {
            self.rise(before, after, stack)?;
        } else if before.sp.wrapping_sub(after.sp) == WORD {
            self.fall(before, after, stack)?;
        }
        self.has_pushed = before.flow == Flow::Push;
        self.arrive(before, after);
        self.enter(before, after)
    }

    /// The interpreter frames that have taken the place of a compiled frame are whole.
    fn replace(
        &mut self,
        replaced: &Replaced,
        after: &Place,
        stack: &impl Stack,
    ) -> Result<(), Lost> {
        self.replaced = None;
        let caller = self.calls[..self.count].last_mut().ok_or(Lost::Code)?;
        let depth = replaced.depth(caller, after, stack).ok_or(Lost::Code)?;
        caller.slot = replaced.slot(depth, after, stack);
        for level in (0..depth).rev() {
            self.push(replaced.call(level, after, stack))?;
        }
        Ok(())
    }

    /// The thread may have come to other code without a call, or to the entry of a method.
    fn enter(&mut self, before: &Place, after: &Place) -> Result<(), Lost> {
        let is_elsewhere = after.piece != before.piece;
        let diverted = self.diverted;
        if is_elsewhere && before.code == Code::Compiled && after.sp == before.sp {
            if after.code == Code::Poll && !before.flow.leaves() {
                // The poll has faulted, and the VM has kept its program counter.
                return self.push(Call {
                    ret: before.pc,
                    fp: before.fp,
                    code: before.code,
                    piece: before.piece,
                    ..Call::default()
                });
            }
            if after.code == Code::Exception && diverted.has_begun_at(before.pc) {
                return self.push(Call {
                    slot: 0,
                    ..diverted.call
                });
            }
        }
        let is_call = before.sp.wrapping_sub(after.sp) == WORD;
        if let Some(newest) = self.calls[..self.count].last_mut()
            && after.code == Code::Compiled
            && newest.slot == after.sp
            && (is_elsewhere || is_call)
        {
            newest.callee = after.piece;
        }
        Ok(())
    }

    /// What the interpreter does at `place`, where it would have the method that it enters in a register as
    /// `entered`.
    pub fn interpreted(&self, place: &Place, entered: usize, stack: &impl Stack) -> Interpreted {
        if place.code != Code::Interpreter {
            return Interpreted::No;
        }
        let is_own = |call: &&Call| call.is_own_of_interpreter() && call.fp == place.fp;
        let caller = self.calls().iter().rev().find(|call| !is_own(call));
        let has_frame = caller.is_some_and(|caller| caller.slot == place.fp.wrapping_add(WORD));
        if has_frame && place.sp <= place.fp.wrapping_sub(FRAME.fixed) {
            Interpreted::Whole(stack.word(place.fp.wrapping_sub(FRAME.method)))
        } else {
            Interpreted::InPart(entered)
        }
    }

    /// A word was pushed: by a call, or by another instruction.
    fn fall(&mut self, before: &Place, after: &Place, stack: &impl Stack) -> Result<(), Lost> {
        let word = stack.word(after.sp);
        let length = word.wrapping_sub(before.pc);
        let is_interpreted = before.code == Code::Interpreter;
        // The interpreter pushes the return address of an invocation before it jumps to the method. It loads the address from a
        // table, and pushes it alone (`TemplateTable::prepare_invoke`). A debug build also pushes four registers in a row
        // while it checks its profile, of which one may still have the address of an invocation that has returned
        // (`InterpreterMacroAssembler::verify_method_data_pointer`).
        let is_invoke = is_interpreted && !self.has_pushed && stack.is_invoke_return(word);
        // From JDK 26 on the thread comes to the second instruction of the handler, and jumps to the first:
        //   start: call unpack; entry: jmp start
        let unpacks = after.code == Code::Deoptimization && word == self.diverted.to;
        let is_handler =
            before.code == Code::Compiled && (unpacks || self.diverted.has_begun_at(before.pc));
        // Code of C2 that is to be deoptimised calls its next instruction, and lowers the return address to its own
        // (`HandlerImpl::emit_deopt_handler`).
        let takes_own_address = is_handler && after.pc == word && before.flow == Flow::DirectCall;
        let ret = if takes_own_address {
            self.diverted.to
        } else {
            word
        };
        if !takes_own_address
            && (!(1..=Native::LONGEST_INSTRUCTION).contains(&length) || after.pc == word)
        {
            if before.flow != Flow::Push {
                // The instruction has faulted, and the VM has let a stub call: the call is not seen.
                return if after.piece == before.piece {
                    Ok(())
                } else {
                    Err(Lost::Code)
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
            // These stubs make room for the return address, which they get elsewhere.
            if let Some(newest) = self.in_register()
                && matches!(before.code, Code::Poll | Code::Deoptimization)
            {
                newest.slot = after.sp;
                return Ok(());
            }
            // A compiled method that is to be deoptimised pushes the address at which it went on.
            if !(is_invoke || is_handler && word == self.diverted.to) {
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
        // Entries of the interpreter that call a stub have no frame: the frame pointer is that of some caller.
        let has_frame = is_invoke
            || is_interpreted
                && matches!(self.interpreted(before, 0, stack), Interpreted::Whole(_));
        let of_frame = |distance: usize| {
            if has_frame {
                stack.word(before.fp.wrapping_sub(distance))
            } else {
                0
            }
        };
        let code = if is_interpreted && !has_frame {
            Code::Stub
        } else {
            before.code
        };
        let throwing = stack.throwing();
        let throws = before.code == Code::Compiled
            && after.code == Code::Throw
            && (1..=Native::MOST_THROW).contains(&word.wrapping_sub(throwing));
        let origin = match (throws, is_handler) {
            // A handler may throw on.
            (true, _) => throwing,
            (false, true) => self.diverted.call.ret,
            (false, false) => 0,
        };
        self.push(Call {
            origin,
            throws,
            slot: after.sp,
            ret,
            fp: before.fp,
            code,
            piece: before.piece,
            is_invoke,
            method: of_frame(FRAME.method),
            bcp: of_frame(FRAME.bcp),
            ..Call::default()
        })
    }

    /// The stack pointer rose above slots: their calls have returned, or registers have the return
    /// addresses.
    fn rise(&mut self, before: &Place, after: &Place, stack: &impl Stack) -> Result<(), Lost> {
        let left = |call: &&Call| call.slot != 0 && call.slot < after.sp;
        let ended = |call: &&Call| call.slot == 0 || left(call);
        let newest = self.calls().iter().rev();
        let ended_calls = newest.take_while(ended).count();
        let first = self.count - ended_calls;
        if !self.calls()[first..].iter().any(|call| left(&call)) {
            return Ok(());
        }
        let older = first.checked_sub(1).map(|older| self.calls[older].slot);
        let oldest = &mut self.calls[first];
        let Call { slot, code, .. } = *oldest;
        let is_compiled = code == Code::Compiled;
        if before.code == Code::Deoptimization && is_compiled {
            // The compiled frame is gone.
            self.count = first;
            let caller = self.calls().last().map_or(0, |caller| caller.slot);
            let ret = stack.word(caller);
            self.replaced = Some(Replaced { ret });
            return Ok(());
        }
        let has_returned =
            slot != 0 && (after.pc == stack.word(slot) || before.code == Code::Outside);
        if has_returned && is_compiled && after.code == Code::Deoptimization {
            // A stub has let the compiled caller go on there, in whose frame an exception was thrown.
            oldest.slot = 0;
            self.count = first + 1;
            return Ok(());
        }
        // Before a call of the VM in which a virtual thread may leave its carrier, the interpreter pushes the address at which
        // the thread would go on, and the anchor has this word as the return address. The thread that stays pops it
        // (`InterpreterMacroAssembler::call_VM_preemptable_helper`):
        //
        //         lea  scratch, resume
        //         push scratch
        //         call VM
        //         pop  scratch
        //
        // So a thread that begins to step in the VM has a call here that returns nowhere.
        if !has_returned && oldest.is_own_of_interpreter() && before.code == Code::Interpreter {
            let ended = *oldest;
            self.count = first;
            return self.renew(&ended);
        }
        let is_of_method = is_compiled || code == Code::NativeWrapper;
        if is_of_method && before.code == Code::Stub && !has_returned && older == Some(after.sp) {
            // A method may not begin: the stub of its entry barrier removes its frame, and calls the code that finds the
            // method's new code, as if the caller had called that (`StubGenerator::generate_method_entry_barrier`): it
            // loads the stack pointer from the stack, and jumps to the address that lies below.
            self.count = first;
            return Ok(());
        }
        if before.code == Code::NativeWrapper && !has_returned {
            // A continuation has left the stack.
            return Err(Lost::Code);
        }
        let is_elsewhere = has_returned && is_compiled && after.pc != oldest.ret;
        if is_elsewhere && stack.is_in_stubs(oldest.piece, after.pc) {
            let (call, to) = (*oldest, after.pc);
            self.diverted = Diverted { call, to };
        }
        let is_return = has_returned && slot == before.sp && before.code == Code::Compiled;
        if is_return && oldest.callee == before.piece {
            self.ended = Some(before.piece);
        }
        let ended = *oldest;
        oldest.slot = 0;
        self.count = first + usize::from(!has_returned);
        if has_returned {
            self.renew(&ended)
        } else {
            Ok(())
        }
    }

    /// A call of the interpreter's own has `ended`. The frame may have kept its bytecode pointer since its older call, as
    /// where a template calls code of its own that calls the VM (`MacroAssembler::call_VM`).
    fn renew(&mut self, ended: &Call) -> Result<(), Lost> {
        let older = self.calls().last().copied().filter(|older| {
            [older, ended]
                .iter()
                .all(|call| call.is_own_of_interpreter())
                && older.fp == ended.fp
        });
        let Some(older) = older.filter(|older| older.bcp != ended.bcp) else {
            return Ok(());
        };
        self.count -= 1;
        self.push(Call {
            bcp: ended.bcp,
            ..older
        })
    }

    /// The thread may have arrived at the return address that a register had, or at an exception handler
    /// of the caller.
    fn arrive(&mut self, before: &Place, after: &Place) {
        let Some(newest) = self.in_register() else {
            return;
        };
        let call = *newest;
        let is_at_handler = after.piece == call.piece && before.piece != call.piece;
        if after.pc == call.ret || is_at_handler {
            self.count -= 1;
        }
        if is_at_handler {
            self.diverted = match before.code {
                // The handler itself, which is code of the method.
                Code::Exception => Diverted::default(),
                _ => Diverted { call, to: after.pc },
            };
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
