//! The rewrite of one method.

use crate::cover::{self, CatchAlls, Coverage, Covered};
use crate::frames::{self, Inferred, StackMap};
use crate::hooks::{Form, HookClass, Targets, Tokens, code as hooks};
use crate::layout::{FRAME, HANDLER, Lengths, Moves, Places, Scan};
use crate::map::{CodeMap, Segment};
use crate::outcome::Growth;
use crate::reason::{Reason, Stop};
use crate::write::body::{self, Hooks};
use crate::write::{exceptions, tables};
use classfile::entry::HookId;
use classfile::file::{Attribute, ClassFile, Code, Member};
use classfile::operators::Flow;
use classfile::pool::Additions;
use classfile::types::{VType, initial_locals};
use classfile::{Malformed, Opcode};

/// The methods of one class, one after the other.
pub(crate) struct Job<'c, 'a, 'o> {
    class: &'c ClassFile<'a>,
    /// The new constants of the class.
    pub(crate) adds: Additions<'c, 'a>,
    tokens: Tokens,
    targets: Targets<'o>,
    names: frames::Names,
    /// How many attributes of hooked code are unknown.
    pub(crate) unknown: u32,
    scratch: Scratch,
}

/// What the plan wants of a method's hooks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// The entry hook also calls `check`.
    pub(crate) check: bool,
    /// The hooks at entry and exit are plain.
    pub(crate) plain: bool,
}

/// Memory that is kept from method to method.
#[derive(Default)]
struct Scratch {
    scan: Scan,
    places: Places,
    segments: Vec<Segment>,
    initial: Vec<VType>,
    stack_map: frames::Scratch,
    constructor: cover::Scratch,
    depth: frames::DepthScratch,
}

impl<'c, 'a, 'o> Job<'c, 'a, 'o> {
    pub(crate) fn new(class: &'c ClassFile<'a>, hooks: HookClass<'o>) -> Self {
        Self {
            class,
            adds: Additions::new(&class.pool),
            tokens: hooks.tokens,
            targets: Targets::new(hooks.name),
            names: frames::Names::default(),
            unknown: 0,
            scratch: Scratch::default(),
        }
    }

    /// Writes the content of the `Code` attribute with hooks.
    pub(crate) fn method(
        &mut self,
        method: &Member<'a>,
        attribute: &Attribute<'a>,
        id: HookId,
        wanted: Wanted,
        out: &mut Vec<u8>,
    ) -> Result<(CodeMap, Growth), Stop> {
        let code = Code::parse(self.class, attribute)?;
        self.scratch.scan.run(&code)?;
        refuse(method, &code, &self.scratch.scan)?;
        let source = Source {
            class: self.class,
            method,
            code: &code,
            frames: code.single(b"StackMapTable")?,
        };
        self.read_frames(source, attribute)?;
        let shape = self.shape(source, id, wanted)?;
        let named = self.named(source)?;
        self.write(source, &shape, &named, out)
    }

    /// First pass: reads the types of the parameters, and marks the instructions that have frames.
    fn read_frames(
        &mut self,
        source: Source<'_, 'c, 'a>,
        attribute: &Attribute<'a>,
    ) -> Result<(), Stop> {
        let (class, max_locals) = (source.class, source.code.max_locals);
        let Scratch { scan, initial, .. } = &mut self.scratch;
        if initial_locals(class, source.method, attribute, initial)? > u32::from(max_locals) {
            return Err(Malformed {
                offset: attribute.offset,
                rule: "JVMS 4.7.3: max_locals has room for the parameters",
            }
            .into());
        }
        if let Some(a) = source.frames {
            frames::mark(scan, a, class.file, max_locals)?;
        }
        Ok(())
    }

