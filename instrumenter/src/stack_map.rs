//! The `StackMapTable` (JVMS 4.7.4) of hooked code: the method's own frames moved, those of
//! branches that grew, and those where hooks at handlers go on and of the catch-alls.

use crate::class::Attribute;
use crate::code::Code;
use crate::coverage::CatchAlls;
use crate::entry::parameter_class;
use crate::error::{Malformed, Result};
use crate::frames::{FrameWriter, RawFrames, next_bci};
use crate::hooks;
use crate::inferred::Inferred;
use crate::layout::Moves;
use crate::outcome::{Reason, Stop};
use crate::pool::{Additions, PoolFull};
use crate::scan::{FRAME, HANDLER, Scan};
use crate::types::{VType, vtag};
use std::borrow::Cow;

/// How many locals all frames of a method together may have. More are refused: a small file can
/// ask for thousands of frames with thousands of locals each.
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
    while let Some(frame) = frames.next()? {
        let bci = next_bci(last, frame.delta);
        if !scan.is_start(bci) {
            return Err(Malformed {
                offset: frame.offset,
                rule: "JVMS 4.7.4: a frame stands at an instruction",
            }
            .into());
        }
        scan.flags[bci as usize] |= FRAME;
        // At a handler, there will be one more.
        written += usize::from(scan.flags[bci as usize] & HANDLER != 0);
        last = Some(bci);
    }
    // Every frame gets a slot for each local.
    match written * usize::from(max_locals) > most_slots(file) {
        true => Err(Reason::TableFull.into()),
        false => Ok(()),
    }
}

/// Constants of a class that its frames name, each added when first needed.
#[derive(Debug, Default)]
pub(crate) struct Names {
    attribute: Option<u16>,
    throwable: Option<u16>,
    overflow: Option<u16>,
}

impl Names {
    fn throwable(&mut self, adds: &mut Additions<'_, '_>) -> Result<u16, PoolFull> {
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

/// Memory kept from method to method.
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
    /// The method's own.
    pub(crate) own: Option<&'m Attribute<'a>>,
    pub(crate) inferred: &'m [Inferred],
    pub(crate) catch_alls: CatchAlls,
    /// The class constant of `java/lang/StackOverflowError`, as [`Names::overflow`] gave it.
    pub(crate) overflow: u16,
}

impl<'a> StackMap<'_, 'a> {
    /// Writes the attribute. `file` is the class file; `initial` holds the locals at the start of
    /// the method, and is used up.
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
            while let Some(frame) = frames.next()? {
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
            moved.set_catch_all(self.code.max_locals, uninitialized, throwable);
            moved.add(&mut writer, at, &mut resolve)?;
        }
        match writer.finish() {
            true => Ok(()),
            false => Err(Reason::TableFull.into()),
        }
    }

    /// A type as it is called in moved code.
    fn moved(&self, t: VType) -> Result<VType> {
        if t.tag != vtag::UNINITIALIZED {
            return Ok(t);
        }
        let new = u32::from(t.data);
        if !self.moves.scan.is_start(new) {
            return Err(Malformed {
                offset: self.code.offset + new as usize,
                rule: "JVMS 4.7.4: an uninitialized type names a new instruction",
            });
        }
        Ok(VType {
            tag: t.tag,
            data: self.moves.instruction(new) as u16,
        })
    }
}

/// A frame of hooked code: a slot for each local of the method, and the hooks' own behind.
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
            .resize(self.locals.len() + tops as usize, VType::TOP);
        self.locals.push(VType::INTEGER);
        self.stack.clear();
        for t in stack {
            self.stack.push(map.moved(t)?);
        }
        Ok(())
    }

    /// From the frame at a handler to the one where its hook goes on: the exception that was
    /// caught is in the local behind the hooks' first one.
    fn set_resumed(&mut self, overflow: u16) {
        let caught = self.stack.first().copied();
        self.locals.push(caught.unwrap_or(VType::TOP));
        self.stack.clear();
        self.stack.push(VType::object(overflow));
    }

    fn set_catch_all(&mut self, max_locals: u16, uninitialized: bool, throwable: u16) {
        self.locals.clear();
        self.locals.resize(usize::from(max_locals), VType::TOP);
        if uninitialized {
            // A constructor has `this` in local 0.
            self.locals[0] = VType::UNINITIALIZED_THIS;
        }
        self.locals.push(VType::INTEGER);
        self.stack.clear();
        self.stack.push(VType::object(throwable));
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
