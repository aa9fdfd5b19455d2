//! The context of a signal handler: the registers of the interrupted code.

use crate::api::abi::{CPP_TRACE, GUESS_INLINED, INCLUDE_C_FRAMES, INCLUDE_NON_JAVA_THREADS};
use crate::layout::Vm;
use crate::walk::frame::{Failure, Frame};
use crate::walk::{Place, Walk};
use hotspot::arch::NativeRegisters;
use hotspot::layout::thread::JavaThread;
use std::ffi::c_void;
use vm::memory::{Guard, Live};

/// Calls `work` with the VM and its memory, and keeps `errno`.
pub fn with_vm<T>(work: impl FnOnce(&Vm, Live<'_>) -> T) -> Option<T> {
    let vm = Vm::get()?;
    // SAFETY: the calling thread's own.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let guard = Guard::set();
    let result = work(vm, guard.memory());
    drop(guard);
    // SAFETY: as above.
    unsafe { *errno = before };
    Some(result)
}

/// The program counter and the registers in `ucontext`.
///
/// # Safety
/// `ucontext` must be a context that a signal handler was given.
unsafe fn registers(ucontext: *const c_void) -> (usize, NativeRegisters) {
    // SAFETY: as the caller promised.
    vm::registers(unsafe { &*ucontext.cast() })
}

/// A walk that yields only the frames that the caller asked for.
#[derive(Clone)]
pub struct Trace<'a> {
    walk: Walk<'a>,
    /// `ASGST_TRACE_KIND`.
    pub kind: u8,
    with_others: bool,
}

impl<'a> Trace<'a> {
    /// The trace of the calling thread: from `ucontext`, or from its last Java frame if that is
    /// null.
    ///
    /// # Safety
    /// `ucontext` must be null, or a context that a signal handler was given.
    #[inline(always)]
    pub unsafe fn of_context(
        vm: &'a Vm,
        memory: Live<'a>,
        ucontext: *const c_void,
        options: u32,
    ) -> Result<Trace<'a>, Failure> {
        let with_others = options & INCLUDE_C_FRAMES != 0;
        let trace = |walk, kind, with_others| Trace {
            walk,
            kind,
            with_others,
        };
        let thread = vm.threads.get(&memory).ok_or(Failure::NoThread);
        if ucontext.is_null() {
            let walk = Walk::from_anchor(vm, memory, thread?)?;
            return Ok(Trace::of_walk(walk, options));
        }
        // SAFETY: as the caller promised.
        let (pc, registers) = unsafe { registers(ucontext) };
        let java = thread.and_then(|thread| {
            Walk::from_interrupt(vm, memory, thread, pc, registers, with_others)
        });
        match java {
            Ok(walk) => {
                let walk = walk.with_guesses(options & GUESS_INLINED != 0);
                let kind = walk.during().kind();
                Ok(trace(walk, kind, with_others))
            }
            // A thread of the VM, or a Java thread without Java code, has C frames alone.
            Err(Failure::NoThread | Failure::NoJavaFrame | Failure::UnsafeState)
                if options & INCLUDE_NON_JAVA_THREADS != 0 =>
            {
                Ok(trace(
                    Walk::of_c(vm, memory, pc, registers)?,
                    CPP_TRACE,
                    true,
                ))
            }
            Err(failure) => Err(failure),
        }
    }

    /// The trace of `thread`, which is not the calling one and stands still: from `ucontext`, or from its last Java frame if that
    /// is null.
    ///
    /// # Safety
    /// `ucontext` must be null, or a context that a signal handler of this thread was given.
    pub unsafe fn of_stopped(
        vm: &'a Vm,
        memory: Live<'a>,
        thread: JavaThread,
        ucontext: *const c_void,
        options: u32,
    ) -> Result<Trace<'a>, Failure> {
        if ucontext.is_null() {
            let walk = Walk::from_anchor(vm, memory, thread)?;
            return Ok(Trace::of_walk(walk, options));
        }
        // SAFETY: as the caller promised.
        let (pc, registers) = unsafe { registers(ucontext) };
        let with_c = options & INCLUDE_C_FRAMES != 0;
        let walk = Walk::from_interrupt(vm, memory, thread, pc, registers, with_c)?;
        Ok(Trace::of_walk(walk.of_another_thread(), options))
    }

    /// The trace of Java frames that `walk` walks.
    pub fn of_walk(walk: Walk<'a>, options: u32) -> Trace<'a> {
        let with_others = options & INCLUDE_C_FRAMES != 0;
        Trace {
            kind: walk.during().kind(),
            walk: walk
                .with_guesses(options & GUESS_INLINED != 0)
                .with_c_frames(with_others),
            with_others,
        }
    }

    /// The walk of all frames.
    pub fn into_walk(self) -> Walk<'a> {
        self.walk
    }

    /// The trace from the frame at `place`.
    pub fn of_frame(
        vm: &'a Vm,
        memory: Live<'a>,
        place: Place,
        options: u32,
    ) -> Result<Trace<'a>, Failure> {
        let stack = vm.threads.stack_of(&memory, place.sp);
        let walk = Walk::from_frame(vm, memory, stack.ok_or(Failure::NoThread)?, place);
        Ok(Trace::of_walk(walk, options))
    }

    /// The next frame, callees first; `None` at the end of the stack.
    #[inline(always)]
    pub fn next_frame(&mut self) -> Result<Option<Frame>, Failure> {
        loop {
            match self.walk.next_frame()? {
                Some(frame) if !self.with_others && !frame.is_of_method() => {}
                frame => return Ok(frame),
            }
        }
    }

    /// As [`Trace::next_frame`]; the frame has the stamp of its method.
    #[inline(always)]
    pub fn next_stamped(&mut self) -> Result<Option<Frame>, Failure> {
        let mut frame = self.next_frame()?;
        if let Some(frame) = &mut frame {
            self.walk.stamp(frame);
        }
        Ok(frame)
    }

    /// A copy that may read as much as a trace that begins.
    pub fn again(&self) -> Trace<'a> {
        self.walk.allow_all_reads();
        self.clone()
    }
}
