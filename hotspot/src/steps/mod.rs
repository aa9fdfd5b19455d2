//! Truth by steps: a thread runs one instruction at a time, and each call and return is seen.
//!
//! * `call` and [`shadow`]: the calls that have not returned, kept from step to step;
//! * `replaced`: the calls of interpreter frames that have taken the place of a compiled frame;
//! * [`anchor`]: the calls on a stack at an instant at which the VM itself knows the last Java frame;
//! * [`instructions`]: the instructions of compiled code, to count those that were not visited;
//! * [`truth`]: the Java frames of these calls, by debug info records and interpreter frames.

pub mod anchor;
mod call;
pub mod instructions;
mod replaced;
pub mod shadow;
pub mod truth;

use crate::arch::Flow;

/// The code at a program counter, as far as steps depend on it.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub enum Code {
    /// No code of the code cache: a library.
    #[default]
    Outside,
    /// The interpreter.
    Interpreter,
    /// A compiled method.
    Compiled,
    /// A native wrapper.
    NativeWrapper,
    /// Other code of the code cache.
    Stub,
    /// The stubs of safepoint polls. A poll in a loop faults, and the VM's signal handler lets the stub begin
    /// where the poll was.
    Poll,
    /// The stub of C1 that looks for the handler of an exception in the method that throws. The stub gets the address of
    /// the `athrow` in a register ([`Stack::throwing`]).
    Throw,
    /// The stub that looks for the handler of an exception in code of C2. The stub gets the return address of
    /// the callee that threw in a register.
    Exception,
    /// The stubs that replace the frame of a compiled method by interpreter frames.
    Deoptimization,
    /// Code that moves frames between the stack and the heap: the stubs of continuations. What such code does to
    /// the stack is not followed.
    NotFollowed,
}

impl Code {
    /// The kind of the code that the VM names `name`.
    pub fn of(name: &[u8]) -> Code {
        let contains = |part: &[u8]| name.windows(part.len()).any(|window| window == part);
        let contains_one = |parts: &[&[u8]]| parts.iter().any(|part| contains(part));
        match name {
            b"nmethod" => Code::Compiled,
            b"native nmethod" => Code::NativeWrapper,
            b"Interpreter" => Code::Interpreter,
            _ if contains(b"handle_exception") && !contains(b"from_callee") => Code::Throw,
            // A stub of C1 that follows all calling conventions. JDK 28 names `unwind_exception_blob (C1 runtime)`, which
            // is not C2's `exception_blob`.
            _ if contains_one(&[b"Runtime1", b"C1 Runtime", b"C1 runtime"]) => Code::Stub,
            _ if contains_one(&[b"Safepoint", b"polling_page"]) => Code::Poll,
            _ if contains_one(&[b"ExceptionBlob", b"exception_blob"]) => Code::Exception,
            _ if contains_one(&[b"Deopt", b"deopt_blob", b"UncommonTrap", b"uncommon_trap"]) => {
                Code::Deoptimization
            }
            _ if contains_one(&[b"ontinuation", b"cont_"]) => Code::NotFollowed,
            _ => Code::Stub,
        }
    }
}

/// A piece of code: its memory may be that of an earlier piece.
#[derive(Copy, Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Piece {
    /// The start of the blob; 0 outside of the code cache.
    pub blob: usize,
    /// Of a compiled method or native wrapper: the number of the compilation.
    pub id: i32,
}

/// The state of a thread between two instructions.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Place {
    /// The program counter.
    pub pc: usize,
    /// The stack pointer.
    pub sp: usize,
    /// The frame pointer.
    pub fp: usize,
    /// The code at the program counter.
    pub code: Code,
    /// The piece of code.
    pub piece: Piece,
    /// What the instruction at the program counter does.
    pub flow: Flow,
}

/// The thread's own stack, and the interpreter.
pub trait Stack {
    /// The word at `address`, which is at or above the stack pointer; 0 if the address is not in the stack.
    fn word(&self, address: usize) -> usize;
    /// The register in which code of C1 gives the address of its `athrow` to [`Code::Throw`]
    /// (`LIR_Assembler::throw_op`).
    fn throwing(&self) -> usize;
    /// Whether Java methods that interpreted code calls return to `pc`. Other calls of the interpreter are
    /// its own.
    fn is_invoke_return(&self, pc: usize) -> bool;
    /// Whether `pc` is in the stubs of the compiled method `piece`, behind its code.
    fn is_in_stubs(&self, piece: Piece, pc: usize) -> bool;
}

/// The size of a word in bytes.
pub(crate) const WORD: usize = size_of::<usize>();
