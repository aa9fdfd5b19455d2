//! By how much compiled code has moved its stack pointer, shown by the code itself.

use super::kept::Kept;
use super::newest::Newest;
use crate::jvm::Jvm;
use hotspot::arch::{Follow, Native, Settled};
use hotspot::code::Blob;
use hotspot::layout::entry::Words;
use vm::memory::pages::Pages;

const WORD: usize = size_of::<usize>();

/// So many instructions are followed at most.
const STEPS: usize = 1024;

/// By how many words the stack pointer of `newest`, whose code is `blob` with frames of `frame_words` words, is below the place
/// where it is while the frame is complete. `None` if it is there, or the code does not show it.
pub(super) fn by_words(
    jvm: &Jvm,
    stack: Words<'_>,
    newest: &Newest,
    blob: &Blob,
    frame_words: usize,
) -> Option<usize> {
    let pages = &Pages::default();
    let tables = jvm.debug_info.as_ref().ok()?.tables(pages, blob)?;
    let code = jvm.code_cache().ok()?.code_of(blob.start)?;
    let memory = Kept {
        stack,
        code: code.clone(),
        pages,
    };
    let record = |pc| tables.next_record(pages, pc);
    let complete = match Native::settle(&memory, newest.pc, &newest.general, code, STEPS, record)? {
        Settled::Body { sp, .. } => sp,
        // The stack pointer of the caller lies right above the frame. If the frame is removed, it is less than a frame away.
        Settled::Return { caller, .. } => caller[1].checked_sub(frame_words * WORD)?,
    };
    let words = complete.checked_sub(newest.sp)? / WORD;
    (words > 0).then_some(words)
}
