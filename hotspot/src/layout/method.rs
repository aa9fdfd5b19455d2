//! Methods: their bytecode, their names, and their ids (`share/oops/method.hpp`, `share/oops/constMethod.hpp`,
//! `share/oops/instanceKlass.cpp`).

use super::fields::{Fields, Missing};
use crate::memory::Memory;

const WORD: usize = size_of::<usize>();

/// `JVM_ACC_NATIVE` (JVMS 4.6).
const NATIVE: u16 = 0x100;

/// `JVM_ACC_SYNTHETIC` (JVMS 4.6).
const SYNTHETIC: u16 = 0x1000;

/// The VM's address of a method.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Method(pub usize);

/// The layout of a method and its bytecode.
#[derive(Copy, Clone, Debug)]
pub struct Layout {
    part: usize,
    access_flags: usize,
    code_size: usize,
    code: usize,
}

/// The access flags of a method.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct AccessFlags(u16);

impl AccessFlags {
    /// Whether the method is native.
    pub fn is_native(self) -> bool {
        self.0 & NATIVE != 0
    }

    /// Whether the VM itself has made the method, to call what a method handle leads to. It is in no class, and has
    /// the number of another method (`Method::make_method_handle_intrinsic`).
    pub fn is_linker(self) -> bool {
        const BOTH: u16 = NATIVE | SYNTHETIC;
        self.0 & BOTH == BOTH
    }
}

impl Layout {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<Layout, Missing> {
        let method = |field| fields.field(&["Method"], field);
        Ok(Layout {
            part: method("_constMethod")?,
            access_flags: method("_access_flags")?,
            code_size: fields.field(&["ConstMethod"], "_code_size")?,
            code: fields.size("ConstMethod")?,
        })
    }
}

/// The VM's address of the constant part of a method (`ConstMethod`).
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Part(usize);

impl Method {
    /// Its constant part.
    #[inline]
    pub fn part(self, layout: &Layout, memory: &impl Memory) -> Option<Part> {
        let part = memory.word(self.0.wrapping_add(layout.part))?;
        (part != 0 && part.is_multiple_of(WORD)).then_some(Part(part))
    }

    /// Its access flags. Two bytes are enough, and there are no more since JDK 25.
    pub fn flags(self, layout: &Layout, memory: &impl Memory) -> Option<AccessFlags> {
        let flags = memory.u16(self.0.wrapping_add(layout.access_flags))?;
        Some(AccessFlags(flags))
    }

    /// The address of its bytecode, and its size.
    pub fn code(self, layout: &Layout, memory: &impl Memory) -> Option<(usize, u16)> {
        self.part(layout, memory)?.code(layout, memory)
    }
}

impl Part {
    /// The address of the bytecode, and its size.
    #[inline]
    pub fn code(self, layout: &Layout, memory: &impl Memory) -> Option<(usize, u16)> {
        let size = memory.u16(self.at(layout.code_size))?;
        Some((self.at(layout.code), size))
    }

    /// The address of what is at this offset.
    #[inline]
    pub(super) fn at(self, offset: usize) -> usize {
        self.0.wrapping_add(offset)
    }
}

/// The layout of what leads to names: constant pools, classes and symbols.
#[derive(Copy, Clone, Debug)]
pub struct Names {
    methods: Layout,
    constants: usize,
    name_index: usize,
    signature_index: usize,
    pool_holder: usize,
    pool_entries: usize,
    class_name: usize,
    symbol_length: usize,
    symbol_body: usize,
}

/// A text in the VM's memory (`Symbol`), in modified UTF-8.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Text {
    /// Where it starts.
    pub start: usize,
    /// Its length in bytes.
    pub length: u16,
}

impl Names {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<Names, Missing> {
        let part = |field| fields.field(&["ConstMethod"], field);
        Ok(Names {
            methods: Layout::find(fields)?,
            constants: part("_constants")?,
            name_index: part("_name_index")?,
            signature_index: part("_signature_index")?,
            pool_holder: fields.field(&["ConstantPool"], "_pool_holder")?,
            pool_entries: fields.size("ConstantPool")?,
            class_name: fields.field(&["Klass"], "_name")?,
            symbol_length: fields.field(&["Symbol"], "_length")?,
            symbol_body: fields.field(&["Symbol"], "_body")?,
        })
    }

    /// The name of the method.
    pub fn name(&self, memory: &impl Memory, method: Method) -> Option<Text> {
        self.entry(memory, method, self.name_index)
    }

    /// The descriptor of the method.
    pub fn signature(&self, memory: &impl Memory, method: Method) -> Option<Text> {
        self.entry(memory, method, self.signature_index)
    }

    /// The VM's address of the class of the method.
    pub fn class(&self, memory: &impl Memory, method: Method) -> Option<usize> {
        self.class_of_part(memory, self.part(memory, method)?)
    }

    /// The VM's address of the class of the method that has this constant part.
    #[inline]
    pub fn class_of_part(&self, memory: &impl Memory, part: Part) -> Option<usize> {
        memory.word(self.pool(memory, part)?.wrapping_add(self.pool_holder))
    }

    /// The name of the class at `class`, with slashes.
    pub fn class_name(&self, memory: &impl Memory, class: usize) -> Option<Text> {
        self.text(memory, memory.word(class.wrapping_add(self.class_name))?)
    }

