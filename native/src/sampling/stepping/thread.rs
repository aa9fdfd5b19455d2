//! The thread that runs one instruction at a time, from step to step, and the calls of threads that are in the kernel meanwhile.

use super::counts::{COUNTS, Counts, End};
use super::instant::{AtInstant, MOST_CALLS, Reached};
use super::visits::{Visit, Visits};
use crate::jvm::Jvm;
use crate::jvm::code_cache::Running;
use crate::jvm::os::signal::HandlerContext;
use crate::jvm::os::thread::StackBounds;
use crate::jvm::os::trap::Next;
use crate::jvm::os::trap::crossing::{self, CROSSINGS};
use crate::truth::interrupted::Interrupted;
use hotspot::arch::{Flow, Follow, Native};
use hotspot::layout::interpreter::Interpreter;
use hotspot::steps::shadow::{Call, Lost, Shadow};
use hotspot::steps::truth::Facts;
use hotspot::steps::{Code, Piece, Place, Stack};
use std::mem::swap;

/// Outside of the code cache a thread runs so many steps, and then runs on freely.
const MOST_OUTSIDE: u32 = 50_000;

/// A thread steps for so many instructions, and then runs on freely for a while: compilers look at how often
/// methods are called, and all threads get their turn.
const TURN: u32 = 100_000;

/// Stacks that have less room than this, in bytes, are left alone: the handler needs some, and the VM
/// guards the end.
const ROOM: usize = 256 << 10;

/// What the VM says of its code.
#[derive(Copy, Clone)]
pub struct Vm {
    /// The VM.
    pub jvm: &'static Jvm,
    /// The interpreter.
    pub interpreter: &'static Interpreter,
}

/// The thread's calls, and what it did last.
pub struct Stepper {
    vm: Vm,
    turn: Turn,
    parked: Parked,
    before: Place,
    running: Running,
    visits: Visits,
    at_instant: Box<dyn AtInstant>,
    counts: &'static Counts,
}

/// The stack of the thread in its handler.
struct Own<'a> {
    context: &'a HandlerContext<'a>,
    bounds: &'a StackBounds,
    vm: Vm,
}

impl Stack for Own<'_> {
    fn word(&self, address: usize) -> usize {
        self.context.stack_word(address, self.bounds)
    }

    fn throwing(&self) -> usize {
        self.context.throwing()
    }

    fn is_invoke_return(&self, pc: usize) -> bool {
        self.vm.interpreter.is_return(pc)
    }

    fn is_in_stubs(&self, piece: Piece, pc: usize) -> bool {
        let facts = self.vm.jvm.step_facts.as_ref().ok();
        facts.is_some_and(|facts| facts.is_in_stubs(piece, pc))
    }
}

impl Stepper {
    /// No thread steps yet.
    pub fn new(vm: Vm, at_instant: Box<dyn AtInstant>, visits: Visits) -> Stepper {
        Stepper {
            vm,
            turn: Turn::new(),
            parked: Parked::new(),
            before: Place::default(),
            running: Running::default(),
            visits,
            at_instant,
            counts: &COUNTS,
        }
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
        if place.flow == Flow::LoadFlags {
            context.keep_trap_flag(&self.turn.bounds);
        }
        let before = std::mem::replace(&mut self.before, place);
        if place.code == Code::Outside {
            if place.flow == Flow::SystemCall {
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
        let own = Own {
            context,
            bounds,
            vm: self.vm,
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
                let thread = Interrupted::new(context).ok_or(End::ThreadExits)?;
                return Ok(self.at_instant.reach(&Reached {
                    thread,
                    place: &place,
                    interpreted,
                    calls: self.turn.shadow.calls(),
                }));
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
            let cache = self.vm.jvm.code_cache().ok();
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
}

fn outside(context: &HandlerContext<'_>) -> Place {
    let registers = context.registers();
    Place {
        pc: registers.pc,
        sp: registers.sp,
        fp: registers.fp,
        flow: Native::flow(context.next_bytes()),
        ..Place::default()
    }
}

/// What a thread knows between two of its steps.
pub struct Turn {
    /// The calls.
    pub shadow: Shadow,
    /// The stack.
    pub bounds: StackBounds,
    /// Steps since the code cache was left.
    pub outside: u32,
    /// Steps in this turn.
    pub steps: u32,
}

impl Turn {
    /// No turn has begun.
    pub fn new() -> Turn {
        Turn {
            shadow: Shadow::new(MOST_CALLS),
            bounds: StackBounds::none(),
            outside: 0,
            steps: 0,
        }
    }
}

/// The turns of threads that are in the kernel, by their crossings. The memory is made once.
struct Parked(Box<[Turn]>);

impl Parked {
    /// No thread is in the kernel.
    pub fn new() -> Parked {
        Parked((0..CROSSINGS).map(|_| Turn::new()).collect())
    }

    /// The thread whose `turn` it is enters the kernel in this crossing, or has come back. Async-signal-safe.
    pub fn exchange(&mut self, crossing: usize, turn: &mut Turn) {
        if let Some(parked) = self.0.get_mut(crossing) {
            swap(parked, turn);
        }
    }
}
