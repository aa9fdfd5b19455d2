//! The `StackMapTable` (JVMS 4.7.4) of hooked code: the method's own frames, moved; the frames
//! behind branches that grew; the frames behind hooks at handlers; and the frames of the
//! catch-alls.

use super::inferred::Inferred;
use crate::cover::CatchAlls;
use crate::hooks::{Form, code as hooks};
use crate::layout::{HANDLER, Moves};
use crate::reason::{Reason, Stop};
use classfile::file::{Attribute, Code};
use classfile::pool::{Additions, PoolFull};
use classfile::types::{FrameWriter, RawFrames, VType, next_bci, parameter_class};
use classfile::{Malformed, Result};
use std::borrow::Cow;

/// Memory that is kept from method to method.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    locals: Vec<VType>,
    moved: Moved,
}

/// The frames of one method.
pub(crate) struct StackMap<'m, 'a> {
    pub(crate) code: &'m Code<'a>,
    pub(crate) descriptor: &'a [u8],
    pub(crate) moves: Moves<'m>,
    /// The method's own frames.
    pub(crate) own: Option<&'m Attribute<'a>>,
    pub(crate) inferred: &'m [Inferred],
    pub(crate) catch_alls: CatchAlls,
    /// The class constant of `java/lang/StackOverflowError`, as [`Names::overflow`] gave it.
    pub(crate) overflow: u16,
    pub(crate) form: Form,
}

impl<'a> StackMap<'_, 'a> {
    /// Writes the attribute. `file` is the class file; `initial` holds the locals at the start of
    /// the method, and is changed.
    pub(crate) fn write(
        &self,
        out: &mut Vec<u8>,
        file: &'a [u8],
        initial: &mut Vec<VType>,
        names: &mut Names,
        adds: &mut Additions<'_, 'a>,
        scratch: &mut Scratch,
    ) -> Result<(), Stop> {
        let name = match (self.own, names.attribute) {
            (Some(a), _) => a.name_index,
            (None, Some(index)) => index,
            (None, None) => *names.attribute.insert(adds.utf8(b"StackMapTable")?),
        };
        let throwable = names.throwable(adds)?;
        let Scratch { locals, moved } = scratch;
        locals.clear();
        locals.extend_from_slice(initial);
        let mut resolve = |nth: u16| match parameter_class(self.descriptor, nth) {
            Some(name) => adds.class(Cow::Borrowed(name)).map_err(Stop::from),
            None => Err(Reason::PoolFull.into()),
        };
        let mut writer = FrameWriter::new(out, name, initial);
        let mut inferred = self.inferred.iter().peekable();
        if let Some(a) = self.own {
            let mut frames = RawFrames::new(a.reader(file))?;
            let mut last = None;
            while let Some(frame) = frames.next_frame()? {
                let bci = next_bci(last, frame.delta);
                last = Some(bci);
                while let Some(f) = inferred.next_if(|f| f.bci < bci) {
                    moved.set(self, &f.locals, f.stack.iter().copied())?;
                    moved.add(&mut writer, self.moves.hook(f.bci), &mut resolve)?;
                }
                frame.apply(locals, self.code.max_locals)?;
                moved.set(self, locals, frame.stack.iter().map(|(_, t)| t))?;
                let at = self.moves.hook(bci);
                moved.add(&mut writer, at, &mut resolve)?;
                if self.moves.scan.flags[bci as usize] & HANDLER != 0 {
                    moved.set_resumed(self.overflow);
                    let at = at + hooks::caught_resumes_at(self.code.max_locals);
                    moved.add(&mut writer, at, &mut resolve)?;
                }
            }
        }
        for f in inferred {
            moved.set(self, &f.locals, f.stack.iter().copied())?;
            moved.add(&mut writer, self.moves.hook(f.bci), &mut resolve)?;
        }
        for (at, uninitialized) in self.catch_alls.iter() {
            moved.set_catch_all(self, uninitialized, throwable);
            moved.add(&mut writer, at, &mut resolve)?;
        }
        if !writer.finish() {
            return Err(Reason::TableFull.into());
        }
        Ok(())
    }

    /// The type, with new BCIs.
    fn moved(&self, t: VType) -> Result<VType> {
        let VType::Uninitialized(new) = t else {
            return Ok(t);
        };
        let new = u32::from(new);
        if !self.moves.scan.is_start(new) {
            return Err(Malformed {
                offset: self.code.offset + new as usize,
                rule: "JVMS 4.7.4: an uninitialized type names a new instruction",
            });
        }
        Ok(VType::Uninitialized(self.moves.instruction(new) as u16))
    }
}

/// A frame of hooked code: a slot for each local of the method, and then the hooks' own locals.
#[derive(Debug, Default)]
struct Moved {
    locals: Vec<VType>,
    stack: Vec<VType>,
}

impl Moved {
    fn set(
        &mut self,
        map: &StackMap<'_, '_>,
        locals: &[VType],
        stack: impl Iterator<Item = VType>,
    ) -> Result<()> {
        self.locals.clear();
        let mut slots = 0;
        for &t in locals {
            slots += t.slots();
            self.locals.push(map.moved(t)?);
        }
        let tops = u32::from(map.code.max_locals) - slots;
        self.locals
            .resize(self.locals.len() + tops as usize, VType::Top);
        self.push_token(map.form);
        self.stack.clear();
        for t in stack {
            self.stack.push(map.moved(t)?);
        }
        Ok(())
    }

    /// Turns the frame at a handler into the frame behind the handler's hook: the caught exception
    /// is in the local behind the hooks' first local.
    fn set_resumed(&mut self, overflow: u16) {
        let caught = self.stack.first().copied();
        self.locals.push(caught.unwrap_or(VType::Top));
        self.stack.clear();
        self.stack.push(VType::Object(overflow));
    }

    fn set_catch_all(&mut self, map: &StackMap<'_, '_>, uninitialized: bool, throwable: u16) {
        self.locals.clear();
        self.locals
            .resize(usize::from(map.code.max_locals), VType::Top);
        if uninitialized {
            // A constructor has `this` in local 0.
            self.locals[0] = VType::UninitializedThis;
        }
        self.push_token(map.form);
        self.stack.clear();
        self.stack.push(VType::Object(throwable));
    }

    fn push_token(&mut self, form: Form) {
        self.locals.extend(form.token().map(|_| VType::Integer));
    }

    fn add(
        &self,
        writer: &mut FrameWriter<'_>,
        at: u32,
        resolve: &mut impl FnMut(u16) -> Result<u16, Stop>,
    ) -> Result<(), Stop> {
        writer.add(at, &self.locals, &self.stack, resolve)
    }
}

/// Constants of a class that its frames name, each added when first needed.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(super) attribute: Option<u16>,
    throwable: Option<u16>,
    overflow: Option<u16>,
}

impl Names {
    pub(super) fn throwable(&mut self, adds: &mut Additions<'_, '_>) -> Result<u16, PoolFull> {
        class(&mut self.throwable, adds, b"java/lang/Throwable")
    }

    pub(crate) fn overflow(&mut self, adds: &mut Additions<'_, '_>) -> Result<u16, PoolFull> {
        class(&mut self.overflow, adds, b"java/lang/StackOverflowError")
    }
}

fn class(
    known: &mut Option<u16>,
    adds: &mut Additions<'_, '_>,
    name: &'static [u8],
) -> Result<u16, PoolFull> {
    match *known {
        Some(index) => Ok(index),
        None => Ok(*known.insert(adds.class(Cow::Borrowed(name))?)),
    }
}
