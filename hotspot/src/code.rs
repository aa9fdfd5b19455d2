//! Generated code and libraries: the targets of a JVM's code addresses.

use serde::{Deserialize, Serialize};

/// The kind of code at a program counter.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodeKind {
    /// The interpreter.
    Interpreter,
    /// A Java method that a compiler has compiled.
    Compiled,
    /// The native wrapper of a native method.
    NativeWrapper,
    /// Other generated code.
    Stub,
    /// A library, for example the VM's own.
    Library,
}

impl CodeKind {
    /// The kind of generated code that has this name.
    pub fn of(name: &str) -> CodeKind {
        match name {
            NMETHOD => CodeKind::Compiled,
            NATIVE_NMETHOD => CodeKind::NativeWrapper,
            INTERPRETER => CodeKind::Interpreter,
            _ => CodeKind::Stub,
        }
    }
}

/// A piece of generated code (`CodeBlob`, `share/code/codeBlob.hpp`).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Blob {
    /// The VM's name for the code: `nmethod`, `Interpreter`, the name of a stub.
    pub name: String,
    /// The address of the blob's start, header included.
    pub start: usize,
    /// Of an nmethod: its tier, 1 to 3 for C1 and 4 for C2.
    pub tier: Option<i32>,
}

/// The VM's name for the compiled code of a method that is not native.
pub const NMETHOD: &str = "nmethod";

/// The VM's name for a native wrapper.
const NATIVE_NMETHOD: &str = "native nmethod";

/// The VM's name for the interpreter.
const INTERPRETER: &str = "Interpreter";

impl Blob {
    /// The kind of the code.
    pub fn kind(&self) -> CodeKind {
        CodeKind::of(&self.name)
    }

    /// Whether the code was generated for one method: its compiled code or its native wrapper.
    pub fn is_nmethod(&self) -> bool {
        matches!(self.kind(), CodeKind::Compiled | CodeKind::NativeWrapper)
    }
}

/// The memory of a JVM, as far as generated code is concerned.
pub trait CodeMemory {
    /// The generated code that `address` lies in.
    fn blob(&self, address: usize) -> Option<Blob>;

    /// Of an nmethod: `package.Class.method`.
    fn method(&self, code: &Blob) -> Option<String>;

    /// The `size` bytes from `address` on; fewer bytes if memory cannot be read.
    fn bytes(&self, address: usize, size: usize) -> Vec<u8>;
}