    /// Second pass: chooses the form of the hooks, and places them with the instructions.
    fn shape(
        &mut self,
        source: Source<'_, 'c, 'a>,
        id: HookId,
        Wanted { check, plain }: Wanted,
    ) -> Result<Shape, Stop> {
        let (class, code) = (source.class, source.code);
        let framed = source.is_framed(&self.scratch.scan);
        let Scratch {
            scan,
            places,
            initial,
            constructor,
            ..
        } = &mut self.scratch;
        let typed = (framed && class.major >= 50, source.frames);
        let coverage = Coverage::of(class, code, typed, initial, constructor)?;
        let needs_token = source.has_handlers() || coverage.leaks;
        let form = match self.tokens {
            Tokens::WhereNeeded if !needs_token => Form::Id { id, plain },
            Tokens::WhereNeeded | Tokens::Always => Form::Token {
                id,
                local: code.max_locals,
                plain,
            },
        };
        let locals = u16::from(form.token().is_some()) + u16::from(source.has_handlers());
        if code.max_locals > most_slots(code) - locals {
            return Err(Reason::NoSlotLeft.into());
        }
        let covered = match form {
            Form::Id { .. } => coverage.without_exits(scan),
            Form::Token { .. } => coverage.whole(class, source.method, scan),
        };
        let lengths = Lengths {
            entry: form.entry_length(check),
            caught: form.token().map_or(0, hooks::caught_length),
            exit: form.exit_length(),
        };
        places.run(scan, lengths, code.code.len());
        let end = moves(places, scan, lengths, code).end();
        let catch_alls = CatchAlls::behind(end, &covered, form.thrown_length());
        if catch_alls.end > 65535 {
            return Err(Reason::CodeTooLarge.into());
        }
        Ok(Shape {
            form,
            check,
            locals,
            covered,
            lengths,
            catch_alls,
        })
    }

    /// Third pass: adds the constants that frames and exception tables will name.
    fn named(&mut self, source: Source<'_, 'c, 'a>) -> Result<Named, Stop> {
        let Scratch { scan, initial, .. } = &self.scratch;
        let infer = || infer(source, initial, scan, &mut self.adds);
        let inferred = source.is_framed(scan).then(infer).transpose()?;
        // Only methods with handlers name it.
        let overflow = if source.has_handlers() {
            self.names.overflow(&mut self.adds)?
        } else {
            0
        };
        Ok(Named { inferred, overflow })
    }

    /// Fourth pass: writes the code with its hooks, and the tables about it.
    fn write(
        &mut self,
        source: Source<'_, 'c, 'a>,
        shape: &Shape,
        named: &Named,
        out: &mut Vec<u8>,
    ) -> Result<(CodeMap, Growth), Stop> {
        let (class, code, frames) = (source.class, source.code, source.frames);
        let (form, catch_alls) = (shape.form, shape.catch_alls);
        let Scratch {
            scan,
            places,
            segments,
            initial,
            stack_map,
            depth,
            ..
        } = &mut self.scratch;
        let deepest = frames::deepest_return(class, code, scan, frames, initial, depth)?;
        let growth = Growth {
            locals: shape.locals,
            stack: more_stack(code, form, catch_alls, deepest)?,
        };
        header(out, code, growth, catch_alls.end);
        let moves = moves(places, scan, shape.lengths, code);
        let mut hooks = Hooks {
            form,
            check: shape.check,
            targets: &mut self.targets,
            adds: &mut self.adds,
        };
        let code_at = out.len();
        body::write(out, segments, code.code, moves, catch_alls, &mut hooks)?;
        let map = CodeMap::new(segments, &out[code_at..]);
        let overflow = named.overflow;
        exceptions::write(out, code, moves, &shape.covered, catch_alls, form, overflow)?;
        let count_at = out.len();
        out.extend_from_slice(&[0, 0]);
        let mut count = tables::write(out, class, code, moves, &mut self.unknown)?;
        if let Some(inferred) = &named.inferred {
            let map = StackMap {
                code,
                descriptor: source.method.descriptor,
                moves,
                own: frames,
                inferred,
                catch_alls,
                overflow,
                form,
            };
            let (names, adds) = (&mut self.names, &mut self.adds);
            map.write(out, class.file, initial, names, adds, stack_map)?;
            count = count.checked_add(1).ok_or(Reason::TableFull)?;
        }
        out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
        Ok((map, growth))
    }
}

/// A method as its class file has it.
#[derive(Clone, Copy)]
struct Source<'m, 'c, 'a> {
    class: &'c ClassFile<'a>,
    method: &'m Member<'a>,
    code: &'m Code<'a>,
    /// Its own stack map.
    frames: Option<&'m Attribute<'a>>,
}

impl Source<'_, '_, '_> {
    fn has_handlers(self) -> bool {
        self.code.exceptions().len() > 0
    }

    /// Whether the hooked code has a stack map.
    fn is_framed(self, scan: &Scan) -> bool {
        self.frames.is_some() || needs_frames(self.class, self.code, scan)
    }
}

