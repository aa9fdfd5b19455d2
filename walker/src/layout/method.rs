//! Methods as walks need them: bytecode, names, and jmethodIDs (`share/oops/method.hpp`,
//! `share/oops/instanceKlass.cpp`).

use crate::layout::class::Class;
use crate::layout::loaders::Loaders;
use crate::layout::memo::Memo;
use crate::layout::stamp::{Stamp, Stamped};
use hotspot::layout::bytecodes::{Bytecode, VmOpcodes};
use hotspot::layout::fields::Missing;
use hotspot::layout::generic::GenericSignatures;
use hotspot::layout::loaded::LoadedClasses;
use hotspot::layout::method::{Ids, Layout, Method, Names, Text};
use hotspot::layout::objects::Mirrors;
use hotspot::layout::trace_ids::TraceIds;
use hotspot::memory::Memory;
use jni_sys::JNIEnv;
use vm::memory::{Live, Permanent};
use vm::tables::Tables;

/// What a walk needs to know of a method.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Known {
    /// Its jmethodID, or 0.
    pub id: usize,
    /// Whether it is native.
    pub is_native: bool,
    /// The method, with its stamp.
    pub method: Stamped,
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

/// Where a row of [`Methods::known`] has the stamp, above the size of the bytecode and whether the method is native.
const STAMP: u32 = 32;

/// Reads methods.
pub struct Methods {
    layout: Layout,
    names: Names,
    generic: GenericSignatures,
    loaded: LoadedClasses,
    ids: Ids,
    are_ids_words: bool,
    /// Where classes have their trace ids; `None` in a VM without JFR.
    trace_ids: Option<TraceIds>,
    opcodes: VmOpcodes,
    /// What walks have read of methods, by the address of the method, where ids are words.
    known: Memo<4>,
}

impl Methods {
    /// Whether the VM publishes the layouts.
    pub fn check(tables: &Tables) -> Result<(), Missing> {
        Layout::find(tables)?;
        Names::find(tables)?;
        GenericSignatures::find(tables)?;
        LoadedClasses::find(tables)?;
        Ids::find(tables).map(drop)
    }

    /// Reads the layouts.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread, which is attached, without a pending exception.
    pub unsafe fn learn(
        tables: &Tables,
        mirrors: &Mirrors,
        memory: &impl Memory,
        env: *mut JNIEnv,
    ) -> Result<Methods, Missing> {
        let mut methods = Methods {
            layout: Layout::find(tables)?,
            names: Names::find(tables)?,
            generic: GenericSignatures::find(tables)?,
            loaded: LoadedClasses::find(tables)?,
            ids: Ids::find(tables)?,
            are_ids_words: false,
            trace_ids: None,
            opcodes: VmOpcodes::find(tables),
            known: Memo::default(),
        };
        // Up to JDK 25 an id is the address of a word that has the method; from JDK 26 on it is a number
        // (`jmethodIDTable.cpp`). A method whose id is known shows which of them.
        let known = || {
            // SAFETY: as the caller promised.
            let class = unsafe { Class::find(mirrors, memory, env, c"java/lang/Object")? };
            let id = class.method(c"hashCode", c"()I")?;
            let method = methods.method_of(memory, class.klass, id)?;
            Some((id, method, class.klass))
        };
        let (id, Method(method), object) = known().ok_or(Missing::Unexpected(
            "java.lang.Object.hashCode has no jmethodID where jmethodIDs are looked for",
        ))?;
        methods.are_ids_words =
            id.is_multiple_of(size_of::<usize>()) && memory.word(id) == Some(method);
        // SAFETY: as the caller promised.
        let loaders = unsafe { Loaders::of_the_jdk(env) };
        methods
            .loaded
            .remember_lasting(memory, object, &loaders.handles());
        methods.trace_ids = TraceIds::find(tables, memory, object).ok();
        Ok(methods)
    }

    /// The method whose id is `id`, in the class at `klass` that has it.
    pub(super) fn method_of(
        &self,
        memory: &impl Memory,
        klass: usize,
        id: usize,
    ) -> Option<Method> {
        self.ids.method_of(&self.names, memory, klass, id)
    }

