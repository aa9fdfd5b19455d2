//! The layout of the running VM. It is read once, outside of any handler, and then used by walks.
//!
//! * [`code_cache`]: generated code;
//! * [`call_stub`]: the way into Java;
//! * [`certainty`]: how much is known of a frame;
//! * `memo`: what walks keep for later walks;
//! * [`sites`]: calls in compiled code that walks have met;
//! * [`stamp`]: which class a method was of;
//! * `class`: classes of the JDK by name;
//! * [`chunks`]: frames of virtual threads in the heap;
//! * [`continuations`]: the methods by which they come and go;
//! * [`mounted`]: where a mounted continuation is;
//! * [`method`]: methods and their ids.

pub mod call_stub;
pub mod certainty;
pub mod chunks;
mod class;
pub mod code_cache;
pub mod continuations;
mod loaders;
mod memo;
pub mod method;
pub mod mounted;
pub mod sites;
pub mod stamp;

use crate::arch;
use crate::c_frames::libraries::Libraries;
use call_stub::CallStub;
use code_cache::{CodeCache, Kind};
use continuations::Continuations;
use hotspot::layout::collection::Collections;
use hotspot::layout::debug_info::{self, Compression};
use hotspot::layout::entry;
use hotspot::layout::fields::Missing;
use hotspot::layout::interpreter::{self, Interpreter};
use hotspot::layout::objects::Mirrors;
use hotspot::layout::thread::{self, WalkPlaces};
use hotspot::layout::unpacked;
use hotspot::layout::waiting::Waits;
use hotspot::memory::Memory;
use jni_sys::JNIEnv;
use method::Methods;
use mounted::Places;
use sites::Sites;
use std::sync::OnceLock;
use vm::current::CurrentThread;
use vm::memory::{self, Guard};
use vm::tables::Tables;

/// The VM of this process.
pub struct Vm {
    /// Generated code.
    pub code_cache: CodeCache,
    /// Calls that walks have met.
    pub sites: Sites,
    /// The interpreter's parts.
    pub interpreter: Interpreter,
    /// Methods.
    pub methods: Methods,
    /// The layout of frames in the heap, or why such frames cannot be read.
    pub chunks: Result<chunks::Layout, Missing>,
    /// The methods of continuations; `None` if this VM has none.
    pub continuations: Option<Continuations>,
    /// Threads.
    pub threads: CurrentThread,
    /// Where the VM says that a collection has stopped the program; `None` if it does not say so.
    pub collections: Option<Collections>,
    /// Where the VM says what a blocked thread waits for; `None` if it does not say so.
    pub waits: Option<Waits>,
    /// Frames that are about to take the place of a compiled frame; `None` if they cannot be read.
    pub unpacked: Option<unpacked::Layout>,
    /// The compression of debug info.
    pub compression: Compression,
    /// The libraries, and their unwind tables.
    pub libraries: Libraries,
    /// The stub through which the VM calls Java.
    pub call_stub: CallStub,
    /// The offset, in an upcall stub, of the field with the offset of its frame's data.
    pub upcall_frame_data: usize,
}

/// Whether a VM publishes all that a walk reads.
pub fn check(tables: &Tables) -> Result<(), Missing> {
    arch::WALKS?;
    debug_info::check_records(tables)?;
    interpreter::Layout::find(tables)?;
    CodeCache::check(tables)?;
    Methods::check(tables)?;
    CurrentThread::check(tables)?;
    Mirrors::find(tables)?;
    WalkPlaces::find(tables)?;
    thread::feature(tables)?;
    entry::Layout::find(tables).map(drop)
}

/// Set at the first call of [`Vm::learn`].
static VM: OnceLock<Result<Vm, Missing>> = OnceLock::new();

impl Vm {
    /// Reads the layout of the VM at the first call. If the VM cannot be walked, the answer says why.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread, which is attached, without a
    /// pending exception, in the live phase.
    pub unsafe fn learn(env: *mut JNIEnv) -> Result<&'static Vm, &'static Missing> {
        let find = || {
            arch::WALKS?;
            memory::install()?;
            // SAFETY: as the caller promised.
            unsafe { Vm::find(env) }
        };
        let vm = VM.get_or_init(find);
        vm.as_ref()
    }

    /// The VM, if its layout was read. Async-signal-safe.
    pub fn get() -> Option<&'static Vm> {
        VM.get()?.as_ref().ok()
    }

    /// Why the VM cannot be walked, if [`Vm::learn`] has found that out.
    pub fn why_not() -> Option<&'static Missing> {
        VM.get()?.as_ref().err()
    }

    /// What the VM does not publish, or contradicts, of frames in its heap. A VM that has none, or moves them at any time,
    /// lacks nothing.
    pub fn lost_in_heap(&self) -> Option<&Missing> {
        let missing = self.chunks.as_ref().err();
        missing.filter(|missing| !matches!(missing, Missing::Unexpected(_)))
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
    unsafe fn find(env: *mut JNIEnv) -> Result<Vm, Missing> {
        let tables = Tables::read()?;
        let guard = Guard::set();
        let memory = guard.memory();
        debug_info::check_records(&tables)?;
        let interpreter = interpreter::Layout::find(&tables)?.read(&memory);
        let interpreter = interpreter.ok_or(Missing::Unexpected("there is no interpreter"))?;
        if !interpreter.links_frames() {
            return Err(Missing::Unexpected(
                "the interpreter builds its frames in another form",
            ));
        }
        // SAFETY: as the caller promised.
        let threads = unsafe { CurrentThread::learn(&tables, env)? };
        let mirrors = Mirrors::find(&tables)?;
        // SAFETY: as the caller promised.
        let methods = unsafe { Methods::learn(&tables, &mirrors, &memory, env)? };
        let walked = WalkPlaces::find(&tables)?;
        let places = Places::new(&walked, threads.continuation_entry());
        let feature = memory.u32(thread::feature(&tables)?);
        Ok(Vm {
            code_cache: CodeCache::find(&tables, &memory)?,
            sites: Sites::empty(),
            interpreter,
            // SAFETY: as the caller promised.
            chunks: unsafe { chunks::Layout::learn(&tables, &mirrors, &memory, env) },
            // SAFETY: as the caller promised.
            continuations: unsafe {
                Continuations::learn(&mirrors, places, &memory, &methods, env)
            },
            methods,
            threads,
            collections: Collections::find(&tables).ok(),
            waits: Waits::find(&tables).ok(),
            unpacked: unpacked::Layout::find(&tables).ok(),
            compression: Compression::of(feature.unwrap_or(0)),
            libraries: Libraries::find(),
            call_stub: CallStub::find(&tables, &memory)?,
            upcall_frame_data: walked.upcall_frame_data,
        })
    }
}
