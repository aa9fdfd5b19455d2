//! The place of the return address of generated code, and the place from which HotSpot's walkers
//! take the return address.
//!
//! The walkers take the word at the distance of the frame's size from the stack pointer
//! (`frame::safe_for_sender`, `frame::sender_for_compiled_frame`). While the code has moved the
//! stack pointer, this word is not the return address. A stack is full of old return addresses, so
//! a word that looks like a return address proves nothing. The call instruction before the address
//! proves something: its target is the code that runs, or another method.

use crate::arch::Arch;
use crate::code::{Blob, CodeKind, CodeMemory};
use serde::{Deserialize, Serialize};

/// What a word proves as a return address of the code that runs.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Word {
    /// The word lies behind a call of this very code.
    Fits,
    /// The word does not point into code, or lies behind a call of another compiled method.
    OfOther,
    /// The word may be the return address: it is behind a call through a stub, or in the
    /// interpreter.
    Unknown,
}

impl Word {
    /// What `word` proves as a return address of `code`.
    pub fn of<A: Arch>(word: usize, code: &Blob, memory: &impl CodeMemory) -> Word {
        let Some(caller) = memory.blob(word) else {
            return Word::OfOther;
        };
        match caller.kind() {
            CodeKind::Compiled => {}
            // A native wrapper calls the native function and the VM, never compiled code.
            CodeKind::NativeWrapper => return Word::OfOther,
            CodeKind::Interpreter | CodeKind::Stub | CodeKind::Library => return Word::Unknown,
        }
        match called::<A>(word, memory) {
            Some(called) if called.start == code.start => Word::Fits,
            Some(called) if A::TRAMPOLINES && called.start == caller.start => Word::Unknown,
            Some(called) if is_of_other_method(&called, code, memory) => Word::OfOther,
            _ => Word::Unknown,
        }
    }
}

/// The generated code that the direct call before `return_address` calls; `None` if there is no such call.
pub fn called<A: Arch>(return_address: usize, memory: &impl CodeMemory) -> Option<Blob> {
    let start = return_address.checked_sub(A::CALL_SIZE)?;
    let call = memory.bytes(start, A::CALL_SIZE);
    memory.blob(A::call_target(&call, return_address)?)
}

/// Whether a call of `called` cannot have led to `code`. This holds if the two are compiled code of
/// different methods (one method can have several nmethods), and `called` is no wrapper that jumps
/// to other methods (`MethodHandle.linkToStatic` and its like).
fn is_of_other_method(called: &Blob, code: &Blob, memory: &impl CodeMemory) -> bool {
    match (memory.method(called), memory.method(code)) {
        (Some(called), Some(code)) => {
            called != code && !called.starts_with("java.lang.invoke.MethodHandle.")
        }
        _ => false,
    }
}

/// The place of the return address.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReturnAddress {
    #[default]
    /// At the distance of the frame's size, as it should be; or the place is not known.
    Usual,
    /// This many words beyond that place: the code has moved its stack pointer by this many words.
    Beyond(usize),
    /// This many words above the stack pointer: the frame is removed, except perhaps for the saved
    /// frame pointer.
    AtTop(usize),
    /// In a register, such as the link register: the frame is removed, or not built yet.
    InLink,
}

impl ReturnAddress {
    pub(crate) fn is_usual(&self) -> bool {
        *self == ReturnAddress::Usual
    }

    /// The place where code finds the return address of its frame of `frame_words` words, the return address included: the
    /// caller's stack pointer is `words` words above that of the code.
    pub fn of_frame(frame_words: usize, words: usize) -> ReturnAddress {
        match words.checked_sub(frame_words) {
            Some(0) => ReturnAddress::Usual,
            Some(more) => ReturnAddress::Beyond(more),
            // The word below the caller's stack pointer, if the return address is on the stack.
            None => words
                .checked_sub(1)
                .map_or(ReturnAddress::InLink, ReturnAddress::AtTop),
        }
    }

