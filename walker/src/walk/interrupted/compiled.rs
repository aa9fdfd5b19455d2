//! Compiled code, interrupted at any instruction, also while it builds or removes its frame, and
//! where it has moved its stack pointer.

use crate::layout::certainty::Certainty;
use crate::layout::code_cache::{Blob, Kind};
use crate::layout::sites::Body;
use crate::layout::stamp::Stamped;
use crate::walk::frame::{Failure, Frame, FrameKind};
use crate::walk::frame_at;
use crate::walk::interrupted::Stands;
use crate::walk::interrupted::inlining::{Found, Instruction};
use crate::walk::return_address::calls_into;
use crate::walk::{Place, Step, Walk, Yield};
use hotspot::arch::NativeRegisters as Registers;
use hotspot::arch::{Arch, Calls, Depth, Effect, Follow, Landings, Native, Settled};
use hotspot::layout::method::Method;
use hotspot::layout::nmethod::Nmethod;
use hotspot::memory::Memory;

const WORD: usize = size_of::<usize>();

/// The state of a compiled frame.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
enum Stage {
    /// The code builds the frame.
    Entering,
    /// The frame is complete.
    Whole,
    /// The code removes the frame.
    Leaving,
}

impl Walk<'_> {
    /// The frames of the compiled method that was interrupted at `place`.
    pub(super) fn interrupted_compiled(
        &self,
        nmethod: Nmethod,
        blob: &Blob,
        place: Place,
        registers: &Registers,
        stands: Stands,
    ) -> Result<Step, Failure> {
        if let Some(next) = self.behind_static_stub(blob, place, registers)? {
            let frame = Yield::Nothing;
            return Ok(Step { frame, next });
        }
        let (caller, stage) = self.caller_of_compiled(blob, place, registers)?;
        let layout = self.vm.code_cache.nmethods();
        let level = nmethod.level(layout, &self.memory);
        let level = level.ok_or(Failure::Torn)?;
        let method = self.method_of(nmethod)?;
        let frame = Frame {
            method: Some(Stamped::unstamped(method)),
            ..frame_at(place, FrameKind::Java, level)
        };
        let frame = match stage {
            Stage::Entering => {
                let bci = nmethod.entry_bci(layout, &self.memory);
                let bci = Some(bci.ok_or(Failure::Torn)?);
                Yield::Frame(Frame { bci, ..frame })
            }
            Stage::Leaving => Yield::Frame(Frame {
                certainty: Certainty::WithoutBci,
                ..frame
            }),
            Stage::Whole => self.frames_at(nmethod, blob, frame, stands)?,
        };
        let next = self.caller(place.sp, caller)?;
        Ok(Step { frame, next })
    }

    /// The native wrapper that was interrupted at `place`.
    pub(super) fn interrupted_wrapper(
        &self,
        nmethod: Nmethod,
        blob: &Blob,
        place: Place,
        registers: &Registers,
    ) -> Result<Step, Failure> {
        let (caller, _) = self.caller_of_compiled(blob, place, registers)?;
        let next = self.caller(place.sp, caller)?;
        let frame = self.native(nmethod, place)?;
        Ok(Step {
            frame: Yield::Frame(self.behind_freezing(frame, next)),
            next,
        })
    }

    /// The caller of the compiled method or native wrapper in `blob`.
    fn caller_of_compiled(
        &self,
        blob: &Blob,
        place: Place,
        registers: &Registers,
    ) -> Result<(Place, Stage), Failure> {
        /// A limit that neither the code before a frame is complete reaches, nor the code from the
        /// removal of a frame to the return.
        const ENTRY_STEPS: usize = 256;
        const EXIT_STEPS: usize = 16;
        let Place { pc, sp, .. } = place;
        if blob.frame_complete.is_some_and(|complete| pc < complete) {
            let starts = [Some(blob.code), self.link_before(blob, pc)];
            let mut callers = starts.into_iter().flatten().map(|start| {
                let depth = Native::follow(&self.memory, start, pc, ENTRY_STEPS)?;
                self.at_depth(place, registers, depth)
            });
            let caller = callers.find_map(|caller| caller);
            return Ok((caller.ok_or(Failure::Top)?, Stage::Entering));
        }
        let end_of = |sp: usize| {
            let words = self.frame_words(blob, sp).unwrap_or(1);
            sp.wrapping_add(words.wrapping_mul(WORD))
        };
        let end = end_of(sp);
        if self.leads_to_safepoint(pc) {
            let caller = self.unframed(place, registers).ok_or(Failure::Top)?;
            return Ok((caller, Stage::Leaving));
        }
        if let Some(end) = self.end_in_handler(blob, place, end) {
            let caller = self.framed(end).ok_or(Failure::Top)?;
            return Ok((caller, Stage::Whole));
        }
        let returning = |[pc, sp, fp]: [usize; 3]| {
            let stage = if sp < end {
                Stage::Leaving
            } else {
                Stage::Whole
            };
            (Place { pc, sp, fp }, stage)
        };
        match self.settled(blob, pc, registers) {
            Some(Settled::Body { sp, is_relative }) => {
                let end = end_of(sp);
                if end.wrapping_sub(2 * WORD) < place.sp && Native::CALLS_PUSH {
                    // An entry in the middle of the code, where a loop goes on, has not saved the frame pointer yet.
                    let caller = self.returning_to(end.wrapping_sub(WORD), place.fp);
                    return Ok((caller.ok_or(Failure::Top)?, Stage::Whole));
                }
                let caller = self.framed(end).ok_or(Failure::Top)?;
                if is_relative && !self.keeps_frame_size(blob, sp) {
                    self.keep_body(blob, place, end);
                }
                return Ok((caller, Stage::Whole));
            }
            Some(Settled::Return {
                caller,
                is_relative,
            }) if self.is_return(caller[0])
                && (Native::LINK.is_some() || !self.is_in_stubs(blob, pc)) =>
            {
                let (caller, stage) = returning(caller);
                // Here the stack pointer of the body is not known, nor whether the frame keeps its size.
                let is_of_one_size = !self.vm.code_cache.nmethods().extends_frames();
                if is_relative
                    && is_of_one_size
                    && stage == Stage::Whole
                    && self.framed(caller.sp) == Some(caller)
                {
                    self.keep_body(blob, place, caller.sp);
                }
                return Ok((caller, stage));
            }
            // The link register may have an old return address, and words of the stack, too.
            _ if Native::LINK.is_some() => return Err(Failure::Top),
            _ => {}
        }
        if self.may_return(pc)
            && let Some(exit) = self.exit(place, registers, EXIT_STEPS, Calls::Stop)
            && self.is_return(exit.pc)
        {
            return Ok(returning([exit.pc, exit.sp, exit.fp]));
        }
        let moved = self.moved(blob, pc).unwrap_or(0);
        let candidates = [end.wrapping_add_signed(moved), end];
        candidates
            .into_iter()
            .find_map(|end| self.framed(end))
            .or_else(|| self.scan(blob, end))
            .map(|caller| (caller, Stage::Whole))
            .ok_or(Failure::Top)
    }

    /// The code that was interrupted at `place`, and the caller, if a thread was interrupted there before.
    #[inline]
    pub(in crate::walk) fn known_body(&self, place: Place) -> Option<(Body, Place)> {
        let body = self.vm.sites.body(&self.vm.code_cache, place.pc)?;
        let end = place.sp.wrapping_add_signed(body.end as isize);
        let caller = self.framed(end)?;
        let is_stack = self.is_on_stack(place.sp) && self.is_caller_sp(caller.sp, place.sp);
        is_stack.then_some((body, caller))
    }

    /// Keeps that the frame ends at `end` wherever a thread is interrupted at `place`, if the instruction has no record of its
    /// own.
    fn keep_body(&self, blob: &Blob, place: Place, end: usize) {
        let Kind::Compiled(nmethod) = blob.kind else {
            return;
        };
        let (layout, memory) = (self.vm.code_cache.nmethods(), &self.memory);
        let body = || {
            let instruction = Instruction {
                nmethod,
                tables: nmethod.debug_tables(layout, memory)?,
                level: nmethod.level(layout, memory)?,
                pc: place.pc,
                stands: Stands::At,
            };
            let Found::Between(between) = self.found_at(&instruction)? else {
                return None;
            };
            let compilation = self.vm.code_cache.compilation(memory, nmethod)?;
            let method = Method(compilation.method);
            let stamp = self.vm.methods.read_stamp(memory, method);
            Some(Body {
                nmethod,
                compilation,
                method: Stamped::of_method(method, stamp),
                level: instruction.level,
                end: i32::try_from(end.wrapping_sub(place.sp).cast_signed()).ok()?,
                scope: between.record.map_or(0, |record| record.scope),
                certainty: between.certainty,
            })
        };
        if let Some(body) = body() {
            self.vm.sites.keep_body(place.pc, &body);
        }
    }

    /// Where the code comes to a place at which its frame is as its tables say.
    fn settled(&self, blob: &Blob, pc: usize, registers: &Registers) -> Option<Settled> {
        const STEPS: usize = 1024;
        let code = blob.code..blob.end;
        let tables = match blob.kind {
            Kind::Compiled(nmethod) => {
                nmethod.debug_tables(self.vm.code_cache.nmethods(), &self.memory)
            }
            _ => None,
        };
        let record = |pc: usize| tables?.next_record(&self.memory, pc);
        Native::settle(&self.memory, pc, registers, code, STEPS, record)
    }

    /// Whether the instruction at `pc` can be between the removal of a frame and the return.
    fn may_return(&self, pc: usize) -> bool {
        let instruction = Native::decode(&self.memory.code(pc));
        instruction.is_none_or(|instruction| match instruction.effect {
            Effect::Pop(_)
            | Effect::Return
            | Effect::Jump(_)
            | Effect::JumpRegister(_)
            | Effect::JumpMemory
            | Effect::Branch(_)
            | Effect::Leave
            | Effect::Nothing
            | Effect::Move(Native::SP, _) => true,
            Effect::Push(_)
            | Effect::Lea(..)
            | Effect::Write(_)
            | Effect::WriteBoth(..)
            | Effect::Add(..)
            | Effect::And(..)
            | Effect::Move(..)
            | Effect::Load(..)
            | Effect::Store(..)
            | Effect::Call
            | Effect::Clobber
            | Effect::Trap => false,
        })
    }

    /// The caller of a complete frame that ends at `end`.
    fn framed(&self, end: usize) -> Option<Place> {
        let fp = self.word(end.wrapping_sub(2 * WORD))?;
        self.returning_to(end.wrapping_sub(WORD), fp)
    }

    /// The caller whose return address is at `slot`, if the slot has a return address.
    fn returning_to(&self, slot: usize, fp: usize) -> Option<Place> {
        let pc = self.return_address(slot).filter(|&pc| self.is_return(pc))?;
        let sp = slot.wrapping_add(WORD);
        Some(Place { pc, sp, fp })
    }

    /// The caller of code that has no frame, and has not saved its return address elsewhere.
    pub(super) fn unframed(&self, place: Place, registers: &Registers) -> Option<Place> {
        let Some(link) = Native::LINK else {
            return self.returning_to(place.sp, place.fp);
        };
        let pc = registers.get(link).map(Native::strip);
        let pc = pc.filter(|&pc| self.is_return(pc))?;
        Some(Place { pc, ..place })
    }

    /// The caller of code whose stack has grown by `depth` since the call.
    pub(super) fn at_depth(
        &self,
        place: Place,
        registers: &Registers,
        depth: Depth,
    ) -> Option<Place> {
        let slot = place.sp.wrapping_add_signed(depth.bytes);
        if Native::LINK.is_some() {
            let Some(saved) = depth.saved_fp else {
                // The code that has made room has not saved the link register yet.
                let sp = slot;
                return self.unframed(Place { sp, ..place }, registers);
            };
            let saved = slot.wrapping_add_signed(saved.wrapping_neg());
            let caller = self.returning_to(saved.wrapping_add(WORD), self.word(saved)?)?;
            return Some(Place { sp: slot, ..caller });
        }
        let fp = match depth.saved_fp {
            Some(saved) => self.word(slot.wrapping_add_signed(saved.wrapping_neg()))?,
            None => place.fp,
        };
        self.returning_to(slot, fp)
    }

    /// Whether `pc` is in the stub of a return poll, where the frame is removed. The stub stores
    /// the pc, and jumps to the blob of polls (`C1SafepointPollStub`, `C2SafepointPollStub`).
    fn leads_to_safepoint(&self, pc: usize) -> bool {
        /// With a link register the jump may need an address in a register, which takes two more instructions.
        const STEPS: usize = if Native::LINK.is_some() { 5 } else { 3 };
        let mut at = pc;
        for _ in 0..STEPS {
            let Some(instruction) = Native::decode(&self.memory.code(at)) else {
                return false;
            };
            if let Some(target) = Native::direct_jump(&self.memory, at) {
                let blob = self.vm.code_cache.blob(&self.memory, target);
                return blob.is_some_and(|blob| blob.kind == Kind::Safepoint);
            }
            at = at.wrapping_add(instruction.length);
            match instruction.effect {
                Effect::Nothing | Effect::Write(_) | Effect::Store(..) => {}
                Effect::Add(to, _) if Native::LINK.is_some() && to != Native::SP => {}
                _ => return false,
            }
        }
        false
    }

    /// By how many bytes the code has moved its stack pointer within its body, followed from the
    /// last debug info record, where the stack pointer was not moved.
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
        Some(Native::follow(&self.memory, start, pc, STEPS)?.bytes)
    }

    /// Looks for the return address at higher addresses: a word behind a call that leads into this
    /// code.
    fn scan(&self, blob: &Blob, end: usize) -> Option<Place> {
        const WORDS: usize = 44;
        let slots = (0..WORDS).map(|up| end.wrapping_add(up * WORD));
        slots
            .take_while(|&slot| self.is_on_stack(slot))
            .find_map(|slot| {
                let pc = self.word(slot)?;
                if !calls_into(&self.memory, blob, pc) {
                    return None;
                }
                let fp = self.word(slot.wrapping_sub(WORD))?;
                self.returning_to(slot, fp)
            })
    }
}
