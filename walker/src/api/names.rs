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
    /// Always empty.
    pub generic_signature: Text,
    /// The VM's address of the class, or 0.
    pub klass: usize,
}

/// `ASGST_ClassInfo`.
#[repr(C)]
#[derive(Debug)]
pub struct ClassInfo {
    /// The name, with slashes.
    pub class_name: Text,
    /// Always empty.
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
    let filled = context::with_vm(|vm, memory| {
        let methods = &vm.methods;
        // SAFETY: as the caller promised.
        unsafe {
            info.method_name
                .fill(|buffer| methods.name(&memory, method, buffer));
            info.signature
                .fill(|buffer| methods.signature(&memory, method, buffer));
            info.generic_signature.fill(|_| None);
        }
        methods.class(&memory, method)
    });
    info.klass = filled.flatten().unwrap_or(0);
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
    context::with_vm(|vm, memory| {
        // SAFETY: as the caller promised.
        unsafe {
            info.class_name
                .fill(|buffer| vm.methods.class_name(&memory, class, buffer));
            info.generic_class_name.fill(|_| None);
        }
    });
}
