//! The VM's code cache: the code at an address (`share/code/codeCache.cpp`,
//! `share/memory/heap.cpp`).

use crate::jvm::os::peek::{Plain, peek, peek_bytes, peek_text};
use crate::jvm::os::signal::HandlerContext;
use crate::jvm::structs::Structs;
use hotspot::code::{Blob, CodeMemory, NMETHOD};
use hotspot::steps::{Code, Piece};
use hotspot::vm::fields::Fields;
use oracle::requests::MethodName;
use std::ffi::{CStr, c_char};
use std::ops::Range;
use std::sync::OnceLock;

/// Finds code by address.
pub struct CodeCache {
    heaps: usize,
    array_length: usize,
    array_data: usize,
    memory: usize,
    segment_map: usize,
    segment_size_log2: usize,
    low: usize,
    low_boundary: usize,
    high_boundary: usize,
    block_header: usize,
    blob_name: usize,
    blob_size: usize,
    code_places: CodePlaces,
    frame_size: usize,
    compile_id: Option<usize>,
    methods: Option<Methods>,
    /// The heaps, once the VM has made them.
    known_heaps: OnceLock<Vec<Heap>>,
}

/// A heap of code, which does not move.
struct Heap {
    /// The start of its code.
    low: usize,
    /// The end of the memory that is reserved for its code.
    end: usize,
    /// The start of its segment map.
    map: usize,
    segment_size_log2: u32,
}

/// Where a blob keeps the addresses of its code.
enum CodePlaces {
    /// Addresses, up to JDK 22.
    Addresses(usize, usize),
    /// Distances from its start.
    Distances(usize, usize),
}

impl CodePlaces {
    fn find(structs: &Structs) -> Option<CodePlaces> {
        let place = |field| structs.field(&["CodeBlob"], field);
        let addresses = || {
            Some(CodePlaces::Addresses(
                place("_code_begin")?,
                place("_code_end")?,
            ))
        };
        let distances = || {
            Some(CodePlaces::Distances(
                place("_code_offset")?,
                place("_data_offset")?,
            ))
        };
        addresses().or_else(distances)
    }
}

/// The blob that runs.
#[derive(Clone, Debug, Default)]
pub struct Running {
    /// Its addresses.
    pub range: Range<usize>,
    /// Its kind.
    pub code: Code,
    /// The piece of code.
    pub piece: Piece,
}

/// Offsets that lead to the names of compiled methods.
struct Methods {
    method: usize,
    level: Option<usize>,
    const_method: usize,
    constants: usize,
    name_index: usize,
    signature_index: usize,
    pool_size: usize,
    pool_holder: usize,
    klass_name: usize,
    symbol_length: usize,
    symbol_body: usize,
}

impl CodeCache {
    /// `None` if this VM does not describe its code cache as expected.
    pub fn find(structs: &Structs) -> Option<CodeCache> {
        let array = &["GrowableArrayBase", "GenericGrowableArray"];
        Some(CodeCache {
            heaps: structs.field(&["CodeCache"], "_heaps")?,
            array_length: structs.field(array, "_len")?,
            array_data: structs.field(&["GrowableArray<int>"], "_data")?,
            memory: structs.field(&["CodeHeap"], "_memory")?,
            segment_map: structs.field(&["CodeHeap"], "_segmap")?,
            segment_size_log2: structs.field(&["CodeHeap"], "_log2_segment_size")?,
            low: structs.field(&["VirtualSpace"], "_low")?,
            low_boundary: structs.field(&["VirtualSpace"], "_low_boundary")?,
            high_boundary: structs.field(&["VirtualSpace"], "_high_boundary")?,
            block_header: structs.size("HeapBlock")?,
            blob_name: structs.field(&["CodeBlob"], "_name")?,
            blob_size: structs.field(&["CodeBlob"], "_size")?,
            code_places: CodePlaces::find(structs)?,
            frame_size: structs.field(&["CodeBlob"], "_frame_size")?,
            compile_id: structs.field(&["nmethod"], "_compile_id"),
            methods: Methods::find(structs),
            known_heaps: OnceLock::new(),
        })
    }

    /// The size of a frame of `blob` in words, the return address included; `None` if the blob has
    /// no frame, or frames of several sizes.
    pub fn frame_words(&self, blob: &Blob) -> Option<usize> {
        self.frame_words_of(blob.start)
    }

    /// The size of a frame of the blob that starts at `blob`, as [`CodeCache::frame_words`] gives it.
    pub fn frame_words_of(&self, blob: usize) -> Option<usize> {
        let words: i32 = peek(blob + self.frame_size)?;
        usize::try_from(words).ok().filter(|&words| words > 0)
    }

