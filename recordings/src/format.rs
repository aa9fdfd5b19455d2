//! The trait of the formats.

use crate::error::Error;
use crate::sink::Sink;
use std::io;

/// So many bytes of a file are looked at to find its format.
pub(crate) const HEAD: usize = 4096;

/// A reader of one format.
pub(crate) trait Format {
    /// Whether a file with these first bytes has this format. `head` has the first [`HEAD`] bytes of
    /// the file, or the whole file.
    fn fits(&self, head: &[u8]) -> bool;

    /// Passes all stacks of a file to `sink`. For formats with events, `events` names the wanted
    /// events; empty: the events of samplers.
    fn read(
        &self,
        input: &mut dyn io::BufRead,
        events: &[String],
        sink: &mut dyn Sink,
    ) -> Result<(), Error>;
}
