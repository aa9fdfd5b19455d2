//! One pass over a method's code: the places that get hooks, and the parts that move.

use classfile::file::Code;
use classfile::instruction::{branch_target, decode, measure};
use classfile::operators::Flow;
use classfile::{Malformed, Opcode, Result};

/// An instruction starts here.
pub(crate) const START: u8 = 1;
/// An exception handler starts here.
pub(crate) const HANDLER: u8 = 2;
/// The instruction is a return.
pub(crate) const RETURN: u8 = 4;
/// The method has a frame here.
pub(crate) const FRAME: u8 = 8;

/// A branch other than a switch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branch {
    pub(crate) bci: u32,
    pub(crate) target: u32,
    pub(crate) opcode: Opcode,
    /// Whether the branch is written in its 32-bit form, because the distance needs it.
    pub(crate) grown: bool,
}

/// Events of the layout, as `bci << 2 | kind`, so that they sort.
pub(crate) mod event {
    /// The hooks before an instruction.
    pub(crate) const HOOK: u32 = 0;
    /// A switch, whose padding may change.
    pub(crate) const SWITCH: u32 = 1;
    /// A branch that grows.
    pub(crate) const GROWN: u32 = 2;
}

/// The result of a scan. The memory is kept from method to method.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// One byte of flags for each byte of code, and one for the end.
    pub(crate) flags: Vec<u8>,
    pub(crate) events: Vec<u32>,
    pub(crate) branches: Vec<Branch>,
    /// BCI of the last instruction.
    pub(crate) last: u32,
    pub(crate) switches: bool,
}

const TARGET: &str = "JVMS 4.9.1: a branch leads to an instruction of its method";

impl Scan {
    pub(crate) fn run(&mut self, code: &Code<'_>) -> Result<()> {
        let bytes = code.code;
        self.flags.clear();
        self.flags.resize(bytes.len() + 1, 0);
        self.events.clear();
        self.branches.clear();
        self.switches = false;
        for (i, e) in code.exceptions().enumerate() {
            let bad = |rule| Malformed {
                offset: code.offset + bytes.len() + 2 + 8 * i,
                rule,
            };
            if e.start >= e.end || usize::from(e.end) > bytes.len() {
                return Err(bad("JVMS 4.7.3: start_pc < end_pc <= code_length"));
            }
            if usize::from(e.handler) >= bytes.len() {
                return Err(bad("JVMS 4.7.3: handler_pc is an instruction"));
            }
            self.flags[usize::from(e.handler)] |= HANDLER;
        }
        let flags = &mut self.flags[..];
        let mut bci = 0;
        while bci < bytes.len() {
            let (opcode, n) = measure(bytes, bci, code.offset)?;
            let mut f = flags[bci] | START;
            match opcode.flow() {
                Flow::Return => f |= RETURN,
                Flow::Conditional | Flow::Jump | Flow::Subroutine => {
                    // A `ret` is not a branch with a target.
                    let target = branch_target(opcode, bytes, bci);
                    self.branches.extend(target.map(|target| Branch {
                        bci: bci as u32,
                        target,
                        opcode,
                        grown: false,
                    }));
                }
                Flow::Switch => {
                    self.switches = true;
                    self.events.push((bci as u32) << 2 | event::SWITCH);
                }
                Flow::Next | Flow::Throw => {}
            }
            flags[bci] = f;
            if f & (HANDLER | RETURN) != 0 {
                self.events.push((bci as u32) << 2 | event::HOOK);
            }
            self.last = bci as u32;
            bci += n;
        }
        for b in &self.branches {
            if !starts(&self.flags, b.target) {
                return Err(Malformed {
                    offset: code.offset + b.bci as usize,
                    rule: TARGET,
                });
            }
        }
        for (i, e) in code.exceptions().enumerate() {
            let end = u32::from(e.end);
            if !starts(&self.flags, u32::from(e.start))
                || !starts(&self.flags, u32::from(e.handler))
                || !(starts(&self.flags, end) || end as usize == bytes.len())
            {
                return Err(Malformed {
                    offset: code.offset + bytes.len() + 2 + 8 * i,
                    rule: "JVMS 4.7.3: the exception table names instructions",
                });
            }
        }
        if self.switches {
            self.check_switches(code)?;
        }
        Ok(())
    }

    fn check_switches(&self, code: &Code<'_>) -> Result<()> {
        for &e in &self.events {
            if e & 3 == event::SWITCH {
                let bci = e >> 2;
                let switch = decode(code.code, bci as usize, code.offset)?;
                if switch.targets().any(|to| !starts(&self.flags, to)) {
                    return Err(Malformed {
                        offset: code.offset + bci as usize,
                        rule: TARGET,
                    });
                }
            }
        }
        Ok(())
    }

    /// The starts of exception handlers, each once, in order.
    pub(crate) fn handlers(&self) -> impl Iterator<Item = u32> {
        let hooks = self.events.iter().filter(|&e| e & 3 == event::HOOK);
        hooks
            .map(|e| e >> 2)
            .filter(|&bci| self.flags[bci as usize] & HANDLER != 0)
    }

    /// The returns, in order.
    pub(crate) fn returns(&self) -> impl Iterator<Item = u32> {
        let hooks = self.events.iter().filter(|&e| e & 3 == event::HOOK);
        hooks
            .map(|e| e >> 2)
            .filter(|&bci| self.flags[bci as usize] & RETURN != 0)
    }

    /// The branch at `bci`, where the scan found a branch.
    pub(crate) fn branch(&self, bci: u32) -> Branch {
        self.branches[self.branches.partition_point(|b| b.bci < bci)]
    }

    /// Whether an instruction starts at `bci`.
    pub(crate) fn is_start(&self, bci: u32) -> bool {
        starts(&self.flags, bci)
    }
}

#[inline]
fn starts(flags: &[u8], bci: u32) -> bool {
    flags.get(bci as usize).is_some_and(|f| f & START != 0)
}
