//! A generator of valid classes: random structured methods, with and without stack maps.
//!
//! Every method is `static long mN(int, long, double, Object)` and ends, because loops use up fuel.
//! Each variable has the same type from start to end, so that the frame at a label is known.

mod emit;
mod shape;

pub use emit::{DESCRIPTOR, NAME};
pub use shape::{GenClass, GenMethod, class, class_with};
