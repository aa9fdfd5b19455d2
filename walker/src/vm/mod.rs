//! The layout of the running VM. It is read once, outside of any handler, and then used by walks.
//!
//! * [`tables`]: the VM's exported description of its structures;
//! * [`code_cache`]: generated code;
//! * [`call_stub`]: the way into Java;
//! * `memo`: what walks keep for later walks;
//! * [`sites`]: calls in compiled code that walks have met;
//! * `class`: classes of the JDK by name;
//! * [`chunks`]: frames of virtual threads in the heap;
//! * [`continuations`]: the methods by which they come and go;
//! * [`mounted`]: where a mounted continuation is;
//! * [`method`]: methods and their ids;
//! * [`thread`]: threads and anchors.

pub mod call_stub;
pub mod chunks;
mod class;
pub mod code_cache;
pub mod continuations;
mod memo;
pub mod method;
pub mod mounted;
pub mod sites;
pub mod tables;
pub mod thread;

use crate::c_frames::libraries::Libraries;
use crate::memory::{self, Guard};
use call_stub::CallStub;
use code_cache::{CodeCache, Kind};
use continuations::Continuations;
use hotspot::memory::Memory;
use hotspot::vm::debug_info::{self, Compression};
use hotspot::vm::fields::Fields;
use hotspot::vm::interpreter::{self, Interpreter};
use jni_sys::JNIEnv;
use sites::Sites;
use std::sync::OnceLock;
use tables::Tables;

/// The VM of this process.
pub struct Vm {
    /// Generated code.
    pub code_cache: CodeCache,
    /// Calls that walks have met.
    pub sites: Sites,
    /// The interpreter's parts.
    pub interpreter: Interpreter,
    /// The layout of methods.
    pub methods: method::Layout,
    /// The layout of frames in the heap; `None` if such frames cannot be read.
    pub chunks: Option<chunks::Layout>,
    /// The methods of continuations; `None` if this VM has none.
    pub continuations: Option<Continuations>,
    /// The layout of threads.
    pub threads: thread::Layout,
    /// The compression of debug info.
    pub compression: Compression,
    /// The libraries, and their unwind tables.
    pub libraries: Libraries,
    /// The stub through which the VM calls Java.
    pub call_stub: CallStub,
    /// The offset, in an upcall stub, of the field with the offset of its frame's data.
    pub upcall_frame_data: usize,
}

/// Set at the first call of [`Vm::learn`].
static VM: OnceLock<Option<Vm>> = OnceLock::new();

impl Vm {
    /// Reads the layout of the VM at the first call; `None` if the VM cannot be walked.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread, which is attached, without a
    /// pending exception, in the live phase.
    pub unsafe fn learn(env: *mut JNIEnv) -> Option<&'static Vm> {
        if !memory::install() {
            return None;
        }
        // SAFETY: as the caller promised.
        let vm = VM.get_or_init(|| unsafe { Vm::find(env) });
        vm.as_ref()
    }

    /// The VM, if its layout was read. Async-signal-safe.
    pub fn get() -> Option<&'static Vm> {
        VM.get()?.as_ref()
    }

    /// The kind of the code at `pc`; `None` if there is no generated code.
    pub fn kind_at(&self, memory: &impl Memory, pc: usize) -> Option<Kind> {
        if self.interpreter.contains(pc) {
            return Some(Kind::Interpreter);
        }
        self.code_cache.blob(memory, pc).map(|blob| blob.kind)
    }

    /// # Safety
    /// As for [`Vm::learn`].
    unsafe fn find(env: *mut JNIEnv) -> Option<Vm> {
        let tables = Tables::read()?;
        let guard = Guard::set();
        let memory = guard.memory();
        let pc_desc = tables.size("PcDesc")?;
        let interpreter = interpreter::Layout::find(&tables)?.read(&memory)?;
        // SAFETY: as the caller promised.
        let methods = unsafe { method::Layout::learn(&tables, &memory, env)? };
        Some(Vm {
            code_cache: CodeCache::find(&tables, &memory)?,
            sites: Sites::empty(),
            interpreter,
            // SAFETY: as the caller promised.
            chunks: unsafe { chunks::Layout::learn(&tables, &memory, env) },
            // SAFETY: as the caller promised.
            continuations: unsafe { Continuations::learn(&tables, &memory, &methods, env) },
            methods,
            // SAFETY: as the caller promised.
            threads: unsafe { thread::Layout::learn(&tables, env)? },
            compression: Compression::of(tables.feature()?),
            libraries: Libraries::find(),
            call_stub: CallStub::find(&tables, &memory)?,
            // The receiver comes behind the fields of all stubs, and then the offset.
            upcall_frame_data: match tables.field(&["UpcallStub"], "_frame_data_offset") {
                Some(place) => place,
                None => tables.size("RuntimeBlob")? + size_of::<usize>(),
            },
        })
        .filter(|_| pc_desc == debug_info::RECORD)
    }
}
