//! Frames at places where a method has none of its own.
//!
//! A conditional branch that grows becomes the opposite branch over a `goto_w`, and the code behind
//! needs a frame. The frame's types follow from the frame before, instruction by instruction.

use crate::reason::{Reason, Stop};
use classfile::file::{Attribute, ClassFile, Code};
use classfile::instruction::Instructions;
use classfile::pool::Additions;
use classfile::types::{Classes, RawFrames, State, VType, next_bci, parameter_class};
use std::borrow::Cow;

/// A frame at an old BCI.
#[derive(Debug)]
pub(crate) struct Inferred {
    pub(crate) bci: u32,
    /// One entry for each value.
    pub(crate) locals: Vec<VType>,
    pub(crate) stack: Vec<VType>,
}

struct PoolClasses<'n, 'p, 'a> {
    adds: &'n mut Additions<'p, 'a>,
    descriptor: &'a [u8],
}

impl<'a> Classes<'a> for PoolClasses<'_, '_, 'a> {
    fn index(&mut self, name: Cow<'a, [u8]>) -> Option<u16> {
        self.adds.class(name).ok()
    }

    fn name(&self, of: VType) -> Option<Cow<'a, [u8]>> {
        match of {
            VType::Object(class) => self.adds.class_name(class),
            VType::Parameter(nth) => parameter_class(self.descriptor, nth).map(Cow::Borrowed),
            _ => None,
        }
    }
}

/// The frames at the BCIs in `wanted`, which are in order and have no frames of the method's own.
pub(crate) fn frames<'a>(
    class: &ClassFile<'a>,
    code: &Code<'a>,
    descriptor: &'a [u8],
    own: Option<&Attribute<'a>>,
    initial: &[VType],
    wanted: &[u32],
    adds: &mut Additions<'_, 'a>,
) -> Result<Vec<Inferred>, Stop> {
    let mut classes = PoolClasses { adds, descriptor };
    let mut own = own
        .map(|a| RawFrames::new(a.reader(class.file)))
        .transpose()?;
    let mut last = None;
    let mut found = Vec::with_capacity(wanted.len());
    let mut locals = initial.to_vec();
    // The frame from which the next wanted frames follow.
    let mut start = 0;
    let mut stack = Vec::new();
    let mut wanted = wanted.iter().copied().peekable();
    let mut state = State::default();
    while wanted.peek().is_some() {
        let next = match &mut own {
            Some(frames) => frames.next_frame()?.map(|f| (next_bci(last, f.delta), f)),
            None => None,
        };
        let end = next.as_ref().map_or(code.code.len() as u32, |(at, _)| *at);
        if wanted.peek().is_some_and(|&w| w < end) {
            state.set(&locals, stack.iter().copied(), code.max_locals);
            for i in Instructions::from(code.code, code.offset, start as usize) {
                let i = i?;
                if wanted.next_if(|&w| w == i.bci).is_some() {
                    found.push(Inferred {
                        bci: i.bci,
                        locals: entries(&state.locals),
                        stack: state.stack.clone(),
                    });
                }
                if i.bci >= end || wanted.peek().is_none_or(|&w| w >= end) {
                    break;
                }
                state
                    .step(&i, &class.pool, class.this_class, &mut classes)
                    .map_err(|_| Reason::BranchTooFar)?;
                if i.opcode.flow().ends() {
                    break;
                }
            }
            if wanted.peek().is_some_and(|&w| w < end) {
                return Err(Reason::BranchTooFar.into());
            }
        }
        let Some((at, frame)) = next else { break };
        frame.apply(&mut locals, code.max_locals)?;
        stack.clear();
        stack.extend(frame.stack.iter().map(|(_, t)| t));
        last = Some(at);
        start = at;
    }
    if wanted.peek().is_some() {
        return Err(Reason::BranchTooFar.into());
    }
    Ok(found)
}

/// Turns locals by slot into the entries of a frame.
fn entries(slots: &[VType]) -> Vec<VType> {
    let mut all = Vec::with_capacity(slots.len());
    let mut slots = slots.iter();
    while let Some(&t) = slots.next() {
        all.push(t);
        if t.wide() {
            slots.next();
        }
    }
    all
}
