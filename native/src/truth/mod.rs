//! The truth: what the agent itself knows of each thread's stack, and of methods and classes.

pub mod classes;
pub mod light;
pub mod methods;
pub mod threads;
pub mod trace_stack;
pub mod virtual_threads;
