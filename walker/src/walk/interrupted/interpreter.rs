//! The interpreter, interrupted at any instruction, also before it has built a frame, and behind
//! the frame's removal.

use crate::layout::stamp::Stamped;
use crate::walk::frame::{Failure, Frame, FrameKind};
use crate::walk::frame_at;
use crate::walk::interrupted::Exit;
use crate::walk::{Place, Step, Walk, Yield};
use hotspot::arch::NativeRegisters as Registers;
use hotspot::arch::{Arch, Calls, Effect, Follow, Framing, Landings, Native, Register};
use hotspot::layout::interpreter::{Codelet, Role};
use hotspot::layout::method::Method;
use hotspot::memory::Memory;

const WORD: usize = size_of::<usize>();

impl Walk<'_> {
    /// The interpreted frame that was interrupted at `place`.
    pub(super) fn interrupted_interpreter(
        &self,
        place: Place,
        registers: &Registers,
    ) -> Result<Step, Failure> {
        /// A limit for the code from `leave` to the caller, and with a link register to where the code uses its frame.
        const STEPS: usize = if Native::LINK.is_some() { 128 } else { 32 };
        let codelet = self.vm.interpreter.codelet(place.pc).ok_or(Failure::Top)?;
        if codelet.enters(place.pc).map_err(|_| Failure::Top)? {
            return self.entering_interpreter(codelet, place, registers);
        }
        // The last slot of the part of a frame that all methods have.
        let initial_sp = place.fp.wrapping_sub(Native::INTERPRETED.fixed);
        if let Role::Entry(_) = codelet.role
            && (initial_sp.wrapping_add(WORD)..=place.fp).contains(&place.sp)
        {
            return self.building_interpreter(place, registers);
        }
        let framing = Native::exit_without_frame(&self.memory, place.pc, registers, STEPS, self);
        let framing = framing.ok_or(Failure::Top)?;
        if let Framing::Removed(exit) = framing
            && self.is_return(exit.pc)
        {
            let keeps_room =
                Native::INTERPRETER_KEEPS_ROOM && self.vm.interpreter.contains(exit.pc);
            let caller = Place {
                pc: exit.pc,
                // The stack pointer of an interpreted caller may be below the frame that was removed.
                sp: if keeps_room { place.sp } else { exit.sp },
                fp: exit.fp,
            };
            // An adapter to compiled code may have kept the place of the return address as the caller's stack pointer.
            let below = place.sp.wrapping_sub(2 * WORD);
            return Ok(Step {
                frame: Yield::Nothing,
                next: self.caller(below, caller)?,
            });
        }
        let in_register = registers.get(Native::BCP);
        let bcp = in_register.filter(|_| !Native::loads_bcp(&self.memory, place.pc));
        self.interpreted(place, bcp)
    }

    /// The interpreter before it has linked the frame of the method that a register has: another has the
    /// caller's stack pointer (`TemplateInterpreterGenerator::generate_normal_entry`).
    fn entering_interpreter(
        &self,
        codelet: &Codelet,
        place: Place,
        registers: &Registers,
    ) -> Result<Step, Failure> {
        let Place { pc, sp, fp } = place;
        // Above the return address that was popped, the caller's frame may have an old one.
        if let Some(Effect::JumpRegister(to)) =
            Native::decode(&self.memory.code(pc)).map(|it| it.effect)
            && registers.get(to).is_some_and(|to| self.is_return(to))
        {
            return self.leaving_entry(place, registers);
        }
        if let Some(link) = Native::LINK {
            return self.entering_with_link(link, codelet, place, registers);
        }
        let on_top = self.word(sp).ok_or(Failure::Torn)?;
        let below = || self.word(sp.wrapping_add(WORD)).filter(|_| on_top == fp);
        let in_register = || registers.get(Native::ENTRY_RETURN);
        let is_return = |&word: &usize| self.is_return(word);
        let (found, top) = if Native::has_popped_return(&self.memory, codelet.start(), pc) {
            (in_register().filter(is_return), sp)
        } else {
            let on_stack = Some(on_top).filter(is_return);
            let found = on_stack.or_else(|| below().filter(is_return));
            (found, sp.wrapping_add(WORD))
        };
        let Some(pc) = found else {
            return self.leaving_entry(place, registers);
        };
        let sender_sp = registers.get(Native::SENDER_SP);
        let caller = Place {
            pc,
            sp: sender_sp
                .filter(|&sender| sender >= top && self.is_on_stack(sender))
                .unwrap_or(top),
            fp,
        };
        Ok(Step {
            frame: self.entered_method(place, registers)?,
            // The caller may have no word below what was popped.
            next: self.caller(sp.wrapping_sub(WORD), caller)?,
        })
    }

    /// As [`Walk::entering_interpreter`], where the link register has the return address.
    fn entering_with_link(
        &self,
        link: Register,
        codelet: &Codelet,
        place: Place,
        registers: &Registers,
    ) -> Result<Step, Failure> {
        /// No more instructions are between the one that sets the frame pointer and the end of the link.
        const LINK_STEPS: usize = 16;
        /// Such instructions have one size.
        const INSTRUCTION: usize = Native::LONGEST_INSTRUCTION;
        let return_address = registers.get(link).map(Native::strip);
        let Some(pc) = return_address.filter(|&pc| self.is_return(pc)) else {
            return self.leaving_entry(place, registers);
        };
        let Place { sp, fp, .. } = place;
        // Before the end of the link the frame pointer is that of the new frame.
        let sets_fp = |at: usize| {
            let effect = Native::decode(&self.memory.code(at)).map(|it| it.effect);
            matches!(effect, Some(Effect::Lea(Native::FP, Native::SP, _)))
        };
        let mut before = (1..=LINK_STEPS).map(|back| place.pc.wrapping_sub(back * INSTRUCTION));
        let links = before.any(|at| at >= codelet.start() && sets_fp(at));
        let caller_sp = if self.vm.interpreter.contains(pc) {
            // Its stack pointer may be below this one. No word is found by it.
            sp
        } else {
            let sender = registers.get(Native::SENDER_SP);
            sender.filter(|&sender| sender >= sp).ok_or(Failure::Top)?
        };
        let caller = Place {
            pc,
            sp: caller_sp,
            fp: if links {
                self.word(fp).ok_or(Failure::Torn)?
            } else {
                fp
            },
        };
        Ok(Step {
            frame: self.entered_method(place, registers)?,
            next: self.caller(sp, caller)?,
        })
    }

    /// The interpreter where it leaves a method that gets no frame: the return address is in a register. Or the entry calls a
    /// stub, and has aligned the stack pointer below the return address.
    fn leaving_entry(&self, place: Place, registers: &Registers) -> Result<Step, Failure> {
        const STEPS: usize = 16;
        let leave = |calls| self.exit(place, registers, STEPS, calls);
        let mut exits = [Calls::Stop, Calls::Return].into_iter().filter_map(leave);
        let exit = exits.find(|exit| self.is_return(exit.pc));
        let Exit { pc, sp, fp, .. } = exit.ok_or(Failure::Top)?;
        Ok(Step {
            frame: Yield::Nothing,
            next: self.caller(place.sp.wrapping_sub(WORD), Place { pc, sp, fp })?,
        })
    }

    /// The interpreter while it fills in the frame that it has linked.
    fn building_interpreter(&self, place: Place, registers: &Registers) -> Result<Step, Failure> {
        let Place { sp, fp, .. } = place;
        let word = |address: usize| self.word(address).ok_or(Failure::Torn);
        let slot = fp.wrapping_sub(WORD);
        let sender_sp = if sp <= slot {
            Some(word(slot)?)
        } else {
            registers.get(Native::SENDER_SP)
        };
        let caller = Place {
            pc: word(fp.wrapping_add(WORD))?,
            sp: sender_sp.ok_or(Failure::Top)?,
            fp: word(fp)?,
        };
        Ok(Step {
            frame: self.entered_method(place, registers)?,
            next: self.caller(fp, caller)?,
        })
    }

    /// The method that the interpreter has entered, but which has no frame yet.
    fn entered_method(&self, place: Place, registers: &Registers) -> Result<Yield, Failure> {
        let method = registers.get(Native::METHOD).map(Method);
        let method = method.filter(|method| self.vm.methods.is_plausible(&self.memory, *method));
        Ok(match method {
            None => Yield::Nothing,
            Some(method) => {
                let known = self.vm.methods.known(&self.memory, method);
                let is_native = known.ok_or(Failure::Torn)?.is_native;
                let frame = Frame {
                    method: Some(Stamped::unstamped(method)),
                    ..frame_at(place, FrameKind::Native, 0)
                };
                Yield::Frame(if is_native {
                    frame
                } else {
                    Frame {
                        kind: FrameKind::Java,
                        bci: Some(0),
                        ..frame
                    }
                })
            }
        })
    }
}
