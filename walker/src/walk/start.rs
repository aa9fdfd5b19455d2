//! Where a walk begins.

use crate::c_frames::CFrame;
use crate::layout::Vm;
use crate::layout::code_cache::Kind;
use crate::walk::frame::Failure;
use crate::walk::{BelowC, During, Place, Position, Walk};
use hotspot::arch::NativeRegisters as Registers;
use hotspot::arch::{Follow, Native};
use hotspot::layout::thread::JavaThread;
use hotspot::layout::thread_state::Activity;
use std::ops::Range;
use vm::memory::Live;

impl<'a> Walk<'a> {
    /// The walk of `thread`, which was interrupted at `pc`. `with_c` asks for frames of C and C++,
    /// also where an anchor would lead past them.
    #[inline(always)]
    pub fn from_interrupt(
        vm: &'a Vm,
        memory: Live<'a>,
        thread: JavaThread,
        pc: usize,
        registers: Registers,
        with_c: bool,
    ) -> Result<Walk<'a>, Failure> {
        let threads = &vm.threads;
        if threads.is_ending(&memory, thread).ok_or(Failure::Torn)? {
            return Err(Failure::Ending);
        }
        let state = threads.state(&memory, thread);
        let activity = state.ok_or(Failure::Torn)?.activity;
        let stack = threads.stack(&memory, thread).ok_or(Failure::Torn)?;
        let mut walk = Walk::new(vm, memory, stack, Position::End);
        walk.with_c = with_c;
        walk.unpacks = threads.unpacks(&memory, thread).ok_or(Failure::Torn)?;
        walk.thrown_at = threads.exception_pc(&memory, thread);
        if matches!(activity, Activity::Java | Activity::Vm) {
            // No collection moves objects, because no safepoint begins before the thread that is walked stops.
            walk.mounts = Some(thread);
        }
        let place = Place {
            pc,
            sp: registers.get(Native::SP).unwrap_or(0),
            fp: registers.get(Native::FP).unwrap_or(0),
        };
        if activity != Activity::New
            && let Some((body, caller)) = walk.known_body(place)
        {
            walk.position = Position::Known(place, body, caller);
            return Ok(walk);
        }
        let interrupted = Position::Interrupted(pc, registers);
        let kind = vm.kind_at(&memory, pc);
        let anchor = threads.anchor(&memory, thread);
        let in_c = CFrame {
            pc,
            registers,
            is_at_call: false,
        };
        walk.during = walk.occupied(activity, kind == Some(Kind::Deoptimization));
        walk.position = match (activity, kind, anchor) {
            (Activity::New, ..) => return Err(Failure::UnsafeState),
            // Code of a method shows where the thread is, whatever its state is.
            (_, Some(Kind::Compiled(_) | Kind::Interpreter), _) => interrupted,
            // The stub that has left Java code is about to call the VM, and has kept no pc.
            (_, Some(_), Some(anchor)) if registers.get(Native::SP) == Some(anchor.sp) => {
                interrupted
            }
            (_, None, Some(anchor)) if with_c => Position::C(in_c, BelowC::Anchored(anchor)),
            (_, _, Some(anchor)) => walk.anchored(Some(anchor))?,
            (_, Some(_), None) => interrupted,
            (Activity::Java, None, None) => Position::C(in_c, BelowC::Generated),
            (Activity::Native | Activity::Vm | Activity::Blocked, None, None) => {
                return Err(Failure::NoJavaFrame);
            }
        };
        Ok(walk)
    }

    /// The walk of a thread that is no Java thread, interrupted at `pc`: frames of C and C++ alone.
    pub fn of_c(
        vm: &'a Vm,
        memory: Live<'a>,
        pc: usize,
        registers: Registers,
    ) -> Result<Walk<'a>, Failure> {
        /// The end of such a stack is not known, but its frames are not further apart than this.
        const REACH: usize = 1 << 26;
        let sp = registers.get(Native::SP).ok_or(Failure::Top)?;
        let start = Position::C(
            CFrame {
                pc,
                registers,
                is_at_call: false,
            },
            BelowC::Nothing,
        );
        Ok(Walk {
            with_c: true,
            ..Walk::new(vm, memory, sp..sp.saturating_add(REACH), start)
        })
    }

    /// The walk of `thread` from the anchor at which it left Java code. The thread must have an
    /// anchor.
    pub fn from_anchor(
        vm: &'a Vm,
        memory: Live<'a>,
        thread: JavaThread,
    ) -> Result<Walk<'a>, Failure> {
        let stack = vm.threads.stack(&memory, thread).ok_or(Failure::Torn)?;
        let anchor = vm.threads.anchor(&memory, thread);
        let mut walk = Walk::new(vm, memory, stack, Position::End);
        walk.unpacks = vm.threads.unpacks(&memory, thread).ok_or(Failure::Torn)?;
        walk.position = walk.anchored(Some(anchor.ok_or(Failure::NoJavaFrame)?))?;
        let state = vm.threads.state(&memory, thread).ok_or(Failure::Torn)?;
        walk.during = walk.occupied(state.activity, false);
        Ok(walk)
    }

    /// What a thread of this activity is doing beside its program. `deoptimizes` says whether it runs the code that replaces
    /// frames.
    fn occupied(&self, activity: Activity, deoptimizes: bool) -> During {
        // That code, or the VM for it, has described the new frames (`Deoptimization::fetch_unroll_info`).
        if deoptimizes || self.unpacks.is_some() {
            return During::Deoptimization;
        }
        // A thread that runs Java code holds off a collection that stops the program.
        let collections = self.vm.collections.as_ref();
        let stops = || collections?.stops_program(&self.memory);
        if activity != Activity::Java && stops() == Some(true) {
            During::Collection
        } else {
            During::Program
        }
    }

    /// The walk of `stack` from a frame at a call.
    pub fn from_frame(vm: &'a Vm, memory: Live<'a>, stack: Range<usize>, place: Place) -> Walk<'a> {
        let mut registers = Registers::UNKNOWN;
        registers.set(Native::SP, Some(place.sp));
        registers.set(Native::FP, Some(place.fp));
        Walk::new(
            vm,
            memory,
            stack,
            Position::Interrupted(place.pc, registers),
        )
    }
}
