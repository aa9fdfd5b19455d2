//! The rewrite of one method.

use crate::cover::{self, CatchAlls};
use crate::frames::{self, Inferred, StackMap};
use crate::hooks::{Targets, code as hooks};
use crate::layout::{FRAME, HANDLER, Lengths, Moves, Places, Scan};
use crate::map::{CodeMap, Segment};
use crate::reason::{Reason, Stop};
use crate::write::body::{self, Hooks};
use crate::write::{exceptions, tables};
use classfile::file::{Attribute, ClassFile, Code, Member};
use classfile::operators::Flow;
use classfile::pool::Additions;
use classfile::types::{VType, initial_locals};
use classfile::{Malformed, Opcode};
use trace_entry::HookId;

/// The methods of one class, one after the other.
pub(crate) struct Job<'c, 'a, 'o> {
    class: &'c ClassFile<'a>,
    /// New constants of the class.
    pub(crate) adds: Additions<'c, 'a>,
    targets: Targets<'o>,
    names: frames::Names,
    /// How many attributes of hooked code are unknown.
    pub(crate) unknown: u32,
    scratch: Scratch,
}

/// Memory kept from method to method.
#[derive(Default)]
struct Scratch {
    scan: Scan,
    places: Places,
    segments: Vec<Segment>,
    initial: Vec<VType>,
    stack_map: frames::Scratch,
    constructor: cover::Scratch,
}

impl<'c, 'a, 'o> Job<'c, 'a, 'o> {
    pub(crate) fn new(class: &'c ClassFile<'a>, owner: &'o str) -> Self {
        Self {
            class,
            adds: Additions::new(&class.pool),
            targets: Targets::new(owner),
            names: frames::Names::default(),
            unknown: 0,
            scratch: Scratch::default(),
        }
    }

    /// Writes the content of the `Code` attribute, hooked.
    pub(crate) fn method(
        &mut self,
        method: &Member<'a>,
        attribute: &Attribute<'a>,
        id: HookId,
        check: bool,
        out: &mut Vec<u8>,
    ) -> Result<CodeMap, Stop> {
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
        } = &mut self.scratch;
        scan.run(&code)?;
        refuse(method, &code, scan)?;
        let local = code.max_locals;
        let has_handlers = code.exceptions().len() > 0;
        if initial_locals(class, method, attribute, initial)? > u32::from(local) {
            return Err(Malformed {
                offset: attribute.offset,
                rule: "JVMS 4.7.3: max_locals has room for the parameters",
            }
            .into());
        }

        let frames = code.single(b"StackMapTable")?;
        let framed = frames.is_some() || needs_frames(class, &code, scan);
        if let Some(a) = frames {
            frames::mark(scan, a, class.file, local)?;
        }
        let typed = (framed && class.major >= 50, frames);
        let covered = cover::ranges(class, method, &code, scan, typed, initial, constructor)?;

        let lengths = Lengths {
            entry: hooks::entry_length(local, check),
            caught: hooks::caught_length(local),
            exit: hooks::exit_length(local),
        };
        places.run(scan, lengths, code.code.len());
        let moves = Moves {
            places,
            scan,
            lengths,
            code_length: length,
        };
        let catch_alls = CatchAlls::behind(moves.end(), &covered, hooks::thrown_length(local));
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
        header(
            out,
            &code,
            local + 1 + u16::from(has_handlers),
            catch_alls.end,
        );
        let mut hooks = Hooks {
            id,
            check,
            local,
            targets: &mut self.targets,
            adds: &mut self.adds,
        };
        body::write(out, segments, code.code, moves, catch_alls, &mut hooks)?;
        exceptions::write(out, &code, moves, &covered, catch_alls, local, overflow)?;
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
            };
            let (names, adds) = (&mut self.names, &mut self.adds);
            map.write(out, class.file, initial, names, adds, stack_map)?;
            count = count.checked_add(1).ok_or(Reason::TableFull)?;
        }
        out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
        Ok(CodeMap::new(segments, catch_alls.end as u16))
    }
}

/// Methods that can't be hooked, whatever else they hold.
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
    let limit = if code.short { 255 } else { 65535 };
    let locals = 1 + u16::from(code.exceptions().len() > 0);
    if code.max_locals > limit - locals || code.max_stack >= limit {
        return Err(Reason::NoSlotLeft);
    }
    Ok(())
}

/// Whether hooked code needs frames though the method has none: always from version 51 on.
/// Version 50 may do without, and is then verified the old way, which needs none.
fn needs_frames(class: &ClassFile<'_>, code: &Code<'_>, scan: &Scan) -> bool {
    let flows = !scan.branches.is_empty() || scan.switches || code.exceptions().len() > 0;
    class.major > 50 || (class.major == 50 && !flows)
}

/// Frames behind conditional branches that grew, where the method has none.
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

/// What stands before the code array.
fn header(out: &mut Vec<u8>, code: &Code<'_>, max_locals: u16, length: u32) {
    // The hooks' arguments: two for an entry, one on top of a return value, three at a handler.
    let max_stack = (code.max_stack + 1).max(3);
    if code.short {
        out.extend_from_slice(&[max_stack as u8, max_locals as u8]);
        out.extend_from_slice(&(length as u16).to_be_bytes());
    } else {
        out.extend_from_slice(&max_stack.to_be_bytes());
        out.extend_from_slice(&max_locals.to_be_bytes());
        out.extend_from_slice(&length.to_be_bytes());
    }
}
