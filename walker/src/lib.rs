//! AsyncGetStackTrace (JEP 435) and the frame iterator for stock JDKs, as a library for any profiler.
//!
//! # Purpose
//!
//! The library walks Java stacks in a signal handler, without AsyncGetCallTrace. It reads HotSpot's
//! description of its own structures, the code cache, debug info, and the machine code at the program
//! counter. `include/profile2.h` is its C interface, and `docs/results/walker.md` compares it with
//! AsyncGetCallTrace.
//!
//! | module | holds |
//! |---|---|
//! | [`api`] | the functions of `profile2.h` |
//! | [`walk`] | the walk, frame by frame |
//! | [`queue`] | samples whose stacks are walked where the thread is suspended |
//! | [`layout`] | the layout of the running VM, which is read once |
//! | [`c_frames`] | the callers of C code, by unwind tables |
//!
//! What does not depend on a running VM is in the crate `hotspot`: machine code, debug info and layouts.
//!
//! # Duties of the caller
//!
//! * Call [`api::ASGST_Initialize`] once before all other functions, from the event VMInit on, on an
//!   attached thread.
//! * Keep the library's handler of SIGSEGV and SIGBUS in front of the JVM's, or pass faults on to it.
//! * For jmethodIDs, prepare the method ids as for AsyncGetCallTrace: enable ClassLoad and
//!   ClassPrepare, and call GetClassMethods at ClassPrepare.
//!
//! # Limits
//!
//! HotSpot of JDK 17 to 28 on x86-64 Linux, and from 21 on on aarch64 Linux, where 21 and 25 were tried under an emulator.
//! On JDK 17 for aarch64 [`api::ASGST_Initialize`] fails: its interpreter passes the caller's stack pointer in another
//! register. Functions for handlers are async-signal-safe: they allocate nothing, take no
//! lock and do a bounded amount of work. Frames of virtual threads in the heap are walked with the collectors that move objects at safepoints only (Serial, Parallel, G1),
//! while the thread runs Java code or code of the VM. C frames need glibc 2.35 or later.

pub mod api;
mod arch;
pub mod c_frames;
pub mod layout;
pub mod queue;
pub mod walk;
