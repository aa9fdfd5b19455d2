//! Which code of a method the catch-alls cover.

use super::constructor;
use super::covered::{Covered, cover};
use crate::layout::{RETURN, Scan};
use crate::reason::Stop;
use classfile::file::{Attribute, ClassFile, Code, Member};
use classfile::types::VType;

/// What the catch-alls of a method cover: all of its code, with two exceptions. `typed` says that
/// the verifier holds the method against stack map frames, `frames`.
pub(crate) fn ranges<'a>(
    class: &ClassFile<'a>,
    method: &Member<'a>,
    code: &Code<'a>,
    scan: &Scan,
    (typed, frames): (bool, Option<&Attribute<'a>>),
    initial: &[VType],
    scratch: &mut constructor::Scratch,
) -> Result<Vec<Covered>, Stop> {
    let length = code.code.len() as u32;
    let mut covered = Vec::with_capacity(2);
    if typed && initial.first() == Some(&VType::UninitializedThis) {
        constructor::phases(class, code, frames, initial, scratch, &mut covered)?;
    } else if class.name == b"java/lang/Object" && method.name == b"<init>" {
        // Here the JVM registers finalizers, in the return itself. A handler that covers it
        // is more than HotSpot's compilers are made for: C2 of JDK 17 crashes.
        let mut start = 0;
        for bci in (0..length).filter(|&bci| scan.flags[bci as usize] & RETURN != 0) {
            cover(&mut covered, start, bci, false);
            start = bci + 1;
        }
    } else {
        cover(&mut covered, 0, length, false);
    }
    Ok(covered)
}
