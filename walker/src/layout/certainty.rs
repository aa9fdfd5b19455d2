//! How much is known of the frames of compiled code.

/// How much is known of a frame. Compiled code has a debug info record at calls and polls, and with `-XX:+DebugNonSafepoints` at
/// other instructions too. Between them, nothing may show which methods are inlined.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Certainty {
    /// All is known.
    Full,
    /// The BCI is not known. No method can be inlined above the frame.
    WithoutBci,
    /// Only the compiled method itself is known. The BCI is not, and methods that are inlined may be missing above the frame.
    MethodAlone,
    /// The frame is that of the instruction's own bytecode, but the compiler may have moved the instruction out of its method.
    Likely,
    /// The frame is what the records on both sides have in common. The BCI is not known, and frames may be missing above.
    /// The frames of the record below are [`Certainty::Likely`].
    Guessed,
}

impl Certainty {
    /// The certainty with the number that `certainty as u8` gives.
    pub fn of_number(number: u8) -> Certainty {
        match number {
            0 => Certainty::Full,
            1 => Certainty::WithoutBci,
            3 => Certainty::Likely,
            4 => Certainty::Guessed,
            _ => Certainty::MethodAlone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back() {
        let all = [
            Certainty::Full,
            Certainty::WithoutBci,
            Certainty::MethodAlone,
            Certainty::Likely,
            Certainty::Guessed,
        ];
        for certainty in all {
            assert_eq!(Certainty::of_number(certainty as u8), certainty);
        }
    }
}
