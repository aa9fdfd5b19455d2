//! Runs of unmodified programs.

use oracle::Hooking;
use oracle::report::Run;

/// Whether the classes of a run's program have no hooks.
pub(super) fn is_plain(run: &Run) -> bool {
    run.hooks == Some(Hooking::None)
}
