//! Classes of the JDK, by name: their addresses in the VM, their methods and their fields.

use hotspot::layout::objects::Mirrors;
use hotspot::memory::Memory;
use jni_sys::{JNIEnv, jclass, jvalue};
use std::ffi::CStr;

/// What `read` reads of the object to which the handle at `place` refers.
fn of_object<R>(
    memory: &impl Memory,
    place: usize,
    read: impl Fn(usize) -> Option<R>,
) -> Option<R> {
    // A collection may move the object while it is read.
    let mut tries = (0..8).map(|_| {
        let object = memory.word(place)?;
        let found = read(object)?;
        (memory.word(place)? == object).then_some(found)
    });
    tries.find_map(|found| found)
}

/// A class.
#[derive(Copy, Clone)]
pub(super) struct Class {
    env: *mut JNIEnv,
    class: jclass,
    /// The VM's address of the class.
    pub(super) klass: usize,
}

impl Class {
    /// # Safety
    /// `env` must be the JNI environment of the calling thread, which is attached, without a pending exception, as long
    /// as the value lives.
    pub(super) unsafe fn find(
        mirrors: &Mirrors,
        memory: &impl Memory,
        env: *mut JNIEnv,
        name: &CStr,
    ) -> Option<Class> {
        // SAFETY: as the caller promised; an exception for what is missing is cleared.
        let class = unsafe {
            let functions = &(**env).v1_6;
            let class = (functions.FindClass)(env, name.as_ptr());
            (functions.ExceptionClear)(env);
            (!class.is_null()).then_some(class)?
        };
        let klass = of_object(memory, class as usize, |mirror| {
            mirrors.class(memory, mirror)
        });
        let klass = klass.filter(|&klass| klass != 0)?;
        Some(Class { env, class, klass })
    }

    /// What `read` reads of the object that is the class in Java.
    pub(super) fn of_mirror<R>(
        &self,
        memory: &impl Memory,
        read: impl Fn(usize) -> Option<R>,
    ) -> Option<R> {
        of_object(memory, self.class as usize, read)
    }

    /// The jmethodID of a method.
    pub(super) fn method(&self, name: &CStr, descriptor: &CStr) -> Option<usize> {
        // SAFETY: as for `find`.
        let id = unsafe {
            let functions = &(**self.env).v1_6;
            let (name, descriptor) = (name.as_ptr(), descriptor.as_ptr());
            let finders = [functions.GetStaticMethodID, functions.GetMethodID];
            let mut ids = finders.into_iter().map(|find| {
                let id = find(self.env, self.class, name, descriptor);
                (functions.ExceptionClear)(self.env);
                id as usize
            });
            ids.find(|&id| id != 0)?
        };
        Some(id)
    }

    /// The offset of an instance field in objects of this class, by `Unsafe.objectFieldOffset`: how a jfieldID has it
    /// depends on the VM (`jfieldIDWorkaround.hpp`).
    pub(super) fn field(&self, name: &CStr) -> Option<usize> {
        const MOST: usize = 1 << 12;
        let env = self.env;
        // SAFETY: as for `find`; the descriptors are those of the methods in `jdk.internal.misc.Unsafe`, an exception for
        // what is missing is cleared, and local references are deleted.
        let offset = unsafe {
            let functions = &(**env).v1_6;
            let cleared = |value: usize| {
                let is_thrown = (functions.ExceptionCheck)(env);
                (functions.ExceptionClear)(env);
                (!is_thrown && value != 0).then_some(value)
            };
            let class = (functions.FindClass)(env, c"jdk/internal/misc/Unsafe".as_ptr());
            cleared(class as usize)?;
            let get = (functions.GetStaticMethodID)(
                env,
                class,
                c"getUnsafe".as_ptr(),
                c"()Ljdk/internal/misc/Unsafe;".as_ptr(),
            );
            cleared(get as usize)?;
            let offset = (functions.GetMethodID)(
                env,
                class,
                c"objectFieldOffset".as_ptr(),
                c"(Ljava/lang/Class;Ljava/lang/String;)J".as_ptr(),
            );
            cleared(offset as usize)?;
            let instance = (functions.CallStaticObjectMethodA)(env, class, get, std::ptr::null());
            cleared(instance as usize)?;
            let name = (functions.NewStringUTF)(env, name.as_ptr());
            cleared(name as usize)?;
            let arguments = [jvalue { l: self.class }, jvalue { l: name }];
            let offset =
                (functions.CallLongMethodA)(env, instance, offset, arguments.as_ptr()) as usize;
            let offset = cleared(offset);
            [class, instance, name]
                .into_iter()
                .for_each(|local| (functions.DeleteLocalRef)(env, local));
            offset?
        };
        (offset < MOST).then_some(offset)
    }
}
