//! The state of the calling thread, as JVMTI has it (`jvmti.h`).

use crate::api::context;
use crate::layout::Vm;
use crate::walk::Walk;
use hotspot::layout::thread::JavaThread;
use hotspot::layout::thread_state::Activity;
use hotspot::layout::waiting::Wait;
use std::ffi::c_int;
use vm::memory::Live;

const ALIVE: c_int = 0x1;
const RUNNABLE: c_int = 0x4;
const WAITING_WITH_TIMEOUT: c_int = 0x20;
const SLEEPING: c_int = 0x40;
const WAITING: c_int = 0x80;
const IN_OBJECT_WAIT: c_int = 0x100;
const PARKED: c_int = 0x200;
const BLOCKED_ON_MONITOR_ENTER: c_int = 0x400;
const IN_NATIVE: c_int = 0x40_0000;

/// See `profile2.h`.
#[unsafe(no_mangle)]
pub extern "C" fn ASGST_ThreadState() -> c_int {
    let state = context::with_vm(|vm, memory| {
        let thread = vm.threads.get(&memory)?;
        let state = vm.threads.state(&memory, thread)?;
        Some(match state.activity {
            Activity::New => 0,
            Activity::Java => ALIVE | RUNNABLE,
            Activity::Native => ALIVE | RUNNABLE | IN_NATIVE,
            Activity::Vm | Activity::Blocked => ALIVE | waiting(vm, memory, thread),
        })
    });
    state.flatten().unwrap_or(0)
}

/// What a thread in the VM waits for.
fn waiting(vm: &Vm, memory: Live<'_>, thread: JavaThread) -> c_int {
    let wait = vm.waits.and_then(|waits| waits.of(&memory, thread));
    match wait {
        None => 0,
        Some(Wait::Monitor) => BLOCKED_ON_MONITOR_ENTER,
        Some(Wait::Object) => WAITING | IN_OBJECT_WAIT,
        // The VM notes no difference between a sleep, a park and a wait for itself. The native method that has called it does.
        Some(Wait::Condition) => called(vm, memory, thread).unwrap_or(0),
    }
}

/// What the native method on top waits for, if it is one that waits.
fn called(vm: &Vm, memory: Live<'_>, thread: JavaThread) -> Option<c_int> {
    let mut walk = Walk::from_anchor(vm, memory, thread).ok()?;
    let method = walk.next_frame().ok()??.method?.method();
    let methods = &vm.methods;
    let class = methods.class(&memory, method)?;
    let (mut names, mut classes) = ([0; 16], [0; 32]);
    let length = methods.name(&memory, method, &mut names)?;
    let name = names.get(..length)?;
    let length = methods.class_name(&memory, class, &mut classes)?;
    match (classes.get(..length)?, name) {
        (b"jdk/internal/misc/Unsafe", b"park") => Some(WAITING | PARKED),
        // `sleep` on 17, `sleep0` on 21, `sleepNanos0` since 22.
        (b"java/lang/Thread", b"sleep" | b"sleep0" | b"sleepNanos0") => {
            Some(WAITING | WAITING_WITH_TIMEOUT | SLEEPING)
        }
        _ => None,
    }
}
