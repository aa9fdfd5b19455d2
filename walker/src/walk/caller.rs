//! Frames at a call.

use crate::c_frames::CFrame;
use crate::layout::Vm;
use crate::layout::certainty::Certainty;
use crate::layout::code_cache::{Blob, Kind};
use crate::layout::sites::{Body, Compiled, Site};
use crate::layout::stamp::Stamped;
use crate::walk::frame::{Failure, Frame, FrameKind};
use crate::walk::{BelowC, Inlined, Place, Position, Step, Walk, Yield, frame_at};
use hotspot::arch::NativeRegisters as Registers;
use hotspot::arch::{Arch, Follow, InterpretedFrame, Native, RETURN_ADDRESS};
use hotspot::layout::debug_info::Record;
use hotspot::layout::method::Method;
use hotspot::layout::nmethod::{DebugTables, Nmethod};
use hotspot::layout::thread::Anchor;
use hotspot::memory::Memory;

const WORD: usize = size_of::<usize>();

/// Where an interpreted frame has its parts.
const FRAME: InterpretedFrame = Native::INTERPRETED;

impl Walk<'_> {
    /// What is known of the call at `place`, and the caller, if the call was met before.
    #[inline(always)]
    pub(super) fn known(&self, place: Place) -> Option<(Site, Place)> {
        let site = self.vm.sites.call(&self.vm.code_cache, place.pc)?;
        let usual = site.frame_words.into();
        let words = if site.extends {
            self.kept_frame_words(usual, place.sp)?
        } else {
            usual
        };
        let caller = self.above(place, words)?;
        self.is_caller_sp(caller.sp, place.sp)
            .then_some((site, caller))
    }

    /// The frame at `place`.
    pub(super) fn call(&self, place: Place) -> Result<Step, Failure> {
        if place.pc == self.vm.call_stub.return_address {
            return self.java_calls_entry(place);
        }
        let blob = self
            .vm
            .code_cache
            .blob(&self.memory, place.pc)
            .ok_or(Failure::Caller)?;
        match blob.kind {
            Kind::Interpreter => self.interpreted(place, None),
            Kind::Compiled(nmethod) => self.compiled(nmethod, &blob, place),
            Kind::NativeWrapper(nmethod) => {
                let frame = self.native(nmethod, place)?;
                self.sized(&blob, place, Yield::Frame(frame))
            }
            Kind::Upcall => self.upcall(&blob, place),
            Kind::Continuation => Ok(Step {
                frame: Yield::Nothing,
                next: self.behind_stack()?,
            }),
            Kind::Deoptimization if self.unpacks.is_some() => Ok(Step {
                frame: Yield::Frame(frame_at(place, FrameKind::Stub, -1)),
                next: self.replaced(place)?,
            }),
            Kind::Deoptimization
            | Kind::Adapter
            | Kind::Vtable
            | Kind::Safepoint
            | Kind::Routine
            | Kind::Stub => self.stub(&blob, place),
        }
    }

    /// A stub that has left Java code. Its caller may have called it at an instruction that has no
    /// debug info record.
    fn stub(&self, blob: &Blob, place: Place) -> Result<Step, Failure> {
        let caller = self.sized_caller(blob, place)?;
        let next = self.behind_frame(blob.kind, place.sp, caller);
        Ok(Step {
            frame: Yield::Frame(frame_at(place, FrameKind::Stub, -1)),
            next: next.ok_or(Failure::Caller)?,
        })
    }

    /// The frame of a fixed size at `place`, which yields `frame`.
    fn sized(&self, blob: &Blob, place: Place, frame: Yield) -> Result<Step, Failure> {
        let caller = self.sized_caller(blob, place)?;
        Ok(Step {
            frame,
            next: self.caller(place.sp, caller)?,
        })
    }

    /// The caller of a frame of a fixed size.
    fn sized_caller(&self, blob: &Blob, place: Place) -> Result<Place, Failure> {
        let words = self.frame_words(blob, place.sp).ok_or(Failure::Caller)?;
        self.above(place, words).ok_or(Failure::Torn)
    }

    /// The caller of a frame of so many words.
    #[inline]
    fn above(&self, place: Place, words: usize) -> Option<Place> {
        let end = place.sp.wrapping_add(words.wrapping_mul(WORD));
        let word = |back: usize| self.memory.word(end.wrapping_sub(back * WORD));
        Some(Place {
            pc: Native::strip(word(1)?),
            sp: end,
            fp: word(2)?,
        })
    }

    /// The position at `caller`, whose callee had the stack pointer `below`.
    pub(super) fn caller(&self, below: usize, caller: Place) -> Result<Position, Failure> {
        if !self.is_caller_sp(caller.sp, below) {
            return Err(Failure::Caller);
        }
        Ok(Position::Call(caller))
    }

    /// The position that `anchor` gives; the end, if there is none.
    pub(super) fn anchored(&self, anchor: Option<Anchor>) -> Result<Position, Failure> {
        let Some(anchor) = anchor else {
            return Ok(Position::End);
        };
        if !self.is_on_stack(anchor.sp) {
            return Err(Failure::Torn);
        }
        let pc = match anchor.pc {
            // The return address of the call that left Java code, if a call has pushed it.
            0 if Native::LINK.is_some() => return Err(Failure::Torn),
            0 => {
                let slot = anchor.sp.wrapping_sub(WORD);
                self.return_address(slot).ok_or(Failure::Torn)?
            }
            pc => Native::strip(pc),
        };
        Ok(Position::Call(Place {
            pc,
            sp: anchor.sp,
            fp: anchor.fp,
        }))
    }

    /// The VM's call to Java: it keeps the anchor of the Java frames below.
    fn java_calls_entry(&self, place: Place) -> Result<Step, Failure> {
        let slot = self.vm.call_stub.wrapper_slot(place.fp);
        if !self.is_on_stack(slot) {
            return Err(Failure::Caller);
        }
        let wrapper = self.memory.word(slot).ok_or(Failure::Torn)?;
        if !self.is_on_stack(wrapper) {
            return Err(Failure::Caller);
        }
        let anchor = self.vm.call_stub.wrapped_anchor(&self.memory, wrapper);
        self.below_native(place, anchor)
    }

    /// The stub through which native code calls Java. Its frame keeps the anchor too.
    fn upcall(&self, blob: &Blob, place: Place) -> Result<Step, Failure> {
        let distance = self
            .memory
            .i32(blob.start.wrapping_add(self.vm.upcall_frame_data))
            .ok_or(Failure::Torn)?;
        let data = place.sp.wrapping_add_signed(distance as isize);
        if !self.is_on_stack(data) {
            return Err(Failure::Caller);
        }
        self.below_native(place, self.vm.threads.anchor_at(&self.memory, data))
    }

    /// Continues at the Java frames below native code, which must be at higher addresses of the
    /// stack.
    fn below_native(&self, place: Place, anchor: Option<Anchor>) -> Result<Step, Failure> {
        if anchor.is_some_and(|anchor| anchor.sp <= place.sp) {
            return Err(Failure::Caller);
        }
        let next = if self.with_c {
            let below = anchor.map_or(BelowC::Nothing, BelowC::Anchored);
            Position::C(self.c_caller(place)?, below)
        } else {
            self.anchored(anchor)?
        };
        Ok(Step {
            frame: Yield::Frame(frame_at(place, FrameKind::Stub, -1)),
            next,
        })
    }

    /// The C code that called a stub with a linked frame.
    fn c_caller(&self, place: Place) -> Result<CFrame, Failure> {
        let word = |address: usize| self.memory.word(address);
        let mut registers = Registers::UNKNOWN;
        registers.set(Native::SP, Some(place.fp.wrapping_add(2 * WORD)));
        registers.set(Native::FP, word(place.fp));
        Ok(CFrame {
            pc: self
                .return_address(place.fp.wrapping_add(RETURN_ADDRESS))
                .ok_or(Failure::Torn)?,
            registers,
            is_at_call: true,
        })
    }

    /// The interpreted frame at `place`. `bcp` is the bytecode pointer, if a register has it.
    pub(super) fn interpreted(&self, place: Place, bcp: Option<usize>) -> Result<Step, Failure> {
        let (frame, caller) = self.interpreted_frame(place, bcp)?;
        Ok(Step {
            frame: Yield::Frame(frame),
            next: Position::Call(caller),
        })
    }

    /// As [`Walk::interpreted`]: the frame, and the caller.
    #[inline]
    pub(super) fn interpreted_frame(
        &self,
        place: Place,
        bcp: Option<usize>,
    ) -> Result<(Frame, Place), Failure> {
        let fp = place.fp;
        if !self.is_on_stack(fp) || fp < place.sp {
            return Err(Failure::Caller);
        }
        let above = |distance: usize| self.memory.word(fp.wrapping_add(distance));
        let below = |distance: usize| self.memory.word(fp.wrapping_sub(distance));
        let pc = Native::strip(above(RETURN_ADDRESS).ok_or(Failure::Torn)?);
        let keeps_room = Native::INTERPRETER_KEEPS_ROOM && self.vm.interpreter.contains(pc);
        let caller = Place {
            pc,
            // The stack pointer of an interpreted caller may be below this frame. No word is found by it.
            sp: if keeps_room {
                fp.wrapping_add(2 * WORD)
            } else {
                below(FRAME.sender_sp).ok_or(Failure::Torn)?
            },
            fp: above(0).ok_or(Failure::Torn)?,
        };
        let method = Method(below(FRAME.method).ok_or(Failure::Torn)?);
        let known = self.vm.methods.known(&self.memory, method);
        let known = known.ok_or(Failure::Torn)?;
        let frame = frame_at(place, FrameKind::Java, 0);
        let frame = if known.is_native {
            Frame {
                kind: FrameKind::Native,
                method: Some(known.method),
                ..frame
            }
        } else {
            let kept = || below(FRAME.bcp);
            let bci = bcp.and_then(|bcp| known.bci(bcp));
            let bci = bci.or_else(|| known.bci(kept()?));
            Frame {
                method: Some(known.method),
                bci: Some(bci.ok_or(Failure::Torn)?),
                ..frame
            }
        };
        if self.is_caller_sp(caller.sp, fp) {
            Ok((frame, caller))
        } else {
            Err(Failure::Caller)
        }
    }

    /// The native method whose wrapper is at `place`.
    pub(super) fn native(&self, nmethod: Nmethod, place: Place) -> Result<Frame, Failure> {
        Ok(Frame {
            method: Some(Stamped::unstamped(self.method_of(nmethod)?)),
            ..frame_at(place, FrameKind::Native, 0)
        })
    }

    /// The method from which `nmethod` was compiled.
    pub(super) fn method_of(&self, nmethod: Nmethod) -> Result<Method, Failure> {
        let method = nmethod.method(self.vm.code_cache.nmethods(), &self.memory);
        method.map(Method).ok_or(Failure::Torn)
    }

    /// The frames of compiled code at a call.
    fn compiled(&self, nmethod: Nmethod, blob: &Blob, place: Place) -> Result<Step, Failure> {
        let inlined = self.record_of_call(nmethod, blob, place)?;
        self.sized(blob, place, Yield::Record(inlined))
    }

    /// The frames of the debug info record of the call at `place`.
    pub(super) fn record_of_call(
        &self,
        nmethod: Nmethod,
        blob: &Blob,
        place: Place,
    ) -> Result<Inlined, Failure> {
        let (layout, memory) = (self.vm.code_cache.nmethods(), &self.memory);
        let pc = nmethod
            .original_pc(layout, memory, place.pc, place.sp)
            .ok_or(Failure::Torn)?;
        let offset = i32::try_from(pc.wrapping_sub(blob.code)).map_err(|_| Failure::Caller)?;
        let tables = nmethod.debug_tables(layout, memory).ok_or(Failure::Torn)?;
        let record = tables
            .around(memory, offset)
            .ok_or(Failure::Torn)?
            .exact(offset)
            .filter(|record| record.scope != 0)
            .ok_or(Failure::Caller)?;
        let level = nmethod.level(layout, memory).ok_or(Failure::Torn)?;
        let frame = frame_at(Place { pc, ..place }, FrameKind::Java, level);
        let inlined = self.inlined(nmethod, &tables, record, frame)?;
        if let Some(words) = blob.frame_words.and_then(|words| u16::try_from(words).ok()) {
            let site = Site {
                code: inlined.code,
                frame_words: words,
                extends: self.keeps_frame_size(blob, place.sp),
                level,
                scope: inlined.scope,
            };
            self.vm.sites.keep(pc, &site);
        }
        Ok(inlined)
    }

    /// The frames of `record`.
    pub(super) fn inlined(
        &self,
        nmethod: Nmethod,
        tables: &DebugTables,
        record: Record,
        frame: Frame,
    ) -> Result<Inlined, Failure> {
        let cache = &self.vm.code_cache;
        let inlined = || {
            Some(Inlined {
                code: Compiled {
                    nmethod,
                    compilation: cache.compilation(&self.memory, nmethod)?,
                    scopes: tables.scopes,
                },
                scope: self.read_scope(tables, record.scope)?,
                frame,
            })
        };
        inlined().ok_or(Failure::Torn)
    }
}

