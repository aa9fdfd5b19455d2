//! The code cache: the code at an address (`share/code/codeCache.cpp`, `share/memory/heap.cpp`,
//! `share/code/codeBlob.hpp`).

use super::fields::{Fields, Missing};
use crate::memory::Memory;
use std::ops::Range;
use std::sync::OnceLock;

/// A limit that no VM's number of heaps reaches.
const MOST_HEAPS: usize = 8;

/// Finds code by address, and reads the headers of code. All functions are async-signal-safe if the memory is, and if
/// [`CodeCache::learn`] has been called.
pub struct CodeCache {
    layout: HeapLayout,
    block_header: usize,
    is_used: usize,
    name: usize,
    size: usize,
    frame_size: usize,
    frame_complete: FrameComplete,
    bounds: Bounds,
    /// The heaps, once the VM has made them. The VM does not move heaps.
    heaps: OnceLock<Vec<Heap>>,
}

/// The places of what describes a heap.
struct HeapLayout {
    heaps: usize,
    length: usize,
    data: usize,
    space: usize,
    segment_map: usize,
    segment_size_log2: usize,
    low: usize,
    high: usize,
}

/// A heap of the cache.
struct Heap {
    /// The start of its code.
    low: usize,
    /// The end of the memory that is reserved for its code.
    high: usize,
    segment_map: usize,
    segment_size_log2: u32,
}

/// The fields of a blob that give its code.
enum Bounds {
    /// Addresses, as long as blobs have the fields `_code_begin` and `_code_end`.
    Addresses { begin: usize, end: usize },
    /// Distances from the blob: the code ends where the data begins.
    Distances { begin: usize, end: usize },
}

impl Bounds {
    fn find(fields: &impl Fields) -> Result<Bounds, Missing> {
        let blob = |field| fields.field(&["CodeBlob"], field);
        let distances = || {
            Ok(Bounds::Distances {
                begin: blob("_code_offset")?,
                end: blob("_data_offset")?,
            })
        };
        let addresses = || {
            Ok(Bounds::Addresses {
                begin: blob("_code_begin")?,
                end: blob("_code_end")?,
            })
        };
        // Older VMs have `_data_offset` too, but not `_code_offset`.
        Missing::unless(distances(), addresses)
    }
}

impl CodeCache {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<CodeCache, Missing> {
        let blob = |field| fields.field(&["CodeBlob"], field);
        let heap = |field| fields.field(&["CodeHeap"], field);
        let array = &["GrowableArrayBase", "GenericGrowableArray"];
        Ok(CodeCache {
            layout: HeapLayout {
                heaps: fields.field(&["CodeCache"], "_heaps")?,
                length: fields.field(array, "_len")?,
                data: fields.field(&["GrowableArray<int>"], "_data")?,
                space: heap("_memory")?,
                segment_map: heap("_segmap")?,
                segment_size_log2: heap("_log2_segment_size")?,
                low: fields.field(&["VirtualSpace"], "_low_boundary")?,
                high: fields.field(&["VirtualSpace"], "_high_boundary")?,
            },
            block_header: fields.size("HeapBlock")?,
            is_used: fields.field(&["HeapBlock::Header"], "_used")?,
            name: blob("_name")?,
            size: blob("_size")?,
            frame_size: blob("_frame_size")?,
            frame_complete: FrameComplete::find(fields)?,
            bounds: Bounds::find(fields)?,
            heaps: OnceLock::new(),
        })
    }

    /// Reads where the heaps are. Returns false before the VM has made them.
    pub fn learn(&self, memory: &impl Memory) -> bool {
        if self.heaps.get().is_some() {
            return true;
        }
        let heaps = self.layout.read(memory);
        let heaps = heaps.filter(|heaps| !heaps.is_empty());
        heaps.is_some_and(|heaps| {
            self.heaps.get_or_init(|| heaps);
            true
        })
    }

    /// Whether `address` lies in the memory that is reserved for code.
    #[inline]
    pub fn contains(&self, address: usize) -> bool {
        self.heap_of(address).is_some()
    }

    /// The start of the blob at `address`, header included; `None` if there is no code. The memory of the blob may be
    /// free again: see [`CodeCache::is_used`].
    #[inline]
    pub fn start(&self, memory: &impl Memory, address: usize) -> Option<usize> {
        let block = self.heap_of(address)?.block(memory, address)?;
        Some(block.wrapping_add(self.block_header))
    }

    /// Whether the memory of the blob at `start` is not free: free memory keeps most of its words.
    #[inline]
    pub fn is_used(&self, memory: &impl Memory, start: usize) -> Option<bool> {
        let block = start.wrapping_sub(self.block_header);
        Some(memory.u8(block.wrapping_add(self.is_used))? != 0)
    }

