//! A thread that runs one instruction at a time, and a walker that is asked at each instruction in the code
//! cache ([`asking`]), or at chosen ones if its answers are in a recording ([`requesting`]).
//!
//! One thread at a time steps. The thread starts where JVMTI reports an event in the thread, because there
//! the VM knows all frames ([`thread::Stepper::start`]). From then on the handler of the trap signal keeps
//! the calls of the thread ([`hotspot::steps::shadow`]). Equal stacks with equal answers are judged once
//! ([`seen`]), and so are equal frames of callers ([`callers`]). Each instruction that was visited is noted, judged or not
//! ([`visits`]). The thread runs on freely in the kernel, and its calls are kept meanwhile ([`parked`]). It loses its calls
//! where it stays outside of the code cache for long, and where generated code moves frames.

pub mod asking;
pub mod callers;
pub mod counts;
pub mod delivery;
pub mod handler;
pub mod instant;
pub mod judged_pairs;
pub mod requesting;
pub mod thread;
pub mod visits;
