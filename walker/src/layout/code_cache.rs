//! The VM's code cache: the code at an address (`share/code/codeCache.cpp`,
//! `share/memory/heap.cpp`).

use hotspot::layout::code_cache::CodeCache as Cache;
use hotspot::layout::fields::Missing;
use hotspot::layout::nmethod::{Compilation, Layout as NmethodLayout, Nmethod};
use hotspot::layout::oop_maps::Layout as OopMaps;
use hotspot::memory::Memory;
use vm::tables::Tables;

/// Finds code by address.
pub struct CodeCache {
    cache: Cache,
    nmethods: NmethodLayout,
    /// The oop maps; without them, no record is known to be between safepoints.
    oop_maps: Option<OopMaps>,
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
    /// Whether the VM publishes what the cache needs.
    pub fn check(tables: &Tables) -> Result<(), Missing> {
        Cache::find(tables)?;
        NmethodLayout::find(tables).map(drop)
    }

    /// Finds the cache.
    pub fn find(tables: &Tables, memory: &impl Memory) -> Result<CodeCache, Missing> {
        let cache = Cache::find(tables)?;
        if !cache.learn(memory) {
            return Err(Missing::Unexpected("the code cache has no heaps"));
        }
        Ok(CodeCache {
            cache,
            nmethods: NmethodLayout::find(tables)?,
            oop_maps: OopMaps::find(tables).ok(),
        })
    }

    /// The layout of compiled methods.
    pub fn nmethods(&self) -> &NmethodLayout {
        &self.nmethods
    }

    /// Whether `nmethod` has an oop map at a distance from the start of its code; `None` if this is not known.
    pub fn has_map(&self, memory: &impl Memory, nmethod: Nmethod, pc_offset: i32) -> Option<bool> {
        self.oop_maps.as_ref()?.has_map(memory, nmethod, pc_offset)
    }

    /// Whether `address` lies in the cache.
    pub fn contains(&self, address: usize) -> bool {
        self.cache.contains(address)
    }

    /// The code at `address`; `None` if there is no code.
    pub fn blob(&self, memory: &impl Memory, address: usize) -> Option<Blob> {
        let start = self.cache.start(memory, address)?;
        if !self.cache.is_used(memory, start)? {
            return None;
        }
        let name = self.cache.name(memory, start)?;
        let code = self.cache.code(memory, start)?;
        let complete = self.cache.frame_complete(memory, start)?;
        Some(Blob {
            start,
            kind: Kind::of(memory, name, Nmethod(start))?,
            frame_words: self.cache.frame_words(memory, start)?,
            code: code.start,
            end: code.end,
            frame_complete: complete.map(|complete| code.start.wrapping_add(complete)),
        })
    }

    /// The compilation whose code is at `nmethod`, if its memory is still in use.
    #[inline]
    pub fn compilation(&self, memory: &impl Memory, nmethod: Nmethod) -> Option<Compilation> {
        let compilation = nmethod.compilation(&self.nmethods, memory)?;
        self.cache
            .is_used(memory, nmethod.0)?
            .then_some(compilation)
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
