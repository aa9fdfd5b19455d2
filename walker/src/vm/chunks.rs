//! The heap's copies of the frames of a virtual thread (`share/oops/stackChunkOop.hpp`).
//!
//! While a virtual thread is mounted, frames that it has not returned to yet may lie in the heap, in a list of chunks:
//! objects whose last part is a piece of stack. A chunk is read by the thread itself, while it runs Java code or code of the
//! VM. Then no collection is in a safepoint, so the collectors that move objects only there cannot move the chunk, and nobody else
//! freezes or thaws frames of this thread.

use crate::vm::class::Class;
use crate::vm::tables::Tables;
use hotspot::memory::Memory;
use hotspot::vm::fields::Fields;
use hotspot::vm::flags::Flags;
use jni_sys::JNIEnv;

const WORD: usize = size_of::<usize>();

/// The layout of continuations and chunks.
pub struct Layout {
    /// The field of an entry with its continuation.
    continuation: usize,
    /// The field of a continuation with its newest chunk.
    tail: usize,
    parent: usize,
    size: usize,
    sp: usize,
    bottom: Bottom,
    /// The distance from a chunk to its piece of stack.
    stack: usize,
    /// The class of chunks, as their headers have it.
    class: Header,
    oops: Oops,
}

/// The end of a chunk's frames, in words: before the arguments of the oldest frame.
#[derive(Copy, Clone)]
enum Bottom {
    At(usize),
    /// The number of words behind.
    Behind(usize),
}

/// How the header of an object says that the object is a chunk.
#[derive(Copy, Clone)]
enum Header {
    /// The class follows the mark word.
    Usual { class: u32 },
    /// The upper bits of the mark word are the class (`UseCompactObjectHeaders`, the default since JDK 27).
    Compact { class: u32, shift: u32 },
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
        // SAFETY: as the caller promised.
        let class = |name| unsafe { Class::find(tables, memory, env, name) };
        let (continuations, chunks) = (
            class(c"jdk/internal/vm/Continuation")?,
            class(c"jdk/internal/vm/StackChunk")?,
        );
        let layout_helper = tables.field(&["Klass"], "_layout_helper")?;
        let helper = memory.u32(chunks.klass.wrapping_add(layout_helper))?;
        let narrow = chunks.klass.checked_sub(class_base)?;
        let class = u32::try_from(narrow.checked_shr(class_shift)?).ok()?;
        Some(Layout {
            continuation: continuation_of_entry(tables),
            tail: continuations.field(c"tail")?,
            parent: chunks.field(c"parent")?,
            size: chunks.field(c"size")?,
            sp: chunks.field(c"sp")?,
            bottom: match chunks.field(c"bottom") {
                Some(field) => Bottom::At(field),
                None => Bottom::Behind(chunks.field(c"argsize")?),
            },
            // The size of an instance without its piece of stack. The lowest bits are no part of it.
            stack: helper as usize & !(WORD - 1),
            class: if is_set("UseCompactObjectHeaders") {
                let shift = tables.long_constant("markWord::klass_shift")?;
                let shift = u32::try_from(shift)
                    .ok()
                    .filter(|shift| *shift < u64::BITS)?;
                Header::Compact { class, shift }
            } else {
                Header::Usual { class }
            },
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
        let continuation = memory.word(entry.wrapping_add(self.continuation))?;
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
            let is_chunk = match self.class {
                Header::Usual { class } => number(2 * size_of::<u32>())? == class,
                Header::Compact { class, shift } => {
                    memory.word(object)?.checked_shr(shift)? == class as usize
                }
            };
            if !is_chunk {
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

/// The field of a `ContinuationEntry` with the continuation.
fn continuation_of_entry(tables: &Tables) -> usize {
    // It follows the pointer to the parent, which JDK 27 publishes. Before, a number, as wide as a word with what fills it
    // up, comes first, and then the parent. In a VM with other entries the class of what is taken for a chunk is wrong.
    let parent = tables.field(&["ContinuationEntry"], "_parent");
    parent.unwrap_or(WORD).wrapping_add(WORD)
}