    /// The constant part of the method.
    pub(super) fn part(&self, memory: &impl Memory, method: Method) -> Option<Part> {
        method.part(&self.methods, memory)
    }

    #[inline]
    fn pool(&self, memory: &impl Memory, part: Part) -> Option<usize> {
        memory.word(part.at(self.constants))
    }

    /// What the constant pool has at the index that the constant part of the method has at the offset `index`.
    pub(super) fn entry(&self, memory: &impl Memory, method: Method, index: usize) -> Option<Text> {
        let part = self.part(memory, method)?;
        let index = memory.u16(part.at(index))?;
        self.constant(memory, self.pool(memory, part)?, index)
    }

    /// The text at an index of a constant pool.
    pub(super) fn constant(&self, memory: &impl Memory, pool: usize, index: u16) -> Option<Text> {
        let entries = pool.wrapping_add(self.pool_entries);
        let entry = entries.wrapping_add(usize::from(index) * WORD);
        self.text(memory, memory.word(entry)?)
    }

    fn text(&self, memory: &impl Memory, symbol: usize) -> Option<Text> {
        Some(Text {
            start: symbol.wrapping_add(self.symbol_body),
            length: memory.u16(symbol.wrapping_add(self.symbol_length))?,
        })
    }
}

/// The layout of what leads to `jmethodID`s.
#[derive(Copy, Clone, Debug)]
pub struct Ids {
    number: usize,
    ids: usize,
    methods: usize,
    methods_start: usize,
    /// Where a class has its previous version; `None` where no class has one.
    previous: Option<usize>,
}

impl Ids {
    /// Finds the layout.
    pub fn find(fields: &impl Fields) -> Result<Ids, Missing> {
        Ok(Ids {
            number: fields.field(&["ConstMethod"], "_method_idnum")?,
            ids: fields.field(&["InstanceKlass"], "_methods_jmethod_ids")?,
            methods: fields.field(&["InstanceKlass"], "_methods")?,
            methods_start: fields.field(&["Array<Method*>"], "_data")?,
            // `InstanceKlass::_previous_versions`, of which no VM publishes the offset, is behind `_breakpoints`.
            previous: fields
                .find_field("InstanceKlass", "_breakpoints")
                .map(|breakpoints| breakpoints + WORD),
        })
    }

    /// The method whose id is `id`, in the class at `klass` that has it. The id is looked for, and not followed.
    pub fn method_of(
        &self,
        names: &Names,
        memory: &impl Memory,
        klass: usize,
        id: usize,
    ) -> Option<Method> {
        self.methods(memory, klass)?
            .find(|&method| self.id(names, memory, method) == Some(id))
    }

    /// The methods of the class at `klass`, those that the VM has added among them.
    pub fn methods(
        &self,
        memory: &impl Memory,
        klass: usize,
    ) -> Option<impl Iterator<Item = Method>> {
        /// `Array::_length` is an int at the start.
        const LENGTH: usize = 0;
        const MOST: u32 = 1 << 16;
        let methods = memory.word(klass.wrapping_add(self.methods))?;
        let count = memory.u32(methods.wrapping_add(LENGTH))?.min(MOST);
        let start = methods.wrapping_add(self.methods_start);
        let method = move |at: usize| memory.word(start.wrapping_add(at * WORD)).map(Method);
        Some((0..count as usize).filter_map(method))
    }

    /// Whether the class at `klass` has a method now, or has had it in a version of the class that still runs.
    pub fn has(&self, memory: &impl Memory, klass: usize, method: Method) -> bool {
        /// The VM frees versions that no longer run at each redefinition (`InstanceKlass::purge_previous_versions`).
        const MOST_VERSIONS: usize = 1 << 8;
        // A version is a class that has the methods, and is not loaded by itself (`VM_RedefineClasses::redefine_single_class`).
        let previous = |version: &usize| {
            let version = memory.word(version.wrapping_add(self.previous?))?;
            (version != 0 && version.is_multiple_of(WORD)).then_some(version)
        };
        let is_there = |version| {
            let methods = self.methods(memory, version);
            methods.is_some_and(|mut methods| methods.any(|other| other == method))
        };
        std::iter::successors(Some(klass), previous)
            .take(MOST_VERSIONS)
            .any(is_there)
    }

    /// The number of the method that has this constant part: its place in the class as it was loaded. A method of a new version
    /// of the class takes the number of the one that it replaces, which gets a new one if it is different.
    #[inline]
    pub fn number(&self, memory: &impl Memory, part: Part) -> Option<u16> {
        memory.u16(part.at(self.number))
    }

    /// The `jmethodID` of a method that is no linker; 0 if the VM has made none.
    pub fn id(&self, names: &Names, memory: &impl Memory, method: Method) -> Option<usize> {
        let part = names.part(memory, method)?;
        let number = self.number(memory, part)?;
        self.id_of_number(memory, names.class_of_part(memory, part)?, number)
    }

    /// As [`Ids::id`], of the method that has this number in the class at `class`.
    #[inline]
    pub fn id_of_number(&self, memory: &impl Memory, class: usize, number: u16) -> Option<usize> {
        let number = usize::from(number);
        let ids = memory.word(class.wrapping_add(self.ids))?;
        // The first word is the number of the ids that follow (`InstanceKlass::get_jmethod_id`).
        if ids == 0 || memory.word(ids)? <= number {
            return Some(0);
        }
        memory.word(ids.wrapping_add((number + 1) * WORD))
    }
}