    /// The bytecode of a method.
    pub fn bytecode(&self, known: &Known) -> Bytecode {
        Bytecode {
            start: known.code,
            size: known.size,
            opcodes: self.opcodes,
        }
    }

    /// Whether the words from this address to the class look like a method.
    pub fn is_plausible(&self, memory: &impl Memory, method: Method) -> bool {
        let class = || self.class(memory, method);
        method.0.is_multiple_of(size_of::<usize>()) && class().is_some_and(|class| class != 0)
    }

    /// The VM's address of the class of a method.
    pub fn class(&self, memory: &impl Memory, method: Method) -> Option<usize> {
        self.names.class(memory, method)
    }

    /// The jmethodID of a method; 0 if the VM has made none, as in AsyncGetCallTrace.
    #[inline]
    pub fn id(&self, memory: &Live<'_>, method: Method) -> Option<usize> {
        Some(self.known(memory, method)?.id)
    }

    /// What a walk needs to know of a method.
    #[inline]
    pub fn known(&self, memory: &Live<'_>, method: Method) -> Option<Known> {
        match self.kept(method) {
            Some(known) => Some(known),
            None => self.read(memory, method),
        }
    }

    /// What an earlier walk has read of a method, if the method still has its id.
    #[inline]
    fn kept(&self, method: Method) -> Option<Known> {
        let [_, id, code, rest] = self.known.get(method.0)?;
        // SAFETY: a method is kept only where ids are words, and such a HotSpot never frees ids, so that those of
        // classes that are gone can be told (`JNIMethodBlock` of `share/oops/method.cpp`).
        let ids = unsafe { Permanent::new() };
        let stamp = Stamp::of_number((rest >> STAMP) as u32);
        (ids.word(id) == Some(method.0)).then_some(Known {
            id,
            code,
            size: (rest >> 1) as u16,
            is_native: rest & 1 != 0,
            method: Stamped::of_method(method, stamp),
        })
    }

    /// Reads what a walk needs to know. Where ids are words, it is kept as long as the method has its id.
    #[cold]
    fn read(&self, memory: &Live<'_>, method: Method) -> Option<Known> {
        let part = method.part(&self.layout, memory)?;
        let (code, size) = part.code(&self.layout, memory)?;
        let flags = method.flags(&self.layout, memory)?;
        let class = self.names.class_of_part(memory, part);
        let number = self.ids.number(memory, part);
        let in_class = class.zip(number);
        let stamp = in_class.map(|(class, number)| self.stamp_in(memory, class, number));
        let id = if flags.is_linker() {
            Some(0)
        } else {
            in_class.and_then(|(class, number)| self.ids.id_of_number(memory, class, number))
        };
        let known = Known {
            // A frame without an id or a stamp is better than none.
            method: Stamped::of_method(method, stamp.unwrap_or(Stamp::NONE)),
            id: id.unwrap_or(0),
            code,
            size,
            is_native: flags.is_native(),
        };
        // The word is null where the method was unloaded, and is another method where the class was redefined. A number
        // shows nothing of this kind, and the address of a method that was unloaded may become that of another.
        if self.are_ids_words && known.id != 0 && memory.word(known.id) == Some(method.0) {
            let stamp = (known.method.stamp().number() as usize) << STAMP;
            let rest = usize::from(known.size) << 1 | usize::from(known.is_native) | stamp;
            self.known.put([method.0, known.id, known.code, rest]);
        }
        Some(known)
    }

    /// A method, with its stamp.
    #[inline(never)]
    pub fn stamped(&self, memory: &Live<'_>, method: Method) -> Stamped {
        match self.kept(method) {
            Some(known) => known.method,
            None => Stamped::of_method(method, self.read_stamp(memory, method)),
        }
    }

