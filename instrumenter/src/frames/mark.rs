//! Where a method has frames of its own, and how many slots they may take.

use crate::layout::{FRAME, HANDLER, Scan};
use crate::reason::{Reason, Stop};
use classfile::Malformed;
use classfile::file::Attribute;
use classfile::types::{RawFrames, next_bci};

/// The most locals that all frames of a method together may have. A method with more is refused,
/// because a small file can ask for thousands of frames with thousands of locals each.
pub(crate) fn most_slots(file: &[u8]) -> usize {
    (1 << 16) + 16 * file.len()
}

/// Marks where a method's own frames stand. `file` is the class file.
pub(crate) fn mark(
    scan: &mut Scan,
    attribute: &Attribute<'_>,
    file: &[u8],
    max_locals: u16,
) -> Result<(), Stop> {
    let mut frames = RawFrames::new(attribute.reader(file))?;
    let mut written = usize::from(frames.left());
    let mut last = None;
    while let Some(frame) = frames.next_frame()? {
        let bci = next_bci(last, frame.delta);
        if frame.unset_fields.is_some() {
            return Err(Reason::UnsetFields.into());
        }
        if !scan.is_start(bci) {
            return Err(Malformed {
                offset: frame.offset,
                rule: "JVMS 4.7.4: a frame stands at an instruction",
            }
            .into());
        }
        scan.flags[bci as usize] |= FRAME;
        // A handler gets a second frame.
        written += usize::from(scan.flags[bci as usize] & HANDLER != 0);
        last = Some(bci);
    }
    // Every written frame has a slot for each local.
    if written * usize::from(max_locals) > most_slots(file) {
        return Err(Reason::TableFull.into());
    }
    Ok(())
}
