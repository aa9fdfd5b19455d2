//! The rewrite of a class: hooks into the methods that a plan chooses.

use crate::class::{Attribute, ClassFile, Member};
use crate::code::{Code, ExceptionEntry};
use crate::constructor;
use crate::descriptor::{Type, parameters};
use crate::error::{Malformed, Result};
use crate::frames::{FrameWriter, RawFrames, next_bci};
use crate::hooks::{self, HookId, Targets};
use crate::inferred;
use crate::instruction::{i4, padding};
use crate::layout::{Layout, Lengths};
use crate::map::{CodeMap, HookKind, Kind, Segment};
use crate::opcode as op;
use crate::pool::{Additions, PoolFull};
use crate::scan::{FRAME, HANDLER, RETURN, Scan, event};
use crate::tables::{self, Moves, Table};
use crate::types::{VType, vtag};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A method that could get hooks.
#[derive(Clone, Copy, Debug)]
pub struct MethodInfo<'a> {
    /// Internal name of its class.
    pub class: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its descriptor.
    pub descriptor: &'a str,
    /// Its access flags.
    pub access_flags: u16,
    /// Length of its `Code` attribute in bytes.
    pub code_size: u32,
}

/// What a plan wants for a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Leave it as it is.
    Leave,
    /// Hook it.
    Hook {
        /// The number that its entry hook pushes.
        id: HookId,
        /// The entry hook also calls `check`.
        check: bool,
    },
}

/// Chooses the methods to be hooked.
pub trait Plan {
    /// Is asked once for each method with code, in the order of the file.
    fn choose(&mut self, method: &MethodInfo<'_>) -> Choice;
}

impl<F: FnMut(&MethodInfo<'_>) -> Choice> Plan for F {
    fn choose(&mut self, method: &MethodInfo<'_>) -> Choice {
        self(method)
    }
}

/// Why a chosen method was left as it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// Its code would be longer than the 65,535 bytes that the JVMS allows (4.7.3).
    CodeTooLarge,
    /// It has no local variable slot or no operand stack slot left.
    NoSlotLeft,
    /// A table of its code (exceptions, frames) has no entry left, or would grow out of proportion.
    TableFull,
    /// The class's constant pool has no room for the hooks.
    PoolFull,
    /// A constructor where it isn't certain which code runs before `super(…)`.
    UnclearConstructor,
    /// A branch no longer fits 16 bits, at a place whose frame could not be told.
    BranchTooFar,
    /// An exception handler stands at the method's first instruction.
    HandlerAtEntry,
    /// A `finalize()` that only returns: as long as it does, the JVM takes the class for one
    /// without a finalizer. `Object.finalize` is one: hooked, every object would need finalization.
    EmptyFinalizer,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::CodeTooLarge => "the code would be too large",
            Reason::NoSlotLeft => "no local or stack slot left",
            Reason::TableFull => "exception or frame table full",
            Reason::PoolFull => "constant pool full",
            Reason::UnclearConstructor => "unclear where the constructor calls super",
            Reason::BranchTooFar => "a branch would be too far",
            Reason::HandlerAtEntry => "exception handler at the method's start",
            Reason::EmptyFinalizer => "empty finalizer",
        })
    }
}

/// A method that was hooked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HookedMethod {
    /// Its number.
    pub id: HookId,
    /// Its name.
    pub name: Arc<str>,
    /// Its descriptor.
    pub descriptor: Arc<str>,
    /// Where its code went, and where its hooks are.
    pub map: CodeMap,
}

/// A method that was chosen but left as it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftMethod {
    /// The number that it would have had.
    pub id: HookId,
    /// Its name.
    pub name: Arc<str>,
    /// Its descriptor.
    pub descriptor: Arc<str>,
    /// Why it was left.
    pub reason: Reason,
}

/// A rewritten class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rewritten {
    /// The new class file; `None` if no method was hooked.
    pub bytes: Option<Vec<u8>>,
    /// Internal name of the class.
    pub class_name: String,
    /// Internal name of its superclass.
    pub super_name: Option<String>,
    /// The hooked methods, in the order of the file.
    pub hooked: Vec<HookedMethod>,
    /// The methods that were chosen but left.
    pub left: Vec<LeftMethod>,
    /// How many methods with code the plan did not choose.
    pub not_chosen: u32,
    /// How many attributes of hooked code are unknown: they were kept as they are, and would be
    /// wrong if they hold code offsets.
    pub unknown_code_attributes: u32,
}

