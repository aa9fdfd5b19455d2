//! The heap's copies of the frames of a virtual thread (`share/oops/stackChunkOop.hpp`).
//!
//! While a virtual thread is mounted, frames that it has not returned to yet may lie in the heap, in a list of chunks:
//! objects whose last part is a piece of stack. A chunk is read by the thread itself, while it runs Java code or code of the
//! VM. Then no collection is in a safepoint, so the collectors that move objects only there cannot move the chunk, and nobody else
//! freezes or thaws frames of this thread.

use crate::vm::continuations::Java;
use crate::vm::tables::Tables;
use hotspot::memory::Memory;
use hotspot::vm::fields::Fields;
use hotspot::vm::flags::Flags;
use jni_sys::JNIEnv;

const WORD: usize = size_of::<usize>();

/// The layout of continuations and chunks.
pub struct Layout {
    /// The field of a continuation with its newest chunk.
    tail: usize,
    parent: usize,
    size: usize,
    sp: usize,
    bottom: Bottom,
    /// The distance from a chunk to its piece of stack.
    stack: usize,
    /// The class of chunks, as their headers have it.
    class: u32,
    oops: Oops,
}

/// The end of a chunk's frames, in words: before the arguments of the oldest frame.
#[derive(Copy, Clone)]
enum Bottom {
    At(usize),
    /// The number of words behind.
    Behind(usize),
}

/// How fields refer to objects.
#[derive(Copy, Clone)]
enum Oops {
    Wide,
    Narrow { base: usize, shift: u32 },
}

/// A piece of a virtual thread's stack in the heap.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Chunk {
    object: usize,
    /// The stack pointer of the first frame.
    pub sp: usize,
    /// The end of the last frame.
    pub end: usize,
}

impl Layout {
    /// Reads the layout. `None` if this VM does not describe it, or moves objects while threads run.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread, which is attached, without a pending exception.
    pub unsafe fn learn(tables: &Tables, memory: &impl Memory, env: *mut JNIEnv) -> Option<Layout> {
        let flags = Flags::find(tables)?;
        let is_set = |name| flags.is_set(memory, name) == Some(true);
        let stops_to_move = ["UseSerialGC", "UseParallelGC", "UseG1GC"];
        if !stops_to_move.into_iter().any(is_set)
            || is_set("UseCompactObjectHeaders")
            || flags.is_set(memory, "UseCompressedClassPointers") == Some(false)
        {
            return None;
        }
        // Since JDK 22 the fields are by themselves.
        let place = |types: &[&str], names: [&str; 2]| {
            names.into_iter().find_map(|name| tables.field(types, name))
        };
        let number = |types: &[&str], names: [&str; 2]| memory.word(place(types, names)?);
        let shift = |types: &[&str], names: [&str; 2]| memory.u32(place(types, names)?);
        let oops = || number(&["CompressedOops"], ["_base", "_narrow_oop._base"]);
        let oops_shift = || shift(&["CompressedOops"], ["_shift", "_narrow_oop._shift"]);
        let class_base = number(
            &["CompressedKlassPointers"],
            ["_base", "_narrow_klass._base"],
        )?;
        let class_shift = shift(
            &["CompressedKlassPointers"],
            ["_shift", "_narrow_klass._shift"],
        )?;
        let mirror_class = memory.u32(tables.field(&["java_lang_Class"], "_klass_offset")?)?;
        // SAFETY: as the caller promised.
        let java = unsafe { Java::find(env)? };
        let class = java.chunk_class(memory, mirror_class as usize)?;
        let helper = memory.u32(class.wrapping_add(tables.field(&["Klass"], "_layout_helper")?))?;
        Some(Layout {
            tail: java.field(java.continuation, c"tail", c"Ljdk/internal/vm/StackChunk;")?,
            parent: java.field(java.chunk, c"parent", c"Ljdk/internal/vm/StackChunk;")?,
            size: java.field(java.chunk, c"size", c"I")?,
            sp: java.field(java.chunk, c"sp", c"I")?,
            bottom: match java.field(java.chunk, c"bottom", c"I") {
                Some(field) => Bottom::At(field),
                None => Bottom::Behind(java.field(java.chunk, c"argsize", c"I")?),
            },
            // The size of an instance without its piece of stack. The lowest bits are no part of it.
            stack: helper as usize & !(WORD - 1),
            class: u32::try_from(class.checked_sub(class_base)?.checked_shr(class_shift)?).ok()?,
            oops: if is_set("UseCompressedOops") {
                Oops::Narrow {
                    base: oops()?,
                    shift: oops_shift()?.min(31),
                }
            } else {
                Oops::Wide
            },
        })
    }

    /// The newest chunk of the continuation whose entry on the stack is `entry` that has frames; `None` inside if there is none.
    pub fn newest(&self, memory: &impl Memory, entry: usize) -> Option<Option<Chunk>> {
        /// The continuation is behind two words of the entry. (Other VMs have other entries. There the class of what is
        /// taken for a chunk is wrong.)
        const CONTINUATION: usize = 2 * WORD;
        let continuation = memory.word(entry.wrapping_add(CONTINUATION))?;
        self.with_frames(
            memory,
            self.oop(memory, continuation.wrapping_add(self.tail))?,
        )
    }

    /// The next older chunk that has frames; `None` inside if there is none.
    pub fn older(&self, memory: &impl Memory, chunk: Chunk) -> Option<Option<Chunk>> {
        self.with_frames(
            memory,
            self.oop(memory, chunk.object.wrapping_add(self.parent))?,
        )
    }

    fn with_frames(&self, memory: &impl Memory, chunk: usize) -> Option<Option<Chunk>> {
        /// More than a list has, and more words than a stack.
        const MOST: usize = 1 << 10;
        const MOST_WORDS: u32 = 1 << 27;
        let mut object = chunk;
        for _ in 0..MOST {
            if object == 0 {
                return Some(None);
            }
            let number = |field: usize| memory.u32(object.wrapping_add(field));
            if number(2 * size_of::<u32>())? != self.class {
                return None;
            }
            let (size, sp) = (number(self.size)?, number(self.sp)?);
            let bottom = match self.bottom {
                Bottom::At(field) => number(field)?,
                Bottom::Behind(field) => size.checked_sub(number(field)?)?,
            };
            if bottom > size || size > MOST_WORDS || sp > size {
                return None;
            }
            if sp < bottom {
                let stack = object.wrapping_add(self.stack);
                let place = |words: u32| stack.wrapping_add(words as usize * WORD);
                return Some(Some(Chunk {
                    object,
                    sp: place(sp),
                    end: place(bottom),
                }));
            }
            object = self.oop(memory, object.wrapping_add(self.parent))?;
        }
        None
    }

    /// The object to which the field at `place` refers; 0 for none.
    fn oop(&self, memory: &impl Memory, place: usize) -> Option<usize> {
        match self.oops {
            Oops::Wide => memory.word(place),
            Oops::Narrow { base, shift } => Some(match memory.u32(place)? {
                0 => 0,
                oop => base.wrapping_add((oop as usize) << shift),
            }),
        }
    }
}
