//! Threads, and the anchors of their last Java frames (`share/runtime/javaThread.hpp`,
//! `share/runtime/javaFrameAnchor.hpp`).

use super::fields::{Fields, Missing};
use super::thread_state::{States, ThreadState};
use crate::memory::Memory;

/// An anchor: where a thread left Java code.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct Anchor {
    /// The stack pointer of the last Java frame; 0 if no anchor is set.
    pub sp: usize,
    /// Its program counter; 0 if the word below the stack pointer has it.
    pub pc: usize,
    /// Its frame pointer; 0 if the VM has not stored it, or has no place for it.
    pub fp: usize,
}

/// The layout of an anchor.
#[derive(Copy, Clone, Debug)]
pub struct AnchorLayout {
    sp: usize,
    pc: usize,
    /// The anchors of Zero have no frame pointer.
    fp: Option<usize>,
}

const ANCHOR: &[&str] = &["JavaFrameAnchor"];
const FP: &str = "_last_Java_fp";

impl AnchorLayout {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<AnchorLayout, Missing> {
        let part = |field| fields.field(ANCHOR, field);
        Ok(AnchorLayout {
            sp: part("_last_Java_sp")?,
            pc: part("_last_Java_pc")?,
            fp: part(FP).ok(),
        })
    }

    /// Whether anchors have a frame pointer, without which a stack cannot be walked.
    pub fn check_fp(&self) -> Result<(), Missing> {
        let missing = Missing::Field {
            owners: ANCHOR,
            field: FP,
        };
        self.fp.map(|_| ()).ok_or(missing)
    }

    /// The anchor at `place`.
    #[inline]
    pub fn read(&self, memory: &impl Memory, place: usize) -> Option<Anchor> {
        Some(Anchor {
            sp: memory.word(place.wrapping_add(self.sp))?,
            pc: memory.word(place.wrapping_add(self.pc))?,
            fp: match self.fp {
                Some(fp) => memory.word(place.wrapping_add(fp))?,
                None => 0,
            },
        })
    }
}

/// The VM's address of a `JavaThread`.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct JavaThread(pub usize);

/// The layout of a thread, as far as its state and its last Java frame go.
#[derive(Copy, Clone, Debug)]
pub struct Layout {
    state: usize,
    states: States,
    anchor: usize,
    anchors: AnchorLayout,
}

impl Layout {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<Layout, Missing> {
        let field = |field| fields.field(&["JavaThread"], field);
        Ok(Layout {
            state: field("_thread_state")?,
            states: States::find(fields)?,
            anchor: field("_anchor")?,
            anchors: AnchorLayout::find(fields)?,
        })
    }

    /// The layout of anchors.
    pub fn anchors(&self) -> &AnchorLayout {
        &self.anchors
    }
}

impl JavaThread {
    /// Its state.
    #[inline]
    pub fn state(self, layout: &Layout, memory: &impl Memory) -> Option<ThreadState> {
        let number = memory.i32(self.0.wrapping_add(layout.state))?;
        Some(layout.states.of(number))
    }

    /// Its anchor, set or not.
    #[inline]
    pub fn anchor(self, layout: &Layout, memory: &impl Memory) -> Option<Anchor> {
        let place = self.0.wrapping_add(layout.anchor);
        layout.anchors.read(memory, place)
    }
}

/// The constant that says that a thread has not begun to end.
pub const NOT_TERMINATED: &str = "JavaThread::_not_terminated";

/// The layout of what the walk of a thread needs besides.
#[derive(Copy, Clone, Debug)]
pub struct WalkLayout {
    /// The end of the thread's stack.
    pub stack_base: usize,
    /// The size of the stack, in bytes.
    pub stack_size: usize,
    /// How far the thread has ended.
    pub terminated: usize,
    /// The value of `terminated` in threads that have not begun to end.
    pub not_terminated: u32,
    /// The frames that deoptimisation is about to write.
    pub unpacked: usize,
    /// The return address of the callee whose exception is about to be handled.
    pub exception_pc: usize,
    /// The entry of the mounted continuation; JDK 25 publishes it.
    pub continuation_entry: Option<usize>,
    /// The size of a thread, in bytes.
    pub size: usize,
    /// The variable with the list of threads (`ThreadsSMRSupport`).
    pub list: usize,
    /// The number of threads in a list.
    pub list_length: usize,
    /// The threads of a list.
    pub list_threads: usize,
}

impl WalkLayout {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<WalkLayout, Missing> {
        let field = |field| fields.field(&["JavaThread", "Thread"], field);
        Ok(WalkLayout {
            stack_base: field("_stack_base")?,
            stack_size: field("_stack_size")?,
            terminated: field("_terminated")?,
            not_terminated: fields.constant(NOT_TERMINATED)?.cast_unsigned(),
            unpacked: field("_vframe_array_head")?,
            exception_pc: field("_exception_pc")?,
            continuation_entry: field("_cont_entry").ok(),
            size: fields.size("JavaThread")?,
            list: fields.field(&["ThreadsSMRSupport"], "_java_thread_list")?,
            list_length: fields.field(&["ThreadsList"], "_length")?,
            list_threads: fields.field(&["ThreadsList"], "_threads")?,
        })
    }
}

/// Single places that a walk needs besides.
#[derive(Copy, Clone, Debug)]
pub struct WalkPlaces {
    /// The field of a method with its compiled code.
    pub code_of_method: usize,
    /// The variable with the address at which the entry of a continuation continues; JDK 25 publishes it.
    pub continuation_return_pc: Option<usize>,
    /// The offset, in an upcall stub, of the field with the offset of its frame's data.
    pub upcall_frame_data: usize,
}

impl WalkPlaces {
    /// Finds the places.
    pub fn find(fields: &impl Fields) -> Result<WalkPlaces, Missing> {
        // The receiver comes behind the fields of all stubs, and then the offset (`UpcallStub` in
        // `share/code/codeBlob.hpp`).
        let behind_receiver = || Ok(fields.size("RuntimeBlob")? + size_of::<usize>());
        let frame_data = fields.field(&["UpcallStub"], "_frame_data_offset");
        Ok(WalkPlaces {
            code_of_method: fields.field(&["Method"], "_code")?,
            continuation_return_pc: fields.field(&["ContinuationEntry"], "_return_pc").ok(),
            upcall_frame_data: Missing::unless(frame_data, behind_receiver)?,
        })
    }
}

/// The address of the variable with the version of the Java platform: 17, 21, 25.
pub fn feature(fields: &impl Fields) -> Result<usize, Missing> {
    fields.field(&["Abstract_VM_Version"], "_vm_major_version")
}
