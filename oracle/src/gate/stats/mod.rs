//! The statistics of the gate. Counts of one cell differ between equal runs by more than chance,
//! because mismatches come in clusters: a stack that is walked falsely is walked again and again until
//! the thread leaves the place. So a count is compared with what repeated runs of the baseline showed.
//!
//! * [`predict`]: the negative binomial prediction of a count;
//! * [`dispersion`]: how much more than by chance counts differ between runs;
//! * [`novelty`]: kinds that no earlier run has shown.

pub(super) mod dispersion;
pub(super) mod novelty;
pub(super) mod predict;
