//! The entry of a trace stack that a hook names, and the balance that the hook found there.

/// The depth before a `push`, which names the entry of the `push`.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Token {
    /// The depth.
    pub depth: u32,
    source: Source,
}

/// The origin of a token.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
enum Source {
    /// The hooked method kept it since its `push`, or its method has no other entry.
    Sure,
    /// It was found by a hook's id while the stack was in doubt.
    Guessed,
}

impl Token {
    /// A token that a hooked method kept, or that was found as the only entry of its method.
    pub fn sure(depth: u32) -> Token {
        let source = Source::Sure;
        Token { depth, source }
    }

    /// A token that was found in doubt.
    pub(super) fn guessed(depth: u32) -> Token {
        let source = Source::Guessed;
        Token { depth, source }
    }

    pub(super) fn is_sure(self) -> bool {
        self.source == Source::Sure
    }
}

/// What `pop` and similar hooks found, where exactly one entry should be above the token's depth.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Balance {
    /// Exactly one entry.
    Even,
    /// This many entries too many: frames have ended without `pop`.
    TooMany(u32),
    /// The method's own entry was missing.
    TooFew,
}
