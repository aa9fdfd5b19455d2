//! The names of methods and classes.

use crate::api::context;
use crate::layout::method::Methods;
use crate::layout::stamp::Stamped;
use std::ffi::{c_char, c_int};
use vm::memory::Live;

/// `ASGST_MethodInfo`.
#[repr(C)]
#[derive(Debug)]
pub struct MethodInfo {
    /// The name.
    pub method_name: Text,
    /// The descriptor.
    pub signature: Text,
    /// The generic signature (JVMS 4.7.9.1); empty if the method has none.
    pub generic_signature: Text,
    /// The `ASGST_Class`; 0 if the class was unloaded, and then all texts are empty.
    pub klass: usize,
}

/// `ASGST_ClassInfo`.
#[repr(C)]
#[derive(Debug)]
pub struct ClassInfo {
    /// The name, with slashes; empty if the class was unloaded.
    pub class_name: Text,
    /// The generic signature (JVMS 4.7.9.1); empty if the class has none.
    pub generic_class_name: Text,
}

/// A buffer and its size; afterwards, the length of the whole text.
#[repr(C)]
#[derive(Debug)]
pub struct Text {
    /// The buffer, or null.
    pub bytes: *mut c_char,
    /// Its size; then the length of the text.
    pub length: c_int,
}

impl Text {
    /// # Safety
    /// The buffer must be null or as large as it says.
    unsafe fn fill(&mut self, read: impl FnOnce(&mut [u8]) -> Option<usize>) {
        let size = usize::try_from(self.length).unwrap_or(0);
        let buffer = if self.bytes.is_null() || size == 0 {
            &mut []
        } else {
            // SAFETY: as the caller promised.
            unsafe { std::slice::from_raw_parts_mut(self.bytes.cast::<u8>(), size) }
        };
        let length = read(buffer).unwrap_or(0);
        if let Some(last) = buffer.len().checked_sub(1)
            && let Some(end) = buffer.get_mut(length.min(last))
        {
            *end = 0;
        }
        self.length = c_int::try_from(length).unwrap_or(c_int::MAX);
    }
}

/// Lets `read` fill `texts`, and empties them where it says that what they name is not there.
///
/// # Safety
/// The buffers must be null or as large as they say.
unsafe fn fill<const COUNT: usize, T>(
    texts: [&mut Text; COUNT],
    is_there: impl Fn(&Methods, &Live<'_>) -> Option<T>,
    read: impl Fn(&Methods, &Live<'_>, usize, &mut [u8]) -> Option<usize>,
) -> Option<T> {
    let sizes = texts.each_ref().map(|text| text.length);
    let mut texts = texts;
    let found = context::with_vm(|vm, memory| {
        let methods = &vm.methods;
        is_there(methods, &memory)?;
        for (at, text) in texts.iter_mut().enumerate() {
            // SAFETY: as the caller promised.
            unsafe { text.fill(|buffer| read(methods, &memory, at, buffer)) };
        }
        // The VM takes a class out of its lists before it frees what was read.
        is_there(methods, &memory)
    });
    let found = found.flatten();
    if found.is_none() {
        for (text, size) in texts.into_iter().zip(sizes) {
            text.length = size;
            // SAFETY: as the caller promised.
            unsafe { text.fill(|_| None) };
        }
    }
    found
}

/// See `profile2.h`.
///
/// # Safety
/// `info` must be null or valid, with buffers that are null or as large as they say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_GetMethodInfo(method: usize, info: *mut MethodInfo) {
    // SAFETY: as the caller promised.
    let Some(info) = (unsafe { info.as_mut() }) else {
        return;
    };
    let MethodInfo {
        method_name,
        signature,
        generic_signature,
        klass,
    } = info;
    let stamped = Stamped(method);
    let method = stamped.method();
    // SAFETY: as the caller promised.
    let class = unsafe {
        fill(
            [method_name, signature, generic_signature],
            |methods, memory| methods.loaded_class(memory, stamped),
            |methods, memory, at, buffer| match at {
                0 => methods.name(memory, method, buffer),
                1 => methods.signature(memory, method, buffer),
                _ => methods.generic_signature(memory, method, buffer),
            },
        )
    };
    *klass = class.map_or(0, |Stamped(word)| word);
}

/// See `profile2.h`.
///
/// # Safety
/// As for [`ASGST_GetMethodInfo`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ASGST_GetClassInfo(class: usize, info: *mut ClassInfo) {
    // SAFETY: as the caller promised.
    let Some(info) = (unsafe { info.as_mut() }) else {
        return;
    };
    let ClassInfo {
        class_name,
        generic_class_name,
    } = info;
    let stamped = Stamped(class);
    let class = stamped.address();
    // SAFETY: as the caller promised.
    unsafe {
        fill(
            [class_name, generic_class_name],
            |methods, memory| methods.is_loaded(memory, stamped).then_some(()),
            |methods, memory, at, buffer| match at {
                0 => methods.class_name(memory, class, buffer),
                _ => methods.generic_class_name(memory, class, buffer),
            },
        )
    };
}