/// Why a method can't be done: for good reason, or because it is malformed.
pub(crate) enum Stop {
    Malformed(Malformed),
    Left(Reason),
}

impl From<Malformed> for Stop {
    fn from(m: Malformed) -> Self {
        Stop::Malformed(m)
    }
}

impl From<PoolFull> for Stop {
    fn from(_: PoolFull) -> Self {
        Stop::Left(Reason::PoolFull)
    }
}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Stop::Left(reason)
    }
}

/// Hooks the methods of a class that `plan` chooses. `owner` is the internal name of the class
/// with the hook methods.
pub fn rewrite(class_file: &[u8], owner: &str, plan: &mut dyn Plan) -> Result<Rewritten> {
    let class = ClassFile::parse(class_file)?;
    let mut names = Names::default();
    let class_name = String::from_utf8_lossy(class.name);
    let mut result = Rewritten {
        bytes: None,
        class_name: String::new(),
        super_name: class
            .super_name
            .map(|n| String::from_utf8_lossy(n).into_owned()),
        hooked: Vec::new(),
        left: Vec::new(),
        not_chosen: 0,
        unknown_code_attributes: 0,
    };
    let mut job = Job {
        class: &class,
        adds: Additions::new(&class.pool),
        targets: Targets::new(owner),
        throwable: None,
        stack_map_name: class.pool_find_stack_map(),
        unknown: 0,
        scratch: Scratch::default(),
    };
    let mut body: Vec<u8> = Vec::new();
    // Everything before this offset was written or belongs to what stands before the methods.
    let mut copied = class.pool.end();
    for method in &class.methods {
        let Some(attribute) = method.code()? else {
            continue;
        };
        let info = MethodInfo {
            class: &class_name,
            name: &String::from_utf8_lossy(method.name),
            descriptor: &String::from_utf8_lossy(method.descriptor),
            access_flags: method.access_flags,
            code_size: attribute.info.len() as u32,
        };
        let Choice::Hook { id, check } = plan.choose(&info) else {
            result.not_chosen += 1;
            continue;
        };
        if body.capacity() == 0 {
            body.reserve(class_file.len() + class_file.len() / 2);
        }
        let mark = body.len();
        // Up to and including the header of the Code attribute.
        body.extend_from_slice(&class_file[copied..attribute.offset]);
        let length_at = body.len() - 4;
        let name = names.get(method.name_index, info.name);
        let descriptor = names.get(method.descriptor_index, info.descriptor);
        match job.method(method, attribute, id, check, &mut body) {
            Ok(map) => {
                let n = (body.len() - length_at - 4) as u32;
                body[length_at..length_at + 4].copy_from_slice(&n.to_be_bytes());
                copied = attribute.offset + attribute.info.len();
                result.hooked.push(HookedMethod {
                    id,
                    name,
                    descriptor,
                    map,
                });
            }
            Err(Stop::Malformed(m)) => return Err(m),
            Err(Stop::Left(reason)) => {
                body.truncate(mark);
                result.left.push(LeftMethod {
                    id,
                    name,
                    descriptor,
                    reason,
                });
            }
        }
    }
    result.unknown_code_attributes = job.unknown;
    if !result.hooked.is_empty() {
        let pool_end = class.pool.end();
        let adds = &job.adds;
        let rest = &class_file[copied..];
        let mut out = Vec::with_capacity(pool_end + adds.bytes().len() + body.len() + rest.len());
        out.extend_from_slice(&class_file[..8]);
        out.extend_from_slice(&adds.count().to_be_bytes());
        out.extend_from_slice(&class_file[10..pool_end]);
        out.extend_from_slice(adds.bytes());
        out.extend_from_slice(&body);
        out.extend_from_slice(rest);
        result.bytes = Some(out);
    }
    result.class_name = class_name.into_owned();
    Ok(result)
}

/// Names as shared strings, so that methods that share a name in the file share it here too.
#[derive(Default)]
struct Names(HashMap<u16, Arc<str>>);

impl Names {
    fn get(&mut self, index: u16, text: &str) -> Arc<str> {
        self.0.entry(index).or_insert_with(|| text.into()).clone()
    }
}

