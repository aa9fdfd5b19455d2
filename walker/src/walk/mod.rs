//! Walks a stack, frame by frame, without memory of its own.
//!
//! * [`frame`]: the frames that a walk yields, and why a walk may fail;
//! * [`Walk`]: the walk. It is at a physical frame, and yields the frames that are inlined there
//!   first;
//! * [`start`]: where it begins;
//! * `interrupted`: the first frame, where code was interrupted at any instruction;
//! * [`caller`]: the other frames, which are at a call;
//! * `extended`: frames that are larger than their code says;
//! * `frozen`: frames of virtual threads in the heap;
//! * `c`: frames of C and C++, above Java frames and between them;
//! * `unpacked`: frames that are about to take the place of a compiled frame;
//! * [`return_address`]: which words can be return addresses.

mod c;
pub mod caller;
mod extended;
pub mod frame;
mod frozen;
mod interrupted;
pub mod return_address;
pub mod start;
mod unpacked;

use crate::c_frames::CFrame;
use crate::layout::Vm;
use crate::layout::certainty::Certainty;
use crate::layout::chunks::Chunk;
use crate::layout::continuations::Continuations;
use crate::layout::sites::{Body, Compiled, StampedScope};
use frame::{Failure, Frame, FrameKind};
use hotspot::arch::NativeRegisters as Registers;
use hotspot::arch::{Arch, Follow, Native};
use hotspot::layout::method::Method;
use hotspot::layout::nmethod::DebugTables;
use hotspot::layout::thread::{Anchor, JavaThread};
use hotspot::layout::unpacked::Unpacked as UnpackedFrames;
use hotspot::memory::Memory;
use std::ops::Range;
use vm::memory::Live;

/// A physical frame at a call.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Place {
    /// Where the frame continues.
    pub pc: usize,
    /// Its stack pointer.
    pub sp: usize,
    /// Its frame pointer.
    pub fp: usize,
}

/// A frame of a virtual thread, in the heap.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
struct Frozen {
    chunk: Chunk,
    /// The stack pointer; below are the program counter and the frame pointer.
    sp: usize,
    /// The stack pointer without the arguments by which the callee has extended the frame.
    unextended_sp: usize,
}

/// A frame of the interpreter that is about to take the place of a compiled frame.
#[derive(Copy, Clone, Debug)]
struct Unpacked {
    /// All frames that take its place.
    frames: UnpackedFrames,
    /// Which of them this is, callees first.
    at: usize,
    /// The code that replaces the compiled frame.
    place: Place,
}

/// The next position of a walk.
#[derive(Copy, Clone, Debug)]
enum Position {
    /// Code that was interrupted, with its registers.
    Interrupted(usize, Registers),
    /// The body of compiled code, interrupted where a thread was interrupted before, and the caller.
    Known(Place, Body, Place),
    /// Code that has called other code, perhaps without a debug info record, and the return address.
    Called(usize, Registers),
    /// A frame at a call.
    Call(Place),
    /// A frame of a virtual thread, in the heap.
    Frozen(Frozen),
    /// A frame that is about to take the place of a compiled one.
    Unpacked(Unpacked),
    /// A frame of C or C++, and what is below.
    C(CFrame, BelowC),
    /// Nothing: the walk has ended.
    End,
    /// Nothing: the walk has failed.
    Failed(Failure),
}

/// What is below frames of C and C++.
#[derive(Copy, Clone, Debug)]
enum BelowC {
    /// Java frames, which this anchor shows.
    Anchored(Anchor),
    /// Generated code, which has called C without leaving Java.
    Generated,
    /// No Java frame: the stack ends where no table gives the caller.
    Nothing,
}

/// The largest number of frames of C between Java frames. A walk through more frames of the VM's
/// code fails.
const MOST_C_FRAMES: u32 = 256;

/// The largest number of frames that may be at a call without a debug info record: a stub that was called
/// by a stub that was called by a method.
const MOST_CALLED: u32 = 7;

/// How many reads a walk may make in addition to those of [`FRAME_READS`]. The walks of fixtures on JDK 17 and 25
/// made up to 4,300 reads in all, without frames of C, which need more.
const FIRST_READS: u32 = 1 << 16;

/// How many more reads a walk may make for each frame of a method. Those walks made up to 31, where the stack had
/// more than 20 frames.
const FRAME_READS: u32 = 64;

/// A walk of one thread's stack.
#[derive(Clone)]
pub struct Walk<'a> {
    vm: &'a Vm,
    memory: Live<'a>,
    stack: Range<usize>,
    position: Position,
    inlined: Option<Inlined>,
    with_c: bool,
    /// Whether frames of a neighbouring record are wanted where no record has those of the instruction.
    guesses: bool,
    /// The description of the frames by which a frame of compiled code is being replaced.
    unpacks: Option<usize>,
    /// What the thread is doing beside its program.
    during: During,
    /// The thread, if the frames of its continuation in the heap can be read.
    mounts: Option<JavaThread>,
    /// Whether a frame was met that moves its callers to the heap.
    freezes: bool,
    /// The return address of the callee whose exception is about to be handled.
    thrown_at: Option<usize>,
    /// How many more frames of C there may be.
    c_frames_left: u32,
    /// How many more frames may be at a call that may have no debug info record.
    called_left: u32,
}

