//! The heap's copies of the frames of a virtual thread (`share/oops/stackChunkOop.hpp`).
//!
//! While a virtual thread is mounted, frames that it has not returned to yet may lie in the heap, in a list of chunks:
//! objects whose last part is a piece of stack. A chunk is read by the thread itself, while it runs Java code or code of the
//! VM. Then no collection is in a safepoint, so the collectors that move objects only there cannot move the chunk, and nobody else
//! freezes or thaws frames of this thread.

use crate::layout::class::Class;
use hotspot::layout::fields::Missing;
use hotspot::layout::flags::Flags;
use hotspot::layout::objects::{self, Mirrors};
use hotspot::memory::Memory;
use jni_sys::JNIEnv;
use vm::tables::Tables;

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
    /// Where headers have the class.
    header: Header,
    /// The class of chunks, as headers have it.
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

/// Where the header of an object has its class.
#[derive(Copy, Clone)]
enum Header {
    /// Behind the mark word.
    Usual,
    /// In the upper bits of the mark word, from this one on (`UseCompactObjectHeaders`, the default since JDK 27).
    Compact { shift: u32 },
}

impl Header {
    /// The class of an object.
    fn class(self, memory: &impl Memory, object: usize) -> Option<u32> {
        match self {
            Header::Usual => memory.u32(object.wrapping_add(WORD)),
            Header::Compact { shift } => {
                let class = memory.word(object)?.checked_shr(shift)?;
                u32::try_from(class).ok()
            }
        }
    }
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
    /// Reads the layout.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread, which is attached, without a pending exception.
    pub unsafe fn learn(
        tables: &Tables,
        mirrors: &Mirrors,
        memory: &impl Memory,
        env: *mut JNIEnv,
    ) -> Result<Layout, Missing> {
        let flags = Flags::find(tables)?;
        let is_set = |name| flags.is_set(memory, name) == Some(true);
        let stops_to_move = ["UseSerialGC", "UseParallelGC", "UseG1GC"];
        if !stops_to_move.into_iter().any(is_set) {
            return Err(Missing::Unexpected(
                "the collector moves objects while threads run",
            ));
        }
        if flags.is_set(memory, "UseCompressedClassPointers") == Some(false) {
            return Err(Missing::Unexpected("class pointers are not compressed"));
        }
        let places = objects::Layout::find(tables)?;
        // SAFETY: as the caller promised.
        let class = |name| unsafe { Class::find(mirrors, memory, env, name) };
        let [base, shift] = places.classes;
        let narrow = |klass: usize| {
            let distance = klass.checked_sub(memory.word(base)?)?;
            u32::try_from(distance.checked_shr(memory.u32(shift)?)?).ok()
        };
        let read = || {
            let continuations = class(c"jdk/internal/vm/Continuation")?;
            let chunks = class(c"jdk/internal/vm/StackChunk")?;
            let helper = memory.u32(chunks.klass.wrapping_add(places.layout_helper))?;
            Some(Layout {
                continuation: places.continuation_of_entry,
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
                header: Header::Usual,
                class: narrow(chunks.klass)?,
                oops: Oops::Wide,
            })
        };
        let mut layout = read().ok_or(Missing::Unexpected(
            "jdk.internal.vm.StackChunk has another form",
        ))?;
        let mut contradicted =
            Missing::Unexpected("the header of java.lang.Class has another class");
        if is_set("UseCompactObjectHeaders") {
            let shift = places.compact_class_shift?;
            layout.header = Header::Compact { shift };
            contradicted = Missing::Contradicted(objects::COMPACT_CLASS_SHIFT);
        }
        // The class of the object java.lang.Class is java.lang.Class itself: its header must say so.
        let is_right = class(c"java/lang/Class").and_then(|classes| {
            let found = classes.of_mirror(memory, |it| layout.header.class(memory, it));
            Some(found? == narrow(classes.klass)?)
        });
        if is_right != Some(true) {
            return Err(contradicted);
        }
        if is_set("UseCompressedOops") {
            let [base, shift] = places.oops?;
            layout.oops = Oops::Narrow {
                base: memory.word(base).ok_or(Missing::Tables)?,
                shift: memory.u32(shift).ok_or(Missing::Tables)?.min(31),
            };
        }
        Ok(layout)
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
            if self.header.class(memory, object) != Some(self.class) {
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