/// How many locals all frames of a method together may have. More are refused: a small file can
/// ask for thousands of frames with thousands of locals each.
fn most_frame_slots(file: &[u8]) -> usize {
    (1 << 16) + 16 * file.len()
}

/// Memory kept from method to method.
#[derive(Default)]
struct Scratch {
    scan: Scan,
    layout: Layout,
    segments: Vec<Segment>,
    initial: Vec<VType>,
    locals: Vec<VType>,
    padded: Vec<VType>,
    stack: Vec<VType>,
    constructor: constructor::Scratch,
}

struct Job<'c, 'a, 'o> {
    class: &'c ClassFile<'a>,
    adds: Additions<'c, 'a>,
    targets: Targets<'o>,
    throwable: Option<u16>,
    stack_map_name: Option<u16>,
    unknown: u32,
    scratch: Scratch,
}

/// A catch-all handler: what it covers, in old BCIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Covered {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// `this` is not initialised here.
    pub(crate) uninitialized: bool,
}

impl<'a> Job<'_, 'a, '_> {
    /// Writes the content of the `Code` attribute, hooked.
    fn method(
        &mut self,
        method: &Member<'a>,
        attribute: &Attribute<'a>,
        id: HookId,
        check: bool,
        out: &mut Vec<u8>,
    ) -> Result<CodeMap, Stop> {
        let class = self.class;
        let code = Code::parse(class, attribute)?;
        let old = code.code;
        let Scratch {
            scan,
            layout,
            segments,
            initial,
            locals,
            padded,
            stack,
            constructor,
        } = &mut self.scratch;
        scan.run(&code)?;
        if old == [op::RETURN] && method.name == b"finalize" && method.descriptor == b"()V" {
            return Err(Reason::EmptyFinalizer.into());
        }
        if scan.flags[0] & HANDLER != 0 {
            return Err(Reason::HandlerAtEntry.into());
        }
        let local = code.max_locals;
        let u2_limit = if code.short { 255 } else { 65535 };
        if local >= u2_limit || code.max_stack >= u2_limit {
            return Err(Reason::NoSlotLeft.into());
        }
        let parameters_end = initial_locals(class, method, attribute, initial)?;
        if parameters_end > u32::from(local) {
            return Err(Malformed {
                offset: attribute.offset,
                rule: "JVMS 4.7.3: max_locals has room for the parameters",
            }
            .into());
        }

        // Frames: always from version 51 on. Version 50 may do without, and is then verified the
        // old way, which needs none.
        let old_frames = code.single(b"StackMapTable")?;
        let flows = !scan.branches.is_empty() || scan.switches || !code.exception_bytes.is_empty();
        let framed = old_frames.is_some() || class.major > 50 || (class.major == 50 && !flows);
        if let Some(a) = old_frames {
            let mut frames = RawFrames::new(a.reader(class.file))?;
            // Every frame gets a slot for each local.
            if usize::from(frames.left()) * usize::from(local) > most_frame_slots(class.file) {
                return Err(Reason::TableFull.into());
            }
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
                last = Some(bci);
            }
        }

        let mut covered = [Covered {
            start: 0,
            end: old.len() as u32,
            uninitialized: false,
        }]
        .to_vec();
        if framed && class.major >= 50 && initial.first() == Some(&VType::UNINITIALIZED_THIS) {
            covered.clear();
            constructor::phases(class, &code, old_frames, initial, constructor, &mut covered)?;
        } else if class.name == b"java/lang/Object" && method.name == b"<init>" {
            // Here the JVM registers finalizers, in the return itself. A handler that covers it
            // is more than HotSpot's compilers are made for: C2 of JDK 17 crashes.
            covered.clear();
            let mut start = 0;
            for bci in (0..old.len() as u32).filter(|&bci| scan.flags[bci as usize] & RETURN != 0) {
                constructor::cover(&mut covered, start, bci, false);
                start = bci + 1;
            }
        }

