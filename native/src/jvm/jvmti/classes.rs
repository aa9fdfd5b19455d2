//! Classes and their methods.

use super::env::{Error, JMethodId, Jvmti, call, ok};
use crate::jvm::jni::{Env, Local, Ref};
use jni_sys::{jclass, jint};
use std::ffi::c_uchar;
use std::ptr;
use vm::jvmti::LineNumberEntry;

/// The internal name in the signature of a class, such as `java/lang/String` in
/// `Ljava/lang/String;`; the whole signature of an array.
pub fn class_name(signature: &str) -> &str {
    signature
        .strip_prefix('L')
        .and_then(|name| name.strip_suffix(';'))
        .unwrap_or(signature)
}

impl Jvmti {
    /// GetLoadedClasses.
    pub fn loaded_classes<'e>(self, env: Env<'e>) -> Result<Vec<Local<'e>>, Error> {
        let (mut count, mut classes) = (0, ptr::null_mut());
        ok(call!(self, GetLoadedClasses, &mut count, &mut classes))?;
        // SAFETY: the VM returned `count` local references.
        Ok(unsafe { self.take_classes(env, classes, count) })
    }

    /// GetImplementedInterfaces, the direct ones.
    pub fn interfaces<'e>(self, env: Env<'e>, class: Ref<'_>) -> Result<Vec<Local<'e>>, Error> {
        let (mut count, mut interfaces) = (0, ptr::null_mut());
        ok(call!(
            self,
            GetImplementedInterfaces,
            class.raw(),
            &mut count,
            &mut interfaces
        ))?;
        // SAFETY: the VM returned `count` local references.
        Ok(unsafe { self.take_classes(env, interfaces, count) })
    }

    /// # Safety
    /// As [`Jvmti::take_array`], of local references of `env`'s thread.
    unsafe fn take_classes<'e>(
        self,
        env: Env<'e>,
        classes: *mut jclass,
        count: jint,
    ) -> Vec<Local<'e>> {
        // SAFETY: as the caller promised.
        let classes = unsafe { self.take_array(classes, count) };
        let classes = classes.into_iter();
        // SAFETY: as the caller promised.
        classes
            .filter_map(|class| unsafe { env.adopt(class) })
            .collect()
    }

    /// GetClassMethods. This function gives every method its `jmethodID`. AsyncGetCallTrace shows
    /// methods without a jmethodID as unknown.
    pub fn create_method_ids(self, class: Ref<'_>) -> Result<Vec<JMethodId>, Error> {
        let (mut count, mut methods) = (0, ptr::null_mut::<JMethodId>());
        ok(call!(
            self,
            GetClassMethods,
            class.raw(),
            &mut count,
            &mut methods
        ))?;
        // SAFETY: the VM returned `count` methods.
        Ok(unsafe { self.take_array(methods, count) })
    }

    /// GetClassSignature, such as `Ljava/lang/String;`.
    pub fn class_signature(self, class: Ref<'_>) -> Result<String, Error> {
        let mut signature = ptr::null_mut();
        ok(call!(
            self,
            GetClassSignature,
            class.raw(),
            &mut signature,
            ptr::null_mut()
        ))?;
        // SAFETY: JVMTI gives a zero-terminated string.
        Ok(unsafe { self.take_string(signature) })
    }

    /// GetClassModifiers: the access flags of JVMS table 4.1-B.
    pub fn class_modifiers(self, class: Ref<'_>) -> Result<u16, Error> {
        let (mut flags, class) = (0, class.raw());
        ok(call!(self, GetClassModifiers, class, &mut flags))?;
        Ok(flags as u16)
    }

    /// GetConstantPool: `constant_pool_count` and the entries, as a class file has them.
    pub fn constant_pool(self, class: Ref<'_>) -> Result<(u16, Vec<u8>), Error> {
        let (mut count, mut size, mut bytes) = (0, 0, ptr::null_mut::<c_uchar>());
        ok(call!(
            self,
            GetConstantPool,
            class.raw(),
            &mut count,
            &mut size,
            &mut bytes
        ))?;
        // SAFETY: the VM returned `size` bytes.
        Ok((count as u16, unsafe { self.take_array(bytes, size) }))
    }

    /// GetClassLoader; `None` for the boot loader.
    pub fn class_loader<'e>(
        self,
        env: Env<'e>,
        class: Ref<'_>,
    ) -> Result<Option<Local<'e>>, Error> {
        let (mut loader, class) = (ptr::null_mut(), class.raw());
        ok(call!(self, GetClassLoader, class, &mut loader))?;
        // SAFETY: the VM has just made this local reference.
        Ok(unsafe { env.adopt(loader) })
    }
}

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

#[cfg(test)]
mod tests {
    use super::class_name;

    #[test]
    fn names_are_cut_out_of_signatures() {
        assert_eq!(class_name("Ljava/lang/String;"), "java/lang/String");
        assert_eq!(class_name("[Ljava/lang/String;"), "[Ljava/lang/String;");
        assert_eq!(class_name("LLatin;"), "Latin");
        assert_eq!(class_name("[I"), "[I");
    }
}
