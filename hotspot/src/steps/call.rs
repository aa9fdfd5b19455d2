//! A call that has not returned, and what the shadow stack knows of its caller.

use super::{Code, Piece};
use crate::arch::{Follow, Native};

/// A call that has not returned.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Call {
    /// The address at which the return address lies; 0 while a register has the return address.
    pub slot: usize,
    /// The return address.
    pub ret: usize,
    /// The frame pointer at the call.
    pub fp: usize,
    /// The caller's code.
    pub code: Code,
    /// The caller's code.
    pub piece: Piece,
    /// Whether interpreted code has called a Java method. Other calls of the interpreter are its own.
    pub is_invoke: bool,
    /// Of a compiled caller that has just begun to handle an exception, or to be deoptimised: the return address of the
    /// callee that threw or returned. Of a compiled caller that throws by a stub: the address that it gives to the
    /// stub. 0 otherwise.
    pub origin: usize,
    /// Whether a compiled caller throws by a stub. The stub does not return, so a record at the return address is of other
    /// code.
    pub throws: bool,
    /// The compiled method that the call has entered, if the steps have shown the call.
    pub callee: Piece,
    /// Of an interpreted caller: the VM's address of the method.
    pub method: usize,
    /// Of an interpreted caller: the bytecode pointer.
    pub bcp: usize,
    /// Whether an older call was made by the same interpreter frame, which has called the VM meanwhile.
    pub is_of_same_frame: bool,
    /// A number for this call alone, without its address on the stack.
    pub own_hash: u64,
    /// A number for this call and all older calls, without their addresses on the stack.
    pub hash: u64,
}

impl Call {
    /// The address whose debug info record the frame of a compiled caller has, if the return address has none of its own.
    pub fn stands_at(&self) -> usize {
        match self.origin {
            0 => self.ret,
            origin => origin,
        }
    }

    /// Whether the interpreter has called code of its own, a stub or the VM, and no Java method.
    pub fn is_own_of_interpreter(&self) -> bool {
        self.code == Code::Interpreter && !self.is_invoke
    }

    /// Whether Java frames stand for the caller.
    pub fn has_frames(&self) -> bool {
        matches!(
            self.code,
            Code::Compiled | Code::Interpreter | Code::NativeWrapper
        )
    }
}

/// What is known of the interpreter at an instant.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub enum Interpreted {
    /// The frame at the frame pointer is whole. Its method.
    Whole(usize),
    /// A frame is being built, or was removed. The content of the register that has the method where a
    /// frame is being built.
    InPart(usize),
    /// The program counter is not in the interpreter.
    #[default]
    No,
}

/// A compiled caller that goes on elsewhere than behind its call: its callee has thrown, or the caller is to be deoptimised.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Diverted {
    /// The call.
    pub(super) call: Call,
    /// The address.
    pub(super) to: usize,
}

impl Diverted {
    /// Whether the caller is still in the stub in which it went on, at `pc`.
    pub(super) fn has_begun_at(&self, pc: usize) -> bool {
        pc.wrapping_sub(self.to) < Native::MOST_HANDLER_STUB
    }
}