        let lengths = Lengths {
            entry: hooks::entry_length(local, check),
            caught: hooks::caught_length(local),
            exit: hooks::exit_length(local),
        };
        layout.run(scan, lengths, old.len());
        let end = layout.end(old.len());
        let handlers = [true, false].map(|u| covered.iter().any(|c| c.uninitialized == u));
        let thrown_length = hooks::thrown_length(local);
        let new_length = end + thrown_length * handlers.iter().filter(|&&h| h).count() as u32;
        if new_length > 65535 {
            return Err(Reason::CodeTooLarge.into());
        }
        let exception_count = code.exceptions().len() + covered.len();
        if exception_count > 65535 {
            return Err(Reason::TableFull.into());
        }
        let mut inferred = Vec::new();
        if framed {
            let wanted: Vec<u32> = scan
                .branches
                .iter()
                .filter(|b| b.grown && op::is_conditional(b.opcode))
                .map(|b| b.bci + 3)
                .filter(|&bci| scan.flags[bci as usize] & FRAME == 0)
                .collect();
            if wanted.len() * usize::from(local) > most_frame_slots(class.file) {
                return Err(Reason::TableFull.into());
            }
            if !wanted.is_empty() {
                let adds = &mut self.adds;
                inferred = inferred::frames(
                    class,
                    &code,
                    method.descriptor,
                    old_frames,
                    initial,
                    &wanted,
                    adds,
                )?;
            }
        }

        // Header.
        let max_stack = (code.max_stack + 1).max(3);
        if code.short {
            out.extend_from_slice(&[max_stack as u8, local as u8 + 1]);
            out.extend_from_slice(&(new_length as u16).to_be_bytes());
        } else {
            out.extend_from_slice(&max_stack.to_be_bytes());
            out.extend_from_slice(&(local + 1).to_be_bytes());
            out.extend_from_slice(&new_length.to_be_bytes());
        }

        // Code.
        let code_at = out.len();
        segments.clear();
        let segment = |segments: &mut Vec<Segment>, out: &Vec<u8>, old: u32, kind| {
            segments.push(Segment {
                new: (out.len() - code_at) as u16,
                old: old as u16,
                kind,
            });
        };
        let kind = if check {
            HookKind::EntryAndCheck
        } else {
            HookKind::Entry
        };
        segment(segments, out, 0, Kind::Hook(kind));
        let check = if check {
            Some(self.targets.check(&mut self.adds)?)
        } else {
            None
        };
        hooks::entry(out, id, self.targets.push(&mut self.adds)?, local, check);
        let mut from = 0;
        segment(segments, out, 0, Kind::Code);
        for &e in &scan.events {
            let bci = (e >> 2) as usize;
            let run = &old[from..bci];
            if run.is_empty() {
                // The segment opened after the last event has nothing in it.
                segments.pop();
            }
            out.extend_from_slice(run);
            from = bci;
            match e & 3 {
                event::HOOK => {
                    if scan.flags[bci] & HANDLER != 0 {
                        segment(segments, out, bci as u32, Kind::Hook(HookKind::Caught));
                        hooks::caught(out, self.targets.caught(&mut self.adds)?, local);
                    }
                    if scan.flags[bci] & RETURN != 0 {
                        segment(segments, out, bci as u32, Kind::Hook(HookKind::Exit));
                        hooks::exit(out, self.targets.pop(&mut self.adds)?, local);
                    }
                }
                event::SWITCH => {
                    segment(segments, out, bci as u32, Kind::Fixed);
                    from = bci
                        + write_switch(
                            out,
                            old,
                            bci,
                            |target| layout.hook(scan, lengths, target),
                            (out.len() - code_at) as u32,
                        );
                }
                _ => {
                    segment(segments, out, bci as u32, Kind::Fixed);
                    let i = scan.branches.partition_point(|b| (b.bci as usize) < bci);
                    let b = scan.branches[i];
                    let mut at = (out.len() - code_at) as u32;
                    let target = layout.hook(scan, lengths, b.target);
                    match b.opcode {
                        op::GOTO => out.push(op::GOTO_W),
                        op::JSR => out.push(op::JSR_W),
                        conditional => {
                            out.extend_from_slice(&[op::inverted(conditional), 0, 8, op::GOTO_W]);
                            at += 3;
                        }
                    }
                    out.extend_from_slice(&target.wrapping_sub(at).to_be_bytes());
                    from = bci + 3;
                }
            }
            segment(segments, out, from as u32, Kind::Code);
        }
        if from == old.len() {
            segments.pop();
        }
        out.extend_from_slice(&old[from..]);
        for b in &scan.branches {
            if b.grown {
                continue;
            }
            let at = layout.instruction(b.bci);
            let by = layout.hook(scan, lengths, b.target).wrapping_sub(at);
            let at = code_at + at as usize + 1;
            if b.opcode == op::GOTO_W || b.opcode == op::JSR_W {
                out[at..at + 4].copy_from_slice(&by.to_be_bytes());
            } else {
                out[at..at + 2].copy_from_slice(&(by as u16).to_be_bytes());
            }
        }
        let mut handler_at = [0u32; 2];
        for (at, _) in handler_at
            .iter_mut()
            .zip(handlers)
            .filter(|(_, used)| *used)
        {
            *at = (out.len() - code_at) as u32;
            segment(segments, out, scan.last, Kind::Hook(HookKind::Thrown));
            hooks::thrown(out, self.targets.thrown(&mut self.adds)?, local);
        }
        debug_assert_eq!(out.len() - code_at, new_length as usize);

