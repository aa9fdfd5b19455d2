//! Which code of a constructor runs before `super(…)` or `this(…)`.
//!
//! Until that call the verifier has `this` as uninitializedThis in its frames, and the frame of a
//! handler must agree with the code that the handler covers (JVMS 4.10.1.4). So a constructor gets
//! two catch-all handlers. This file divides the code between them: by the method's own frames, and
//! by following the types between a frame and the call.
//!
//! No handler can cover the call itself: HotSpot's verifier compares the handler's frame with the
//! types before and after the call, and no frame agrees with both. So an exception that leaves
//! `super(…)` passes its constructor without a hook. The next hook for exceptions below, in the
//! caller, corrects the trace stack. Until then the constructor's entry may be stale, and the hook
//! that the exception passed before, in `super(…)` itself, can mark the entry. So these
//! constructors keep a token: in a recursion the id could not tell the stale entry from another
//! entry.

use super::covered::{Covered, cover};
use crate::reason::{Reason, Stop};
use classfile::Malformed;
use classfile::file::{Attribute, ClassFile, Code};
use classfile::instruction::Instructions;
use classfile::types::{AnyClass, RawFrames, State, VType, next_bci};

/// Memory that is kept from constructor to constructor.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    state: State,
    locals: Vec<VType>,
}

/// Divides a constructor with frames into the code before and the code after the initialisation of
/// `this`. True if an exception may leave the call between them: `Object.<init>` throws none, apart
/// from errors of the VM.
pub(crate) fn phases<'a>(
    class: &ClassFile<'a>,
    code: &Code<'a>,
    frames: Option<&Attribute<'a>>,
    initial: &[VType],
    scratch: &mut Scratch,
    covered: &mut Vec<Covered>,
) -> Result<bool, Stop> {
    let Scratch { state, locals } = scratch;
    locals.clear();
    locals.extend_from_slice(initial);
    state.set(locals, std::iter::empty(), code.max_locals);
    let mut frames = frames
        .map(|a| RawFrames::new(a.reader(class.file)))
        .transpose()?;
    let mut next = |last: Option<u32>| -> Result<_, Malformed> {
        let Some(frames) = &mut frames else {
            return Ok(None);
        };
        Ok(frames.next_frame()?.map(|f| (next_bci(last, f.delta), f)))
    };
    let length = code.code.len() as u32;
    let mut frame = next(None)?;
    let mut uninitialized = true;
    let mut leaves = false;
    let mut start = 0;
    let mut bci = 0;
    while bci < length {
        // `bci` has a frame here, or runs after code that was followed in `state`.
        let mut now = uninitialized;
        if let Some((at, f)) = frame.take_if(|(at, _)| *at == bci) {
            f.apply(locals, code.max_locals)?;
            now = locals.contains(&VType::UninitializedThis);
            if now {
                state.set(locals, f.stack.iter().map(|(_, t)| t), code.max_locals);
            }
            frame = next(Some(at))?;
        }
        if now != uninitialized {
            cover(covered, start, bci, uninitialized);
            (start, uninitialized) = (bci, now);
        }
        if !uninitialized {
            // Only a frame can make `this` uninitialised again.
            bci = frame.as_ref().map_or(length, |(at, _)| *at);
            continue;
        }
        for i in Instructions::from(code.code, code.offset, bci as usize) {
            let i = i?;
            if state.locals.first() != Some(&VType::UninitializedThis) {
                return Err(Reason::UnclearConstructor.into());
            }
            let initialised = state
                .step(&i, &class.pool, class.this_class, &mut AnyClass)
                .map_err(|_| Reason::UnclearConstructor)?;
            bci += i.length;
            let framed = frame.as_ref().is_some_and(|(at, _)| *at == bci);
            if initialised {
                let called = i.constant().and_then(|method| class.pool.member(method));
                leaves |= called.is_none_or(|called| called.class != b"java/lang/Object");
                cover(covered, start, i.bci, uninitialized);
                (start, uninitialized) = (bci, false);
                break;
            }
            if framed {
                break;
            }
            if i.opcode.flow().ends() && bci < length {
                return Err(Reason::UnclearConstructor.into());
            }
        }
    }
    cover(covered, start, length, uninitialized);
    Ok(leaves)
}
