//! How a stack was sampled.

use crate::sampling::sample::Sample;

/// How a stack was seen, which decides where causes are looked for.
#[derive(Copy, Clone)]
pub enum Seen<'a> {
    /// By hooks, or by a walker whose mismatches have no known causes.
    Plainly,
    /// By AsyncGetCallTrace on its own thread, in a hook or in an event of JVMTI.
    Here,
    /// By AsyncGetCallTrace in a signal handler.
    InSignal(&'a Sample),
}