        // Exception table.
        let moved = |bci: u32| layout.hook(scan, lengths, bci) as u16;
        out.extend_from_slice(&(exception_count as u16).to_be_bytes());
        for e in code.exceptions() {
            // javac lets a handler cover its own start. Its hook must not be covered: where the
            // stack is too small for it, it would throw into itself for ever.
            let start = match e.start == e.handler {
                true => layout.instruction(e.start.into()) as u16,
                false => moved(e.start.into()),
            };
            ExceptionEntry {
                start,
                end: moved(e.end.into()),
                handler: moved(e.handler.into()),
                catch_type: e.catch_type,
            }
            .write(out);
        }
        for c in &covered {
            // From right behind the entry hook's store on, its check included.
            let start = if c.start == 0 {
                hooks::entry_length(local, false) as u16
            } else {
                moved(c.start)
            };
            let handler = handler_at[usize::from(!c.uninitialized)] as u16;
            ExceptionEntry {
                start,
                end: moved(c.end),
                handler,
                catch_type: 0,
            }
            .write(out);
        }

        // Attributes.
        let count_at = out.len();
        let mut count = 0u16;
        out.extend_from_slice(&[0, 0]);
        let moves = Moves {
            layout,
            scan,
            lengths,
            code_length: old.len(),
        };
        for a in &code.attributes {
            let table = Table::of(a.name);
            match table {
                Table::CldcStackMap | Table::StackMap => continue,
                Table::Unknown => self.unknown += 1,
                _ => {}
            }
            tables::write(table, a, class.file, Some(moves), out)?;
            count = count.checked_add(1).ok_or(Reason::TableFull)?;
        }
        if framed {
            let name = match (old_frames, self.stack_map_name) {
                (Some(a), _) => a.name_index,
                (None, Some(index)) => index,
                (None, None) => *self
                    .stack_map_name
                    .insert(self.adds.utf8(b"StackMapTable")?),
            };
            let throwable = match self.throwable {
                Some(index) => index,
                None => *self
                    .throwable
                    .insert(self.adds.class(Cow::Borrowed(b"java/lang/Throwable"))?),
            };
            locals.clear();
            locals.extend_from_slice(initial);
            let adds = &mut self.adds;
            let mut resolve = |nth: u16| match parameter_class(method.descriptor, nth) {
                Some(name) => adds.class(Cow::Borrowed(name)).map_err(Stop::from),
                None => Err(Reason::PoolFull.into()),
            };
            let mut writer = FrameWriter::new(out, name, initial);
            // Adds the frame of an old BCI, with a slot for each local and the hooks' own behind.
            let mut add = |writer: &mut FrameWriter<'_>,
                           bci,
                           locals: &[VType],
                           types: &mut dyn Iterator<Item = VType>| {
                let moved = |t: VType| match t.tag {
                    vtag::UNINITIALIZED if !scan.is_start(t.data.into()) => Err(Malformed {
                        offset: code.offset + usize::from(t.data),
                        rule: "JVMS 4.7.4: an uninitialized type names a new instruction",
                    }),
                    vtag::UNINITIALIZED => Ok(VType {
                        tag: t.tag,
                        data: layout.instruction(t.data.into()) as u16,
                    }),
                    _ => Ok(t),
                };
                padded.clear();
                let mut slots = 0;
                for &t in locals {
                    slots += t.slots();
                    padded.push(moved(t)?);
                }
                padded.resize(
                    padded.len() + (u32::from(local) - slots) as usize,
                    VType::TOP,
                );
                padded.push(VType::INTEGER);
                stack.clear();
                for t in types {
                    stack.push(moved(t)?);
                }
                writer.add(layout.hook(scan, lengths, bci), padded, stack, &mut resolve)
            };
            let mut inferred = inferred.iter().peekable();
            if let Some(a) = old_frames {
                let mut frames = RawFrames::new(a.reader(class.file))?;
                let mut last = None;
                while let Some(frame) = frames.next()? {
                    let bci = next_bci(last, frame.delta);
                    last = Some(bci);
                    while let Some(f) = inferred.next_if(|f| f.bci < bci) {
                        add(&mut writer, f.bci, &f.locals, &mut f.stack.iter().copied())?;
                    }
                    frame.apply(locals, local)?;
                    add(
                        &mut writer,
                        bci,
                        locals,
                        &mut frame.stack.iter().map(|(_, t)| t),
                    )?;
                }
            }
            for f in inferred {
                add(&mut writer, f.bci, &f.locals, &mut f.stack.iter().copied())?;
            }
            for ((at, used), uninitialized) in
                handler_at.into_iter().zip(handlers).zip([true, false])
            {
                if used {
                    padded.clear();
                    padded.resize(usize::from(local), VType::TOP);
                    if uninitialized {
                        // A constructor has `this` in local 0.
                        padded[0] = VType::UNINITIALIZED_THIS;
                    }
                    padded.push(VType::INTEGER);
                    writer.add(at, padded, &[VType::object(throwable)], &mut resolve)?;
                }
            }
            if !writer.finish() {
                return Err(Reason::TableFull.into());
            }
            count = count.checked_add(1).ok_or(Reason::TableFull)?;
        }
        out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
        Ok(CodeMap::new(segments, new_length as u16))
    }
}

