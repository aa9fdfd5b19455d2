//! From rewritten to original code, and where the hooks are.

use super::window::{HookKind, HookWindow, OriginalBci, RewrittenBci, Segment, SegmentKind};
use crate::hooks::code::{INVOKE, PUSH_AT};
use classfile::entry::Presence;
use classfile::instruction::shape;

/// The map of one hooked method. It takes a few bytes for each hook, and none for the code between
/// hooks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeMap {
    segments: Box<[Segment]>,
    length: u16,
    shape: u64,
}

impl CodeMap {
    /// Of the rewritten `code`. `segments` are in order and the first starts at 0.
    pub(crate) fn new(segments: &[Segment], code: &[u8]) -> Self {
        Self {
            segments: segments.into(),
            length: code.len() as u16,
            shape: shape(code),
        }
    }

    /// Whether the map is of `bytecode`: whether its instructions are those of the rewritten code. Operands may
    /// differ. If the map is of other code, somebody has changed the code since, and no BCI means
    /// what the map says.
    pub fn is_of(&self, bytecode: &[u8]) -> bool {
        bytecode.len() == usize::from(self.length) && shape(bytecode) == self.shape
    }

    /// Length of the rewritten code.
    pub fn length(&self) -> u32 {
        u32::from(self.length)
    }

    fn find(&self, bci: RewrittenBci) -> usize {
        // The first segment starts at 0, so the subtraction cannot underflow.
        self.segments
            .partition_point(|s| u32::from(s.new) <= bci.0)
            .saturating_sub(1)
    }

    /// The original BCI of an instruction. Hook code belongs to the instruction behind the hook,
    /// and the catch-all belongs to the last instruction.
    pub fn original(&self, bci: RewrittenBci) -> OriginalBci {
        let Some(s) = self.segments.get(self.find(bci)) else {
            return OriginalBci(bci.0);
        };
        let old = u32::from(s.old);
        match s.kind {
            SegmentKind::Code => OriginalBci(old + (bci.0 - u32::from(s.new))),
            _ => OriginalBci(old),
        }
    }

    /// Whether a frame at `bci` is on the trace stack.
    pub fn presence(&self, bci: RewrittenBci) -> Presence {
        let i = self.find(bci);
        let Some(s) = self.segments.get(i) else {
            return Presence::Absent;
        };
        match s.kind {
            SegmentKind::Fixed => Presence::Present,
            // The call may have failed.
            SegmentKind::Resume => Presence::Catching,
            SegmentKind::Code => {
                let after_exit = bci.0 == u32::from(s.new)
                    && i > 0
                    && self.segments[i - 1].kind == SegmentKind::Hook(HookKind::Exit);
                if after_exit {
                    Presence::Absent
                } else {
                    Presence::Present
                }
            }
            SegmentKind::Hook(kind) => {
                let window = self.window(i, kind);
                let (bci, call) = (bci.0, window.call.0);
                match kind {
                    HookKind::Caught => Presence::Catching,
                    HookKind::Entry | HookKind::EntryAndCheck => match bci.cmp(&call) {
                        std::cmp::Ordering::Less => Presence::Absent,
                        std::cmp::Ordering::Equal => Presence::Pushing,
                        std::cmp::Ordering::Greater => Presence::Present,
                    },
                    HookKind::Exit => match bci.cmp(&call) {
                        std::cmp::Ordering::Less => Presence::Present,
                        std::cmp::Ordering::Equal => Presence::Popping,
                        std::cmp::Ordering::Greater => Presence::Absent,
                    },
                    HookKind::Thrown => match bci.cmp(&call) {
                        std::cmp::Ordering::Less => Presence::Catching,
                        std::cmp::Ordering::Equal => Presence::Unwinding,
                        std::cmp::Ordering::Greater => Presence::Absent,
                    },
                }
            }
        }
    }

    fn window(&self, i: usize, kind: HookKind) -> HookWindow {
        let starts = |i: usize| u32::from(self.segments.get(i).map_or(self.length, |s| s.new));
        let (start, next) = (starts(i), starts(i + 1));
        let (call, end) = match kind {
            HookKind::Entry | HookKind::EntryAndCheck => (start + PUSH_AT, next),
            HookKind::Exit => (next - INVOKE, next),
            HookKind::Caught => (next - INVOKE, starts(i + 2)),
            HookKind::Thrown => (next - 1 - INVOKE, next),
        };
        HookWindow {
            kind,
            start: RewrittenBci(start),
            end: RewrittenBci(end),
            call: RewrittenBci(call),
        }
    }

    /// Every hook, in order.
    pub fn windows(&self) -> impl Iterator<Item = HookWindow> {
        self.segments
            .iter()
            .enumerate()
            .filter_map(|(i, s)| match s.kind {
                SegmentKind::Hook(kind) => Some(self.window(i, kind)),
                _ => None,
            })
    }
}