impl Walk<'_> {
    /// The frames of code that was interrupted at `place`, where a thread was interrupted before.
    #[inline]
    pub(super) fn known_frames(&mut self, body: &Body, place: Place) -> Option<Frame> {
        let frame = Frame {
            certainty: body.certainty,
            ..frame_at(place, FrameKind::Java, body.level)
        };
        let is_wanted = self.guesses || body.certainty != Certainty::Guessed;
        if body.scope == 0 || !is_wanted {
            return Some(Frame {
                method: Some(body.method),
                certainty: if is_wanted {
                    body.certainty
                } else {
                    Certainty::MethodAlone
                },
                ..frame
            });
        }
        let Vm {
            code_cache, sites, ..
        } = self.vm;
        let memory = &self.memory;
        let tables = body.nmethod.debug_tables(code_cache.nmethods(), memory)?;
        let code = Compiled {
            nmethod: body.nmethod,
            compilation: body.compilation,
            scopes: tables.scopes,
        };
        let scope = match sites.scope(&code, body.scope) {
            Some(scope) => scope,
            None => {
                let scope = self.read_scope(&tables, body.scope)?;
                sites.keep_scope(&code, body.scope, scope);
                scope
            }
        };
        self.inlined = Some(Inlined { code, scope, frame });
        self.next_inlined()
    }
}

impl Inlined {
    /// The frames of `site`, of which `frame` is the physical frame.
    pub(super) fn new(site: &Site, frame: Frame) -> Inlined {
        Inlined {
            code: site.code,
            scope: site.scope,
            frame,
        }
    }
}
