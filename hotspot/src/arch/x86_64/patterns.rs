//! Rows of instructions that generated code has in one order, some of which may be missing.

/// An instruction: its first bytes, and the number of its other bytes.
pub(super) struct Pattern(pub(super) &'static [u8], pub(super) usize);

impl Pattern {
    /// The code behind the instruction, if `code` starts with the instruction.
    fn skip<'a>(&self, code: &'a [u8]) -> Option<&'a [u8]> {
        code.strip_prefix(self.0)?.get(self.1..)
    }
}

/// The code behind the `instructions`, in order. Instructions that `code` does not have are
/// skipped.
pub(super) fn skip_all<'a>(instructions: &[Pattern], code: &'a [u8]) -> &'a [u8] {
    let skip = |rest, instruction: &Pattern| instruction.skip(rest).unwrap_or(rest);
    instructions.iter().fold(code, skip)
}
