//! The thread that runs one instruction at a time, from step to step.

use super::callers::{Below, KnownCalls};
use super::counts::{COUNTS, Counts, End};
use super::instant::{Instant, MOST_CALLS};
use super::key::key;
use super::parked::{Parked, Turn};
use super::seen::{Found, Seen};
use super::visits::{Visit, Visits};
use crate::jvm::Jvm;
use crate::jvm::code_cache::Running;
use crate::jvm::os::clock;
use crate::jvm::os::ring::Writer;
use crate::jvm::os::signal::HandlerContext;
use crate::jvm::os::thread::StackBounds;
use crate::jvm::os::trap::{Next, crossing};
use crate::records::Records;
use crate::sampling::sample::Reply;
use crate::truth::interrupted::Interrupted;
use crate::walkers::buffer::{FrameBuffer, MAX_FRAMES};
use crate::walkers::guarded::walk_guarded;
use crate::walkers::walker::WalksInterrupted;
use hotspot::steps::shadow::{Call, Interpreted, Lost};
use hotspot::steps::truth::Facts;
use hotspot::steps::{Code, Piece, Place, Stack};
use hotspot::vm::interpreter::Interpreter;
use oracle::Layer;
use std::io;
use std::time::Duration;

/// Outside of the code cache a thread runs so many steps, and then runs on freely.
const MOST_OUTSIDE: u32 = 50_000;

/// A thread steps for so many instructions, and then runs on freely for a while: compilers look at how often
/// methods are called, and all threads get their turn.
const TURN: u32 = 100_000;

/// A thread waits so often for the judge at most, for [`PAUSE`] each time, if too many instants wait for their
/// judgement. The judge itself may wait for the thread, at a safepoint.
const MOST_PAUSES: u32 = 100;

/// How long a thread waits for the judge at once.
const PAUSE: Duration = Duration::from_micros(50);

/// Stacks that have less room than this, in bytes, are left alone: the handler needs some, and the VM
/// guards the end.
const ROOM: usize = 256 << 10;

/// What stepping uses.
pub struct Means {
    /// The VM.
    pub jvm: &'static Jvm,
    /// The place of the counts.
    pub records: &'static Records,
    /// The layer of the walker.
    pub layer: Layer,
    /// The walker.
    pub walker: &'static dyn WalksInterrupted,
    /// The interpreter.
    pub interpreter: &'static Interpreter,
    /// What was seen.
    pub seen: &'static Seen,
    /// The calls whose frames are known.
    pub calls: &'static KnownCalls,
}

/// The thread's calls, and what it did last.
pub struct Stepper {
    means: Means,
    turn: Turn,
    parked: Parked,
    below: Below,
    before: Place,
    running: Running,
    /// Whether the judge did not make room in time.
    is_judge_late: bool,
    frames: FrameBuffer,
    visits: Visits,
    writer: Writer<Instant>,
    counts: &'static Counts,
}

/// The stack of the thread in its handler.
struct Own<'a> {
    context: &'a HandlerContext<'a>,
    bounds: &'a StackBounds,
    means: &'a Means,
}

impl Stack for Own<'_> {
    fn word(&self, address: usize) -> usize {
        self.context.stack_word(address, self.bounds)
    }

    fn throwing(&self) -> usize {
        self.context.throwing()
    }

    fn is_invoke_return(&self, pc: usize) -> bool {
        self.means.interpreter.is_return(pc)
    }

    fn is_in_stubs(&self, piece: Piece, pc: usize) -> bool {
        let facts = self.means.jvm.step_facts.as_ref();
        facts.is_some_and(|facts| facts.is_in_stubs(piece, pc))
    }
}

impl Stepper {
    /// No thread steps yet.
    pub fn new(means: Means, writer: Writer<Instant>, visits: Visits) -> io::Result<Stepper> {
        Ok(Stepper {
            means,
            turn: Turn::new(),
            parked: Parked::new(),
            below: Below::new(MOST_CALLS),
            before: Place::default(),
            running: Running::default(),
            is_judge_late: false,
            frames: FrameBuffer::new(MAX_FRAMES)?,
            visits,
            writer,
            counts: &COUNTS,
        })
    }

    /// The calling thread, whose stack has these `bounds`, has made these `calls`, the oldest first. False
    /// if there are too many.
    pub fn begin(&mut self, bounds: StackBounds, calls: &[Call]) -> bool {
        self.turn.shadow.clear();
        self.turn.bounds = bounds;
        self.turn.steps = 0;
        let mut calls = calls.iter();
        calls.all(|&call| self.turn.shadow.push(call).is_ok())
    }

    /// The calls that have not returned, the oldest first; `None` while the VM replaces frames.
    pub fn calls(&self) -> Option<&[Call]> {
        let shadow = &self.turn.shadow;
        (!shadow.is_replacing()).then(|| shadow.calls())
    }

    /// The thread enters the kernel in this crossing, and others may step.
    pub fn park(&mut self, crossing: usize) {
        self.parked.exchange(crossing, &mut self.turn);
    }

    /// The thread has come back from the kernel in this crossing, and steps on at `context`.
    pub fn resume(&mut self, crossing: usize, context: &HandlerContext<'_>) {
        self.parked.exchange(crossing, &mut self.turn);
        self.before = outside(context);
        self.running.range = 0..0;
    }

    /// The thread begins to step at `context`, outside of the code cache.
    pub fn start(&mut self, context: &HandlerContext<'_>) {
        self.before = outside(context);
        self.turn.outside = 0;
    }

