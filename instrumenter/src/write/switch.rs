//! Writes switches, whose padding depends on their position (JVMS 6.5).

use classfile::instruction::{Instruction, Operands, padding};

/// Writes the switch at the new BCI `at`, with its targets moved.
pub(super) fn write(
    out: &mut Vec<u8>,
    switch: &Instruction<'_>,
    moved: impl Fn(u32) -> u32,
    at: u32,
) {
    let mut targets = switch
        .targets()
        .map(|to| moved(to).wrapping_sub(at).to_be_bytes());
    let mut target = || targets.next().unwrap_or_default();
    out.push(switch.opcode.byte());
    out.resize(out.len() + padding(at as usize), 0);
    out.extend_from_slice(&target());
    match switch.operands {
        Operands::Table {
            low, high, offsets, ..
        } => {
            out.extend_from_slice(&low.to_be_bytes());
            out.extend_from_slice(&high.to_be_bytes());
            for _ in offsets.as_chunks::<4>().0 {
                out.extend_from_slice(&target());
            }
        }
        Operands::Lookup { pairs, .. } => {
            let pairs = pairs.as_chunks::<8>().0;
            out.extend_from_slice(&(pairs.len() as u32).to_be_bytes());
            for pair in pairs {
                out.extend_from_slice(&pair[..4]);
                out.extend_from_slice(&target());
            }
        }
        _ => {}
    }
}
