//! The new positions of one method.

use super::place::{Lengths, Places};
use super::scan::Scan;

/// The new positions of one method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moves<'s> {
    pub(crate) places: &'s Places,
    pub(crate) scan: &'s Scan,
    pub(crate) lengths: Lengths,
    /// Length of the original code.
    pub(crate) code_length: u32,
}

impl Moves<'_> {
    /// New position of an instruction, behind its hooks.
    #[inline]
    pub(crate) fn instruction(&self, bci: u32) -> u32 {
        self.places.instruction(bci)
    }

    /// New position of an instruction's first hook, as [`Places::hook`] has it.
    #[inline]
    pub(crate) fn hook(&self, bci: u32) -> u32 {
        self.places.hook(self.scan, self.lengths, bci)
    }

    /// New position of a border between instructions. Hooks belong to the instruction behind them,
    /// also at 0.
    pub(crate) fn border(&self, bci: u32) -> u16 {
        if bci == 0 { 0 } else { self.hook(bci) as u16 }
    }

    /// Whether `bci` is in the code or at its end.
    pub(crate) fn inside(&self, bci: u32) -> bool {
        bci <= self.code_length
    }

    /// The new position of the end of the original code.
    pub(crate) fn end(&self) -> u32 {
        self.places.end(self.code_length as usize)
    }
}