impl ClassFile<'_> {
    /// Index of the name `StackMapTable`, taken from an attribute that has it.
    fn pool_find_stack_map(&self) -> Option<u16> {
        None
    }
}

/// Fills `initial` with the locals at entry (JVMS 4.10.1.6) and returns how many slots they take.
fn initial_locals(
    class: &ClassFile<'_>,
    method: &Member<'_>,
    attribute: &Attribute<'_>,
    initial: &mut Vec<VType>,
) -> Result<u32> {
    const ACC_STATIC: u16 = 8;
    let bad = || Malformed {
        offset: method.start + 4,
        rule: "JVMS 4.3.3: a method descriptor is well-formed",
    };
    initial.clear();
    if method.access_flags & ACC_STATIC == 0 {
        if method.name == b"<init>" && class.name != b"java/lang/Object" {
            initial.push(VType::UNINITIALIZED_THIS);
        } else {
            initial.push(VType::object(class.this_class));
        }
    }
    let mut slots = initial.len() as u32;
    let mut all = parameters(method.descriptor).ok_or_else(bad)?;
    let mut nth = 0;
    while let Some(ty) = all.next().ok_or_else(bad)? {
        initial.push(match ty {
            Type::Int => VType::INTEGER,
            Type::Float => VType::FLOAT,
            Type::Long => VType::LONG,
            Type::Double => VType::DOUBLE,
            Type::Object(_) => VType {
                tag: vtag::PARAMETER,
                data: nth,
            },
        });
        nth += 1;
        slots += ty.slots();
        if slots > 255 {
            return Err(Malformed {
                offset: attribute.offset,
                rule: "JVMS 4.3.3: parameters take 255 slots at most",
            });
        }
    }
    all.returns().ok_or_else(bad)?;
    Ok(slots)
}

/// The class of a method's nth parameter.
pub(crate) fn parameter_class(descriptor: &[u8], nth: u16) -> Option<&[u8]> {
    let mut all = parameters(descriptor)?;
    for _ in 0..nth {
        all.next()??;
    }
    match all.next()?? {
        Type::Object(name) => Some(name),
        _ => None,
    }
}

/// Writes the switch that was at `bci`, at the new BCI `at`; returns its old length.
fn write_switch(
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
