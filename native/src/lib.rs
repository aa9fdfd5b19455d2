//! The JVMTI agent of Stackwitness: trace stacks, walkers, sampler and signal handler.
//!
//! The VM loads this library with `-agentpath:LIBRARY=CONFIG`, where `CONFIG` is the path of
//! a JSON file that holds an [`oracle::record::Config`]. It exports the agent's entry points
//! and nothing else.
//!
//! | part | holds |
//! |---|---|
//! | `vm` | bindings: JVMTI, AsyncGetCallTrace |
//! | `tls`, `memory` | one word a thread that handlers may read; memory that is paid for as it is touched |
//! | `trace_stack`, `threads` | the truth of each thread |
//! | `virtual_threads` | their trace stacks, and what lies on their carriers' stacks |
//! | `methods`, `versions`, `classes` | what is known of methods; rewriting as classes load |
//! | `unloading` | classes that go, and are forgotten |
//! | `hooks`, `check` | what the rewritten code calls; layers `ground`, `gst`, `asgct-safepoint` |
//! | `sampler`, `targets`, `judging`, `compiled` | layers `asgct-async` and `asgct-gst` |
//! | `sample`, `asking`, `signal`, `bell` | how the sampler asks a thread, and it answers |
//! | `pace`, `cpu_time` | how fast that is |
//! | `edges` | layer `call-edge` |
//! | `error_codes`, `profile` | where the sampler's walks fail; all stacks that it sees |
//! | `liar`, `sabotage` | walkers and hooks that fail on purpose, to see it caught |
//! | `slots`, `records`, `evidence` | what is measured, where a crash cannot take it |

mod agent;
mod asking;
mod bell;
mod check;
mod classes;
mod compiled;
mod cpu_time;
mod edges;
mod error_codes;
mod events;
mod evidence;
mod hidden;
mod hooks;
mod judging;
mod liar;
mod light;
mod memory;
mod methods;
mod pace;
mod profile;
mod records;
mod return_address;
mod sabotage;
mod sample;
mod sampler;
mod signal;
mod slots;
mod stack_top;
mod targets;
mod threads;
mod tls;
mod trace_stack;
mod unloading;
mod versions;
mod virtual_threads;
mod vm;

use agent::guard;
use jni_sys::{JavaVM, jint};
use std::ffi::{CStr, c_char, c_void};

/// The VM calls this at its start, before any Java code runs.
///
/// # Safety
/// For the VM only (JVMTI, "Agent Start-Up").
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *mut c_char,
    _: *mut c_void,
) -> jint {
    guard(1, || {
        let path = match options.is_null() {
            true => String::new(),
            // SAFETY: the VM gives a zero-terminated string.
            false => unsafe { CStr::from_ptr(options) }
                .to_string_lossy()
                .into_owned(),
        };
        // SAFETY: `vm` is the VM's.
        match unsafe { events::load(vm, &path) } {
            Ok(()) => 0,
            Err(reason) => {
                // The VM is about to refuse its start: nothing of the program can be garbled.
                eprintln!("stackwitness: the agent cannot start: {reason}");
                1
            }
        }
    })
}
