//! JavaCalls entries: the frames of the stub through which the VM calls Java methods
//! (`StubGenerator::generate_call_stub`). Such a frame leads to the Java frames below the frames of
//! the VM.

use super::fields::{Fields, Missing};
use super::thread::{Anchor, AnchorLayout};
use crate::arch::{Arch, Native, RETURN_ADDRESS};
use crate::memory::Memory;

const WORD: usize = size_of::<usize>();

/// The places of the data of JavaCalls entries.
#[derive(Copy, Clone, Debug)]
pub struct Layout {
    /// The address of the variable with the return address of called Java methods
    /// (`StubRoutines::_call_stub_return_address`).
    return_address: usize,
    /// The distance from the frame pointer of the stub's frame to the pointer to the
    /// `JavaCallWrapper`, in words.
    wrapper: isize,
    /// The offset, in the wrapper, of the anchor of the last Java frame.
    anchor: usize,
    anchors: AnchorLayout,
}

/// Copied words of a stack.
#[derive(Copy, Clone, Debug)]
pub struct Words<'a> {
    /// The address of the first word.
    pub start: usize,
    /// The words.
    pub words: &'a [usize],
}

impl Words<'_> {
    /// The word at `address`, if it was copied.
    pub fn at(self, address: usize) -> Option<usize> {
        let distance = address.checked_sub(self.start)?;
        self.words
            .get(distance / WORD)
            .copied()
            .filter(|_| distance.is_multiple_of(WORD))
    }
}

impl Memory for Words<'_> {
    fn u8(&self, _: usize) -> Option<u8> {
        None
    }
    fn word(&self, address: usize) -> Option<usize> {
        self.at(address)
    }
}

/// The constant that says where the entry's frame has its wrapper.
pub const WRAPPER_OFFSET: &str = "frame::entry_frame_call_wrapper_offset";

impl Layout {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<Layout, Missing> {
        Ok(Layout {
            return_address: fields.field(&["StubRoutines"], "_call_stub_return_address")?,
            wrapper: match (fields.constant(WRAPPER_OFFSET), Native::ENTRY_WRAPPER) {
                (Ok(published), _) => published as isize,
                (Err(_), Some(known)) => known,
                (Err(missing), None) => return Err(missing),
            },
            anchor: fields.field(&["JavaCallWrapper"], "_anchor")?,
            anchors: AnchorLayout::find(fields)?,
        })
    }

    /// The address to which Java methods that the VM has called return.
    pub fn return_address(&self, memory: &impl Memory) -> Option<usize> {
        memory.word(self.return_address).filter(|&pc| pc != 0)
    }

    /// Whether Java methods that the VM has called return to `pc`.
    pub fn is_return_address(&self, memory: &impl Memory, pc: usize) -> bool {
        self.return_address(memory) == Some(pc)
    }

    /// The address of the pointer to the wrapper, in the entry with the frame pointer `fp`.
    #[inline]
    pub fn wrapper_slot(&self, fp: usize) -> usize {
        fp.wrapping_add_signed(self.wrapper * WORD as isize)
    }

    /// The anchor that the wrapper at `wrapper` keeps for the Java frames below it, set or not.
    #[inline]
    pub fn wrapped_anchor(&self, memory: &impl Memory, wrapper: usize) -> Option<Anchor> {
        let place = wrapper.wrapping_add(self.anchor);
        self.anchors.read(memory, place)
    }

    /// The anchor that the JavaCalls entry with the frame pointer `fp` has kept, set or not.
    pub fn kept_anchor(&self, memory: &impl Memory, fp: usize) -> Option<Anchor> {
        let wrapper = memory.word(self.wrapper_slot(fp))?;
        self.wrapped_anchor(memory, wrapper)
    }

    /// The JavaCalls entry to which its method has returned: the code of the stub at `pc` runs, with frame pointer `fp`.
    pub fn returned(
        &self,
        memory: &impl Memory,
        stack: Words<'_>,
        pc: usize,
        fp: usize,
    ) -> Option<Entry> {
        /// The code behind the call stores the result and restores the registers of the caller; it has some 300 bytes.
        const MOST_CODE: usize = 1024;
        let behind = pc.checked_sub(self.return_address(memory)?)?;
        (behind < MOST_CODE).then(|| self.of_frame(stack, fp))?
    }