    /// The thread has run one instruction.
    pub fn step(&mut self, context: &HandlerContext<'_>) -> Result<Next, End> {
        Counts::add(&self.counts.steps);
        self.turn.steps += 1;
        if self.turn.steps > TURN {
            return Err(End::Turn);
        }
        let place = self.place(context)?;
        // Code saves flags that it loads later: the trap flag stays set.
        const POPF: u8 = 0x9d;
        if let [POPF, _] | [0x48, POPF] = place.bytes {
            context.keep_trap_flag(&self.turn.bounds);
        }
        let before = std::mem::replace(&mut self.before, place);
        if place.code == Code::Outside {
            const SYSCALL: [u8; 2] = [0x0f, 0x05];
            if place.bytes == SYSCALL {
                let crossing = crossing::take(context.system_call());
                return crossing.map(Next::Cross).ok_or(End::Kernel);
            }
            self.turn.outside += 1;
            if self.turn.outside > MOST_OUTSIDE {
                return Err(End::Outside);
            }
            if before.code == Code::Outside {
                return Ok(Next::Step);
            }
        }
        let Turn { shadow, bounds, .. } = &mut self.turn;
        let means = &self.means;
        let own = Own {
            context,
            bounds,
            means,
        };
        let followed = shadow.step(&before, &place, &own);
        followed.map_err(|lost| match lost {
            Lost::Code => End::Code,
            Lost::TooDeep => End::TooDeep,
        })?;
        if let Some(ended) = shadow.ended() {
            self.visits.note(Visit::Ended(ended));
        }
        if place.code != Code::Outside {
            let interpreted = shadow.interpreted(&place, context.entered_method(), &own);
            self.turn.outside = 0;
            self.visits.note(Visit::At(place.piece, place.pc));
            if !self.turn.shadow.is_replacing() {
                self.ask(context, &place, interpreted)?;
            }
        }
        Ok(Next::Step)
    }

    /// Where the thread is.
    fn place(&mut self, context: &HandlerContext<'_>) -> Result<Place, End> {
        let registers = context.registers();
        let stack = self.turn.bounds.range();
        if !(stack.start + ROOM..stack.end).contains(&registers.sp) {
            return Err(End::NearGuards);
        }
        if !self.running.range.contains(&registers.pc) {
            let cache = self.means.jvm.code_cache.as_ref();
            let running = cache
                .filter(|cache| cache.contains_running(context))
                .map(|cache| cache.running(context).ok_or(End::Code));
            match running {
                None => {
                    // Until the thread comes back, other code may take the place of this code.
                    self.running.range = 0..0;
                    return Ok(outside(context));
                }
                Some(running) => self.running = running?,
            }
        }
        Ok(Place {
            code: self.running.code,
            piece: self.running.piece,
            ..outside(context)
        })
    }

    /// Asks the walker, and passes the answer on if it is new.
    fn ask(
        &mut self,
        context: &HandlerContext<'_>,
        place: &Place,
        interpreted: Interpreted,
    ) -> Result<(), End> {
        let thread = Interrupted::new(context).ok_or(End::ThreadExits)?;
        Counts::add(&self.counts.instants);
        let (walked, crashed) = walk_guarded(self.means.walker, thread, &mut self.frames);
        let of_calls = self.frames_of_calls();
        let answer = walked.map(|()| self.frames.frames());
        let calls = self.turn.shadow.calls();
        let key = key(place, interpreted, answer, calls, of_calls);
        let of_calls = of_calls.unwrap_or(0);
        match self.means.seen.look(key, self.means.layer, of_calls) {
            Found::Judged(count) => self.means.records.slots.add_all(count.slots()),
            Found::Waiting => {}
            Found::Full => Counts::add(&self.counts.unjudged),
            Found::New if !self.has_room() => Counts::add(&self.counts.unjudged),
            Found::New => {
                self.means.seen.add(key);
                let (calls, frames) = (self.turn.shadow.calls(), &self.frames);
                let threads = self.means.jvm.java_threads.as_ref();
                let anchor = threads.and_then(|threads| thread.anchor(threads));
                self.writer.pass(|instant| {
                    instant.key = key;
                    instant.tid = thread.state().tid();
                    instant.place = *place;
                    instant.interpreted = interpreted;
                    instant.of_calls = of_calls;
                    instant.crashed = crashed;
                    instant.copy_calls(calls);
                    let sample = &mut instant.sample;
                    sample.reply = Reply::Walked(walked);
                    sample.frames.copy_from(frames);
                    sample.registers = context.registers();
                    sample.anchor = anchor;
                    sample.stack_top.copy(thread, anchor);
                });
            }
        }
        Ok(())
    }

    /// How many frames at the end of the walk are the true frames of all calls.
    fn frames_of_calls(&mut self) -> Option<usize> {
        let walk = self.frames.frames();
        self.below
            .at_end(self.turn.shadow.calls(), self.means.calls, walk)
    }

    /// Whether there is room for an instant, perhaps after a while. Async-signal-safe.
    fn has_room(&mut self) -> bool {
        let mut pauses = 0;
        while !self.writer.has_room() {
            if self.is_judge_late || pauses == MOST_PAUSES {
                self.is_judge_late = true;
                return false;
            }
            pauses += 1;
            clock::pause(PAUSE);
        }
        self.is_judge_late = false;
        true
    }
}

fn outside(context: &HandlerContext<'_>) -> Place {
    let registers = context.registers();
    Place {
        pc: registers.pc,
        sp: registers.sp,
        fp: registers.fp,
        bytes: context.next_bytes(),
        ..Place::default()
    }
}
