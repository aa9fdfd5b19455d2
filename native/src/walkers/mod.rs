//! The stack walkers that the agent asks.
//!
//! Each walker is one file that implements [`walker::Walker`], and one row of [`table`]. [`here`] asks
//! some of them for the calling thread. [`turn_order`] says whose turn it is.

pub mod asgct;
mod asgst;
mod asgst_queue;
pub mod buffer;
pub mod gst;
pub mod here;
pub mod java;
pub mod table;
pub mod turn_order;
pub mod walker;
