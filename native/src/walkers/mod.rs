//! The stack walkers that the agent asks.
//!
//! Each walker is one file that implements [`walker::Walker`], and one row of [`table`]. [`here`] asks
//! two of them for the calling thread.

pub mod asgct;
pub mod buffer;
pub mod gst;
mod gst_all;
mod gst_list;
pub mod here;
pub mod table;
pub mod walker;
