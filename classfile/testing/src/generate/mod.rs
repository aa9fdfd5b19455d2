//! A generator of valid classes: random structured methods, with and without stack maps.
//!
//! Every method is `static long mN(int, long, double, Object)` and ends: loops burn fuel. All its
//! variables have their types from start to end, so that the frame at a label is known.

mod emit;
mod shape;

pub use emit::{DESCRIPTOR, NAME};
pub use shape::{GenClass, GenMethod, class, class_with};
