//! Which entry of a trace stack a hook means, and what the hook found there.

/// The depth before a `push`, which stands for the entry that it made.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Token {
    /// The depth.
    pub depth: u32,
    source: Source,
}

/// Where a token comes from.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
enum Source {
    /// The hooked method kept it since its `push`, or no other entry is of its method.
    Sure,
    /// It was looked for by a hook's id, while in doubt.
    Guessed,
}

impl Token {
    /// The one that a hooked method kept, or found where no other entry could be its own.
    pub fn sure(depth: u32) -> Token {
        let source = Source::Sure;
        Token { depth, source }
    }

    /// The most likely one.
    pub(super) fn guessed(depth: u32) -> Token {
        let source = Source::Guessed;
        Token { depth, source }
    }

    pub(super) fn is_sure(self) -> bool {
        self.source == Source::Sure
    }
}

/// What `pop` and its like found where exactly one entry should have been above the token.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Balance {
    /// Just that.
    Even,
    /// This many entries too many: frames ended without `pop`.
    TooMany(u32),
    /// The method's own entry was gone.
    TooFew,
}
