//! Frames of a virtual thread that are in the heap, behind those on the stack.
//!
//! They are laid out as on the stack, but interpreted frames have distances, in words from the frame pointer, where they
//! have addresses on the stack (`share/runtime/stackChunkFrameStream.inline.hpp` and its kin for x86).

use crate::layout::chunks::Chunk;
use crate::layout::code_cache::Kind;
use crate::walk::frame::{Failure, Frame, FrameKind};
use crate::walk::frame_at;
use crate::walk::{Frozen, Place, Position, Step, Walk, Yield};
use hotspot::arch::{Arch, InterpretedFrame, Native};
use hotspot::layout::method::Method;
use hotspot::memory::Memory;

const WORD: usize = size_of::<usize>();

/// Where an interpreted frame has its parts.
const FRAME: InterpretedFrame = Native::INTERPRETED;

impl Walk<'_> {
    /// The position behind the last frame on the stack, which returns to code that gets the next frame from the heap.
    pub(super) fn behind_stack(&self) -> Result<Position, Failure> {
        let layout = self.vm.chunks.as_ref().map_err(|_| Failure::Caller)?;
        let entry = self.entry().ok_or(Failure::Caller)?;
        // While frames are moved, those of the stack may be in the heap already.
        if self.freezes {
            return Err(Failure::Caller);
        }
        let newest = layout.newest(&self.memory, entry);
        self.in_chunk(newest.ok_or(Failure::Caller)?)
    }

    /// The first frame of `chunk`; without a chunk, the frame on the stack in which the continuation was entered.
    fn in_chunk(&self, chunk: Option<Chunk>) -> Result<Position, Failure> {
        if let Some(chunk) = chunk {
            return Ok(Position::Frozen(Frozen {
                chunk,
                sp: chunk.sp,
                unextended_sp: chunk.sp,
            }));
        }
        let sp = self.entry().ok_or(Failure::Caller)?;
        let known = self.vm.continuations.as_ref();
        let pc = known.and_then(|known| known.return_pc(&self.vm.code_cache, &self.memory));
        match pc {
            Some(pc) if self.is_on_stack(sp) => Ok(Position::Call(Place { pc, sp, fp: 0 })),
            _ => Err(Failure::Caller),
        }
    }

    /// The entry of the continuation, which is on the stack.
    fn entry(&self) -> Option<usize> {
        let known = self.vm.continuations.as_ref()?;
        let entry = known.entry(&self.vm.code_cache, &self.memory, self.mounts?)?;
        (entry != 0).then_some(entry)
    }

    /// The frame in the heap.
    pub(super) fn frozen(&self, frozen: Frozen) -> Result<Step, Failure> {
        let word = |address: usize| self.memory.word(address).ok_or(Failure::Torn);
        let Frozen { chunk, sp, .. } = frozen;
        let pc = Native::strip(word(sp.wrapping_sub(WORD))?);
        let (frame, next) = if self.vm.interpreter.contains(pc) {
            self.frozen_interpreted(pc, frozen)?
        } else {
            self.frozen_compiled(pc, frozen)?
        };
        let next = match next {
            // Each frame is above its callee.
            Some(next) if next.sp <= sp => return Err(Failure::Caller),
            Some(next) => Position::Frozen(next),
            None => {
                let layout = self.vm.chunks.as_ref().map_err(|_| Failure::Caller)?;
                let older = layout.older(&self.memory, chunk);
                self.in_chunk(older.ok_or(Failure::Caller)?)?
            }
        };
        Ok(Step { frame, next })
    }

    /// The frame, and the caller in the same chunk.
    fn frozen_interpreted(
        &self,
        pc: usize,
        frozen: Frozen,
    ) -> Result<(Yield, Option<Frozen>), Failure> {
        let Frozen { chunk, sp, .. } = frozen;
        let word = |address: usize| self.memory.word(address).ok_or(Failure::Torn);
        let behind = |base: usize, words: usize| base.wrapping_add(words.wrapping_mul(WORD));
        let link = sp.wrapping_sub(2 * WORD);
        let fp = behind(link, word(link)?);
        if !(sp..chunk.end).contains(&fp) || !fp.is_multiple_of(WORD) {
            return Err(Failure::Caller);
        }
        let slot = |distance: usize| word(fp.wrapping_sub(distance));
        let method = Method(slot(FRAME.method)?);
        let known = self.vm.methods.known(&self.memory, method);
        let known = known.ok_or(Failure::Torn)?;
        let bci = known.bci(slot(FRAME.bcp)?);
        let frame = Frame {
            method: Some(known.method),
            bci: Some(bci.ok_or(Failure::Torn)?),
            ..frame_at(Place { pc, sp, fp }, FrameKind::Java, 0)
        };
        let is_last = behind(fp, slot(FRAME.locals)?).wrapping_add(WORD) >= chunk.end;
        let caller = Frozen {
            sp: fp.wrapping_add(2 * WORD),
            unextended_sp: behind(fp, slot(FRAME.sender_sp)?),
            chunk,
        };
        let is_in_chunk = (fp..chunk.end).contains(&caller.unextended_sp);
        match (is_last, is_in_chunk) {
            (true, _) => Ok((Yield::Frame(frame), None)),
            (false, true) => Ok((Yield::Frame(frame), Some(caller))),
            (false, false) => Err(Failure::Caller),
        }
    }

    /// The frames of compiled code, and the caller in the same chunk.
    fn frozen_compiled(
        &self,
        pc: usize,
        frozen: Frozen,
    ) -> Result<(Yield, Option<Frozen>), Failure> {
        let Frozen {
            chunk,
            sp,
            unextended_sp,
        } = frozen;
        let blob = self.vm.code_cache.blob(&self.memory, pc);
        let blob = blob.ok_or(Failure::Caller)?;
        let words = self.frame_words(&blob, unextended_sp);
        let words = words.ok_or(Failure::Caller)?;
        let place = Place { pc, sp, fp: 0 };
        let frames = match blob.kind {
            Kind::Compiled(nmethod) => {
                let place = Place {
                    sp: unextended_sp,
                    ..place
                };
                Yield::Record(self.record_of_call(nmethod, &blob, place)?)
            }
            // Where a thread was preempted, the stub that asked for this is frozen, too.
            Kind::Stub | Kind::Safepoint => Yield::Frame(frame_at(place, FrameKind::Stub, -1)),
            _ => return Err(Failure::Caller),
        };
        let sp = unextended_sp.wrapping_add(words.wrapping_mul(WORD));
        // Below the end are the program counter and the frame pointer of a frame elsewhere.
        let is_last = sp >= chunk.end.wrapping_sub(2 * WORD);
        let caller = Frozen {
            chunk,
            sp,
            unextended_sp: sp,
        };
        Ok((frames, (!is_last).then_some(caller)))
    }
}