    /// Whether the VM's own code around a call of a Java method runs, with the frame pointer `fp`: the method has not begun, or
    /// has returned. `thread` is the address of the `JavaThread`, which counts as in Java without an anchor; `is_code` says
    /// whether generated code is at an address. `None` where the words do not show it.
    pub fn is_calling(
        &self,
        memory: &impl Memory,
        stack: Words<'_>,
        mut fp: usize,
        thread: usize,
        is_code: impl Fn(usize) -> bool,
    ) -> Option<bool> {
        /// The largest number of frames between the function that has the wrapper and the one that runs.
        const FRAMES: usize = 16;
        // `JavaCalls::call_helper` (javaCalls.cpp) has a constructor and a destructor for the state of the thread, with the
        // arguments, the stub and handles between them:
        //
        //    { JavaCallWrapper link(method, receiver, result, CHECK); // puts the anchor away: "in Java"
        //      { HandleMark hm(thread);
        //        StubRoutines::call_stub()(...);
        //      }
        //    } // ~JavaCallWrapper: "in the VM", and the anchor is back
        //
        // There the newest frames are the VM's alone, up to the wrapper: neither the stub nor code that it has called returns
        // below it.
        let wrapper = self.newest_wrapper(stack, thread)?;
        let entry = self.return_address(memory)?;
        let newer = stack.words.iter().take((wrapper - stack.start) / WORD);
        if newer.copied().any(|word| word == entry) {
            return Some(false);
        }
        for _ in 0..FRAMES {
            let older = stack.at(fp)?;
            let place = fp + RETURN_ADDRESS;
            if place > wrapper {
                return Some(true);
            }
            if older <= fp || is_code(stack.at(place)?) {
                return Some(false);
            }
            fp = older;
        }
        None
    }

    /// The anchor that the newest `JavaCallWrapper` on the `stack` of the `JavaThread` at `thread` keeps.
    pub fn newest_anchor(&self, stack: Words<'_>, thread: usize) -> Option<Anchor> {
        let wrapper = self.newest_wrapper(stack, thread)?;
        self.wrapped_anchor(&stack, wrapper)
    }

    /// The newest `JavaCallWrapper` of `thread` on its `stack`.
    fn newest_wrapper(&self, stack: Words<'_>, thread: usize) -> Option<usize> {
        // The class begins with the thread, and has the anchor behind three more words (javaCalls.hpp). A register that was
        // saved may have the thread, too; no anchor of an older frame follows it.
        let places = (stack.start..).step_by(WORD).zip(stack.words);
        let mut threads = places.filter(|&(_, &word)| word == thread);
        threads.find_map(|(place, _)| {
            let kept = self.wrapped_anchor(&stack, place)?;
            (kept.sp > place && stack.at(kept.sp).is_some()).then_some(place)
        })
    }

    /// The JavaCalls entries on the `stack`, newest first; `None` where the words do not reach so far.
    pub fn entries(&self, memory: &impl Memory, stack: Words<'_>) -> Vec<Option<Entry>> {
        let Some(return_address) = self.return_address(memory) else {
            return vec![];
        };
        let places = stack.words.iter().enumerate();
        let entries = places.filter(|&(_, &word)| word == return_address);
        entries.map(|(at, _)| self.entry(stack, at)).collect()
    }

    /// The callee has saved the stub's frame pointer below its return address, the word `at`.
    fn entry(&self, stack: Words<'_>, at: usize) -> Option<Entry> {
        let fp = stack.words.get(at.checked_sub(1)?)?;
        self.of_frame(stack, *fp)
    }

    fn of_frame(&self, stack: Words<'_>, fp: usize) -> Option<Entry> {
        let wrapper_slot = self.wrapper_slot(fp);
        let wrapper = stack.at(wrapper_slot)?;
        let anchor = self.wrapped_anchor(&stack, wrapper)?;
        // The stub keeps its arguments below its frame pointer (`StubGenerator::generate_call_stub`, stubGenerator_x86_64.cpp):
        //
        //    -6 [ call wrapper  ]
        //    -5 [ result        ]
        //    -4 [ result type   ]
        //    -3 [ method        ]
        //
        // AArch64 has the same distance between the two.
        let method = stack.at(wrapper_slot.wrapping_add(3 * WORD));
        Some(Entry { anchor, method })
    }
}

/// A JavaCalls entry.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Entry {
    /// The anchor of the last Java frame below.
    pub anchor: Anchor,
    /// The VM's address of the method that the VM called, if the word was copied.
    pub method: Option<usize>,
}

impl Entry {
    /// The program counter at which the Java frames below had called the VM. `None` where the words do not reach so far,
    /// or where no Java frames are below.
    pub fn caller(&self, stack: Words<'_>) -> Option<usize> {
        match self.anchor {
            Anchor { sp: 0, .. } => None,
            // The return address of the call that left Java code.
            Anchor { sp, pc: 0, .. } => stack.at(sp.wrapping_sub(WORD)),
            Anchor { pc, .. } => Some(pc),
        }
    }

