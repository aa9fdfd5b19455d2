//! The table of formats.

use crate::format::Format;
use crate::{collapsed, jfr, lines, pprof, thread_dump};

/// All formats. A file has the first format that fits.
pub(crate) const FORMATS: [&dyn Format; 5] = [
    &jfr::Jfr,
    &pprof::Pprof,
    &thread_dump::ThreadDump,
    &lines::Lines,
    &collapsed::Collapsed,
];
