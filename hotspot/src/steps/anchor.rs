//! The calls on a stack at an instant at which the VM knows the last Java frame: the thread has left Java
//! code, and its anchor says where.

use super::shadow::Call;
use super::{Code, Piece, WORD};
use crate::arch::{Arch, InterpretedFrame, Native};
use crate::layout::thread::Anchor;
use crate::memory::Memory;

/// Generated code.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Blob {
    /// Its kind.
    pub code: Code,
    /// The piece of code.
    pub piece: Piece,
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
    /// Whether Java methods that interpreted code calls return to `pc`.
    fn is_invoke_return(&self, pc: usize) -> bool;
    /// Whether `pc` is behind the call of a JavaCalls entry.
    fn is_java_calls_entry(&self, pc: usize) -> bool;
    /// The anchor that the JavaCalls entry with this frame pointer has kept.
    fn kept_anchor(&self, fp: usize) -> Option<Anchor>;
}

/// Where an interpreted frame has its parts.
const FRAME: InterpretedFrame = Native::INTERPRETED;

/// More frames than any stack has.
const MOST: usize = 1 << 16;

/// A frame, at the return address of its call.
struct Frame {
    /// Where the return address lies.
    slot: usize,
    /// The stack pointer of the frame itself: adapters put arguments of interpreted callees below.
    sp: usize,
    /// The return address.
    pc: usize,
    fp: usize,
}

/// The calls below the anchor, the oldest first: the first is the newest Java frame's call of the VM.
/// `None` if the stack has code that is not followed. `hash` of the calls is not set.
pub fn calls(mut anchor: Anchor, vm: &impl Vm, memory: &impl Memory) -> Option<Vec<Call>> {
    let mut calls = Vec::new();
    while anchor.sp != 0 {
        let mut frame = Frame::of(anchor, memory)?;
        while !vm.is_java_calls_entry(frame.pc) {
            if calls.len() > MOST {
                return None;
            }
            let (call, caller) = frame.call(vm, memory)?;
            calls.push(call);
            frame = caller;
        }
        calls.push(frame.call_of(Code::Stub, Piece::default()));
        anchor = vm.kept_anchor(frame.fp)?;
    }
    calls.reverse();
    Some(calls)
}

impl Frame {
    fn of(anchor: Anchor, memory: &impl Memory) -> Option<Frame> {
        let Anchor { sp, pc, fp } = anchor;
        let slot = sp.checked_sub(WORD)?;
        let pc = match pc {
            0 => memory.word(slot)?,
            pc => pc,
        };
        Some(Frame { slot, sp, pc, fp })
    }

    fn call_of(&self, code: Code, piece: Piece) -> Call {
        Call {
            slot: self.slot,
            ret: self.pc,
            fp: self.fp,
            code,
            piece,
            ..Call::default()
        }
    }

