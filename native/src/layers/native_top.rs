//! The native method that a thread has called: its frame must be on top of each stack.

use super::context::Layers;
use crate::jvm::Jvm;
use crate::jvm::code_cache::CodeCache;
use crate::jvm::jni::Env;
use crate::sampling::sample::Sample;
use crate::truth::methods::registry::Registry;
use hotspot::arch::{Arch, InterpretedFrame, Native};
use hotspot::code::{CodeKind, CodeMemory};
use hotspot::layout::thread::Anchor;
use oracle::Layer;
use oracle::trace::{Frame, Location, Methods};

const WORD: usize = size_of::<usize>();

/// What is known of the top frame.
pub enum Top {
    /// It is that of a native method of the hooks.
    Hook,
    /// It is that of some native method.
    Native,
    /// It is that of this method, `package.Class.name`.
    Method(String),
}

impl Top {
    /// What must be on top of the walk that the layer's walker has given for `sample`. A walker that gives its frames only
    /// after the handler gives those of a later instant.
    pub fn of_walk(layers: &Layers, layer: Layer, sample: &Sample) -> Option<Top> {
        let walker = layers.walkers.of(layer)?;
        let is_of_sample = walker.later().is_none();
        is_of_sample.then(|| Top::of_sample(layers.truth.jvm, sample))?
    }

    /// The method whose frame the thread of `sample` has left, by its anchor; `None` if the anchor is not complete, or leads to
    /// other code.
    ///
    /// The native wrapper sets the anchor before the native code runs, and the interpreter does the same in its entry of native
    /// methods (`SharedRuntime::generate_native_wrapper`, `TemplateInterpreterGenerator::generate_native_entry`):
    ///     set_last_Java_frame(...)      // the frame pointer, the pc, and last the sp, by which the anchor counts
    ///     call native_func
    ///     reset_last_Java_frame(...)    // the sp first
    /// As long as sp and pc are there, walkers begin with this frame in every state of the thread (`JavaThread::pd_get_top_frame`:
    /// "If we have a last_Java_frame, then we should use it even if isInJava == true").
    pub fn of_sample(jvm: &Jvm, sample: &Sample) -> Option<Top> {
        let anchor = sample.at.seen?.last;
        if anchor.sp == 0 || anchor.pc == 0 {
            return None;
        }
        let cache = jvm.code_cache().ok()?;
        let blob = cache.blob(anchor.pc)?;
        let name = match blob.kind() {
            CodeKind::NativeWrapper => cache.method(&blob),
            CodeKind::Interpreter => interpreted(cache, anchor, sample),
            CodeKind::Compiled | CodeKind::Stub | CodeKind::Library => None,
        };
        // The VM and JVMTI spell the names of hidden classes in two ways.
        let is_comparable = |name: &String| !name.contains(".0x") && !name.contains('/');
        name.filter(is_comparable).map(Top::Method)
    }

    /// Whether the method may take part in mounting or unmounting a virtual thread, as `VirtualThread.notifyJvmtiUnmount` does.
    /// JVMTI leaves out the frames of such methods (`JvmtiEnvBase::check_and_skip_hidden_frames`, jvmtiEnvBase.cpp).
    pub fn may_mount(&self) -> bool {
        let Top::Method(name) = self else {
            return false;
        };
        name.rsplit_once('.')
            .is_some_and(|(class, _)| class == "java.lang.VirtualThread")
    }

    /// Whether `frame` can be the top. `env` is the calling thread's.
    pub fn is(&self, env: Env<'_>, methods: &Registry, frame: Frame) -> bool {
        let is_native = frame.location == Location::NATIVE;
        match self {
            Top::Native => is_native,
            Top::Hook => {
                let is_hook = || methods.is_hook_call(frame.method);
                is_native && (is_hook() || methods.is_doubtful_frame(&frame))
            }
            // Where the interpreter has called the VM the method is no native one. A frame without a name, as that of an
            // unloaded class, or of one that gets no method ids, may be of any method.
            //
            // The name was read after the sample. By then the VM may have freed an old version of a redefined method that no
            // thread runs any more, and put another method there (`InstanceKlass::purge_previous_version_list`).
            Top::Method(name) => {
                let named = methods.dotted(env, frame.method);
                let may_be_freed = || methods.is_doubtful_frame(&frame);
                named.is_none_or(|named| named == *name) || may_be_freed()
            }
        }
    }
}

/// The method of the interpreted frame that the anchor leads to.
fn interpreted(cache: &CodeCache, anchor: Anchor, sample: &Sample) -> Option<String> {
    const FRAME: InterpretedFrame = Native::INTERPRETED;
    // `frame::interpreter_frame_method_offset`, in words from the frame pointer. The handler has copied the words from the
    // anchor's stack pointer on.
    let stack = sample.at.stack_top.stack();
    let at = anchor
        .fp
        .checked_sub(FRAME.method)?
        .checked_sub(stack.start)?;
    cache.method_name(*stack.words.get(at / WORD)?)
}
