//! Why a method is not hooked.

use classfile::Malformed;
use classfile::pool::PoolFull;
use std::fmt;

/// Why a chosen method was not hooked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// Its code would be longer than the 65,535 bytes that the JVMS allows (4.7.3).
    CodeTooLarge,
    /// It has too few local variable slots or operand stack slots left.
    NoSlotLeft,
    /// A table of its code (exceptions, frames) is full, or would grow out of proportion.
    TableFull,
    /// The class's constant pool has no room for the hooks.
    PoolFull,
    /// A constructor in which it is not certain which code runs before `super(…)`.
    UnclearConstructor,
    /// A constructor of a value class with branches between the assignments of its fields: its frames list the fields that have no
    /// value yet (JEP 401), and those of hooks would have to.
    UnsetFields,
    /// A branch no longer fits into 16 bits, at a place where no frame can be inferred.
    BranchTooFar,
    /// An exception handler starts at the method's first instruction.
    HandlerAtEntry,
    /// A `finalize()` that only returns. The JVM takes its class for a class without a finalizer,
    /// and would not do so if the method had hooks. `Object.finalize` is such a method: with hooks,
    /// every object would need finalization.
    EmptyFinalizer,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::CodeTooLarge => "the code would be too large",
            Reason::NoSlotLeft => "no local or stack slot left",
            Reason::TableFull => "exception or frame table full",
            Reason::PoolFull => "constant pool full",
            Reason::UnclearConstructor => "unclear where the constructor calls super",
            Reason::UnsetFields => "branches between the assignments of a value's fields",
            Reason::BranchTooFar => "a branch would be too far",
            Reason::HandlerAtEntry => "exception handler at the method's start",
            Reason::EmptyFinalizer => "empty finalizer",
        })
    }
}

/// Why a method cannot be hooked: for a [`Reason`], or because it is malformed.
pub(crate) enum Stop {
    Malformed(Malformed),
    Left(Reason),
}

impl From<Malformed> for Stop {
    fn from(m: Malformed) -> Self {
        Stop::Malformed(m)
    }
}

impl From<PoolFull> for Stop {
    fn from(_: PoolFull) -> Self {
        Stop::Left(Reason::PoolFull)
    }
}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Stop::Left(reason)
    }
}
