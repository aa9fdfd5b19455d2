//! The lock-free channels of the agent and of the crates `vm` and `walker`, compiled with loom's atomics and cells.
//!
//! The files are the same. Loom runs a test with each order of their operations that the memory model allows, up
//! to a bound, and finds two threads that use one value. A signal handler is a second thread here: it may run at any
//! instant of the first, and never waits for it.
#![allow(missing_docs, reason = "the agent's files have them")]

#[path = "../../../walker/src/queue/halves.rs"]
pub mod halves;
#[path = "../../src/jvm/os/handoff.rs"]
pub mod handoff;
#[path = "../../src/jvm/os/requests/pool.rs"]
pub mod pool;
#[path = "../../../vm/src/ring.rs"]
pub mod ring;

extern crate self as vm;

/// What `vm::sync` has, by loom.
pub mod sync {
    pub use loom::cell::UnsafeCell;
    pub use loom::sync::Arc;
    pub use loom::sync::atomic::{AtomicU32, AtomicUsize};
}

/// What these files use of the agent.
pub mod jvm {
    pub mod os {
        /// What shows that a function runs in a handler.
        pub mod signal {
            use std::marker::PhantomData;

            pub struct HandlerContext<'a>(PhantomData<&'a ()>);

            impl HandlerContext<'_> {
                /// What the files' own tests use. They run in the agent, and are only compiled here.
                #[cfg(test)]
                pub fn for_test<T>(run: impl FnOnce(&HandlerContext<'_>) -> T) -> T {
                    run(&HandlerContext(PhantomData))
                }

                /// The second thread of a model.
                pub fn of_model() -> HandlerContext<'static> {
                    HandlerContext(PhantomData)
                }
            }
        }
    }
}