    /// The kind of code at `address`: its name without the name of a method, and the tier of a
    /// compiled method.
    pub fn kind(&self, address: usize) -> Option<String> {
        let start = self.blob_start(address)?;
        let name = self.name(start)?;
        let level = self.methods.as_ref().and_then(|methods| methods.level);
        let tier = level.filter(|_| name == NMETHOD);
        Some(match tier.and_then(|level| peek::<i8>(start + level)) {
            Some(tier) => format!("{name} tier {tier}"),
            None => name,
        })
    }

    /// `package.Class.name` of the VM's method at the address `method`.
    pub fn method_name(&self, method: usize) -> Option<String> {
        self.methods.as_ref()?.name_of(method)
    }

    /// `package.Class.name(descriptor)` of the VM's method at the address `method`.
    pub fn full_method_name(&self, method: usize) -> Option<String> {
        let methods = self.methods.as_ref()?;
        let descriptor = methods.text(method, methods.signature_index)?;
        Some(methods.name_of(method)? + &descriptor)
    }

    /// The name of the VM's method at the address `method`.
    pub fn name_of_method(&self, method: usize) -> Option<MethodName> {
        let methods = self.methods.as_ref()?;
        let (class, name) = methods.names_of(method)?;
        let descriptor = methods.text(method, methods.signature_index)?;
        Some(MethodName {
            class,
            name,
            descriptor,
        })
    }

    /// The VM's name for the code at `address`.
    pub fn name_at(&self, address: usize) -> Option<String> {
        self.name(self.blob_start(address)?)
    }

    /// Whether the interrupted thread runs in the memory that is reserved for code.
    pub fn contains_running(&self, context: &HandlerContext<'_>) -> bool {
        let pc = context.registers().pc;
        let in_heap = |heap: &Heap| (heap.low..heap.end).contains(&pc);
        self.known_heaps
            .get()
            .is_some_and(|heaps| heaps.iter().any(in_heap))
    }

    /// The blob at the program counter of the interrupted thread, if the thread runs in the code cache.
    pub fn running(&self, context: &HandlerContext<'_>) -> Option<Running> {
        /// # Safety
        /// `address` must be that of a value.
        unsafe fn read<T: Plain>(address: usize) -> T {
            // SAFETY: as the caller promised.
            unsafe { (address as *const T).read_volatile() }
        }
        let pc = context.registers().pc;
        let in_heap = |heap: &&Heap| (heap.low..heap.end).contains(&pc);
        let heap = self.known_heaps.get()?.iter().find(in_heap)?;
        let log2 = heap.segment_size_log2;
        let mut segment = (pc - heap.low) >> log2;
        // SAFETY: the thread runs this code, so the code is there until the thread leaves it, with its
        // header, its name, and its part of the segment map.
        unsafe {
            loop {
                match read::<u8>(heap.map + segment) {
                    0 => break,
                    back => segment = segment.checked_sub(back.into())?,
                }
            }
            let start = heap.low + (segment << log2) + self.block_header;
            let name = CStr::from_ptr(read::<usize>(start + self.blob_name) as *const c_char);
            let code = Code::of(name.to_bytes());
            let size = read::<i32>(start + self.blob_size);
            let id = match (code, self.compile_id) {
                (Code::Compiled | Code::NativeWrapper, Some(offset)) => read(start + offset),
                _ => 0,
            };
            Some(Running {
                range: start..start + usize::try_from(size).ok()?,
                code,
                piece: Piece { blob: start, id },
            })
        }
    }

    /// The addresses of the code of `blob`, stubs included.
    pub fn code_of(&self, blob: usize) -> Option<Range<usize>> {
        let distance = |place| {
            let distance = usize::try_from(peek::<i32>(blob + place)?).ok()?;
            Some(blob + distance)
        };
        match self.code_places {
            CodePlaces::Addresses(start, end) => Some(peek(blob + start)?..peek(blob + end)?),
            CodePlaces::Distances(start, end) => Some(distance(start)?..distance(end)?),
        }
    }

    /// The number of the compilation of `blob`; 0 if it is no compiled method and no native wrapper.
    pub fn compile_id_of(&self, blob: &Blob) -> i32 {
        let id = blob.is_nmethod().then(|| self.compile_id(blob.start));
        id.flatten().unwrap_or(0)
    }

    /// The number of the compilation of the compiled method `blob`.
    pub fn compile_id(&self, blob: usize) -> Option<i32> {
        peek(blob + self.compile_id?)
    }

    fn name(&self, start: usize) -> Option<String> {
        peek_text(peek(start + self.blob_name)?)
    }

    fn blob_start(&self, address: usize) -> Option<usize> {
        let in_heap = |heap: &&Heap| (heap.low..heap.end).contains(&address);
        let heap = self.heaps()?.iter().find(in_heap)?;
        self.block_in(heap, address)
    }

