//! Walks a stack, frame by frame, without memory of its own.
//!
//! * [`frame`]: what a walk yields, and why it may fail;
//! * [`Walk`]: the walk: it stands at a physical frame, and yields what is inlined there first;
//! * [`start`]: where it begins;
//! * `interrupted`: the first frame, where code was interrupted at any instruction;
//! * [`caller`]: the others, which stand at a call;
//! * `c`: frames of C and C++, above Java frames and between them;
//! * [`return_address`]: what can be one.

mod c;
pub mod caller;
pub mod frame;
mod interrupted;
pub mod return_address;
pub mod start;

use crate::c_frames::CFrame;
use crate::memory::Live;
use crate::vm::Vm;
use crate::vm::method::Method;
use crate::vm::thread::Anchor;
use frame::{Certainty, Failure, Frame, FrameKind};
use hotspot::unwind::Registers;
use hotspot::vm::debug_info::Scope;
use hotspot::vm::nmethod::DebugTables;
use std::ops::Range;

/// Where a frame stands at a call.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Place {
    /// Where the frame goes on.
    pub pc: usize,
    /// Its stack pointer.
    pub sp: usize,
    /// Its frame pointer.
    pub fp: usize,
}

/// What the walk looks at next.
#[derive(Copy, Clone, Debug)]
enum Position {
    /// Code that was interrupted, with its registers.
    Interrupted(usize, Registers),
    /// A frame that stands at a call.
    Call(Place),
    /// A frame of C or C++, and where the Java frames below are anchored.
    C(CFrame, Option<Anchor>),
    /// Nothing: the walk has ended.
    End,
    /// Nothing: the walk has failed.
    Failed(Failure),
}

/// More frames of C than there are between Java frames; a walk of the VM's code for more ends.
const MOST_C_FRAMES: u32 = 256;

/// More pieces of code than can be interrupted in the middle: a stub of a stub of a method.
const MOST_INTERRUPTED: u32 = 8;

/// A walk of one thread's stack.
#[derive(Clone)]
pub struct Walk<'a> {
    vm: &'a Vm,
    memory: Live<'a>,
    stack: Range<usize>,
    start: Position,
    position: Position,
    inlined: Option<Inlined>,
    with_c: bool,
    /// Whether a stack of C alone may end where no table tells the caller.
    only_c: bool,
    /// Whether the frames of compiled code are being exchanged for those of the interpreter.
    unpacks: bool,
    /// How many more frames of C there may be.
    c_frames_left: u32,
    /// How many more frames may stand in the middle of code, and not at a call.
    interrupted_left: u32,
}

/// The frames that are left of a debug info record.
#[derive(Copy, Clone, Debug)]
struct Inlined {
    tables: DebugTables,
    /// The next one.
    scope: u32,
    /// What the physical frame is.
    frame: Frame,
}

impl<'a> Walk<'a> {
    fn new(vm: &'a Vm, memory: Live<'a>, stack: Range<usize>, start: Position) -> Walk<'a> {
        Walk {
            vm,
            memory,
            stack,
            start,
            position: start,
            inlined: None,
            with_c: false,
            only_c: false,
            unpacks: false,
            c_frames_left: MOST_C_FRAMES,
            interrupted_left: MOST_INTERRUPTED,
        }
    }

    /// The next frame, callees first; `None` at the end of the stack.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, Failure> {
        loop {
            if let Some(frame) = self.next_inlined() {
                return Ok(Some(frame));
            }
            let step = match self.position {
                Position::End => return Ok(None),
                Position::Failed(failure) => return Err(failure),
                Position::Interrupted(pc, registers) => {
                    match self.interrupted_left.checked_sub(1) {
                        Some(left) => {
                            self.interrupted_left = left;
                            self.interrupted(pc, &registers)
                        }
                        None => Err(Failure::Top),
                    }
                }
                Position::Call(place) => self.call(place),
                Position::C(frame, anchor) => self.c_frame(&frame, anchor),
            };
            match step {
                Ok(Step { frame, next }) => {
                    self.position = next;
                    match frame {
                        Found::Nothing => {}
                        Found::Frame(frame) => return Ok(Some(frame)),
                        Found::Record(inlined) => self.inlined = Some(inlined),
                    }
                }
                Err(failure) => self.position = Position::Failed(failure),
            }
        }
    }

    /// Goes back to the first frame.
    pub fn rewind(&mut self) {
        self.position = self.start;
        self.inlined = None;
        self.c_frames_left = MOST_C_FRAMES;
        self.interrupted_left = MOST_INTERRUPTED;
    }

    fn next_inlined(&mut self) -> Option<Frame> {
        let Inlined {
            tables,
            scope,
            frame,
        } = self.inlined.take()?;
        let Some(Scope {
            method,
            bci,
            sender,
        }) = tables.scope(&self.memory, self.vm.compression, scope)
        else {
            self.position = Position::Failed(Failure::Torn);
            return None;
        };
        if sender != 0 {
            self.inlined = Some(Inlined {
                tables,
                scope: sender,
                frame,
            });
        }
        Some(Frame {
            kind: match sender {
                0 => FrameKind::Java,
                _ => FrameKind::Inlined,
            },
            method: Some(Method(method)),
            bci: u16::try_from(bci).ok(),
            ..frame
        })
    }

    /// Whether `sp` can be the stack pointer of a frame above `below`.
    fn is_on_stack(&self, sp: usize) -> bool {
        self.stack.contains(&sp) && sp.is_multiple_of(size_of::<usize>())
    }
}

/// What one step found, and where it goes on.
struct Step {
    frame: Found,
    next: Position,
}

/// What a physical frame gives.
enum Found {
    /// Nothing that was asked for.
    Nothing,
    /// One frame.
    Frame(Frame),
    /// All frames of a debug info record.
    Record(Inlined),
}

impl Certainty {
    /// Nothing is known but the compiled method itself.
    const METHOD_ALONE: Certainty = Certainty {
        bci: false,
        inlined: false,
    };
}
