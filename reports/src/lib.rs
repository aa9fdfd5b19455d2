//! Renders the results of Stackwitness.
//!
//! * [`table`]: for a terminal or a log, one line for each layer and run.

pub mod table;
