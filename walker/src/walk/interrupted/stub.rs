//! Stubs, interrupted at any instruction. Their blobs say little about their frames.

use crate::c_frames::CFrame;
use crate::layout::code_cache::{Blob, Kind};
use crate::walk::frame::{Failure, FrameKind};
use crate::walk::frame_at;
use crate::walk::interrupted::Exit;
use crate::walk::return_address::{
    calls_into, is_behind_call, is_behind_indirect_call, is_leaf_call,
};
use crate::walk::{BelowC, Place, Position, Step, Walk, Yield};
use hotspot::arch::NativeRegisters as Registers;
use hotspot::arch::{Calls, Effect, Follow, Landings, Native};
use hotspot::memory::Memory;
use std::ops::RangeInclusive;

const WORD: usize = size_of::<usize>();

/// A limit that no stub reaches from any of its instructions to its return.
const STEPS: usize = 512;

impl Walk<'_> {
    /// The stub of a virtual or interface call: it has no frame.
    pub(super) fn interrupted_vtable_stub(
        &self,
        place: Place,
        registers: &Registers,
    ) -> Result<Step, Failure> {
        let caller = self.unframed(place, registers).ok_or(Failure::Top)?;
        Ok(Step {
            frame: Yield::Frame(frame_at(place, FrameKind::Stub, -1)),
            next: self.caller(place.sp, caller)?,
        })
    }

    /// A stub whose blob says little about its frame.
    pub(super) fn interrupted_stub(
        &self,
        blob: &Blob,
        place: Place,
        registers: &Registers,
    ) -> Result<Step, Failure> {
        let frame = Yield::Frame(frame_at(place, FrameKind::Stub, -1));
        let call_stub = &self.vm.call_stub;
        if let Some(wrapper) = call_stub.wrapper(&self.memory, place.pc, registers) {
            if !self.is_on_stack(wrapper) {
                return Err(Failure::Top);
            }
            let anchor = self.vm.call_stub.wrapped_anchor(&self.memory, wrapper);
            let next = self.anchored(anchor)?;
            return Ok(Step { frame, next });
        }
        if let Some(next) = self.polled(blob, place, registers) {
            return Ok(Step { frame, next });
        }
        if let Some(next) = self.linked(blob, place) {
            return Ok(Step { frame, next });
        }
        let exit = match blob.kind {
            Kind::Adapter => self.exit_of_adapter(place, registers),
            _ => self.exit(place, registers, STEPS, Calls::Return),
        };
        if let Some(exit) = exit {
            let below = match blob.kind {
                // The adapter may have popped the return address, and the argument behind, which the interpreter's
                // stack pointer is below.
                Kind::Adapter => place.sp.wrapping_sub(2 * WORD),
                _ => place.sp,
            };
            if let Some(next) = self.behind_stub(blob.kind, below, exit.pc, exit.registers) {
                return Ok(Step { frame, next });
            }
            if let Some(next) = self.called_by_c(place.sp, &exit) {
                return Ok(Step { frame, next });
            }
        }
        let next = self.by_calls(blob, place, registers).ok_or(Failure::Top)?;
        Ok(Step { frame, next })
    }

    /// The position at the C function of the VM that has called a stub.
    fn called_by_c(&self, below: usize, exit: &Exit) -> Option<Position> {
        let in_c = CFrame {
            pc: exit.pc,
            registers: exit.registers,
            is_at_call: true,
        };
        let is_c = !self.vm.code_cache.contains(exit.pc);
        (is_c && self.is_caller_sp(exit.sp, below)).then_some(Position::C(in_c, BelowC::Generated))
    }

    /// The position at the poll that has faulted, while the thread has its program counter and the stub's frame does not have
    /// it yet.
    fn polled(&self, blob: &Blob, place: Place, registers: &Registers) -> Option<Position> {
        /// The stub saves the frame pointer with its first instructions.
        const LINKS_IN: usize = 8;
        if blob.kind != Kind::Safepoint {
            return None;
        }
        let kept_at = Native::poll_kept_in_thread(&self.memory, blob.code, place.pc)?;
        let thread = registers.get(Native::THREAD)?;
        let pc = self.word(thread.wrapping_add_signed(kept_at as isize))?;
        let depth = Native::follow(&self.memory, blob.code, place.pc, LINKS_IN);
        let caller = match depth.filter(|depth| !depth.has_own_fp) {
            Some(depth) => Place {
                pc,
                sp: place.sp.wrapping_add_signed(depth.bytes),
                fp: place.fp,
            },
            None => Place {
                pc,
                sp: place.fp.wrapping_add(2 * WORD),
                fp: self.word(place.fp)?,
            },
        };
        self.behind_frame(blob.kind, place.sp, caller)
    }

    /// The poll that ends at `pc`. When the thread has waited for the end of the safepoint, the stub returns behind the poll.
    fn poll_before(&self, pc: usize) -> Option<usize> {
        /// The poll reads a word at the address in a register, or at a distance from the program counter.
        const LENGTHS: RangeInclusive<usize> = 2..=6;
        let mut before = LENGTHS.map(|length| pc.wrapping_sub(length));
        before.find(|&at| {
            let instruction = Native::decode(&self.memory.code(at));
            let ends_here = instruction.is_some_and(|poll| at.wrapping_add(poll.length) == pc);
            ends_here && self.is_return(at)
        })
    }

    /// The position at the caller of a stub that links its frame to the caller's frame: up to the instructions that do so,
    /// and where its frame is complete. Only where calls push the return address: elsewhere the simulation shows it.
    pub(super) fn linked(&self, blob: &Blob, place: Place) -> Option<Position> {
        /// The stub may have aligned its stack pointer.
        const ALIGNMENT: usize = 16;
        if Native::LINK.is_some() {
            return None;
        }
        let Place { pc, sp, fp } = place;
        let size = blob.frame_words?.checked_sub(2)?.wrapping_mul(WORD);
        let unlinked = self.link_of(blob, pc).and_then(|link| {
            if pc == link && pc == blob.code {
                Some(sp)
            } else if pc <= link {
                // The stub may have pushed something else.
                Some(sp).filter(|&top| self.word(top).is_some_and(|word| self.is_return(word)))
            } else {
                (pc == link + 1).then(|| sp.wrapping_add(WORD))
            }
        });
        let (slot, caller_fp) = match unlinked {
            Some(slot) => (slot, fp),
            None if fp.wrapping_sub(sp).wrapping_sub(size) < ALIGNMENT
                && !self.has_unlinked(pc) =>
            {
                (fp.wrapping_add(WORD), self.word(fp)?)
            }
            None => return None,
        };
        let caller = Place {
            pc: self.word(slot)?,
            sp: slot.wrapping_add(WORD),
            fp: caller_fp,
        };
        self.behind_frame(blob.kind, sp, caller)
    }

    /// Whether a stub has removed its frame: it returns, or jumps to an address in a register, as to the method that it has
    /// found (`wrong_method_blob`), or to what it pops. The frame pointer is the caller's, at any distance.
    fn has_unlinked(&self, pc: usize) -> bool {
        let at = |pc| Native::decode(&self.memory.code(pc));
        let Some(first) = at(pc) else {
            return false;
        };
        match first.effect {
            Effect::Return | Effect::JumpRegister(_) => true,
            Effect::Pop(Some(popped)) => {
                let next = at(pc.wrapping_add(first.length));
                next.is_some_and(|next| next.effect == Effect::JumpRegister(popped))
            }
            _ => false,
        }
    }

    /// The address of the first instructions with which a stub links its frame, where `pc` may be before their end.
    /// `register_finalizer` of C1 looks at the class before. A stub without them runs with the frame of the stub that has
    /// jumped to it.
    fn link_of(&self, blob: &Blob, pc: usize) -> Option<usize> {
        /// No stub does more before.
        const WITHIN: usize = 256;
        const PIECE: usize = 16;
        /// The instructions that link a frame are no longer than this.
        const LONGEST: usize = 4;
        if pc.wrapping_sub(blob.code) > WITHIN {
            return None;
        }
        let end = blob.end.min(blob.code.saturating_add(WITHIN));
        let pieces = (blob.code..end).step_by(PIECE - LONGEST + 1);
        let mut found = pieces.filter_map(|piece| {
            let code: [u8; PIECE] = self.memory.code(piece);
            let mut places = 0..=PIECE - LONGEST;
            let at = places.find(|&at| Native::link_length(&code[at..]).is_some());
            at.map(|at| piece + at)
        });
        found.next()
    }

    /// Where an adapter leads to. An adapter to the interpreter keeps the caller's stack pointer in a register, before it
    /// pushes arguments. Until then the register may have any value (`SharedRuntime::gen_i2c_adapter`, `gen_c2i_adapter`).
    fn exit_of_adapter(&self, place: Place, registers: &Registers) -> Option<Exit> {
        let kept_in = Native::SENDER_SP;
        let keeping = Native::exit_writing(&self.memory, place.pc, registers, STEPS, self, kept_in);
        if let Some(mut exit) = keeping {
            let sp = exit.registers.get(kept_in);
            exit.registers.set(Native::SP, sp);
            return Some(exit);
        }
        let mut exit = self.exit(place, registers, STEPS, Calls::Return)?;
        if self.misses(place.pc) {
            return Some(exit);
        }
        let sp = self.sender_sp(&exit, registers.get(Native::SENDER_SP));
        exit.registers.set(Native::SP, Some(sp));
        Some(exit)
    }

    /// Whether an adapter jumps to a stub at `pc`, because the receiver is of another class: it has not pushed anything, and
    /// the register has an old value still.
    fn misses(&self, pc: usize) -> bool {
        let Some(instruction) = Native::decode(&self.memory.code(pc)) else {
            return false;
        };
        let Effect::Jump(distance) = instruction.effect else {
            return false;
        };
        let target = pc
            .wrapping_add(instruction.length)
            .wrapping_add_signed(distance as isize);
        let callee = self.vm.code_cache.blob(&self.memory, target);
        callee.is_some_and(|callee| callee.kind == Kind::Stub)
    }

    /// The stack pointer of the caller of an adapter. This adapter, or an earlier adapter, may have pushed
    /// arguments for the interpreter, and kept the caller's stack pointer in a register. Where that has another value
    /// still, no argument was pushed. The right stack pointer is the one above which the caller's own return
    /// address follows.
    fn sender_sp(&self, exit: &Exit, in_register: Option<usize>) -> usize {
        /// The JVM passes at most 255 words (JVMS 4.3.3); some words align the stack.
        const MOST_WORDS: usize = 260;
        let caller = self.vm.code_cache.blob(&self.memory, exit.pc);
        let Some(words) = caller.and_then(|blob| blob.frame_words) else {
            // The interpreter always passes the caller's stack pointer in the register.
            return in_register
                .filter(|&sp| self.is_on_stack(sp))
                .unwrap_or(exit.sp);
        };
        let fits = |sp: &usize| {
            let end = sp.wrapping_add(words.wrapping_mul(WORD));
            self.is_on_stack(*sp)
                && self
                    .word(end.wrapping_sub(WORD))
                    .is_some_and(|word| self.is_return(word))
        };
        let behind = exit.sp..=exit.sp.saturating_add(MOST_WORDS * WORD);
        let kept = in_register.filter(|sp| behind.contains(sp));
        let mut candidates = [kept, Some(exit.sp)].into_iter().flatten();
        candidates.find(fits).unwrap_or(exit.sp)
    }

    /// The position behind the call that led into the stub. The return address is where the size of
    /// the stub's frame says, on top of the stack, or above the frame pointer. The target of the
    /// call must be this stub, or must be unknown.
    fn by_calls(&self, blob: &Blob, place: Place, registers: &Registers) -> Option<Position> {
        // Words of the stack prove nothing where calls do not push the return address.
        if Native::LINK.is_some() {
            return None;
        }
        let sized = blob.frame_words.map(|words| {
            place
                .sp
                .wrapping_add(words.wrapping_sub(1).wrapping_mul(WORD))
        });
        let linked = Some(place.fp.wrapping_add(WORD)).filter(|&slot| slot > place.sp);
        let slots = [sized, Some(place.sp), linked];
        let position = |slot: usize| {
            let mut registers = *registers;
            if slot != place.sp {
                registers.set(Native::FP, self.word(slot.wrapping_sub(WORD)));
            }
            registers.set(Native::SP, Some(slot.wrapping_add(WORD)));
            self.behind_stub(blob.kind, place.sp, self.word(slot)?, registers)
        };
        let find = |leads_here: &dyn Fn(usize) -> bool| {
            let slots = slots.into_iter().flatten();
            let mut called = slots
                .filter(|&slot| self.is_on_stack(slot) && self.word(slot).is_some_and(leads_here));
            called.find_map(position)
        };
        find(&|pc| calls_into(&self.memory, blob, pc))
            .or_else(|| find(&|pc| is_behind_indirect_call(&self.memory, pc)))
    }

    /// As [`Walk::behind_stub`], where of the caller's registers no others are known.
    pub(in crate::walk) fn behind_frame(
        &self,
        stub: Kind,
        below: usize,
        caller: Place,
    ) -> Option<Position> {
        let mut registers = Registers::UNKNOWN;
        registers.set(Native::SP, Some(caller.sp));
        registers.set(Native::FP, Some(caller.fp));
        self.behind_stub(stub, below, caller.pc, registers)
    }

    /// The position at the caller of a stub, if `pc` is behind a call: Java code is at a call
    /// there, or called the stub at another instruction.
    fn behind_stub(
        &self,
        stub: Kind,
        below: usize,
        pc: usize,
        mut registers: Registers,
    ) -> Option<Position> {
        let sp = registers.get(Native::SP)?;
        // A stub that has popped the return address has the caller's stack pointer.
        if sp < below || !self.is_on_stack(sp) {
            return None;
        }
        let blob = self.vm.code_cache.blob(&self.memory, pc)?;
        // A poll is no call: the bytes before it may be those of any instruction.
        let may_be_call = matches!(blob.kind, Kind::Compiled(_)) && stub != Kind::Safepoint;
        let is_leaf_call = may_be_call && is_leaf_call(self.vm, &self.memory, pc);
        if self.is_return(pc) && !is_leaf_call {
            let fp = registers.get(Native::FP)?;
            return Some(Position::Call(Place { pc, sp, fp }));
        }
        if stub == Kind::Safepoint
            && let Some(pc) = self.poll_before(pc)
        {
            let fp = registers.get(Native::FP)?;
            return Some(Position::Call(Place { pc, sp, fp }));
        }
        if let Some(origin) = self.thrown_at.filter(|&origin| self.goes_on_at(pc, origin))
            && !(is_leaf_call && stub == Kind::Routine)
        {
            // The stub returns to a handler of the exception.
            let fp = registers.get(Native::FP)?;
            return Some(Position::Call(Place { pc: origin, sp, fp }));
        }
        if blob.kind == Kind::Interpreter {
            // A method whose entry calls a stub gets no frame. A frame has its own bytecode pointer at a call, and an entry
            // has the caller's stack pointer in the same register.
            registers.set(Native::METHOD, None);
            let codelet = self.vm.interpreter.codelet(pc);
            if !codelet.is_some_and(|codelet| codelet.enters(pc) == Ok(true)) {
                registers.set(Native::BCP, None);
            }
        }
        is_behind_call(&self.memory, pc).then_some(Position::Called(pc, registers))
    }
}
