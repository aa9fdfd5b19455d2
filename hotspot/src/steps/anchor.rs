//! The calls on a stack at an instant at which the VM knows the last Java frame: the thread has left Java
//! code, and its anchor says where.

use super::shadow::Call;
use super::{BCP, Code, METHOD, WORD};
use crate::memory::Memory;

/// The last Java frame (`JavaFrameAnchor`).
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Anchor {
    /// Its stack pointer; 0 if there is no such frame.
    pub sp: usize,
    /// Its program counter; 0 where the return address of the call is below the stack pointer.
    pub pc: usize,
    /// Its frame pointer.
    pub fp: usize,
}

/// Generated code.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Blob {
    /// Its kind.
    pub code: Code,
    /// Its start.
    pub start: usize,
    /// Its frame size in words; 0 if it has no frame of a fixed size.
    pub frame_words: usize,
}

/// What the walk needs of the VM.
pub trait Vm {
    /// The code at `pc`.
    fn blob(&self, pc: usize) -> Option<Blob>;
    /// The program counter at which the frame at `sp` would have continued, if it was not to be
    /// deoptimised.
    fn original_pc(&self, blob: usize, pc: usize, sp: usize) -> Option<usize>;
    /// Whether `pc` is behind the call of a JavaCalls entry.
    fn is_java_calls_entry(&self, pc: usize) -> bool;
    /// The anchor that the JavaCalls entry with this frame pointer has kept.
    fn kept_anchor(&self, fp: usize) -> Option<Anchor>;
}

/// More frames than any stack has.
const MOST: usize = 1 << 16;

/// The calls below the anchor, the oldest first: the first is the newest Java frame's call of the VM.
/// `None` if the stack has code that is not followed. `hash` of the calls is not set.
pub fn calls(anchor: Anchor, vm: &impl Vm, memory: &impl Memory) -> Option<Vec<Call>> {
    let mut calls = Vec::new();
    let mut next = Some(anchor);
    while let Some(Anchor { sp, pc, fp }) = next.filter(|anchor| anchor.sp != 0) {
        if calls.len() > MOST {
            return None;
        }
        let slot = sp.checked_sub(WORD)?;
        let pc = match pc {
            0 => memory.word(slot)?,
            pc => pc,
        };
        if vm.is_java_calls_entry(pc) {
            calls.push(Call {
                slot,
                ret: pc,
                fp,
                code: Code::Stub,
                ..Call::default()
            });
            next = Some(vm.kept_anchor(fp)?);
            continue;
        }
        let blob = vm.blob(pc)?;
        let call = Call {
            slot,
            ret: pc,
            fp,
            code: blob.code,
            blob: blob.start,
            ..Call::default()
        };
        next = Some(match blob.code {
            Code::Interpreter => {
                let of_frame = |distance: usize| memory.word(fp.wrapping_sub(distance));
                calls.push(Call {
                    method: of_frame(METHOD)?,
                    bcp: of_frame(BCP)?,
                    ..call
                });
                // Slots of return addresses are below the frame's own sender stack pointer.
                Anchor {
                    sp: fp.wrapping_add(2 * WORD),
                    pc: memory.word(fp.wrapping_add(WORD))?,
                    fp: memory.word(fp)?,
                }
            }
            Code::Compiled | Code::NativeWrapper | Code::Stub if blob.frame_words > 1 => {
                let ret = match blob.code {
                    Code::Compiled => vm.original_pc(blob.start, pc, sp)?,
                    _ => pc,
                };
                calls.push(Call { ret, ..call });
                let end = sp.wrapping_add(blob.frame_words * WORD);
                Anchor {
                    sp: end,
                    pc: memory.word(end.wrapping_sub(WORD))?,
                    fp: memory.word(end.wrapping_sub(2 * WORD))?,
                }
            }
            _ => return None,
        });
    }
    calls.reverse();
    Some(calls)
}