    /// The call that this frame has made, and the frame's caller.
    fn call(&self, vm: &impl Vm, memory: &impl Memory) -> Option<(Call, Frame)> {
        let blob = vm.blob(self.pc)?;
        let call = self.call_of(blob.code, blob.piece);
        match blob.code {
            Code::Interpreter => {
                let of_frame = |distance: usize| memory.word(self.fp.wrapping_sub(distance));
                let call = Call {
                    is_invoke: vm.is_invoke_return(self.pc),
                    method: of_frame(FRAME.method)?,
                    bcp: of_frame(FRAME.bcp)?,
                    ..call
                };
                let slot = self.fp.wrapping_add(WORD);
                let caller = Frame {
                    slot,
                    sp: of_frame(FRAME.sender_sp)?,
                    pc: memory.word(slot)?,
                    fp: memory.word(self.fp)?,
                };
                Some((call, caller))
            }
            Code::Outside | Code::NotFollowed => None,
            _ if blob.frame_words > 1 => {
                let ret = match blob.code {
                    Code::Compiled => vm.original_pc(blob.piece.blob, self.pc, self.sp)?,
                    _ => self.pc,
                };
                let end = self.sp.wrapping_add(blob.frame_words * WORD);
                let slot = end.wrapping_sub(WORD);
                let caller = Frame {
                    slot,
                    sp: end,
                    pc: memory.word(slot)?,
                    fp: memory.word(slot.wrapping_sub(WORD))?,
                };
                Some((Call { ret, ..call }, caller))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::toy::Words;
    use std::collections::HashMap;

    const COMPILED: usize = 0x1000;
    const INTERPRETER: usize = 0x2000;
    /// Where the interpreter goes on behind a Java method.
    const INVOKED: usize = INTERPRETER + 0x77;
    const ENTRY: usize = 0x3000;

    struct Made;

    impl Vm for Made {
        fn blob(&self, pc: usize) -> Option<Blob> {
            let start = pc & !0xfff;
            let (code, frame_words) = match start {
                COMPILED => (Code::Compiled, 4),
                INTERPRETER => (Code::Interpreter, 0),
                _ => return None,
            };
            let piece = Piece { blob: start, id: 0 };
            Some(Blob {
                code,
                piece,
                frame_words,
            })
        }
        fn original_pc(&self, _: usize, pc: usize, _: usize) -> Option<usize> {
            Some(pc)
        }
        fn is_invoke_return(&self, pc: usize) -> bool {
            pc == INVOKED
        }
        fn is_java_calls_entry(&self, pc: usize) -> bool {
            pc == ENTRY
        }
        fn kept_anchor(&self, _: usize) -> Option<Anchor> {
            Some(Anchor::default())
        }
    }

    /// A JavaCalls entry has called compiled code, which has called an interpreted method with two
    /// arguments.
    #[test]
    fn arguments_of_interpreted_callees_lie_below_the_compiled_caller() {
        let (fp, sender) = (0x8000, 0x8020);
        let memory = Words(HashMap::from([
            (fp, 0x7777),
            (fp + WORD, COMPILED + 5),
            (fp - FRAME.sender_sp, sender),
            (fp - FRAME.method, 0x55),
            (fp - FRAME.bcp, 0x66),
            (sender + 2 * WORD, 0x9999),
            (sender + 3 * WORD, ENTRY),
        ]));
        let anchor = Anchor {
            sp: fp - 0x100,
            pc: INTERPRETER + 9,
            fp,
        };
        let found = calls(anchor, &Made, &memory).expect("all calls");
        let shown: Vec<_> = found.iter().map(|call| (call.slot, call.ret)).collect();
        let expected = [
            (sender + 3 * WORD, ENTRY),
            (fp + WORD, COMPILED + 5),
            (fp - 0x108, INTERPRETER + 9),
        ];
        assert_eq!(shown, expected);
        assert_eq!((found[0].fp, found[2].method), (0x9999, 0x55));
    }

    /// An interpreted method has called another, which has called the VM.
    #[test]
    fn calls_of_java_methods_are_told_from_the_interpreters_own() {
        let (fp, caller) = (0x8000, 0x8100);
        let memory = Words(HashMap::from([
            (fp, caller),
            (fp + WORD, INVOKED),
            (fp - FRAME.sender_sp, fp + 2 * WORD),
            (fp - FRAME.method, 0x55),
            (fp - FRAME.bcp, 0x66),
            (caller, 0x9999),
            (caller + WORD, ENTRY),
            (caller - FRAME.sender_sp, caller + 2 * WORD),
            (caller - FRAME.method, 0x77),
            (caller - FRAME.bcp, 0x88),
        ]));
        let anchor = Anchor {
            sp: fp - 0x100,
            pc: INTERPRETER + 9,
            fp,
        };
        let found = calls(anchor, &Made, &memory).expect("all calls");
        let shown: Vec<_> = found
            .iter()
            .map(|call| (call.ret, call.is_invoke))
            .collect();
        let expected = [(ENTRY, false), (INVOKED, true), (INTERPRETER + 9, false)];
        assert_eq!(shown, expected);
    }

    #[test]
    fn code_that_is_not_followed_shows_nothing() {
        let anchor = Anchor {
            sp: 0x100,
            pc: 0x4000,
            fp: 0,
        };
        assert_eq!(calls(anchor, &Made, &Words(HashMap::new())), None);
    }
}