    /// The heaps; `None` before the VM has made them.
    fn heaps(&self) -> Option<&Vec<Heap>> {
        if let Some(known) = self.known_heaps.get() {
            return Some(known);
        }
        let heaps: usize = peek(self.heaps)?;
        let count: i32 = peek(heaps + self.array_length)?;
        let data: usize = peek(heaps + self.array_data)?;
        let heap = |i: usize| self.heap(peek(data + i * size_of::<usize>())?);
        let found: Option<Vec<_>> = (0..count.clamp(0, 16) as usize).map(heap).collect();
        let found = found.filter(|found| !found.is_empty())?;
        Some(self.known_heaps.get_or_init(|| found))
    }

    fn heap(&self, heap: usize) -> Option<Heap> {
        let memory = heap + self.memory;
        let log2: i32 = peek(heap + self.segment_size_log2)?;
        Some(Heap {
            low: peek(memory + self.low_boundary)?,
            end: peek(memory + self.high_boundary)?,
            map: peek(heap + self.segment_map + self.low)?,
            segment_size_log2: log2.clamp(0, 63).cast_unsigned(),
        })
    }

    /// The segment map holds, for each segment of a block, the distance to an earlier segment of
    /// the block; 0 at the first segment, 255 in free space. The map of space that the heap does
    /// not use yet cannot be read.
    fn block_in(&self, heap: &Heap, address: usize) -> Option<usize> {
        const FREE: u8 = 255;
        let log2 = heap.segment_size_log2;
        let mut segment = (address - heap.low) >> log2;
        loop {
            match peek::<u8>(heap.map + segment)? {
                FREE => return None,
                0 => return Some(heap.low + (segment << log2) + self.block_header),
                back => segment = segment.checked_sub(back.into())?,
            }
        }
    }
}

impl CodeMemory for CodeCache {
    fn blob(&self, address: usize) -> Option<Blob> {
        let start = self.blob_start(address)?;
        let name = self.name(start)?;
        let methods = self.methods.as_ref().filter(|_| name.ends_with("nmethod"));
        Some(Blob {
            start,
            tier: methods
                .and_then(|m| peek::<i8>(start + m.level?))
                .map(i32::from),
            name,
        })
    }

    fn method(&self, code: &Blob) -> Option<String> {
        let methods = self.methods.as_ref().filter(|_| code.is_nmethod());
        methods?.name(code.start)
    }

    fn bytes(&self, address: usize, size: usize) -> Vec<u8> {
        peek_bytes(address, size)
    }
}

impl Methods {
    fn find(structs: &Structs) -> Option<Methods> {
        let nmethod = &["nmethod", "CompiledMethod"];
        Some(Methods {
            method: structs.field(nmethod, "_method")?,
            level: structs.field(nmethod, "_comp_level"),
            const_method: structs.field(&["Method"], "_constMethod")?,
            constants: structs.field(&["ConstMethod"], "_constants")?,
            name_index: structs.field(&["ConstMethod"], "_name_index")?,
            signature_index: structs.field(&["ConstMethod"], "_signature_index")?,
            pool_size: structs.size("ConstantPool")?,
            pool_holder: structs.field(&["ConstantPool"], "_pool_holder")?,
            klass_name: structs.field(&["Klass"], "_name")?,
            symbol_length: structs.field(&["Symbol"], "_length")?,
            symbol_body: structs.field(&["Symbol"], "_body")?,
        })
    }

    /// The name of the method that was compiled to the nmethod at `start`.
    fn name(&self, start: usize) -> Option<String> {
        self.name_of(peek(start + self.method)?)
    }

    /// The name of the method at this address.
    fn name_of(&self, method: usize) -> Option<String> {
        let (class, name) = self.names_of(method)?;
        // The VM appends the address of a hidden class behind `+`. JVMTI appends it behind a dot.
        Some(format!("{}.{name}", class.replace(['/', '+'], ".")))
    }

    /// The class and the name of the method at this address, as the VM has them.
    fn names_of(&self, method: usize) -> Option<(String, String)> {
        let const_method: usize = peek(method.wrapping_add(self.const_method))?;
        let pool: usize = peek(const_method.wrapping_add(self.constants))?;
        let name = self.text(method, self.name_index)?;
        let holder: usize = peek(pool.wrapping_add(self.pool_holder))?;
        let class = self.symbol(peek(holder.wrapping_add(self.klass_name))?)?;
        Some((class, name))
    }

    /// The text in the constant pool of the method's class whose index the method has at `index`.
    fn text(&self, method: usize, index: usize) -> Option<String> {
        let const_method: usize = peek(method.wrapping_add(self.const_method))?;
        let pool: usize = peek(const_method.wrapping_add(self.constants))?;
        let index: u16 = peek(const_method.wrapping_add(index))?;
        let at = pool.wrapping_add(self.pool_size + usize::from(index) * 8);
        self.symbol(peek(at)?)
    }

    fn symbol(&self, symbol: usize) -> Option<String> {
        let length: u16 = peek(symbol.wrapping_add(self.symbol_length))?;
        let bytes = peek_bytes(
            symbol.wrapping_add(self.symbol_body),
            length.min(512).into(),
        );
        (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }
}
