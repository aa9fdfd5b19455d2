//! The VM's code cache, with names: the code at an address, and the methods that it is of.

use crate::jvm::os::signal::HandlerContext;
use hotspot::code::{Blob, CodeMemory, NMETHOD};
use hotspot::layout::code_cache::CodeCache as Cache;
use hotspot::layout::fields::Missing;
use hotspot::layout::method::{Method, Names, Text};
use hotspot::layout::nmethod::{Layout as Nmethods, Nmethod};
use hotspot::steps::{Code, Piece};
use oracle::requests::MethodName;
use std::ffi::{CStr, c_char};
use std::ops::Range;
use vm::memory::Permanent;
use vm::memory::kernel::{OwnMemory, peek_bytes, peek_text};
use vm::tables::Tables;

/// Finds code by address.
pub struct CodeCache {
    cache: Cache,
    nmethods: Result<Nmethods, Missing>,
    names: Result<Names, Missing>,
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

impl CodeCache {
    /// Finds the cache. Without the layouts of compiled methods and of names the rest is there.
    pub fn find(tables: &Tables) -> Result<CodeCache, Missing> {
        Ok(CodeCache {
            cache: Cache::find(tables)?,
            nmethods: Nmethods::find(tables),
            names: Names::find(tables),
        })
    }

    /// Finds out where the heaps of code are, for handlers. In the live phase.
    pub fn learn(&self) {
        self.cache.learn(&OwnMemory);
    }

    /// The layout of compiled methods.
    pub fn nmethods(&self) -> Result<&Nmethods, &Missing> {
        self.nmethods.as_ref()
    }

    /// The layout of what leads to the names of methods.
    pub fn names(&self) -> Result<&Names, &Missing> {
        self.names.as_ref()
    }

    /// The size of a frame of the blob that starts at `blob` in words, the return address included; `None` if the blob
    /// has no frame, or frames of several sizes.
    pub fn frame_words(&self, blob: usize) -> Option<usize> {
        self.cache.frame_words(&OwnMemory, blob)?
    }

    /// How far behind the start of its code the frame of the blob that starts at `blob` is complete; `None` if it has
    /// no frame.
    pub fn frame_complete(&self, blob: usize) -> Option<usize> {
        self.cache.frame_complete(&OwnMemory, blob)?
    }

    /// The kind of code at `address`: its name without the name of a method, and the tier of a
    /// compiled method.
    pub fn kind(&self, address: usize) -> Option<String> {
        let start = self.start(address)?;
        let name = self.name(start)?;
        let tier = (name == NMETHOD).then(|| self.tier(start)).flatten();
        Some(match tier {
            Some(tier) => format!("{name} tier {tier}"),
            None => name,
        })
    }

    /// `package.Class.name` of the VM's method at the address `method`.
    pub fn method_name(&self, method: usize) -> Option<String> {
        let MethodName { class, name, .. } = self.name_of_method(method)?;
        // The VM appends the address of a hidden class behind `+`. JVMTI appends it behind a dot.
        Some(format!("{}.{name}", class.replace(['/', '+'], ".")))
    }

    /// `package.Class.name(descriptor)` of the VM's method at the address `method`.
    pub fn full_method_name(&self, method: usize) -> Option<String> {
        let descriptor = self.name_of_method(method)?.descriptor;
        Some(self.method_name(method)? + &descriptor)
    }

    /// The name of the VM's method at the address `method`, as the VM has it.
    pub fn name_of_method(&self, method: usize) -> Option<MethodName> {
        let names = self.names.as_ref().ok()?;
        let method = Method(method);
        let class = names.class(&OwnMemory, method)?;
        Some(MethodName {
            class: text(names.class_name(&OwnMemory, class)?)?,
            name: text(names.name(&OwnMemory, method)?)?,
            descriptor: text(names.signature(&OwnMemory, method)?)?,
        })
    }

    /// Whether `address` is in the memory that is reserved for code.
    pub fn contains(&self, address: usize) -> bool {
        self.learn();
        self.cache.contains(address)
    }

    /// Whether the interrupted thread runs in the memory that is reserved for code.
    pub fn contains_running(&self, context: &HandlerContext<'_>) -> bool {
        self.cache.contains(context.registers().pc)
    }

    /// The blob at the program counter of the interrupted thread, if the thread runs in the code cache.
    pub fn running(&self, context: &HandlerContext<'_>) -> Option<Running> {
        // SAFETY: the thread runs this code, so the code is there until the thread leaves it, with its
        // header, its name, and its part of the segment map.
        let memory = unsafe { Permanent::new() };
        let start = self.cache.start(&memory, context.registers().pc)?;
        let name = self.cache.name(&memory, start)? as *const c_char;
        // SAFETY: as above, and the name is a zero-terminated text.
        let code = Code::of(unsafe { CStr::from_ptr(name) }.to_bytes());
        let id = match (code, &self.nmethods) {
            (Code::Compiled | Code::NativeWrapper, Ok(layout)) => {
                Nmethod(start).compilation(layout, &memory)?.id
            }
            _ => 0,
        };
        Some(Running {
            range: self.cache.range(&memory, start)?,
            code,
            piece: Piece {
                blob: start,
                id: id.cast_signed(),
            },
        })
    }

    /// The addresses of the code of the blob that starts at `blob`, stubs included.
    pub fn code_of(&self, blob: usize) -> Option<Range<usize>> {
        self.cache.code(&OwnMemory, blob)
    }

    /// The number of the compilation of `blob`; 0 if it is no compiled method and no native wrapper.
    pub fn compile_id_of(&self, blob: &Blob) -> i32 {
        let id = blob.is_nmethod().then(|| self.compile_id(blob.start));
        id.flatten().unwrap_or(0)
    }

    /// The number of the compilation of the compiled method that starts at `blob`.
    pub fn compile_id(&self, blob: usize) -> Option<i32> {
        let layout = self.nmethods.as_ref().ok()?;
        let compilation = Nmethod(blob).compilation(layout, &OwnMemory)?;
        Some(compilation.id.cast_signed())
    }

    fn tier(&self, start: usize) -> Option<i8> {
        Nmethod(start).level(self.nmethods.as_ref().ok()?, &OwnMemory)
    }

    fn name(&self, start: usize) -> Option<String> {
        peek_text(self.cache.name(&OwnMemory, start)?)
    }

    fn start(&self, address: usize) -> Option<usize> {
        self.learn();
        self.cache.start(&OwnMemory, address)
    }
}

impl CodeMemory for CodeCache {
    fn blob(&self, address: usize) -> Option<Blob> {
        let start = self.start(address)?;
        let name = self.name(start)?;
        let is_nmethod = name.ends_with(NMETHOD);
        let tier = is_nmethod.then(|| self.tier(start)).flatten();
        Some(Blob {
            start,
            tier: tier.map(i32::from),
            name,
        })
    }

    fn method(&self, code: &Blob) -> Option<String> {
        let layout = self.nmethods.as_ref().ok().filter(|_| code.is_nmethod())?;
        self.method_name(Nmethod(code.start).method(layout, &OwnMemory)?)
    }

    fn bytes(&self, address: usize, size: usize) -> Vec<u8> {
        peek_bytes(address, size)
    }
}

fn text(text: Text) -> Option<String> {
    /// Longer texts are cut.
    const MOST: u16 = 512;
    let bytes = peek_bytes(text.start, text.length.min(MOST).into());
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned())
}
