//! A sample: the signal handler writes it, and the sampler reads it. Part of it are the words at the top of the thread's Java
//! stack.

use crate::jvm::java_thread::{JavaThreads, ThreadSnapshot};
use crate::jvm::os::signal_set::SignalSet;
use crate::truth::interrupted::Interrupted;
use crate::truth::trace_stack::StackCopy;
use crate::walkers::buffer::{FrameBuffer, MAX_FRAMES, Walk};
use hotspot::arch::{NativeRegisters, Registers};
use hotspot::layout::entry::Words;
use oracle::tally::Drop;
use std::io;

/// What happened to the target.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Reply {
    /// The walker was asked: the frames are in the buffer, or there is an error code.
    Walked(Walk),
    /// The VM lacks the walker. The rest of the sample is filled in.
    NoWalker,
    /// The signal reached another thread, because the target has ended. The rest of the sample is
    /// older.
    OtherThread,
}

/// A sample.
pub struct Sample {
    /// A moment before the thread was asked, in nanoseconds of `clock::since_start`.
    pub asked: u64,
    /// What happened to the target.
    pub reply: Reply,
    /// The walker's frames.
    pub frames: FrameBuffer,
    /// The trace stack at the instant of the walk.
    pub stack: StackCopy,
    /// The address of the trace stack that `stack` is a copy of.
    pub copy_of: usize,
    /// The trace stack of the carrier, if the trace stack is that of a virtual thread.
    pub carrier: StackCopy,
    /// Whether the trace stack is that of a virtual thread.
    pub carried: bool,
    /// Whether the trace stacks could be copied.
    pub copied: Result<(), Drop>,
    /// What was interrupted.
    pub at: Interruption,
    /// The signals whose handlers were running.
    pub handled: SignalSet,
}

/// A thread at the instant of a signal.
pub struct Interruption {
    /// The thread's state and its last Java frame, if the VM describes them.
    pub seen: Option<ThreadSnapshot>,
    /// The registers of the interrupted code.
    pub registers: Registers,
    /// All its general registers.
    pub general: NativeRegisters,
    /// The words at the stack pointer.
    pub stack_top: StackTop,
}

impl Interruption {
    /// Nothing, and room for so many words of the stack.
    pub fn new(room: usize) -> Interruption {
        Interruption {
            seen: None,
            registers: Registers::default(),
            general: NativeRegisters::UNKNOWN,
            stack_top: StackTop::new(room),
        }
    }

    /// Copies all of it. `threads` are the VM's, if it describes them.
    pub fn copy(&mut self, thread: Interrupted<'_>, threads: Option<&JavaThreads>) {
        let seen = threads.and_then(|threads| thread.seen(threads));
        self.copy_registers(thread, seen);
        self.stack_top.copy(thread, seen);
    }

    /// Copies all of it but the words of the stack. `seen`: the thread as the VM has it.
    pub fn copy_registers(&mut self, thread: Interrupted<'_>, seen: Option<ThreadSnapshot>) {
        self.registers = thread.context().registers();
        self.general = thread.context().general();
        self.seen = seen;
        self.stack_top.clear();
    }
}

impl Sample {
    /// The name of the thread's state.
    pub fn state_name(&self) -> &'static str {
        self.at.seen.map_or("unknown", |seen| seen.state.name())
    }

    /// An empty sample.
    pub fn new() -> io::Result<Sample> {
        Ok(Sample {
            asked: 0,
            reply: Reply::OtherThread,
            frames: FrameBuffer::new(MAX_FRAMES)?,
            stack: StackCopy::new(MAX_FRAMES)?,
            copy_of: 0,
            carrier: StackCopy::new(MAX_FRAMES)?,
            carried: false,
            copied: Ok(()),
            at: Interruption::new(WORDS),
            handled: SignalSet::default(),
        })
    }
}

/// The largest number of words that are looked at, 128 KiB. A walk may end below class initialisers that the VM
/// called one from the other: with `-Xcomp` 5,400 words lie above such a frame.
pub const WORDS: usize = 1 << 14;

/// Words from the stack pointer of the newest Java frame on: the thread's own stack pointer, or
/// that of the anchor if the thread has left Java code.
pub struct StackTop {
    /// The address of the first word.
    start: usize,
    words: Box<[usize]>,
    count: usize,
}

impl StackTop {
    /// No words, and room for so many.
    pub fn new(room: usize) -> StackTop {
        StackTop {
            start: 0,
            words: vec![0; room].into(),
            count: 0,
        }
    }

    /// Copies the words, as far as the thread's stack reaches. Copies none if the stack pointer is
    /// not within the stack.
    pub fn copy(&mut self, thread: Interrupted<'_>, seen: Option<ThreadSnapshot>) {
        let anchored = seen.filter(|seen| !seen.is_without_pc());
        let from = anchored.map_or(0, |seen| seen.last.sp);
        self.start = from.max(thread.context().registers().sp);
        self.count = thread.copy_stack(from, &mut self.words);
    }

    /// Removes all words.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// All words that were copied.
    pub fn stack(&self) -> Words<'_> {
        Words {
            start: self.start,
            words: &self.words[..self.count],
        }
    }

    /// The word at this distance from the stack pointer, in words, if it was copied.
    pub fn word(&self, index: usize) -> Option<usize> {
        self.stack().words.get(index).copied()
    }
}