    /// Whether the anchor has the stack pointer of Java frames, but no program counter.
    pub fn lacks_pc(&self) -> bool {
        self.anchor.sp != 0 && self.anchor.pc == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::fields::toy::Toy;
    use crate::memory::toy;
    use std::collections::HashMap;

    fn one_word(address: usize, word: usize) -> toy::Words {
        toy::Words(HashMap::from([(address, word)]))
    }

    fn layout() -> Layout {
        let fields = Toy::of(&[
            ("StubRoutines::_call_stub_return_address", 0x10),
            ("frame::entry_frame_call_wrapper_offset", -6),
            ("JavaCallWrapper::_anchor", 8),
            ("JavaFrameAnchor::_last_Java_sp", 0),
            ("JavaFrameAnchor::_last_Java_pc", 8),
            ("JavaFrameAnchor::_last_Java_fp", 16),
        ]);
        Layout::find(&fields).expect("all fields are there")
    }

    /// A stack at 0x1000 whose word 1 is the return address, whose frame pointer is at word 10, and
    /// whose wrapper is at word 12, with this anchor.
    fn stack(sp: usize, pc: usize) -> Vec<usize> {
        let mut words = vec![0; 20];
        words[0] = 0x1000 + 10 * WORD;
        words[1] = 0x77;
        words[10 - 6] = 0x1000 + 12 * WORD;
        words[13] = sp;
        words[14] = pc;
        words
    }

    fn callers(words: &[usize]) -> Vec<Option<usize>> {
        let start = 0x1000;
        let stack = Words { start, words };
        let entries = layout().entries(&one_word(0x10, 0x77), stack);
        entries
            .into_iter()
            .map(|entry| entry?.caller(stack))
            .collect()
    }

    #[test]
    fn the_wrapper_leads_to_the_caller() {
        assert_eq!(callers(&stack(0x1080, 0x4444)), [Some(0x4444)]);
        let mut words = stack(0x1000 + 18 * WORD, 0);
        words[17] = 0x5555;
        assert_eq!(callers(&words), [Some(0x5555)]);
    }

    #[test]
    fn an_entry_has_its_method_and_may_lack_a_program_counter() {
        let entry = |pc| {
            let mut words = stack(0x1080, pc);
            words[10 - 3] = 0x9999;
            let stack = Words {
                start: 0x1000,
                words: &words,
            };
            layout().entries(&one_word(0x10, 0x77), stack)[0].expect("it is whole")
        };
        assert_eq!(entry(0).method, Some(0x9999));
        assert!(entry(0).lacks_pc() && !entry(0x4444).lacks_pc());
    }

    #[test]
    fn a_method_that_has_returned_to_the_stub_leads_to_the_caller() {
        let words = &stack(0x1080, 0x4444);
        let stack = Words {
            start: 0x1000,
            words,
        };
        let caller = |pc| {
            let entry = layout().returned(&one_word(0x10, 0x77), stack, pc, 0x1000 + 10 * WORD);
            entry.and_then(|entry| entry.caller(stack))
        };
        assert_eq!(caller(0x77), Some(0x4444));
        assert_eq!(caller(0x77 + 60), Some(0x4444));
        assert_eq!(caller(0x76), None, "before the call");
        assert_eq!(caller(0x9999), None, "other code");
    }

    #[test]
    fn the_vm_calls_a_method_if_its_own_frames_alone_are_newer_than_the_wrapper() {
        const THREAD: usize = 0x7ead;
        let at = |word: usize| 0x1000 + word * WORD;
        // A register that was saved, a function of the VM with its frame pointer at word 4, and its caller with the wrapper at
        // word 8 and the frame pointer at word 14; the anchor is that of a frame at word 18.
        let mut words = vec![0; 20];
        words[1] = THREAD;
        words[4] = at(14);
        words[5] = 0x11b7;
        words[8] = THREAD;
        words[9] = at(18);
        let calling = |words: &[usize], fp| {
            let stack = Words {
                start: at(0),
                words,
            };
            let is_code = |pc| pc == 0xc0de;
            layout().is_calling(&one_word(0x10, 0x77), stack, fp, THREAD, is_code)
        };
        let with = |word: usize, value: usize| {
            let mut changed = words.clone();
            changed[word] = value;
            changed
        };
        assert_eq!(calling(&words, at(4)), Some(true));
        let stack = Words {
            start: at(0),
            words: &words,
        };
        let newest = layout().newest_anchor(stack, THREAD);
        assert_eq!(newest.map(|anchor| anchor.sp), Some(at(18)));
        assert_eq!(calling(&words, at(14)), Some(true), "the caller itself");
        assert_eq!(calling(&with(5, 0xc0de), at(4)), Some(false), "a leaf call");
        assert_eq!(calling(&with(6, 0x77), at(4)), Some(false), "a method runs");
        assert_eq!(calling(&with(8, 0), at(4)), None, "another thread's");
        assert_eq!(calling(&with(9, 0), at(4)), None, "no older frame");
        assert_eq!(calling(&words, 0x99), None, "no frame pointer");
    }

    #[test]
    fn without_the_words_of_the_stack_no_caller_is_claimed() {
        assert_eq!(callers(&stack(0, 0)), [None], "a thread begins here");
        assert_eq!(
            callers(&stack(0x1080, 0x4444)[..15]),
            [None],
            "too few words"
        );
        assert_eq!(callers(&[1, 2, 3]), []);
        assert_eq!(callers(&[0x77]), [None]);
        let words = &stack(0x1080, 0x4444);
        let unread = layout().entries(&one_word(0, 0), Words { start: 0, words });
        assert_eq!(unread, []);
    }
}
