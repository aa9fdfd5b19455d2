//! Which methods get hooks.

use classfile::entry::HookId;

/// A method that could get hooks.
#[derive(Clone, Copy, Debug)]
pub struct MethodInfo<'a> {
    /// Internal name of its class.
    pub class: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its descriptor.
    pub descriptor: &'a str,
    /// Its access flags.
    pub access_flags: u16,
    /// Length of its `Code` attribute in bytes.
    pub code_size: u32,
    /// Whether it is short, and class files prove its frames.
    pub is_short: bool,
}

/// The plan's decision on a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Leave it as it is.
    Leave,
    /// Hook it.
    Hook {
        /// The number that its entry hook pushes.
        id: HookId,
        /// The entry hook also calls `check`.
        check: bool,
        /// The hooks at entry and exit are plain: they call `enterPlainly(II)V` and `exitPlainly(II)V`, or
        /// `pushPlainly(II)I` and `popPlainly(I)V` in a method that keeps a token.
        plain: bool,
    },
}

/// Chooses the methods that get hooks.
pub trait Plan {
    /// Called once for each method with code, in the order of the file.
    fn choose(&mut self, method: &MethodInfo<'_>) -> Choice;
}

impl<F: FnMut(&MethodInfo<'_>) -> Choice> Plan for F {
    fn choose(&mut self, method: &MethodInfo<'_>) -> Choice {
        self(method)
    }
}
