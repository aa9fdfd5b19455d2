//! The methods of `jdk.internal.vm.Continuation` by which frames come to the stack and leave it.

use crate::layout::class::Class;
use crate::layout::code_cache::CodeCache;
use crate::layout::method::Methods;
use crate::layout::mounted::Places;
use hotspot::layout::method::Method;
use hotspot::layout::objects::Mirrors;
use hotspot::layout::thread::JavaThread;
use hotspot::memory::Memory;
use jni_sys::JNIEnv;
use std::ffi::CStr;

/// The methods.
pub struct Continuations {
    /// `enterSpecial`, through which a continuation is entered: the frames above are those of the continuation.
    pub enters: Method,
    /// `doYield`, which moves the frames of its callers to the heap.
    pub freezes: Method,
    /// `yield0`, which calls `doYield`.
    pub yields: Method,
    /// Where a mounted continuation is.
    places: Places,
}

impl Continuations {
    /// `None` if this VM has no continuations.
    ///
    /// # Safety
    /// `env` must be the JNI environment of the calling thread, which is attached, without a pending exception.
    pub unsafe fn learn(
        mirrors: &Mirrors,
        places: Places,
        memory: &impl Memory,
        methods: &Methods,
        env: *mut JNIEnv,
    ) -> Option<Continuations> {
        const CLASS: &CStr = c"jdk/internal/vm/Continuation";
        const ENTER: &CStr = c"(Ljdk/internal/vm/Continuation;ZZ)V";
        const YIELD: &CStr =
            c"(Ljdk/internal/vm/ContinuationScope;Ljdk/internal/vm/Continuation;)Z";
        // SAFETY: as the caller promised.
        let class = unsafe { Class::find(mirrors, memory, env, CLASS)? };
        let method = |name, descriptor| {
            methods.method_of(memory, class.klass, class.method(name, descriptor)?)
        };
        Some(Continuations {
            enters: method(c"enterSpecial", ENTER)?,
            freezes: method(c"doYield", c"()I")?,
            yields: method(c"yield0", YIELD)?,
            places,
        })
    }

    /// The entry of the continuation that `thread` has mounted, on its stack; 0 without one; `None` if that is not known.
    pub fn entry(
        &self,
        cache: &CodeCache,
        memory: &impl Memory,
        JavaThread(thread): JavaThread,
    ) -> Option<usize> {
        let field = self.places.field_of_thread(cache, memory, self.freezes)?;
        memory.word(thread.wrapping_add(field))
    }

    /// Where the frame of an entry continues behind the frames of the continuation.
    pub fn return_pc(&self, cache: &CodeCache, memory: &impl Memory) -> Option<usize> {
        self.places.return_pc(cache, memory, self.enters)
    }
}