/// The remaining frames of a debug info record.
#[derive(Copy, Clone, Debug)]
struct Inlined {
    code: Compiled,
    /// The next frame.
    scope: StampedScope,
    /// The physical frame. That the BCI is not known is of the next frame alone.
    frame: Frame,
}

impl<'a> Walk<'a> {
    /// The walk, with frames of C and C++ between Java frames if they are wanted.
    #[inline]
    pub fn with_c_frames(self, with_c: bool) -> Walk<'a> {
        Walk { with_c, ..self }
    }

    /// The walk of a thread that is not the calling one. Nothing tells whether it stands still while a collector moves the frames
    /// in the heap.
    pub fn of_another_thread(self) -> Walk<'a> {
        Walk {
            mounts: None,
            ..self
        }
    }

    /// The walk, with frames of a neighbouring record where no record has those of the instruction.
    #[inline]
    pub fn with_guesses(self, guesses: bool) -> Walk<'a> {
        Walk { guesses, ..self }
    }

    #[inline]
    fn new(vm: &'a Vm, memory: Live<'a>, stack: Range<usize>, position: Position) -> Walk<'a> {
        memory.limit(FIRST_READS);
        Walk {
            vm,
            memory,
            stack,
            position,
            inlined: None,
            with_c: false,
            guesses: false,
            unpacks: None,
            during: During::Program,
            thrown_at: None,
            mounts: None,
            freezes: false,
            c_frames_left: MOST_C_FRAMES,
            called_left: MOST_CALLED,
        }
    }

    /// The next frame, callees first; `None` at the end of the stack.
    #[inline(always)]
    pub fn next_frame(&mut self) -> Result<Option<Frame>, Failure> {
        // Nearly all frames. They are inlined, so that their parts need not go through memory: the copies of structs took half
        // of the time.
        if let Some(frame) = self.next_known()
            && !self.memory.is_exhausted()
        {
            self.memory.allow(FRAME_READS);
            return Ok(Some(frame));
        }
        self.next_anywhere()
    }

    #[inline(never)]
    fn next_anywhere(&mut self) -> Result<Option<Frame>, Failure> {
        let frame = self.next_within_budget();
        if self.memory.is_exhausted() {
            // What could not be read may have changed the frame.
            self.inlined = None;
            self.position = Position::Failed(Failure::Torn);
            return Err(Failure::Torn);
        }
        if let Ok(Some(Frame {
            method: Some(_), ..
        })) = frame
        {
            self.memory.allow(FRAME_READS);
        }
        frame
    }

    /// The next frame, if it is inlined, at a call in the interpreter, or at a call in compiled code that was met before.
    #[inline(always)]
    fn next_known(&mut self) -> Option<Frame> {
        if self.inlined.is_none() {
            let place = match self.position {
                Position::Call(place) => place,
                Position::Known(place, body, caller) => {
                    self.position = Position::Call(caller);
                    let frame = self.known_frames(&body, place);
                    if frame.is_none() {
                        self.position = Position::Failed(Failure::Torn);
                    }
                    return frame;
                }
                _ => return None,
            };
            if self.vm.interpreter.contains(place.pc) {
                let (frame, caller) = self.interpreted_frame(place, None).ok()?;
                self.position = Position::Call(caller);
                return Some(frame);
            }
            let (site, caller) = self.known(place)?;
            self.position = Position::Call(caller);
            let frame = frame_at(place, FrameKind::Java, site.level);
            if site.scope.sender == 0 {
                return Some(frame.of_scope(&site.scope));
            }
            self.inlined = Some(Inlined::new(&site, frame));
        }
        self.next_inlined()
    }

    fn next_within_budget(&mut self) -> Result<Option<Frame>, Failure> {
        loop {
            if let Some(frame) = self.next_known() {
                return Ok(Some(frame));
            }
            let step = match self.position {
                Position::End => return Ok(None),
                Position::Failed(failure) => return Err(failure),
                Position::Interrupted(pc, registers) => self.interrupted(pc, &registers),
                Position::Called(pc, registers) => match self.called_left.checked_sub(1) {
                    Some(left) => {
                        self.called_left = left;
                        self.called(pc, &registers)
                    }
                    None => Err(Failure::Top),
                },
                Position::Call(place) => self.call(place),
                // `next_known` has taken it.
                Position::Known(..) => continue,
                Position::Frozen(frozen) => self.frozen(frozen),
                Position::Unpacked(unpacked) => self.unpacked(unpacked),
                Position::C(frame, below) => self.c_frame(&frame, below),
            };
            match step {
                Ok(Step { frame, next }) => {
                    self.position = next;
                    match frame {
                        Yield::Nothing => {}
                        Yield::Frame(frame) => {
                            let freezes = |known: &Continuations| frame.is_of(known.freezes);
                            self.freezes |= self.vm.continuations.as_ref().is_some_and(freezes);
                            return Ok(Some(frame));
                        }
                        Yield::Record(inlined) => self.inlined = Some(inlined),
                    }
                }
                Err(failure) => self.position = Position::Failed(failure),
            }
        }
    }

    /// Allows as many reads as at the start: for a copy of a walk that has begun.
    pub fn allow_all_reads(&self) {
        self.memory.limit(FIRST_READS);
    }

    /// What the thread was doing beside its program.
    pub fn during(&self) -> During {
        self.during
    }

    /// Whether the next frame is the first of its physical frame.
    pub fn is_at_physical_frame(&self) -> bool {
        self.inlined.is_none()
    }

    /// Whether `frame` is the one by which the frames above, of a virtual thread, were mounted.
    pub fn enters_continuation(&self, frame: &Frame) -> bool {
        let known = self.vm.continuations.as_ref();
        known.is_some_and(|known| frame.is_of(known.enters))
    }

    /// The next frame of the debug info record that the walk is at.
    #[inline]
    fn next_inlined(&mut self) -> Option<Frame> {
        let inlined = self.inlined.as_mut()?;
        let (scope, mut frame) = (inlined.scope, inlined.frame.of_scope(&inlined.scope));
        let of_rest = match frame.certainty {
            Certainty::WithoutBci => Some(Certainty::Full),
            Certainty::Guessed => Some(Certainty::Likely),
            Certainty::Full | Certainty::MethodAlone | Certainty::Likely => None,
        };
        if let Some(certainty) = of_rest {
            frame.bci = None;
            inlined.frame.certainty = certainty;
        }
        let sender = scope.sender;
        if sender == 0 {
            self.inlined = None;
            return Some(frame);
        }
        match self.vm.sites.scope(&inlined.code, sender) {
            Some(sender) => inlined.scope = sender,
            None => self.read_sender(sender),
        }
        Some(Frame {
            kind: FrameKind::Inlined,
            ..frame
        })
    }

    /// Reads the scope at `scope` of the debug info record that the walk is at.
    #[cold]
    fn read_sender(&mut self, scope: u32) {
        let Some(Inlined { code, .. }) = self.inlined else {
            return;
        };
        let layout = self.vm.code_cache.nmethods();
        let tables = code.nmethod.debug_tables(layout, &self.memory);
        let sender = tables.and_then(|tables| self.read_scope(&tables, scope));
        match (sender, &mut self.inlined) {
            (Some(sender), Some(inlined)) => {
                self.vm.sites.keep_scope(&code, scope, sender);
                inlined.scope = sender;
            }
            _ => {
                self.inlined = None;
                self.position = Position::Failed(Failure::Torn);
            }
        }
    }

    /// Reads the scope at `scope` of `tables`.
    #[cold]
    fn read_scope(&self, tables: &DebugTables, scope: u32) -> Option<StampedScope> {
        let scope = tables.scope(&self.memory, self.vm.compression, scope)?;
        let method = Method(scope.method);
        let stamp = self.vm.methods.read_stamp(&self.memory, method);
        Some(StampedScope::new(scope, stamp))
    }

    /// Gives the method of `frame` its stamp.
    #[inline(always)]
    pub fn stamp(&self, frame: &mut Frame) {
        frame.stamp(&self.vm.methods, &self.memory);
    }

    /// Whether `sp` can be the stack pointer of the caller of a frame whose stack pointer is `below`. With a link register a
    /// frame may have no word.
    fn is_caller_sp(&self, sp: usize, below: usize) -> bool {
        let is_above = sp > below || sp == below && Native::LINK.is_some();
        is_above && self.is_on_stack(sp)
    }

    /// The return address in the word at `slot`.
    fn return_address(&self, slot: usize) -> Option<usize> {
        self.memory.word(slot).map(Native::strip)
    }

    /// Whether `sp` can be the stack pointer of a frame.
    fn is_on_stack(&self, sp: usize) -> bool {
        self.stack.contains(&sp) && sp.is_multiple_of(size_of::<usize>())
    }
}

/// What a thread is doing beside its program, at the instant of a walk.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum During {
    /// Nothing.
    Program,
    /// Its stack stays as it is, because a collection has stopped the program.
    Collection,
    /// A compiled frame of the thread is being replaced by frames of the interpreter.
    Deoptimization,
}

/// The result of one step: the frame, and the next position.
struct Step {
    frame: Yield,
    next: Position,
}

/// The frames of a physical frame.
enum Yield {
    /// No frame that the caller asked for.
    Nothing,
    /// One frame.
    Frame(Frame),
    /// All frames of a debug info record.
    Record(Inlined),
}

/// A frame of which only the place is known.
fn frame_at(place: Place, kind: FrameKind, level: i8) -> Frame {
    Frame {
        kind,
        level,
        method: None,
        bci: None,
        certainty: Certainty::Full,
        pc: place.pc,
        sp: place.sp,
        fp: place.fp,
    }
}