    /// The place of the return address of a frame of `frame_words` words, the return address
    /// included. `word` says what each word from the stack pointer on proves, and `link` what the
    /// link register proves.
    pub fn find<A: Arch>(
        frame_words: usize,
        link: Word,
        word: impl Fn(usize) -> Word,
    ) -> ReturnAddress {
        let Some(place) = frame_words.checked_sub(1) else {
            return ReturnAddress::Usual;
        };
        if word(place) != Word::OfOther {
            return ReturnAddress::Usual;
        }
        let fits = |&at: &usize| word(at) == Word::Fits;
        let top = (0..place.min(A::WORDS_AT_RETURN)).find(fits);
        let beyond = (place + 1..=place + A::MOST_PUSHED).find(fits);
        match (link == Word::Fits, top, beyond) {
            (true, None, None) => ReturnAddress::InLink,
            (false, Some(at), None) => ReturnAddress::AtTop(at),
            (false, None, Some(at)) => ReturnAddress::Beyond(at - place),
            // No word fits, or several words fit and all but one are old return addresses.
            _ => ReturnAddress::Usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::{Aarch64, X86_64};

    /// The words from the stack pointer on: `+` fits, `?` is unknown, any other character is of
    /// another method.
    fn search<A: Arch>(frame_words: usize, link: Word, words: &str) -> ReturnAddress {
        ReturnAddress::find::<A>(frame_words, link, |at| match words.as_bytes().get(at) {
            Some(b'+') => Word::Fits,
            Some(b'?') | None => Word::Unknown,
            Some(_) => Word::OfOther,
        })
    }

    fn find(frame_words: usize, words: &str) -> ReturnAddress {
        search::<X86_64>(frame_words, Word::Unknown, words)
    }

    #[test]
    fn the_call_before_an_address_shows_a_return_address() {
        assert_eq!(find(4, "...+"), ReturnAddress::Usual);
        assert_eq!(find(4, "+..+.+"), ReturnAddress::Usual);
        assert_eq!(find(4, ".....+"), ReturnAddress::Beyond(2));
        assert_eq!(find(4, "......+"), ReturnAddress::Beyond(3));
        assert_eq!(find(4, "..................+"), ReturnAddress::Beyond(15));
        assert_eq!(find(4, ".+......"), ReturnAddress::AtTop(1));
        assert_eq!(find(4, "+......."), ReturnAddress::AtTop(0));
    }

    #[test]
    fn a_doubtful_return_address_is_not_claimed() {
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

    #[test]
    fn the_stack_pointer_of_the_caller_shows_how_much_of_a_frame_is_there() {
        assert_eq!(ReturnAddress::of_frame(18, 18), ReturnAddress::Usual);
        assert_eq!(ReturnAddress::of_frame(18, 20), ReturnAddress::Beyond(2));
        assert_eq!(ReturnAddress::of_frame(18, 2), ReturnAddress::AtTop(1));
        assert_eq!(ReturnAddress::of_frame(18, 1), ReturnAddress::AtTop(0));
        assert_eq!(ReturnAddress::of_frame(2, 0), ReturnAddress::InLink);
    }

    #[test]
    fn a_link_register_may_have_the_return_address() {
        let find = |link, words| search::<Aarch64>(4, link, words);
        assert_eq!(find(Word::Fits, "........"), ReturnAddress::InLink);
        assert_eq!(find(Word::Fits, "...+...."), ReturnAddress::Usual);
        assert_eq!(
            find(Word::Fits, ".....+.."),
            ReturnAddress::Usual,
            "two places"
        );
        assert_eq!(find(Word::OfOther, ".....+.."), ReturnAddress::Beyond(2));
        assert_eq!(find(Word::OfOther, "+......."), ReturnAddress::Usual);
    }

    /// Code of three methods: `a` at 0x1000, `b` at 0x2000, a stub at 0x3000. The return addresses
    /// 0x1100 and 0x1200 are behind calls of `b` and of `a` itself.
    struct Memory {
        calls: [(usize, Vec<u8>); 2],
    }

    impl CodeMemory for Memory {
        fn blob(&self, address: usize) -> Option<Blob> {
            let name = match address >> 12 {
                1 | 2 => "nmethod",
                3 => "StubRoutines (1)",
                4 => "native nmethod",
                _ => return None,
            };
            Some(Blob {
                name: name.into(),
                start: address & !0xfff,
                tier: None,
            })
        }

        fn method(&self, code: &Blob) -> Option<String> {
            match code.start >> 12 {
                1 => Some("p.A.a".into()),
                2 => Some("p.B.b".into()),
                4 => Some("p.C.c".into()),
                _ => None,
            }
        }

        fn bytes(&self, address: usize, size: usize) -> Vec<u8> {
            let mut calls = self.calls.iter();
            let call = calls.find(|(end, _)| end - size == address);
            call.map_or(vec![0; size], |(_, call)| call.clone())
        }
    }

    fn words<A: Arch>(calls: [&[u8]; 2], running: usize) -> [Word; 5] {
        let [b, a] = calls;
        let memory = Memory {
            calls: [(0x1100, b.into()), (0x1200, a.into())],
        };
        let code = memory.blob(running).expect("it is code");
        [0x1100, 0x1200, 0x3000, 0x4000, 0x9000].map(|word| Word::of::<A>(word, &code, &memory))
    }

    #[test]
    fn calls_are_followed_on_both_processors() {
        use Word::{Fits, OfOther, Unknown};
        let x86 = [&[0xe8, 0, 0x0f, 0, 0][..], &[0xe8, 0, 0xfe, 0xff, 0xff]];
        assert_eq!(
            words::<X86_64>(x86, 0x2000),
            [Fits, OfOther, Unknown, OfOther, OfOther]
        );
        assert_eq!(
            words::<X86_64>(x86, 0x1000),
            [OfOther, Fits, Unknown, OfOther, OfOther]
        );
        // `bl` from 0x10fc to 0x2000, and from 0x11fc to 0x1000.
        let a64 = [0x9400_03c1u32, 0x97ff_ff81].map(u32::to_le_bytes);
        let a64 = [&a64[0][..], &a64[1]];
        // A call within the caller may lead on through a trampoline.
        assert_eq!(
            words::<Aarch64>(a64, 0x2000),
            [Fits, Unknown, Unknown, OfOther, OfOther]
        );
        assert_eq!(
            words::<Aarch64>(a64, 0x1000),
            [OfOther, Fits, Unknown, OfOther, OfOther]
        );
    }
}
