//! The names of methods and classes.

use crate::api::context;
use hotspot::layout::method::Method;
use std::ffi::{c_char, c_int};

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
    /// The VM's address of the class; 0 if the class was unloaded, and then all texts are empty.
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
    let method = Method(method);
    let class = context::with_vm(|vm, memory| {
        let methods = &vm.methods;
        let class = methods.loaded_class(&memory, method);
        let loaded = class.map(|_| method);
        // SAFETY: as the caller promised.
        unsafe {
            info.method_name
                .fill(|buffer| methods.name(&memory, loaded?, buffer));
            info.signature
                .fill(|buffer| methods.signature(&memory, loaded?, buffer));
            info.generic_signature
                .fill(|buffer| methods.generic_signature(&memory, loaded?, buffer));
        }
        class
    });
    if class.is_none() {
        for text in [
            &mut info.method_name,
            &mut info.signature,
            &mut info.generic_signature,
        ] {
            // SAFETY: as the caller promised.
            unsafe { text.fill(|_| None) };
        }
    }
    info.klass = class.flatten().unwrap_or(0);
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
    let known = context::with_vm(|vm, memory| {
        let methods = &vm.methods;
        let is_loaded = methods.is_loaded(&memory, class);
        let loaded = is_loaded.then_some(class);
        // SAFETY: as the caller promised.
        unsafe {
            info.class_name
                .fill(|buffer| methods.class_name(&memory, loaded?, buffer));
            info.generic_class_name
                .fill(|buffer| methods.generic_class_name(&memory, loaded?, buffer));
        }
    });
    if known.is_none() {
        for text in [&mut info.class_name, &mut info.generic_class_name] {
            // SAFETY: as the caller promised.
            unsafe { text.fill(|_| None) };
        }
    }
}
