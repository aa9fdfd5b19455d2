//! What each format can do.

use crate::error::Error;
use crate::sink::Sink;
use std::io;

/// Reads one format.
pub(crate) trait Format {
    /// Whether the file that begins so is of this format. `head` has the first 4,096 bytes of the
    /// file, or the whole file.
    fn fits(&self, head: &[u8]) -> bool;

    /// Hands all stacks of a file to `sink`. `events` names the events that are wanted of formats
    /// that have events; empty: those of samplers.
    fn read(
        &self,
        input: &mut dyn io::BufRead,
        events: &[String],
        sink: &mut dyn Sink,
    ) -> Result<(), Error>;
}
