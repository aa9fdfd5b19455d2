//! Two builds, run in pairs of short turns: is the new build worse than the base?
//!
//! * [`Course`]: the pairs so far, what became more frequent, and where to look next;
//! * [`Answer`]: what that comes to, and when the pairs may end;
//! * [`SignTest`]: the evidence of pairs, which may be looked at after each of them;
//! * [`NotWorse`]: how much worse the new build may still be;
//! * [`Noisy`]: causes that such a bound leaves out.
//!
//! # What is promised
//!
//! Both turns of a pair run the same program with the same seed, one after the other, and a fair coin decides
//! which build has the first turn. If the builds are equal, the coin alone decides which count belongs to which
//! build. So each count is as likely to be larger on the one side as on the other, whatever the load of the
//! machine, and however much equal runs differ: the variance need not be known (the sign test: Fisher, The Design of
//! Experiments, 1935). The probability that equal builds are ever called different, after any number of
//! pairs, is at most the `alpha` of the [`Course`]. Which program runs next may depend on all earlier pairs.

mod answer;
mod bound;
mod classes;
mod course;
mod noisy;
mod percent;
mod shares;
mod sign;
mod strata;
mod tolerance;

pub use answer::{Answer, Limits};
pub use bound::{Class, Noisy, NotWorse};
pub use course::{Course, Rise, Suspicion, Turn};
pub use percent::percent;
pub use sign::SignTest;
#[cfg(test)]
mod tests;
