//! What came of a rewrite.

use crate::map::CodeMap;
use crate::reason::Reason;
use std::sync::Arc;
use trace_entry::HookId;

/// A method that was hooked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HookedMethod {
    /// Its number.
    pub id: HookId,
    /// Its name.
    pub name: Arc<str>,
    /// Its descriptor.
    pub descriptor: Arc<str>,
    /// Where its code went, and where its hooks are.
    pub map: CodeMap,
    /// What its frames have more.
    pub growth: Growth,
}

/// What the frames of a hooked method have more than those of the method as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Growth {
    /// Local variables: none, one, or two in methods with exception handlers.
    pub locals: u16,
    /// Slots of operand stack, from none to three.
    pub stack: u16,
}

/// A method that was chosen but left as it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftMethod {
    /// The number that it would have had.
    pub id: HookId,
    /// Its name.
    pub name: Arc<str>,
    /// Its descriptor.
    pub descriptor: Arc<str>,
    /// Why it was left.
    pub reason: Reason,
}

/// A rewritten class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rewritten {
    /// The new class file; `None` if no method was hooked.
    pub bytes: Option<Vec<u8>>,
    /// Internal name of the class.
    pub class_name: String,
    /// Internal name of its superclass.
    pub super_name: Option<String>,
    /// The hooked methods, in the order of the file.
    pub hooked: Vec<HookedMethod>,
    /// The methods that were chosen but left.
    pub left: Vec<LeftMethod>,
    /// How many methods with code the plan did not choose.
    pub not_chosen: u32,
    /// How many attributes of hooked code are unknown: they were kept as they are, and would be
    /// wrong if they hold code offsets.
    pub unknown_code_attributes: u32,
}
