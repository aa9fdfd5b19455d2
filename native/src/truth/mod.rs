//! The truth: the agent's own knowledge of each thread's stack, and of methods and classes.
//!
//! Hooks in the rewritten classes keep a trace stack for each thread ([`trace_stack`]). A thread is
//! found through one thread-local word ([`thread_state`]), also by its signal handler
//! ([`interrupted`]). [`context::Truth`] holds all parts.

pub mod choice;
pub mod class_files;
pub mod classes;
pub mod context;
pub mod interrupted;
pub mod java_hooks;
pub mod methods;
pub mod natives;
pub mod read_stack;
pub mod thread_state;
pub mod threads;
pub mod trace_stack;
pub mod unloading;
pub mod virtual_threads;
