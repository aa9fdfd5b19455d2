//! The table of formats.

use crate::format::Format;
use crate::{collapsed, jfr, lines, pprof, thread_dump};

/// All formats. The first that fits is taken.
pub(crate) const FORMATS: [&dyn Format; 5] = [
    &jfr::Jfr,
    &pprof::Pprof,
    &thread_dump::ThreadDump,
    &lines::Lines,
    &collapsed::Collapsed,
];
