//! Methods.

use super::env::{Error, JMethodId, Jvmti, call, ok};
use crate::jvm::jni::{Env, Local};
use std::ffi::c_uchar;
use std::ptr;
use vm::jvmti::LineNumberEntry;

/// The name of a method, and its descriptor (JVMS 4.3.3).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MethodName {
    /// The name.
    pub name: String,
    /// The descriptor.
    pub descriptor: String,
}

impl Jvmti {
    /// GetMethodName.
    pub fn method_name(self, method: JMethodId) -> Result<MethodName, Error> {
        let (mut name, mut descriptor) = (ptr::null_mut(), ptr::null_mut());
        ok(call!(
            self,
            GetMethodName,
            method,
            &mut name,
            &mut descriptor,
            ptr::null_mut()
        ))?;
        // SAFETY: JVMTI gives zero-terminated strings.
        let [name, descriptor] = [name, descriptor].map(|text| unsafe { self.take_string(text) });
        Ok(MethodName { name, descriptor })
    }

    /// GetMethodModifiers: the access flags of JVMS table 4.6-A.
    pub fn method_modifiers(self, method: JMethodId) -> Result<u16, Error> {
        let mut flags = 0;
        ok(call!(self, GetMethodModifiers, method, &mut flags))?;
        Ok(flags as u16)
    }

    /// GetMethodDeclaringClass.
    pub fn declaring_class<'e>(self, env: Env<'e>, method: JMethodId) -> Result<Local<'e>, Error> {
        const NULL_POINTER: Error = 100;
        let mut class = ptr::null_mut();
        ok(call!(self, GetMethodDeclaringClass, method, &mut class))?;
        // SAFETY: the VM has just made this local reference.
        unsafe { env.adopt(class) }.ok_or(NULL_POINTER)
    }

    /// GetBytecodes, handed to `read`.
    pub fn bytecodes<T>(
        self,
        method: JMethodId,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, Error> {
        let (mut size, mut code) = (0, ptr::null_mut::<c_uchar>());
        ok(call!(self, GetBytecodes, method, &mut size, &mut code))?;
        // SAFETY: the VM returned `size` bytes.
        Ok(unsafe { self.look_at_array(code, size, read) })
    }

    /// GetLineNumberTable: pairs of start BCI and line, in the table's order.
    pub fn line_numbers(self, method: JMethodId) -> Result<Vec<(i64, i32)>, Error> {
        let (mut count, mut table) = (0, ptr::null_mut::<LineNumberEntry>());
        ok(call!(
            self,
            GetLineNumberTable,
            method,
            &mut count,
            &mut table
        ))?;
        // SAFETY: the VM returned `count` entries.
        let table = unsafe { self.take_array(table, count) };
        let lines = table.iter();
        Ok(lines
            .map(|entry| (entry.start_location, entry.line_number))
            .collect())
    }
}
