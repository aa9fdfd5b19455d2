//! The stack walkers that the agent asks.
//!
//! Each walker is one file that implements [`walker::Walker`], and one row of [`table`].

pub mod asgct;
pub mod buffer;
pub mod gst;
mod gst_all;
mod gst_list;
pub mod table;
pub mod walker;
