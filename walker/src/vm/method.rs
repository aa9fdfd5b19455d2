//! The VM's `Method`: its bytecode, its names, and its jmethodID (`share/oops/method.hpp`,
//! `share/oops/instanceKlass.cpp`).

use crate::memory::{Live, Permanent};
use crate::vm::class::Class;
use crate::vm::memo::Memo;
use crate::vm::tables::Tables;
use hotspot::memory::Memory;
use hotspot::vm::fields::Fields;
use jni_sys::JNIEnv;

const WORD: usize = size_of::<usize>();

/// `JVM_ACC_NATIVE` (JVMS 4.6).
const NATIVE: u32 = 0x100;

/// `JVM_ACC_SYNTHETIC` (JVMS 4.6).
const SYNTHETIC: u32 = 0x1000;

/// The VM's address of a method.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Method(pub usize);

/// What a walk needs to know of a method.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Known {
    /// Its jmethodID, or 0.
    pub id: usize,
    /// Whether it is native.
    pub is_native: bool,
    code: usize,
    size: u16,
}

impl Known {
    /// The BCI of the bytecode at `bcp`; `None` if `bcp` is outside of the method's bytecode.
    pub fn bci(&self, bcp: usize) -> Option<u16> {
        let bci = u16::try_from(bcp.wrapping_sub(self.code)).ok()?;
        (bci < self.size).then_some(bci)
    }
}

/// The layout of a method.
pub struct Layout {
    const_method: usize,
    access_flags: usize,
    constants: usize,
    code_size: usize,
    code: usize,
    name_index: usize,
    signature_index: usize,
    number: usize,
    pool_holder: usize,
    pool_entries: usize,
    methods: usize,
    methods_start: usize,
    ids: usize,
    are_ids_words: bool,
    class_name: usize,
    symbol_length: usize,
    symbol_body: usize,
    /// What walks have read of methods, by the address of the method, where ids are words.
    known: Memo<4>,
}

impl Layout {
    /// Reads the layout. `None` if this VM does not describe its methods as expected.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread, which is attached, without a pending exception.
    pub unsafe fn learn(tables: &Tables, memory: &impl Memory, env: *mut JNIEnv) -> Option<Layout> {
        let method = |field| tables.field(&["Method"], field);
        let part = |field| tables.field(&["ConstMethod"], field);
        let mut layout = Layout {
            const_method: method("_constMethod")?,
            access_flags: method("_access_flags")?,
            constants: part("_constants")?,
            code_size: part("_code_size")?,
            code: tables.size("ConstMethod")?,
            name_index: part("_name_index")?,
            signature_index: part("_signature_index")?,
            number: part("_method_idnum")?,
            pool_holder: tables.field(&["ConstantPool"], "_pool_holder")?,
            pool_entries: tables.size("ConstantPool")?,
            methods: tables.field(&["InstanceKlass"], "_methods")?,
            methods_start: tables.field(&["Array<Method*>"], "_data")?,
            ids: tables.field(&["InstanceKlass"], "_methods_jmethod_ids")?,
            are_ids_words: false,
            class_name: tables.field(&["Klass"], "_name")?,
            symbol_length: tables.field(&["Symbol"], "_length")?,
            symbol_body: tables.field(&["Symbol"], "_body")?,
            known: Memo::default(),
        };
        // Up to JDK 25 an id is the address of a word that has the method; from JDK 26 on it is a number (`jmethodIDTable.cpp`).
        // A method whose id is known shows which of them.
        // SAFETY: as the caller promised.
        let class = unsafe { Class::find(tables, memory, env, c"java/lang/Object")? };
        let id = class.method(c"hashCode", c"()I")?;
        let Method(method) = layout.method_of(memory, class.klass, id)?;
        layout.are_ids_words = id.is_multiple_of(WORD) && memory.word(id) == Some(method);
        Some(layout)
    }

    /// The method whose id is `id`, in the class at `klass` that has it. The id is looked for, and not followed.
    pub(super) fn method_of(
        &self,
        memory: &impl Memory,
        klass: usize,
        id: usize,
    ) -> Option<Method> {
        /// `Array::_length` is an int at the start.
        const LENGTH: usize = 0;
        const MOST: u32 = 1 << 16;
        let methods = memory.word(klass.wrapping_add(self.methods))?;
        let count = memory.u32(methods.wrapping_add(LENGTH))?.min(MOST);
        let start = methods.wrapping_add(self.methods_start);
        (0..count as usize)
            .filter_map(|at| memory.word(start.wrapping_add(at * WORD)).map(Method))
            .find(|method| method.read_id(self, memory) == Some(id))
    }
}

impl Method {
    /// Whether the words from this address to the class look like a method.
    pub fn is_plausible(self, layout: &Layout, memory: &impl Memory) -> bool {
        self.0.is_multiple_of(WORD) && self.class(layout, memory).is_some_and(|class| class != 0)
    }

    fn part(self, layout: &Layout, memory: &impl Memory) -> Option<usize> {
        let part = memory.word(self.0.wrapping_add(layout.const_method))?;
        (part != 0 && part.is_multiple_of(WORD)).then_some(part)
    }

    fn pool(self, layout: &Layout, memory: &impl Memory) -> Option<usize> {
        memory.word(self.part(layout, memory)?.wrapping_add(layout.constants))
    }