    /// The stamp of a method, read anew: for code that a walk meets for the first time.
    #[cold]
    pub fn read_stamp(&self, memory: &impl Memory, method: Method) -> Stamp {
        let stamp = || {
            let part = method.part(&self.layout, memory)?;
            let class = self.names.class_of_part(memory, part)?;
            Some(self.stamp_in(memory, class, self.ids.number(memory, part)?))
        };
        stamp().unwrap_or(Stamp::NONE)
    }

    /// The stamp of the method that has this number in the class at `class`.
    fn stamp_in(&self, memory: &impl Memory, class: usize, number: u16) -> Stamp {
        let id = self.trace_id(memory, class);
        id.map_or(Stamp::NONE, |id| Stamp::of_method(id, number))
    }

    /// The stamp of the class at `class`.
    fn stamp_of_class(&self, memory: &impl Memory, class: usize) -> Stamp {
        let id = self.trace_id(memory, class);
        id.map_or(Stamp::NONE, Stamp::of_class)
    }

    fn trace_id(&self, memory: &impl Memory, class: usize) -> Option<usize> {
        self.trace_ids.and_then(|ids| ids.of(memory, class))
    }

    /// Copies the name of a method into `buffer`, as far as it fits. Returns the length of the whole name.
    pub fn name(&self, memory: &impl Memory, method: Method, buffer: &mut [u8]) -> Option<usize> {
        copy(memory, self.names.name(memory, method)?, buffer)
    }

    /// Copies the descriptor of a method, as [`Methods::name`] copies the name.
    pub fn signature(
        &self,
        memory: &impl Memory,
        method: Method,
        buffer: &mut [u8],
    ) -> Option<usize> {
        copy(memory, self.names.signature(memory, method)?, buffer)
    }

    /// Copies the generic signature of a method that has one, as [`Methods::name`] copies the name.
    pub fn generic_signature(
        &self,
        memory: &impl Memory,
        method: Method,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let text = self.generic.of_method(&self.names, memory, method)?;
        copy(memory, text, buffer)
    }

    /// The class of a method, if the VM still has the class and the method in it.
    pub fn loaded_class(&self, memory: &impl Memory, stamped: Stamped) -> Option<Stamped> {
        let method = stamped.method();
        let class = self.class(memory, method)?;
        if !self.loaded.has(memory, class) {
            return None;
        }
        // No class has the methods that the VM makes to call what a method handle leads to. They are never freed.
        let is_there =
            method.flags(&self.layout, memory)?.is_linker() || self.ids.has(memory, class, method);
        let is_same = is_there && is_still(stamped.stamp(), || self.read_stamp(memory, method));
        is_same.then(|| Stamped::new(class, self.stamp_of_class(memory, class)))?
    }

    /// Whether the VM still has the class that had this address.
    pub fn is_loaded(&self, memory: &impl Memory, class: Stamped) -> bool {
        let address = class.address();
        self.loaded.has(memory, address)
            && is_still(class.stamp(), || self.stamp_of_class(memory, address))
    }

    /// Copies the generic signature of a class that has one, as [`Methods::name`] copies the name.
    pub fn generic_class_name(
        &self,
        memory: &impl Memory,
        class: usize,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let text = self.generic.of_class(&self.names, memory, class)?;
        copy(memory, text, buffer)
    }

    /// Copies the name of the class at `class`, with slashes, as [`Methods::name`] copies the name.
    pub fn class_name(
        &self,
        memory: &impl Memory,
        class: usize,
        buffer: &mut [u8],
    ) -> Option<usize> {
        copy(memory, self.names.class_name(memory, class)?, buffer)
    }
}

/// Whether what had this stamp is still what has the stamp `now`. What had none may be another.
fn is_still(stamp: Stamp, now: impl FnOnce() -> Stamp) -> bool {
    stamp == Stamp::NONE || now() == stamp
}

fn copy(memory: &impl Memory, text: Text, buffer: &mut [u8]) -> Option<usize> {
    let length = usize::from(text.length);
    for (at, byte) in buffer.iter_mut().enumerate().take(length) {
        *byte = memory.u8(text.start.wrapping_add(at))?;
    }
    Some(length)
}
