//! The depth of the operand stack at a method's returns.

use crate::layout::{RETURN, Scan};
use classfile::Result;
use classfile::file::{Attribute, ClassFile, Code};
use classfile::instruction::Instructions;
use classfile::types::{AnyClass, RawFrames, State, VType, next_bci};

/// Memory that is kept from method to method.
#[derive(Debug, Default)]
pub(crate) struct DepthScratch {
    state: State,
    locals: Vec<VType>,
}

/// The most slots that are on the operand stack at a return. Where the depth cannot be followed, as
/// in code without a frame that only a branch reaches, the method's `max_stack`.
pub(crate) fn deepest_return<'a>(
    class: &ClassFile<'a>,
    code: &Code<'a>,
    scan: &Scan,
    own: Option<&Attribute<'a>>,
    initial: &[VType],
    scratch: &mut DepthScratch,
) -> Result<u16> {
    let DepthScratch { state, locals } = scratch;
    locals.clear();
    locals.extend_from_slice(initial);
    state.set(locals, std::iter::empty(), code.max_locals);
    let mut frames = own
        .map(|a| RawFrames::new(a.reader(class.file)))
        .transpose()?;
    let mut last = None;
    let mut next = None;
    let mut deepest = 0;
    let mut known = true;
    for i in Instructions::from(code.code, code.offset, 0) {
        let i = i?;
        if let (None, Some(frames)) = (&next, &mut frames) {
            next = frames.next_frame()?.map(|f| (next_bci(last, f.delta), f));
        }
        if let Some((at, frame)) = next.take_if(|(at, _)| *at == i.bci) {
            frame.apply(locals, code.max_locals)?;
            state.set(locals, frame.stack.iter().map(|(_, t)| t), code.max_locals);
            (last, known) = (Some(at), true);
        }
        if scan.flags[i.bci as usize] & RETURN != 0 {
            let slots = state.stack.iter().map(|t| t.slots()).sum::<u32>();
            if !known || slots > u32::from(code.max_stack) {
                return Ok(code.max_stack);
            }
            deepest = deepest.max(slots as u16);
        }
        known = known
            && !i.opcode.flow().ends()
            && state
                .step(&i, &class.pool, class.this_class, &mut AnyClass)
                .is_ok();
    }
    Ok(deepest)
}
