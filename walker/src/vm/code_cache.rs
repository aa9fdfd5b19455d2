//! The VM's code cache: the code at an address (`share/code/codeCache.cpp`,
//! `share/memory/heap.cpp`).

use crate::vm::tables::Tables;
use hotspot::memory::Memory;
use hotspot::vm::fields::Fields;
use hotspot::vm::frame_complete::FrameComplete;
use hotspot::vm::nmethod::{Compilation, Layout as NmethodLayout, Nmethod};

/// A limit that no VM's number of heaps reaches.
const MOST_HEAPS: usize = 8;

/// Finds code by address.
pub struct CodeCache {
    heaps: Vec<Heap>,
    block_header: usize,
    is_used: usize,
    name: usize,
    frame_size: usize,
    frame_complete: FrameComplete,
    bounds: Bounds,
    nmethods: NmethodLayout,
}

/// A heap of the cache. The VM does not move heaps.
struct Heap {
    low: usize,
    high: usize,
    segment_map: usize,
    segment_size_log2: u32,
}

/// The fields of a blob that give its code.
enum Bounds {
    /// As addresses, up to JDK 23.
    Addresses { begin: usize, end: usize },
    /// As distances from the blob, from JDK 24 on.
    Distances { begin: usize, end: usize },
}

/// A piece of generated code.
#[derive(Copy, Clone, Debug)]
pub struct Blob {
    /// Its start, header included.
    pub start: usize,
    /// The kind of its code.
    pub kind: Kind,
    /// The size of its frame in words, the return address included; `None` if it has no frame, or
    /// frames of several sizes.
    pub frame_words: Option<usize>,
    /// The start of its code.
    pub code: usize,
    /// The end of its code.
    pub end: usize,
    /// The address from which on its frame is complete; `None` if this is not known.
    pub frame_complete: Option<usize>,
}

/// Kinds of generated code that are walked in different ways.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Kind {
    /// A compiled Java method.
    Compiled(Nmethod),
    /// The wrapper of a native method.
    NativeWrapper(Nmethod),
    /// The interpreter.
    Interpreter,
    /// A stub through which foreign functions call Java.
    Upcall,
    /// The code that freezes and thaws frames of virtual threads.
    Continuation,
    /// The adapters between the calling conventions of compiled code and of the interpreter.
    Adapter,
    /// Stubs of virtual and interface calls: they have no frames, and move no stack pointer.
    Vtable,
    /// The code that replaces frames of compiled code by frames of the interpreter.
    Deoptimization,
    /// The code to which polls lead.
    Safepoint,
    /// The stubs that compiled code calls as it calls C: the calls have no debug info records (`StubRoutines`).
    Routine,
    /// Any other stub.
    Stub,
}

impl CodeCache {
    /// `None` if this VM does not describe its code cache as expected.
    pub fn find(tables: &Tables, memory: &impl Memory) -> Option<CodeCache> {
        let blob = |field| tables.field(&["CodeBlob"], field);
        let addresses = || {
            Some(Bounds::Addresses {
                begin: blob("_code_begin")?,
                end: blob("_code_end")?,
            })
        };
        let distances = || {
            Some(Bounds::Distances {
                begin: blob("_code_offset")?,
                end: blob("_data_offset")?,
            })
        };
        let bounds = addresses().or_else(distances)?;
        Some(CodeCache {
            heaps: Heap::all(tables, memory)?,
            block_header: tables.size("HeapBlock")?,
            is_used: tables.field(&["HeapBlock::Header"], "_used")?,
            name: blob("_name")?,
            frame_size: blob("_frame_size")?,
            frame_complete: FrameComplete::find(tables)?,
            bounds,
            nmethods: NmethodLayout::find(tables)?,
        })
    }

    /// The layout of compiled methods.
    pub fn nmethods(&self) -> &NmethodLayout {
        &self.nmethods
    }

    /// Whether `address` lies in the cache.
    pub fn contains(&self, address: usize) -> bool {
        self.heap_of(address).is_some()
    }

