//! The rewrite of one method.

use crate::cover::{self, CatchAlls, Coverage};
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
        Wanted { check, plain }: Wanted,
        out: &mut Vec<u8>,
    ) -> Result<(CodeMap, Growth), Stop> {
        let class = self.class;
        let code = Code::parse(class, attribute)?;
        let length = code.code.len() as u32;
        let Scratch {
            scan,
            places,
            segments,
            initial,
            stack_map,
            constructor,
            depth,
        } = &mut self.scratch;
        scan.run(&code)?;
        refuse(method, &code, scan)?;
        let has_handlers = code.exceptions().len() > 0;
        if initial_locals(class, method, attribute, initial)? > u32::from(code.max_locals) {
            return Err(Malformed {
                offset: attribute.offset,
                rule: "JVMS 4.7.3: max_locals has room for the parameters",
            }
            .into());
        }

        let frames = code.single(b"StackMapTable")?;
        let framed = frames.is_some() || needs_frames(class, &code, scan);
        if let Some(a) = frames {
            frames::mark(scan, a, class.file, code.max_locals)?;
        }
        let typed = (framed && class.major >= 50, frames);
        let coverage = Coverage::of(class, &code, typed, initial, constructor)?;
        let needs_token = has_handlers || coverage.leaks;
        let form = match self.tokens {
            Tokens::WhereNeeded if !needs_token => Form::Id { id, plain },
            Tokens::WhereNeeded | Tokens::Always => Form::Token {
                id,
                local: code.max_locals,
                plain,
            },
        };
        let more_locals = u16::from(form.token().is_some()) + u16::from(has_handlers);
        if code.max_locals > most_slots(&code) - more_locals {
            return Err(Reason::NoSlotLeft.into());
        }
        let covered = match form {
            Form::Id { .. } => coverage.without_exits(scan),
            Form::Token { .. } => coverage.whole(class, method, scan),
        };

        let lengths = Lengths {
            entry: form.entry_length(check),
            caught: form.token().map_or(0, hooks::caught_length),
            exit: form.exit_length(),
        };
        places.run(scan, lengths, code.code.len());
        let moves = Moves {
            places,
            scan,
            lengths,
            code_length: length,
        };
        let catch_alls = CatchAlls::behind(moves.end(), &covered, form.thrown_length());
        if catch_alls.end > 65535 {
            return Err(Reason::CodeTooLarge.into());
        }
        let inferred = if framed {
            infer(class, &code, method, frames, initial, scan, &mut self.adds)?
        } else {
            Vec::new()
        };

        // Only methods with handlers name it.
        let overflow = if has_handlers {
            self.names.overflow(&mut self.adds)?
        } else {
            0
        };
        let deepest = frames::deepest_return(class, &code, scan, frames, initial, depth)?;
        let growth = Growth {
            locals: more_locals,
            stack: more_stack(&code, form, catch_alls, deepest)?,
        };
        header(out, &code, growth, catch_alls.end);
        let mut hooks = Hooks {
            form,
            check,
            targets: &mut self.targets,
            adds: &mut self.adds,
        };
        let code_at = out.len();
        body::write(out, segments, code.code, moves, catch_alls, &mut hooks)?;
        let map = CodeMap::new(segments, &out[code_at..]);
        exceptions::write(out, &code, moves, &covered, catch_alls, form, overflow)?;
        let count_at = out.len();
        out.extend_from_slice(&[0, 0]);
        let mut count = tables::write(out, class, &code, moves, &mut self.unknown)?;
        if framed {
            let map = StackMap {
                code: &code,
                descriptor: method.descriptor,
                moves,
                own: frames,
                inferred: &inferred,
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
    class: &ClassFile<'a>,
    code: &Code<'a>,
    method: &Member<'a>,
    frames: Option<&Attribute<'a>>,
    initial: &[VType],
    scan: &Scan,
    adds: &mut Additions<'_, 'a>,
) -> Result<Vec<Inferred>, Stop> {
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
        method.descriptor,
        frames,
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
