//! The frames of the interpreter that are about to take the place of a compiled frame (`share/runtime/vframeArray.hpp`).

use super::debug_info::Scope;
use super::fields::{Fields, Missing};
use crate::memory::Memory;

/// Compilers inline fewer methods into each other (`MaxInlineLevel`, and method handles).
const MOST_FRAMES: usize = 256;

const WORD: usize = size_of::<usize>();

/// The layout of a description of such frames.
#[derive(Copy, Clone, Debug)]
pub struct Layout {
    /// The caller of the compiled frame.
    caller: usize,
    /// How many frames there are.
    count: usize,
    /// The frames, callees first.
    elements: usize,
    /// The size of the description of a frame.
    element: usize,
    method: usize,
    bci: usize,
}

/// The description of the frames that take the place of one compiled frame.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Unpacked {
    /// Its address.
    address: usize,
    /// How many frames there are.
    pub count: usize,
}

/// The caller of the compiled frame: where it continues, its stack pointer without what the callee has added, and its
/// frame pointer.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Caller {
    /// The program counter.
    pub pc: usize,
    /// The stack pointer.
    pub sp: usize,
    /// The frame pointer.
    pub fp: usize,
}

impl Layout {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<Layout, Missing> {
        let array = |field| fields.field(&["vframeArray"], field);
        let of_element = |field| fields.field(&["vframeArrayElement"], field);
        let element = fields.size("vframeArrayElement")?;
        // The frames are the last part of the description, which is declared with one (`_elements[1]`).
        let elements = fields.size("vframeArray")?.checked_sub(element);
        let (count, frame, bci) = (
            array("_frames")?,
            of_element("_frame")?,
            of_element("_bci")?,
        );
        let is_known = frame == 0 && bci >= 4 * WORD;
        let elements = elements.filter(|&elements| elements > count && is_known);
        Ok(Layout {
            caller: array("_caller")?,
            count,
            elements: elements.ok_or(Missing::Unexpected(
                "the frames of vframeArray are not at its end",
            ))?,
            element,
            method: of_element("_method")?,
            bci,
        })
    }

    /// The description at `address`.
    pub fn read(&self, memory: &impl Memory, address: usize) -> Option<Unpacked> {
        let count = usize::try_from(memory.i32(address.wrapping_add(self.count))?).ok()?;
        (1..=MOST_FRAMES)
            .contains(&count)
            .then_some(Unpacked { address, count })
    }

    /// The frame at `at`, callees first.
    pub fn frame(&self, memory: &impl Memory, unpacked: Unpacked, at: usize) -> Option<Scope> {
        let element = self.elements + at.checked_mul(self.element)?;
        let element = unpacked.address.wrapping_add(element);
        let method = memory.word(element.wrapping_add(self.method))?;
        (at < unpacked.count && method != 0).then_some(Scope {
            method,
            bci: memory.i32(element.wrapping_add(self.bci))?,
            sender: 0,
        })
    }

    /// The caller of the compiled frame.
    pub fn caller(&self, memory: &impl Memory, unpacked: Unpacked) -> Option<Caller> {
        // `frame` begins with the stack pointer and the program counter (`share/runtime/frame.hpp`), and ends with what the
        // processor adds: the frame pointer, and the stack pointer without arguments (`cpu/x86/frame_x86.hpp`). The BCI of
        // an element comes right behind the element's frame.
        let size = self.bci;
        let word = |at: usize| {
            let frame = unpacked.address.wrapping_add(self.caller);
            memory.word(frame.wrapping_add(at))
        };
        Some(Caller {
            pc: word(WORD)?,
            sp: word(size - WORD)?,
            fp: word(size - 2 * WORD)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::fields::toy::Toy;
    use crate::memory::toy::Words;

    fn described(size: i64) -> Toy {
        Toy::of(&[
            ("vframeArray", size),
            ("vframeArray::_caller", 0x10),
            ("vframeArray::_frames", 0x40),
            ("vframeArrayElement", 0x40),
            ("vframeArrayElement::_frame", 0),
            ("vframeArrayElement::_bci", 0x30),
            ("vframeArrayElement::_method", 0x38),
        ])
    }

    #[test]
    fn frames_are_at_the_end_of_their_description_and_the_caller_before() {
        let layout = Layout::find(&described(0xc0)).expect("a layout");
        let words = [
            (0x1040, 2),
            // The caller: stack pointer, program counter, frame pointer, stack pointer without arguments.
            (0x1010, 0x7100),
            (0x1018, 0xc0de),
            (0x1030, 0x7700),
            (0x1038, 0x7180),
            // Frames from 0x80 on.
            (0x10b0, 7),
            (0x10b8, 0xaaa0),
            (0x10f0, u32::MAX as usize),
            (0x10f8, 0xbbb0),
            (0x2040, 0),
            (0x3040, 1_000_000),
        ];
        let memory = Words(words.into_iter().collect());
        let unpacked = layout.read(&memory, 0x1000).expect("frames");
        assert_eq!(unpacked.count, 2);
        let frame = |at| {
            let scope = layout.frame(&memory, unpacked, at);
            scope.map(|scope| (scope.method, scope.bci))
        };
        assert_eq!(frame(0), Some((0xaaa0, 7)));
        assert_eq!(frame(1), Some((0xbbb0, -1)));
        assert_eq!(frame(2), None, "there are two");
        let caller = Caller {
            pc: 0xc0de,
            sp: 0x7180,
            fp: 0x7700,
        };
        assert_eq!(layout.caller(&memory, unpacked), Some(caller));
        for wild in [0x2000, 0x3000] {
            assert_eq!(layout.read(&memory, wild), None);
        }
    }

    #[test]
    fn a_description_of_another_form_is_not_read() {
        assert!(Layout::find(&described(0x60)).is_err());
    }
}
