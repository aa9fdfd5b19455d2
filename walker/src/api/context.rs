//! What a signal handler is given: the registers of the code that it interrupted.

use crate::api::abi::INCLUDE_C_FRAMES;
use crate::memory::{Guard, Live};
use crate::vm::Vm;
use crate::vm::thread::JavaThread;
use crate::walk::Walk;
use crate::walk::frame::Failure;
use hotspot::unwind::Registers;
use std::ffi::c_void;

/// The registers in the order of their numbers.
const REGISTERS: [i32; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

/// The pc and the registers in `ucontext`.
///
/// # Safety
/// `ucontext` must be a context that a signal handler was given.
pub unsafe fn registers(ucontext: *const c_void) -> (usize, Registers) {
    // SAFETY: as the caller promised.
    let values = unsafe { &(*ucontext.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let value = |register: i32| values[register as usize] as usize;
    let registers = Registers(REGISTERS.map(|register| Some(value(register))));
    (value(libc::REG_RIP), registers)
}

/// Keeps `errno`, and gives what a walk needs.
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

/// The walk of the calling thread: from `ucontext`, or from its last Java frame if that is null.
///
/// # Safety
/// `ucontext` must be null, or a context that a signal handler was given.
pub unsafe fn walk<'a>(
    vm: &'a Vm,
    memory: Live<'a>,
    ucontext: *const c_void,
    options: u32,
) -> Result<Walk<'a>, Failure> {
    let thread = JavaThread::current(&vm.threads, &memory).ok_or(Failure::NoThread)?;
    if ucontext.is_null() {
        return Walk::from_anchor(vm, memory, thread);
    }
    // SAFETY: as the caller promised.
    let (pc, registers) = unsafe { registers(ucontext) };
    let with_c = options & INCLUDE_C_FRAMES != 0;
    Walk::from_interrupt(vm, memory, thread, pc, registers, with_c)
}