    /// The address of the name of the blob at `start`, a zero-terminated text.
    pub fn name(&self, memory: &impl Memory, start: usize) -> Option<usize> {
        memory.word(start.wrapping_add(self.name))
    }

    /// The addresses of the blob at `start`, header and data included.
    pub fn range(&self, memory: &impl Memory, start: usize) -> Option<Range<usize>> {
        let size = memory.i32(start.wrapping_add(self.size))?;
        Some(start..start.wrapping_add(usize::try_from(size).ok()?))
    }

    /// The addresses of the code of the blob at `start`, stubs included.
    pub fn code(&self, memory: &impl Memory, start: usize) -> Option<Range<usize>> {
        let word = |at: usize| memory.word(start.wrapping_add(at));
        let distance = |at: usize| {
            let distance = memory.i32(start.wrapping_add(at))?;
            Some(start.wrapping_add_signed(distance as isize))
        };
        match self.bounds {
            Bounds::Addresses { begin, end } => Some(word(begin)?..word(end)?),
            Bounds::Distances { begin, end } => Some(distance(begin)?..distance(end)?),
        }
    }

    /// The size of a frame of the blob at `start` in words, the return address included. `None` inside if the blob has no
    /// frame, or frames of several sizes.
    pub fn frame_words(&self, memory: &impl Memory, start: usize) -> Option<Option<usize>> {
        /// More than any frame has.
        const MOST: usize = 1 << 16;
        let words = memory.i32(start.wrapping_add(self.frame_size))?;
        let words = usize::try_from(words).ok();
        Some(words.filter(|words| (1..MOST).contains(words)))
    }

    /// How far behind the start of its code the frame of the blob at `start` is complete. `None` inside if it has no frame.
    pub fn frame_complete(&self, memory: &impl Memory, start: usize) -> Option<Option<usize>> {
        let distance = self.frame_complete.read(memory, start)?;
        Some(usize::try_from(distance).ok())
    }

    #[inline]
    fn heap_of(&self, address: usize) -> Option<&Heap> {
        let mut heaps = self.heaps.get()?.iter();
        heaps.find(|heap| heap.low <= address && address < heap.high)
    }
}

impl HeapLayout {
    fn read(&self, memory: &impl Memory) -> Option<Vec<Heap>> {
        let heaps = memory.word(self.heaps)?;
        let count = memory.i32(heaps.wrapping_add(self.length))?;
        let data = memory.word(heaps.wrapping_add(self.data))?;
        let count = usize::try_from(count).ok()?.min(MOST_HEAPS);
        let heap = |at: usize| {
            let heap = memory.word(data.wrapping_add(at * size_of::<usize>()))?;
            let word = |at: usize| memory.word(heap.wrapping_add(at));
            Some(Heap {
                low: word(self.space + self.low)?,
                high: word(self.space + self.high)?,
                segment_map: word(self.segment_map + self.low)?,
                segment_size_log2: memory
                    .u32(heap.wrapping_add(self.segment_size_log2))?
                    .min(usize::BITS - 1),
            })
        };
        (0..count).map(heap).collect()
    }
}

impl Heap {
    /// The block at `address`.
    fn block(&self, memory: &impl Memory, address: usize) -> Option<usize> {
        // `CodeHeap::find_block_for`: the segment map has, for each segment of a block, the distance to an earlier
        // segment of the block, at most 254; 0 at the first segment; 255 in free space. The map of space that the heap
        // has not used yet cannot be read.
        const FREE: u8 = 255;
        /// Each step except the first and the last goes back by many segments. Memory that changes meanwhile must not
        /// keep the search busy.
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

/// The field of a blob that gives the end of the code that builds its frame.
#[derive(Copy, Clone, Debug)]
struct FrameComplete {
    field: usize,
    is_short: bool,
}

impl FrameComplete {
    /// Finds the field.
    fn find(fields: &impl Fields) -> Result<FrameComplete, Missing> {
        const OWNER: &str = "CodeBlob";
        const FIELD: &str = "_frame_complete_offset";
        Ok(FrameComplete {
            field: fields.field(&[OWNER], FIELD)?,
            // An int up to JDK 23, a short from JDK 24 on, and an int again in JDK 28.
            is_short: match fields.find_type(OWNER, FIELD) {
                Some("int16_t") => true,
                Some("int") => false,
                _ => {
                    return Err(Missing::Unexpected(
                        "the type of field CodeBlob::_frame_complete_offset is not known",
                    ));
                }
            },
        })
    }

    /// The distance from the start of the code of `blob`, in bytes; negative if the blob has no frame. `None` if the
    /// memory cannot be read.
    fn read(self, memory: &impl Memory, blob: usize) -> Option<i32> {
        let at = blob.wrapping_add(self.field);
        if self.is_short {
            Some(memory.u16(at)?.cast_signed().into())
        } else {
            memory.i32(at)
        }
    }
}
