//! What a JVM does that no class file tells.

use super::kind::Kind;
use super::upcalls::{Occasions, Upcall};
use std::fmt::Debug;

/// A JVM, as far as call edges depend on it: what the VM calls by itself, and the classes that it
/// generates. Names are internal names (JVMS 4.2.1).
pub trait Runtime: Debug + Sync {
    /// The name of a class without what tells one generated class from the next of its name, and
    /// the kind of the class.
    fn kind<'n>(&self, class: &'n [u8]) -> (&'n [u8], Kind);

    /// The methods that the VM calls by itself. Class initialisers and constructors of exceptions
    /// are not among them: their classes decide.
    fn upcalls(&self) -> &'static [Upcall];

    /// On what occasions the VM may call Java at an instruction.
    fn occasions(&self, at: Instruction) -> Occasions;

    /// On what occasions the VM may call the lowest frame of a thread; `may_launch` if the thread
    /// may be the one that started the VM.
    fn starts(&self, may_launch: bool) -> Occasions;

    /// Whether the thread that started the VM may begin with this method, besides the VM's own
    /// calls: the program, for instance.
    fn launches(&self, class: &[u8], method: &[u8]) -> bool;

    /// The exceptions that the VM makes by itself at an instruction, besides linkage errors and
    /// errors of the VM.
    fn thrown(&self) -> &'static [&'static str];

    /// Classes whose subclasses need not run as their class files are, because the runtime rewrites
    /// them.
    fn rewritten(&self) -> &'static [&'static str];
}

/// What an instruction does besides calling what it names.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Instruction {
    /// The instruction links a method handle, call site or dynamic constant.
    pub links: bool,
    /// The instruction may throw by itself.
    pub throws: bool,
    /// The instruction allocates an object, or is one of the constructor of `Object`.
    pub makes_object: bool,
}
