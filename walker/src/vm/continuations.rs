//! The methods of `jdk.internal.vm.Continuation` by which frames come to the stack and leave it.

use crate::vm::code_cache::CodeCache;
use crate::vm::method::Method;
use crate::vm::mounted::Places;
use crate::vm::tables::Tables;
use crate::vm::thread::JavaThread;
use hotspot::memory::Memory;
use jni_sys::{JNIEnv, jclass};
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
        tables: &Tables,
        memory: &impl Memory,
        env: *mut JNIEnv,
    ) -> Option<Continuations> {
        const ENTER: &CStr = c"(Ljdk/internal/vm/Continuation;ZZ)V";
        const YIELD: &CStr =
            c"(Ljdk/internal/vm/ContinuationScope;Ljdk/internal/vm/Continuation;)Z";
        // SAFETY: as the caller promised.
        let java = unsafe { Java::find(env)? };
        Some(Continuations {
            enters: java.method(memory, c"enterSpecial", ENTER)?,
            freezes: java.method(memory, c"doYield", c"()I")?,
            yields: java.method(memory, c"yield0", YIELD)?,
            places: Places::find(tables)?,
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

/// The classes of the JDK.
pub(super) struct Java {
    env: *mut JNIEnv,
    pub(super) continuation: jclass,
    pub(super) chunk: jclass,
}

impl Java {
    /// # Safety
    /// As for [`Continuations::learn`], as long as the value lives.
    pub(super) unsafe fn find(env: *mut JNIEnv) -> Option<Java> {
        // SAFETY: as the caller promised; an exception for what is missing is cleared.
        let class = |name: &CStr| unsafe {
            let functions = &(**env).v1_6;
            let class = (functions.FindClass)(env, name.as_ptr());
            (functions.ExceptionClear)(env);
            (!class.is_null()).then_some(class)
        };
        Some(Java {
            env,
            continuation: class(c"jdk/internal/vm/Continuation")?,
            chunk: class(c"jdk/internal/vm/StackChunk")?,
        })
    }

    /// The offset of an instance field, from the id that the VM gives it (`jfieldIDWorkaround.hpp`): behind two bits. The
    /// lowest bit says that a hash of the class follows behind seven bits of offset.
    pub(super) fn field(&self, class: jclass, name: &CStr, descriptor: &CStr) -> Option<usize> {
        const IS_CHECKED: usize = 1;
        const IS_INSTANCE: usize = 2;
        // SAFETY: as for `find`.
        let id = unsafe {
            let functions = &(**self.env).v1_6;
            let id = (functions.GetFieldID)(self.env, class, name.as_ptr(), descriptor.as_ptr());
            (functions.ExceptionClear)(self.env);
            id as usize
        };
        let offset = match id & IS_CHECKED {
            0 => id >> 2,
            _ => id >> 2 & 0x7f,
        };
        (id & IS_INSTANCE != 0 && offset < 1 << 12).then_some(offset)
    }

    /// The VM's address of the class of chunks. `mirror_class` is the offset of this address in a `java.lang.Class`.
    pub(super) fn chunk_class(&self, memory: &impl Memory, mirror_class: usize) -> Option<usize> {
        // A collection may move the `Class` while it is read.
        let mut tries = (0..8).map(|_| {
            let place = self.chunk as usize;
            let mirror = memory.word(place)?;
            let class = memory.word(mirror.wrapping_add(mirror_class))?;
            (memory.word(place)? == mirror).then_some(class)
        });
        tries.find_map(|class| class).filter(|&class| class != 0)
    }

    /// A method of continuations.
    fn method(&self, memory: &impl Memory, name: &CStr, descriptor: &CStr) -> Option<Method> {
        // SAFETY: as for `find`.
        let id = unsafe {
            let functions = &(**self.env).v1_6;
            let (name, descriptor) = (name.as_ptr(), descriptor.as_ptr());
            let finders = [functions.GetStaticMethodID, functions.GetMethodID];
            let mut ids = finders.into_iter().map(|find| {
                let id = find(self.env, self.continuation, name, descriptor);
                (functions.ExceptionClear)(self.env);
                id as usize
            });
            ids.find(|&id| id != 0)?
        };
        // An id is the address of a word that has the method.
        memory.word(id).filter(|&method| method != 0).map(Method)
    }
}
