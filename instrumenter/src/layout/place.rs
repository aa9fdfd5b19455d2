//! The positions of the rewritten code, and the branches that no longer fit.

use super::scan::{HANDLER, RETURN, Scan, event};
use classfile::Opcode;
use classfile::instruction::padding;
use classfile::operators::{Flow, Format};

/// Lengths of the hooks of one method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    pub(crate) entry: u32,
    pub(crate) caught: u32,
    pub(crate) exit: u32,
}

impl Lengths {
    /// Length of the hooks before an instruction with these flags.
    #[inline]
    pub(crate) fn before(&self, flags: u8) -> u32 {
        let mut n = 0;
        if flags & HANDLER != 0 {
            n += self.caught;
        }
        if flags & RETURN != 0 {
            n += self.exit;
        }
        n
    }
}

/// How much a branch grows: `goto` becomes `goto_w`, a conditional branch becomes the opposite
/// branch over a `goto_w`.
fn growth(opcode: Opcode) -> u32 {
    match opcode.flow() {
        Flow::Conditional => 5,
        _ => 2,
    }
}

/// Positions of rewritten code. The memory is kept from method to method.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// The shift of each byte of code, and of the end.
    shift: Vec<i32>,
}

impl Places {
    /// Computes the positions. Branches grow until all branches fit.
    pub(crate) fn run(&mut self, scan: &mut Scan, lengths: Lengths, code_length: usize) {
        self.shift.clear();
        self.shift.resize(code_length + 1, 0);
        for round in 0.. {
            self.place(scan, lengths);
            // No distance is longer than the code. Compiled code needs a few rounds; if code needs
            // many rounds, all its branches grow at once.
            if self.end(code_length) <= 32767 || !self.grow(scan, lengths, round >= 8) {
                return;
            }
        }
    }

    fn place(&mut self, scan: &Scan, lengths: Lengths) {
        let mut shift = lengths.entry as i32;
        let mut from = 0;
        for &e in &scan.events {
            let bci = (e >> 2) as usize;
            let (end, more) = match e & 3 {
                event::HOOK => (bci, lengths.before(scan.flags[bci]) as i32),
                event::SWITCH => {
                    let at = (bci as i32 + shift) as usize;
                    (bci + 1, padding(at) as i32 - padding(bci) as i32)
                }
                _ => {
                    let branch = scan.branch(bci as u32);
                    (bci + 1, growth(branch.opcode) as i32)
                }
            };
            self.shift[from..end].fill(shift);
            from = end;
            shift += more;
        }
        self.shift[from..].fill(shift);
    }

    #[cold]
    fn grow(&self, scan: &mut Scan, lengths: Lengths, all: bool) -> bool {
        let mut grew = Vec::new();
        for i in 0..scan.branches.len() {
            let b = scan.branches[i];
            if b.grown || b.opcode.format() == Format::WideBranch {
                continue;
            }
            let by =
                i64::from(self.hook(scan, lengths, b.target)) - i64::from(self.instruction(b.bci));
            if all || i16::try_from(by).is_err() {
                scan.branches[i].grown = true;
                grew.push(b.bci << 2 | event::GROWN);
            }
        }
        if grew.is_empty() {
            return false;
        }
        scan.events.extend(grew);
        scan.events.sort_unstable();
        true
    }

    /// New position of the instruction that was at `bci`, behind its hooks.
    #[inline]
    pub(crate) fn instruction(&self, bci: u32) -> u32 {
        (bci as i32 + self.shift[bci as usize]) as u32
    }

    /// New position of the first hook before the instruction that was at `bci`, or of the
    /// instruction if it has no hook: the target of branches to it. At 0, the position is behind
    /// the entry hook.
    #[inline]
    pub(crate) fn hook(&self, scan: &Scan, lengths: Lengths, bci: u32) -> u32 {
        self.instruction(bci) - lengths.before(scan.flags[bci as usize])
    }

    /// The new position of the end of the original code.
    pub(crate) fn end(&self, code_length: usize) -> u32 {
        (code_length as i32 + self.shift[code_length]) as u32
    }
}