/// What the hooks of a method are, and where they stand.
struct Shape {
    form: Form,
    /// The entry hook also calls `check`.
    check: bool,
    /// The local variables that the hooks add.
    locals: u16,
    /// The code whose exceptions the catch-alls catch.
    covered: Vec<Covered>,
    lengths: Lengths,
    catch_alls: CatchAlls,
}

/// What tables of the hooked code name.
struct Named {
    /// The frames that branches need which grew; `None` if the code has no stack map.
    inferred: Option<Vec<Inferred>>,
    /// The constant of StackOverflowError; 0 in a method without handlers.
    overflow: u16,
}

fn moves<'s>(places: &'s Places, scan: &'s Scan, lengths: Lengths, code: &Code<'_>) -> Moves<'s> {
    Moves {
        places,
        scan,
        lengths,
        code_length: code.code.len() as u32,
    }
}

/// Refuses methods that cannot be hooked.
fn refuse(method: &Member<'_>, code: &Code<'_>, scan: &Scan) -> Result<(), Reason> {
    if code.code == [Opcode::Return.byte()]
        && method.name == b"finalize"
        && method.descriptor == b"()V"
    {
        return Err(Reason::EmptyFinalizer);
    }
    if scan.flags[0] & HANDLER != 0 {
        return Err(Reason::HandlerAtEntry);
    }
    Ok(())
}

/// The largest number of local variables, and of slots of operand stack, that the code can have.
fn most_slots(code: &Code<'_>) -> u16 {
    if code.short { 255 } else { 65535 }
}

/// The slots of operand stack that a method's hooks add. At the method's returns at most `deepest`
/// slots are in use.
fn more_stack(
    code: &Code<'_>,
    form: Form,
    catch_alls: CatchAlls,
    deepest: u16,
) -> Result<u16, Reason> {
    let at_exit = deepest.checked_add(form.exit_slots());
    // The hook at a handler takes fewer slots than a catch-all, and each method with such a hook
    // has a catch-all.
    let at_catch_all = catch_alls.iter().map(|_| hooks::THROWN_SLOTS).max();
    let needed = at_exit
        .filter(|&needed| needed <= most_slots(code))
        .ok_or(Reason::NoSlotLeft)?
        .max(hooks::ENTRY_SLOTS)
        .max(at_catch_all.unwrap_or(0));
    Ok(needed.saturating_sub(code.max_stack))
}

/// Whether hooked code needs frames although the method has none: always from version 51 on. Code
/// of version 50 that branches without frames is verified by type inference, which needs none.
fn needs_frames(class: &ClassFile<'_>, code: &Code<'_>, scan: &Scan) -> bool {
    let flows = !scan.branches.is_empty() || scan.switches || code.exceptions().len() > 0;
    class.major > 50 || (class.major == 50 && !flows)
}

/// The frames behind conditional branches that grew, in a method without own frames there.
fn infer<'a>(
    source: Source<'_, '_, 'a>,
    initial: &[VType],
    scan: &Scan,
    adds: &mut Additions<'_, 'a>,
) -> Result<Vec<Inferred>, Stop> {
    let (class, code) = (source.class, source.code);
    let wanted: Vec<u32> = scan
        .branches
        .iter()
        .filter(|b| b.grown && b.opcode.flow() == Flow::Conditional)
        .map(|b| b.bci + 3)
        .filter(|&bci| scan.flags[bci as usize] & FRAME == 0)
        .collect();
    if wanted.len() * usize::from(code.max_locals) > frames::most_slots(class.file) {
        return Err(Reason::TableFull.into());
    }
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    frames::inferred(
        class,
        code,
        source.method.descriptor,
        source.frames,
        initial,
        &wanted,
        adds,
    )
}

/// Writes the fields before the code array.
fn header(out: &mut Vec<u8>, code: &Code<'_>, growth: Growth, length: u32) {
    let max_stack = code.max_stack + growth.stack;
    let max_locals = code.max_locals + growth.locals;
    if code.short {
        out.extend_from_slice(&[max_stack as u8, max_locals as u8]);
        out.extend_from_slice(&(length as u16).to_be_bytes());
    } else {
        out.extend_from_slice(&max_stack.to_be_bytes());
        out.extend_from_slice(&max_locals.to_be_bytes());
        out.extend_from_slice(&length.to_be_bytes());
    }
}
