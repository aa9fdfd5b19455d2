//! The command line of Stackwitness.
fn main() {}
