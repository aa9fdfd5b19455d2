//! Where requests come from.

use super::lines::Lines;
use std::io;

/// Where requests come from.
pub trait Source {
    /// Writes the requests since the last call. Returns how many there were.
    fn write_new(&mut self, lines: &mut Lines<'_>) -> io::Result<usize>;

    /// There are no more requests: writes what is left to say, without the requests themselves.
    fn end(&mut self, lines: &mut Lines<'_>) -> io::Result<()>;
}
