//! Where the return address of compiled code lies, against where HotSpot's walkers take it from.
//!
//! They take the word that the frame's size says, counted from the stack pointer
//! (`frame::safe_for_sender`, `frame::sender_for_compiled_frame`). While the code has moved the
//! stack pointer, that is another word. A stack is full of old return addresses, so a word that
//! looks like one proves nothing; the call before it does: it leads to the code that runs, or
//! to another method.

/// Compiled code moves its stack pointer by at most so many words: the intrinsic of
/// `String.indexOf` keeps both strings and two words (`C2_MacroAssembler::string_indexof`), array
/// copies of C1 their five arguments, barriers of ZGC all registers in use (`ZSaveLiveRegisters`).
const MOST_PUSHED: usize = 44;

/// What a word of the stack would be as the return address of the code that runs.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Word {
    /// It lies behind a call of this very code.
    Fits,
    /// It is not in code, or behind a call of another compiled method.
    OfOther,
    /// It may be: behind a call through a stub, or in the interpreter.
    Unknown,
}

/// Where the return address is.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum ReturnAddress {
    /// Where the frame's size says, as it should be, or it cannot be told.
    Usual,
    /// So many words beyond: the code has moved its stack pointer by them.
    Beyond(usize),
    /// So many words above the stack pointer, none or one: the frame is removed, but for the saved
    /// frame pointer.
    AtTop(usize),
}

impl ReturnAddress {
    /// For a frame of `frame_words` words, the return address among them, by what `word` tells of
    /// those from the stack pointer on.
    pub fn find(frame_words: usize, word: impl Fn(usize) -> Word) -> ReturnAddress {
        let Some(place) = frame_words.checked_sub(1) else {
            return ReturnAddress::Usual;
        };
        if word(place) != Word::OfOther {
            return ReturnAddress::Usual;
        }
        let fits = |&at: &usize| word(at) == Word::Fits;
        let top = (0..place.min(2)).find(fits);
        let beyond = (place + 1..=place + MOST_PUSHED).find(fits);
        match (top, beyond) {
            (Some(at), None) => ReturnAddress::AtTop(at),
            (None, Some(at)) => ReturnAddress::Beyond(at - place),
            // Nowhere, or one of them is an older one.
            (None, None) | (Some(_), Some(_)) => ReturnAddress::Usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words from the stack pointer on: `+` fits, `?` is unknown, others are of other code.
    fn find(frame_words: usize, words: &str) -> ReturnAddress {
        ReturnAddress::find(frame_words, |at| match words.as_bytes().get(at) {
            Some(b'+') => Word::Fits,
            Some(b'?') | None => Word::Unknown,
            Some(_) => Word::OfOther,
        })
    }

    #[test]
    fn the_call_before_it_tells_a_return_address() {
        assert_eq!(find(4, "...+"), ReturnAddress::Usual);
        assert_eq!(find(4, "+..+.+"), ReturnAddress::Usual);
        assert_eq!(find(4, ".....+"), ReturnAddress::Beyond(2));
        assert_eq!(find(4, "......+"), ReturnAddress::Beyond(3));
        assert_eq!(find(4, "..................+"), ReturnAddress::Beyond(15));
        assert_eq!(find(4, ".+......"), ReturnAddress::AtTop(1));
        assert_eq!(find(4, "+......."), ReturnAddress::AtTop(0));
    }

    #[test]
    fn what_is_doubtful_is_not_told() {
        assert_eq!(find(4, "...?.+"), ReturnAddress::Usual);
        assert_eq!(find(4, "+..?"), ReturnAddress::Usual);
        assert_eq!(find(4, "+....+"), ReturnAddress::Usual, "two places");
        assert_eq!(find(4, "..+....."), ReturnAddress::Usual, "in the frame");
        assert_eq!(find(4, ""), ReturnAddress::Usual, "too large a frame");
        let far = ".".repeat(60) + "+";
        assert_eq!(find(4, &far), ReturnAddress::Usual, "too far");
        assert_eq!(find(0, "+"), ReturnAddress::Usual);
        assert_eq!(find(1, "."), ReturnAddress::Usual);
    }
}
