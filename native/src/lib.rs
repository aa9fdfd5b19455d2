//! The JVMTI agent of Stackwitness: trace stacks, walkers, sampler and signal handler.
//!
//! The VM loads this library with `-agentpath:LIBRARY=CONFIG`, where `CONFIG` is the path of
//! a JSON file that holds an [`oracle::record::Config`]. It exports the agent's entry points
//! and nothing else.
//!
//! | folder | holds |
//! |---|---|
//! | `jvm` | bindings: JVMTI, AsyncGetCallTrace, the VM's own data; `os`: memory, clocks, thread-local word |
//! | `truth` | trace stacks, threads, virtual threads, methods, classes as they load |
//! | `records` | what is counted and written down, where a crash cannot take it |
//! | `sampling` | the sampler, and how it asks a thread, which answers in a signal handler |
//! | `injection` | walkers and hooks that fail on purpose, to see it caught |
//! | `evidence` | what is written down of a mismatch |
//! | `recorder` | real samples as files, for tests |
//! | `layers` | what the answers are compared with |
//! | `hooks`, `events` | what the rewritten code and the VM call |

mod agent;
mod events;
mod evidence;
mod hooks;
mod injection;
mod jvm;
mod layers;
mod recorder;
mod records;
mod sampling;
mod truth;

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
