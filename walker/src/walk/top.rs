//! Code that was interrupted at any instruction.

use crate::vm::code_cache::{Blob, Kind};
use crate::vm::interpreter::Role;
use crate::vm::method::Method;
use crate::walk::caller::frame_at;
use crate::walk::frame::{Certainty, Failure, Frame, FrameKind};
use crate::walk::return_address::{is_behind_call, is_return};
use crate::walk::{Found, Inlined, Place, Position, Step, Walk};
use hotspot::memory::Memory;
use hotspot::unwind::exit::{Calls, Exit};
use hotspot::unwind::instruction::{Effect, decode};
use hotspot::unwind::{Register, Registers, entry, exit};

const WORD: usize = size_of::<usize>();

/// How far compiled code has come with its frame.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
enum Stage {
    /// It builds the frame.
    Entering,
    /// The frame is whole.
    Whole,
    /// It removes the frame.
    Leaving,
}

impl Walk<'_> {
    /// The frame that was interrupted at `pc`.
    pub(super) fn interrupted(&self, pc: usize, registers: &Registers) -> Result<Step, Failure> {
        let sp = registers.get(Register::RSP).ok_or(Failure::Top)?;
        let place = Place {
            pc,
            sp,
            fp: registers.get(Register::RBP).unwrap_or(0),
        };
        if !self.is_on_stack(sp) {
            return Err(Failure::Top);
        }
        let Some(blob) = self.vm.code_cache.blob(&self.memory, pc) else {
            return Err(Failure::Top);
        };
        match blob.kind {
            Kind::Interpreter => self.interrupted_interpreter(place, registers),
            Kind::Compiled(nmethod) => {
                let (caller, stage) = self.caller_of_compiled(&blob, place, registers)?;
                let level = nmethod
                    .level(self.vm.code_cache.nmethods(), &self.memory)
                    .ok_or(Failure::Torn)?;
                let method = self.method_of(nmethod)?;
                let frame = Frame {
                    method: Some(method),
                    ..frame_at(place, FrameKind::Java, level)
                };
                let frame = match stage {
                    Stage::Entering => Found::Frame(Frame {
                        bci: Some(0),
                        ..frame
                    }),
                    Stage::Leaving => Found::Frame(Frame {
                        certainty: Certainty {
                            bci: false,
                            inlined: true,
                        },
                        ..frame
                    }),
                    Stage::Whole => self.record_at(&blob, frame)?,
                };
                let next = self.caller(sp, caller)?;
                Ok(Step { frame, next })
            }
            Kind::NativeWrapper(nmethod) => {
                let (caller, _) = self.caller_of_compiled(&blob, place, registers)?;
                let frame = Found::Frame(self.native(nmethod, place)?);
                let next = self.caller(sp, caller)?;
                Ok(Step { frame, next })
            }
            Kind::Deoptimization => Err(Failure::Deoptimizing),
            Kind::Upcall | Kind::Continuation | Kind::Adapter | Kind::Safepoint | Kind::Stub => {
                self.interrupted_stub(&blob, place, registers)
            }
        }
    }

    fn word(&self, address: usize) -> Option<usize> {
        self.memory.word(address)
    }

    fn is_return(&self, word: usize) -> bool {
        is_return(self.vm, &self.memory, word)
    }

    fn exit(
        &self,
        place: Place,
        registers: &Registers,
        steps: usize,
        calls: Calls,
    ) -> Option<Exit> {
        let is_return = |word| self.is_return(word);
        exit::find(&self.memory, place.pc, registers, steps, calls, is_return)
    }

    /// The frames of the debug info record at the pc of `frame`; the method alone, if there is
    /// none.
    fn record_at(&self, blob: &Blob, frame: Frame) -> Result<Found, Failure> {
        let Kind::Compiled(nmethod) = blob.kind else {
            return Err(Failure::Top);
        };
        let tables = nmethod
            .debug_tables(self.vm.code_cache.nmethods(), &self.memory)
            .ok_or(Failure::Torn)?;
        let offset = i32::try_from(frame.pc.wrapping_sub(blob.code)).map_err(|_| Failure::Top)?;
        let around = tables.around(&self.memory, offset).ok_or(Failure::Torn)?;
        let exact = around.exact(offset).filter(|record| record.scope != 0);
        Ok(match exact {
            Some(record) => Found::Record(Inlined {
                tables,
                scope: record.scope,
                frame,
            }),
            None => Found::Frame(Frame {
                certainty: Certainty::METHOD_ALONE,
                ..frame
            }),
        })
    }

    fn interrupted_interpreter(
        &self,
        place: Place,
        registers: &Registers,
    ) -> Result<Step, Failure> {
        /// Behind `leave` the way to the caller is no longer.
        const STEPS: usize = 32;
        let codelet = self.vm.interpreter.codelet(place.pc).ok_or(Failure::Top)?;
        if let Role::Entry(link) = codelet.role
            && link.is_none_or(|link| place.pc < link)
        {
            return self.entering_interpreter(place, registers);
        }
        // The last slot of the part of a frame that all methods have.
        let initial_sp = place.fp.wrapping_sub(9 * WORD);
        if let Role::Entry(_) = codelet.role
            && (initial_sp.wrapping_add(WORD)..=place.fp).contains(&place.sp)
        {
            return self.building_interpreter(place, registers);
        }
        if let Some(exit) = self.exit(place, registers, STEPS, Calls::Return)
            && !exit.left_frame
            && self.is_return(exit.pc)
        {
            let caller = Place {
                pc: exit.pc,
                sp: exit.sp,
                fp: exit.fp,
            };
            return Ok(Step {
                frame: Found::Nothing,
                next: self.caller(place.sp.wrapping_sub(WORD), caller)?,
            });
        }
        self.interpreted(place, registers.get(Register::R13))
    }

    /// The interpreter before it has linked the frame of the method in rbx: r13 is the caller's
    /// stack pointer (`TemplateInterpreterGenerator::generate_normal_entry`).
    fn entering_interpreter(&self, place: Place, registers: &Registers) -> Result<Step, Failure> {
        let Place { sp, fp, .. } = place;
        let on_top = self.word(sp).ok_or(Failure::Torn)?;
        let below = || self.word(sp.wrapping_add(WORD)).filter(|_| on_top == fp);
        let in_rax = || registers.get(Register::new(0));
        let is_return = |&word: &usize| self.is_return(word);
        let pc = Some(on_top)
            .filter(is_return)
            .or_else(|| below().filter(is_return))
            .or_else(|| in_rax().filter(is_return))
            .ok_or(Failure::Top)?;
        let sender_sp = registers.get(Register::R13);
        let caller = Place {
            pc,
            sp: sender_sp
                .filter(|&sender| sender > sp && self.is_on_stack(sender))
                .unwrap_or(sp.wrapping_add(WORD)),
            fp,
        };
        Ok(Step {
            frame: self.entered_method(place, registers)?,
            next: self.caller(sp, caller)?,
        })
    }

    /// The interpreter while it fills the frame in, which it has linked.
    fn building_interpreter(&self, place: Place, registers: &Registers) -> Result<Step, Failure> {
        let Place { sp, fp, .. } = place;
        let word = |address: usize| self.word(address).ok_or(Failure::Torn);
        let slot = fp.wrapping_sub(WORD);
        let sender_sp = if sp <= slot {
            Some(word(slot)?)
        } else {
            registers.get(Register::R13)
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

    /// The method in rbx, which the interpreter has entered, but has no frame of yet.
    fn entered_method(&self, place: Place, registers: &Registers) -> Result<Found, Failure> {
        let method = registers.get(Register::RBX).map(Method);
        let method = method.filter(|method| method.is_plausible(&self.vm.methods, &self.memory));
        Ok(match method {
            None => Found::Nothing,
            Some(method) => {
                let is_native = method
                    .is_native(&self.vm.methods, &self.memory)
                    .ok_or(Failure::Torn)?;
                let frame = Frame {
                    method: Some(method),
                    ..frame_at(place, FrameKind::Native, 0)
                };
                Found::Frame(if is_native {
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

    /// The caller of the compiled method, or the native wrapper, in `blob`.
    fn caller_of_compiled(
        &self,
        blob: &Blob,
        place: Place,
        registers: &Registers,
    ) -> Result<(Place, Stage), Failure> {
        /// Longer than any code before a frame is whole, and than the way from the removal of a
        /// frame to the return.
        const ENTRY_STEPS: usize = 256;
        const EXIT_STEPS: usize = 16;
        let Place { pc, sp, .. } = place;
        if blob.frame_complete.is_some_and(|complete| pc < complete) {
            let depth = entry::follow(&self.memory, blob.code, pc, ENTRY_STEPS);
            let caller = depth.and_then(|depth| self.at_depth(place, depth));
            return Ok((caller.ok_or(Failure::Top)?, Stage::Entering));
        }
        let words = blob.frame_words.unwrap_or(1);
        let end = sp.wrapping_add(words.wrapping_mul(WORD));
        if self.leads_to_safepoint(pc) {
            let caller = self.returning_to(sp, place.fp).ok_or(Failure::Top)?;
            return Ok((caller, Stage::Leaving));
        }
        if let Some(exit) = self.exit(place, registers, EXIT_STEPS, Calls::Stop)
            && self.is_return(exit.pc)
        {
            let stage = match exit.sp < end {
                true => Stage::Leaving,
                false => Stage::Whole,
            };
            let Exit { pc, sp, fp, .. } = exit;
            return Ok((Place { pc, sp, fp }, stage));
        }
        let moved = self.moved(blob, pc).unwrap_or(0);
        let candidates = [end.wrapping_add_signed(moved), end];
        candidates
            .into_iter()
            .find_map(|end| {
                let fp = self.word(end.wrapping_sub(2 * WORD))?;
                self.returning_to(end.wrapping_sub(WORD), fp)
            })
            .or_else(|| self.scan(blob, end))
            .map(|caller| (caller, Stage::Whole))
            .ok_or(Failure::Top)
    }

    /// The caller whose return address is at `slot`, if that holds one.
    fn returning_to(&self, slot: usize, fp: usize) -> Option<Place> {
        let pc = self.word(slot).filter(|&pc| self.is_return(pc))?;
        let sp = slot.wrapping_add(WORD);
        Some(Place { pc, sp, fp })
    }

    /// The caller of code whose stack has grown by `depth` since it was called.
    fn at_depth(&self, place: Place, depth: entry::Depth) -> Option<Place> {
        let slot = place.sp.wrapping_add_signed(depth.bytes);
        let fp = match depth.saved_fp {
            Some(saved) => self.word(slot.wrapping_add_signed(saved.wrapping_neg()))?,
            None => place.fp,
        };
        self.returning_to(slot, fp)
    }

    /// Whether `pc` is in the stub of a poll at a return, where the frame is removed: it keeps
    /// the pc, and jumps to where polls lead (`C1SafepointPollStub`, `C2SafepointPollStub`).
    fn leads_to_safepoint(&self, pc: usize) -> bool {
        let mut at = pc;
        for _ in 0..3 {
            let Some(instruction) = decode(&self.memory.code(at)) else {
                return false;
            };
            at = at.wrapping_add(instruction.length);
            match instruction.effect {
                Effect::Jump(distance) => {
                    let target = at.wrapping_add_signed(distance as isize);
                    let blob = self.vm.code_cache.blob(&self.memory, target);
                    return blob.is_some_and(|blob| blob.kind == Kind::Safepoint);
                }
                Effect::Nothing | Effect::Write(_) => {}
                _ => return false,
            }
        }
        false
    }

    /// By how many bytes the code has moved its stack pointer, which its frame does not tell:
    /// followed from the last record, where it had not.
    fn moved(&self, blob: &Blob, pc: usize) -> Option<isize> {
        const STEPS: usize = 96;
        let Kind::Compiled(nmethod) = blob.kind else {
            return None;
        };
        let tables = nmethod.debug_tables(self.vm.code_cache.nmethods(), &self.memory)?;
        let offset = i32::try_from(pc.wrapping_sub(blob.code)).ok()?;
        let before = tables.around(&self.memory, offset)?.before?;
        let start = match before.scope {
            0 => blob.frame_complete?,
            _ => blob.code.wrapping_add_signed(before.pc_offset as isize),
        };
        Some(entry::follow(&self.memory, start, pc, STEPS)?.bytes)
    }

    /// Looks for the return address further up: behind a call that leads into this very code.
    fn scan(&self, blob: &Blob, end: usize) -> Option<Place> {
        const WORDS: usize = 44;
        (1..=WORDS).find_map(|up| {
            let slot = end.wrapping_sub(WORD).wrapping_add(up * WORD);
            let pc = self.word(slot)?;
            let call = pc.wrapping_sub(5);
            let Effect::Call = decode(&self.memory.code(call))?.effect else {
                return None;
            };
            let distance = self.memory.i32(call.wrapping_add(1))?;
            let target = pc.wrapping_add_signed(distance as isize);
            if self.memory.u8(call)? != 0xe8 || !(blob.code..blob.end).contains(&target) {
                return None;
            }
            let fp = self.word(slot.wrapping_sub(WORD))?;
            self.returning_to(slot, fp)
        })
    }

    /// A stub, which says little about its frame.
    fn interrupted_stub(
        &self,
        blob: &Blob,
        place: Place,
        registers: &Registers,
    ) -> Result<Step, Failure> {
        const STEPS: usize = 512;
        let frame = Found::Frame(frame_at(place, FrameKind::Stub, -1));
        let call_stub = &self.vm.call_stub;
        if let Some(wrapper) = call_stub.wrapper(&self.memory, place.pc, registers) {
            if !self.is_on_stack(wrapper) {
                return Err(Failure::Top);
            }
            let anchor = self.vm.threads.wrapped_anchor(&self.memory, wrapper);
            let next = self.anchored(anchor)?;
            return Ok(Step { frame, next });
        }
        if let Some(exit) = self.exit(place, registers, STEPS, Calls::Return)
            && let Some(next) = self.behind_stub(place.sp, exit.pc, exit.registers)
        {
            return Ok(Step { frame, next });
        }
        // By the frame's size, if it has one; by the frame pointer; or without a frame at all.
        let sized = blob.frame_words.map(|words| {
            place
                .sp
                .wrapping_add(words.wrapping_sub(1).wrapping_mul(WORD))
        });
        let linked = Some(place.fp.wrapping_add(WORD)).filter(|&slot| slot > place.sp);
        let next = [sized, linked, Some(place.sp)]
            .into_iter()
            .flatten()
            .find_map(|slot| {
                let mut registers = *registers;
                if slot != place.sp {
                    registers.set(Register::RBP, self.word(slot.wrapping_sub(WORD)));
                }
                registers.set(Register::RSP, Some(slot.wrapping_add(WORD)));
                self.behind_stub(place.sp, self.word(slot)?, registers)
            });
        Ok(Step {
            frame,
            next: next.ok_or(Failure::Top)?,
        })
    }

    /// The position at the caller of a stub, if `pc` is behind a call: Java code stands at a call
    /// there, or called the stub in the middle of something else.
    fn behind_stub(&self, below: usize, pc: usize, registers: Registers) -> Option<Position> {
        let sp = registers.get(Register::RSP)?;
        if sp <= below || !self.is_on_stack(sp) {
            return None;
        }
        if self.is_return(pc) {
            let fp = registers.get(Register::RBP)?;
            return Some(Position::Call(Place { pc, sp, fp }));
        }
        let is_code = self.vm.code_cache.blob(&self.memory, pc).is_some();
        (is_code && is_behind_call(&self.memory, pc))
            .then_some(Position::Interrupted(pc, registers))
    }
}