    /// The VM's address of its class.
    pub fn class(self, layout: &Layout, memory: &impl Memory) -> Option<usize> {
        memory.word(self.pool(layout, memory)?.wrapping_add(layout.pool_holder))
    }

    /// Whether the VM has made it, to call what a method handle leads to. It is in no class, and has the number of
    /// another method (`Method::make_method_handle_intrinsic`).
    fn is_linker(self, layout: &Layout, memory: &impl Memory) -> Option<bool> {
        let both = NATIVE | SYNTHETIC;
        Some(self.flags(layout, memory)? & both == both)
    }

    fn flags(self, layout: &Layout, memory: &impl Memory) -> Option<u32> {
        // Two bytes are enough, and there are no more since JDK 25.
        let flags = memory.u16(self.0.wrapping_add(layout.access_flags))?;
        Some(flags.into())
    }

    /// Its jmethodID; 0 if the VM has made none, as in AsyncGetCallTrace.
    #[inline]
    pub fn id(self, layout: &Layout, memory: &Live<'_>) -> Option<usize> {
        Some(self.known(layout, memory)?.id)
    }

    /// What a walk needs to know of it.
    #[inline]
    pub fn known(self, layout: &Layout, memory: &Live<'_>) -> Option<Known> {
        if let Some([_, id, code, rest]) = layout.known.get(self.0) {
            // SAFETY: a method is kept only where ids are words, and such a HotSpot never frees ids, so that those of
            // classes that are gone can be told (`JNIMethodBlock` of `share/oops/method.cpp`).
            let ids = unsafe { Permanent::new() };
            if ids.word(id) == Some(self.0) {
                let (size, is_native) = ((rest >> 1) as u16, rest & 1 != 0);
                return Some(Known {
                    id,
                    code,
                    size,
                    is_native,
                });
            }
        }
        self.read(layout, memory)
    }

    /// Reads what a walk needs to know. Where ids are words, it is kept as long as the method has its id.
    #[cold]
    fn read(self, layout: &Layout, memory: &Live<'_>) -> Option<Known> {
        let part = self.part(layout, memory)?;
        let known = Known {
            // A frame without an id is better than none.
            id: self.read_id(layout, memory).unwrap_or(0),
            code: part.wrapping_add(layout.code),
            size: memory.u16(part.wrapping_add(layout.code_size))?,
            is_native: self.flags(layout, memory)? & NATIVE != 0,
        };
        // The word is null where the method was unloaded, and is another method where the class was redefined. A number shows
        // nothing of this kind, and the address of a method that was unloaded may become that of another.
        if layout.are_ids_words && known.id != 0 && memory.word(known.id) == Some(self.0) {
            let rest = usize::from(known.size) << 1 | usize::from(known.is_native);
            layout.known.put([self.0, known.id, known.code, rest]);
        }
        Some(known)
    }

    fn read_id(self, layout: &Layout, memory: &impl Memory) -> Option<usize> {
        if self.is_linker(layout, memory)? {
            return Some(0);
        }
        let part = self.part(layout, memory)?;
        let number = usize::from(memory.u16(part.wrapping_add(layout.number))?);
        let pool = memory.word(part.wrapping_add(layout.constants))?;
        let class = memory.word(pool.wrapping_add(layout.pool_holder))?;
        let ids = memory.word(class.wrapping_add(layout.ids))?;
        if ids == 0 {
            return Some(0);
        }
        // The first word is the number of the ids that follow.
        if memory.word(ids)? <= number {
            return Some(0);
        }
        memory.word(ids.wrapping_add((number + 1) * WORD))
    }

    /// Copies its name into `buffer`, as far as it fits. Returns the length of the whole name.
    pub fn name(self, layout: &Layout, memory: &impl Memory, buffer: &mut [u8]) -> Option<usize> {
        self.entry(layout, memory, layout.name_index, buffer)
    }

    /// Copies its descriptor, as [`Method::name`] copies the name.
    pub fn signature(
        self,
        layout: &Layout,
        memory: &impl Memory,
        buffer: &mut [u8],
    ) -> Option<usize> {
        self.entry(layout, memory, layout.signature_index, buffer)
    }

    fn entry(
        self,
        layout: &Layout,
        memory: &impl Memory,
        index: usize,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let part = self.part(layout, memory)?;
        let index = usize::from(memory.u16(part.wrapping_add(index))?);
        let pool = memory.word(part.wrapping_add(layout.constants))?;
        let entries = pool.wrapping_add(layout.pool_entries);
        let symbol = memory.word(entries.wrapping_add(index * WORD))?;
        text(layout, memory, symbol, buffer)
    }
}

/// Copies the name of the class at `class`, with slashes, into `buffer`, as far as it fits. Returns
/// the length of the whole name.
pub fn class_name(
    layout: &Layout,
    memory: &impl Memory,
    class: usize,
    buffer: &mut [u8],
) -> Option<usize> {
    let symbol = memory.word(class.wrapping_add(layout.class_name))?;
    text(layout, memory, symbol, buffer)
}

fn text(layout: &Layout, memory: &impl Memory, symbol: usize, buffer: &mut [u8]) -> Option<usize> {
    let length = usize::from(memory.u16(symbol.wrapping_add(layout.symbol_length))?);
    let body = symbol.wrapping_add(layout.symbol_body);
    for (at, byte) in buffer.iter_mut().enumerate().take(length) {
        *byte = memory.u8(body.wrapping_add(at))?;
    }
    Some(length)
}
