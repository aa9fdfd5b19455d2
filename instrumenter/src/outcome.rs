//! The result of a rewriting.

use crate::map::CodeMap;
use crate::reason::Reason;
use classfile::entry::HookId;
use std::sync::Arc;

/// A method that was hooked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HookedMethod {
    /// Its number.
    pub id: HookId,
    /// Its name.
    pub name: Arc<str>,
    /// Its descriptor.
    pub descriptor: Arc<str>,
    /// The relation of old and new BCIs, and the positions of the hooks.
    pub map: CodeMap,
    /// The slots that its frames have in addition.
    pub growth: Growth,
}

/// The slots that the frames of a hooked method have in addition to those of the original method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Growth {
    /// Local variables: 0, 1, or 2 in methods with exception handlers.
    pub locals: u16,
    /// Slots of operand stack, 0 to 3.
    pub stack: u16,
}

/// A method that was chosen but not hooked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftMethod {
    /// The number that the plan gave.
    pub id: HookId,
    /// Its name.
    pub name: Arc<str>,
    /// Its descriptor.
    pub descriptor: Arc<str>,
    /// Why it was not hooked.
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
    /// The methods that were chosen but not hooked.
    pub left: Vec<LeftMethod>,
    /// How many methods with code the plan did not choose.
    pub not_chosen: u32,
    /// How many attributes of hooked code are unknown. They were kept as they are, and are wrong if
    /// they hold code offsets.
    pub unknown_code_attributes: u32,
}