    /// The code at `address`; `None` if there is no code.
    pub fn blob(&self, memory: &impl Memory, address: usize) -> Option<Blob> {
        let start = self.heap_of(address)?.block(memory, address)?;
        let start = start.wrapping_add(self.block_header);
        if !self.is_used(memory, start)? {
            return None;
        }
        let place = |distance: usize| start.wrapping_add(distance);
        let name = memory.word(place(self.name))?;
        let words = memory.i32(place(self.frame_size))?;
        let (code, end) = match self.bounds {
            Bounds::Addresses { begin, end } => {
                (memory.word(place(begin))?, memory.word(place(end))?)
            }
            Bounds::Distances { begin, end } => (
                start.wrapping_add_signed(memory.i32(place(begin))? as isize),
                start.wrapping_add_signed(memory.i32(place(end))? as isize),
            ),
        };
        let complete = self.frame_complete.read(memory, start)?;
        Some(Blob {
            start,
            kind: Kind::of(memory, name, Nmethod(start))?,
            frame_words: usize::try_from(words)
                .ok()
                .filter(|words| (1..1 << 16).contains(words)),
            code,
            end,
            frame_complete: usize::try_from(complete)
                .ok()
                .map(|complete| code.wrapping_add(complete)),
        })
    }

    /// The compilation whose code is at `nmethod`, if its memory is still in use.
    #[inline]
    pub fn compilation(&self, memory: &impl Memory, nmethod: Nmethod) -> Option<Compilation> {
        let compilation = nmethod.compilation(&self.nmethods, memory)?;
        self.is_used(memory, nmethod.0)?.then_some(compilation)
    }

    /// Whether the memory of the blob at `start` is not free: free memory keeps most of its words.
    #[inline]
    fn is_used(&self, memory: &impl Memory, start: usize) -> Option<bool> {
        let block = start.wrapping_sub(self.block_header);
        Some(memory.u8(block.wrapping_add(self.is_used))? != 0)
    }

    fn heap_of(&self, address: usize) -> Option<&Heap> {
        self.heaps
            .iter()
            .find(|heap| heap.low <= address && address < heap.high)
    }
}

impl Kind {
    /// The kind by the blob's name. The first bytes of the name are enough.
    fn of(memory: &impl Memory, name: usize, nmethod: Nmethod) -> Option<Kind> {
        let start = memory.word(name)?.to_le_bytes();
        Some(match &start {
            b"nmethod\0" => Kind::Compiled(nmethod),
            b"native n" => Kind::NativeWrapper(nmethod),
            b"Interpre" => Kind::Interpreter,
            b"upcall_s" | b"optimize" => Kind::Upcall,
            b"StubRout"
                if memory
                    .code(name.wrapping_add(14))
                    .starts_with(b"continuation") =>
            {
                Kind::Continuation
            }
            b"StubRout" => Kind::Routine,
            b"vtable c" => Kind::Vtable,
            b"I2C/C2I " | b"MethodHa" | b"adapters" => Kind::Adapter,
            b"Safepoin" => Kind::Safepoint,
            b"Deoptimi" | b"Uncommon" => Kind::Deoptimization,
            _ => Kind::Stub,
        })
    }
}

impl Heap {
    fn all(tables: &Tables, memory: &impl Memory) -> Option<Vec<Heap>> {
        let array = &["GrowableArrayBase", "GenericGrowableArray"];
        let space = |field| tables.field(&["VirtualSpace"], field);
        let heap = |field| tables.field(&["CodeHeap"], field);
        let (low, high) = (space("_low_boundary")?, space("_high_boundary")?);
        let (space, map) = (heap("_memory")?, heap("_segmap")?);
        let log2 = heap("_log2_segment_size")?;
        let heaps = memory.word(tables.field(&["CodeCache"], "_heaps")?)?;
        let count = memory.i32(heaps + tables.field(array, "_len")?)?;
        let data = memory.word(heaps + tables.field(&["GrowableArray<int>"], "_data")?)?;
        let count = usize::try_from(count).ok()?.min(MOST_HEAPS);
        (0..count)
            .map(|at| {
                let heap = memory.word(data + at * size_of::<usize>())?;
                Some(Heap {
                    low: memory.word(heap + space + low)?,
                    high: memory.word(heap + space + high)?,
                    segment_map: memory.word(heap + map + low)?,
                    segment_size_log2: memory.u32(heap + log2)?.min(63),
                })
            })
            .collect()
    }

    /// The block at `address`. The segment map holds, for each segment of a block, the distance to
    /// an earlier segment of the block; 0 at the first segment, 255 in free space.
    fn block(&self, memory: &impl Memory, address: usize) -> Option<usize> {
        const FREE: u8 = 255;
        /// A limit for the steps. Each step except the first and the last goes back by many
        /// segments.
        const MOST_STEPS: usize = 1 << 12;
        let mut segment = address.wrapping_sub(self.low) >> self.segment_size_log2;
        for _ in 0..MOST_STEPS {
            match memory.u8(self.segment_map.wrapping_add(segment))? {
                FREE => return None,
                0 => return Some(self.low.wrapping_add(segment << self.segment_size_log2)),
                back => segment = segment.checked_sub(back.into())?,
            }
        }
        None
    }
}
