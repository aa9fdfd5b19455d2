//! Switches, written anew: their padding changes with their place (JVMS 6.5).

use crate::instruction::{i4, padding};
use crate::opcode as op;

/// Writes the switch that was at `bci`, at the new BCI `at`; returns its old length.
pub(crate) fn write(
    out: &mut Vec<u8>,
    old: &[u8],
    bci: usize,
    moved: impl Fn(u32) -> u32,
    at: u32,
) -> usize {
    let int = |at: usize| i4(old, at).unwrap_or(0);
    let relative = |from: usize| {
        moved((bci as i32).wrapping_add(int(from)) as u32)
            .wrapping_sub(at)
            .to_be_bytes()
    };
    out.push(old[bci]);
    out.resize(out.len() + padding(at as usize), 0);
    let operands = bci + 1 + padding(bci);
    out.extend_from_slice(&relative(operands));
    let mut from;
    if old[bci] == op::TABLESWITCH {
        from = operands + 12;
        out.extend_from_slice(&old[operands + 4..from]);
        let n = (i64::from(int(operands + 8)) - i64::from(int(operands + 4)) + 1) as usize;
        for _ in 0..n {
            out.extend_from_slice(&relative(from));
            from += 4;
        }
    } else {
        from = operands + 8;
        out.extend_from_slice(&old[operands + 4..from]);
        for _ in 0..int(operands + 4) {
            out.extend_from_slice(&old[from..from + 4]);
            out.extend_from_slice(&relative(from + 4));
            from += 8;
        }
    }
    from - bci
}
