//! The code array with its hooks.

use super::switch;
use crate::cover::CatchAlls;
use crate::hooks::{Form, Targets, code as hooks};
use crate::layout::{Branch, HANDLER, Moves, RETURN, Scan, event};
use crate::map::{HookKind, Segment, SegmentKind};
use crate::reason::Stop;
use classfile::operators::Format;
use classfile::pool::Additions;
use classfile::{Opcode, instruction};

/// What the hooks of one method need to be written.
pub(crate) struct Hooks<'h, 'p, 'a, 'o> {
    pub(crate) form: Form,
    pub(crate) check: bool,
    pub(crate) targets: &'h mut Targets<'o>,
    pub(crate) adds: &'h mut Additions<'p, 'a>,
}

/// Writes the code. Returns its segments in order.
pub(crate) fn write(
    out: &mut Vec<u8>,
    segments: &mut Vec<Segment>,
    old: &[u8],
    moves: Moves<'_>,
    catch_alls: CatchAlls,
    hooks: &mut Hooks<'_, '_, '_, '_>,
) -> Result<(), Stop> {
    let start = out.len();
    segments.clear();
    let mut body = Body {
        out,
        start,
        segments,
    };
    body.entry(hooks)?;
    body.instructions(old, moves, hooks)?;
    for (at, _) in catch_alls.iter() {
        debug_assert_eq!(at, body.here());
        body.open(moves.scan.last, SegmentKind::Hook(HookKind::Thrown));
        let thrown = hooks.targets.thrown(hooks.form, hooks.adds)?;
        hooks.form.thrown(body.out, thrown);
    }
    debug_assert_eq!(catch_alls.end, body.here());
    Ok(())
}

struct Body<'b> {
    out: &'b mut Vec<u8>,
    /// Where the code starts in `out`.
    start: usize,
    segments: &'b mut Vec<Segment>,
}

impl Body<'_> {
    /// The new BCI of the next instruction.
    fn here(&self) -> u32 {
        (self.out.len() - self.start) as u32
    }

    fn open(&mut self, old: u32, kind: SegmentKind) {
        self.segments.push(Segment {
            new: self.here() as u16,
            old: old as u16,
            kind,
        });
    }

    fn entry(&mut self, hooks: &mut Hooks<'_, '_, '_, '_>) -> Result<(), Stop> {
        let (kind, check) = if hooks.check {
            let check = hooks.targets.check(hooks.adds)?;
            (HookKind::EntryAndCheck, Some(check))
        } else {
            (HookKind::Entry, None)
        };
        self.open(0, SegmentKind::Hook(kind));
        let push = hooks.targets.push(hooks.form, hooks.adds)?;
        hooks.form.entry(self.out, push, check);
        Ok(())
    }

    /// The original instructions, copied in runs, with new code at every event.
    fn instructions(
        &mut self,
        old: &[u8],
        moves: Moves<'_>,
        hooks: &mut Hooks<'_, '_, '_, '_>,
    ) -> Result<(), Stop> {
        let scan = moves.scan;
        let mut from = 0;
        self.open(0, SegmentKind::Code);
        for &e in &scan.events {
            let bci = (e >> 2) as usize;
            let run = &old[from..bci];
            if run.is_empty() {
                // The segment behind the last event is empty.
                self.segments.pop();
            }
            self.out.extend_from_slice(run);
            from = bci;
            match e & 3 {
                event::HOOK => self.hooks_before(bci as u32, scan.flags[bci], hooks)?,
                event::SWITCH => {
                    self.open(bci as u32, SegmentKind::Fixed);
                    let at = self.here();
                    let old = instruction::decode(old, bci, 0)?;
                    switch::write(self.out, &old, |target| moves.hook(target), at);
                    from = bci + old.length as usize;
                }
                _ => {
                    self.open(bci as u32, SegmentKind::Fixed);
                    self.grown_branch(scan.branch(bci as u32), moves);
                    from = bci + 3;
                }
            }
            self.open(from as u32, SegmentKind::Code);
        }
        if from == old.len() {
            self.segments.pop();
        }
        self.out.extend_from_slice(&old[from..]);
        self.set_branches(scan, moves);
        Ok(())
    }

    fn hooks_before(
        &mut self,
        bci: u32,
        flags: u8,
        hooks: &mut Hooks<'_, '_, '_, '_>,
    ) -> Result<(), Stop> {
        if let Some(local) = hooks.form.token().filter(|_| flags & HANDLER != 0) {
            self.open(bci, SegmentKind::Hook(HookKind::Caught));
            let caught = hooks.targets.caught(hooks.adds)?;
            hooks::caught(self.out, caught, local);
            self.open(bci, SegmentKind::Resume);
            hooks::resume(self.out, local);
        }
        if flags & RETURN != 0 {
            self.open(bci, SegmentKind::Hook(HookKind::Exit));
            let pop = hooks.targets.pop(hooks.form, hooks.adds)?;
            hooks.form.exit(self.out, pop);
        }
        Ok(())
    }

    /// A branch in its 32-bit form.
    fn grown_branch(&mut self, branch: Branch, moves: Moves<'_>) {
        let mut at = self.here();
        let wide = match branch.opcode {
            Opcode::Jsr => Opcode::JsrW,
            _ => Opcode::GotoW,
        };
        if let Some(opposite) = branch.opcode.opposite() {
            self.out.extend_from_slice(&[opposite.byte(), 0, 8]);
            at += 3;
        }
        self.out.push(wide.byte());
        let by = moves.hook(branch.target).wrapping_sub(at);
        self.out.extend_from_slice(&by.to_be_bytes());
    }

    /// The offsets of all branches that were copied.
    fn set_branches(&mut self, scan: &Scan, moves: Moves<'_>) {
        for b in scan.branches.iter().filter(|b| !b.grown) {
            let at = moves.instruction(b.bci);
            let by = moves.hook(b.target).wrapping_sub(at);
            let at = self.start + at as usize + 1;
            if b.opcode.format() == Format::WideBranch {
                self.out[at..at + 4].copy_from_slice(&by.to_be_bytes());
            } else {
                self.out[at..at + 2].copy_from_slice(&(by as u16).to_be_bytes());
            }
        }
    }
}
