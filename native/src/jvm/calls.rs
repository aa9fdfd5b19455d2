//! JNI: calls of Java methods that return objects, and what these objects hold.

use super::jni::{Env, Field, Local, Ref, jni};
use jni_sys::{jobject, jvalue};
use std::ffi::CStr;
use std::ptr::{self, NonNull};

/// A method that returns an object.
#[derive(Copy, Clone, Debug)]
pub struct ObjectMethod(NonNull<jni_sys::_jmethodID>);

// SAFETY: method ids may be used from every thread, as long as their class is loaded.
unsafe impl Send for ObjectMethod {}
// SAFETY: as above.
unsafe impl Sync for ObjectMethod {}

/// A field that holds an object.
#[derive(Copy, Clone, Debug)]
pub struct ObjectField(Field);

/// A field of type `int`.
#[derive(Copy, Clone, Debug)]
pub struct IntField(Field);

/// An argument of a call.
#[derive(Copy, Clone)]
pub enum Argument<'a> {
    /// An object.
    Object(Ref<'a>),
    /// A number of type `int`.
    Int(i32),
    /// A number of type `long`.
    Long(i64),
    /// A truth value.
    Bool(bool),
}

impl Argument<'_> {
    fn value(self) -> jvalue {
        match self {
            Argument::Object(object) => jvalue { l: object.raw() },
            Argument::Int(number) => jvalue { i: number },
            Argument::Long(number) => jvalue { j: number },
            Argument::Bool(truth) => jvalue { z: truth },
        }
    }
}

impl<'e> Env<'e> {
    /// `object`, unless the code threw. Clears the exception.
    fn unless_thrown(self, object: jobject) -> Option<Local<'e>> {
        // SAFETY: the VM has just made this local reference, or it is null.
        let object = unsafe { self.adopt(object) };
        let thrown = jni!(self, v1_2, ExceptionCheck);
        if thrown {
            jni!(self, v1_1, ExceptionClear);
            return None;
        }
        object
    }

    /// GetMethodID of a method that returns an object. Initialises the class.
    pub fn object_method(
        self,
        class: Ref<'_>,
        name: &CStr,
        descriptor: &CStr,
    ) -> Option<ObjectMethod> {
        let (class, name, descriptor) = (class.raw(), name.as_ptr(), descriptor.as_ptr());
        let method = jni!(self, v1_1, GetMethodID, class, name, descriptor);
        self.or_clear(NonNull::new(method).map(ObjectMethod))
    }

    /// GetStaticMethodID of a method that returns an object. Initialises the class.
    pub fn static_object_method(
        self,
        class: Ref<'_>,
        name: &CStr,
        descriptor: &CStr,
    ) -> Option<ObjectMethod> {
        let (class, name, descriptor) = (class.raw(), name.as_ptr(), descriptor.as_ptr());
        let method = jni!(self, v1_1, GetStaticMethodID, class, name, descriptor);
        self.or_clear(NonNull::new(method).map(ObjectMethod))
    }

    /// CallObjectMethodA: what the method returns; `None` for null, or if the method throws. `object` must have the
    /// method, and `arguments` must be those of its descriptor.
    pub fn call(
        self,
        object: Ref<'_>,
        method: ObjectMethod,
        arguments: &[Argument<'_>],
    ) -> Option<Local<'e>> {
        let values: Vec<jvalue> = arguments.iter().map(|argument| argument.value()).collect();
        let (object, method) = (object.raw(), method.0.as_ptr());
        let result = jni!(
            self,
            v1_1,
            CallObjectMethodA,
            object,
            method,
            values.as_ptr()
        );
        self.unless_thrown(result)
    }

    /// CallStaticObjectMethodA of a method without parameters, as [`Env::call`].
    pub fn call_static(self, class: Ref<'_>, method: ObjectMethod) -> Option<Local<'e>> {
        let (class, method) = (class.raw(), method.0.as_ptr());
        let result = jni!(
            self,
            v1_1,
            CallStaticObjectMethodA,
            class,
            method,
            ptr::null()
        );
        self.unless_thrown(result)
    }

    /// GetFieldID of a field with an object.
    pub fn object_field(
        self,
        class: Ref<'_>,
        name: &CStr,
        descriptor: &CStr,
    ) -> Option<ObjectField> {
        self.field(class, name, descriptor).map(ObjectField)
    }

    /// GetFieldID of a field of type `int`.
    pub fn int_field(self, class: Ref<'_>, name: &CStr) -> Option<IntField> {
        self.field(class, name, c"I").map(IntField)
    }

    /// GetObjectField. `object` must have the field.
    pub fn object(self, object: Ref<'_>, field: ObjectField) -> Option<Local<'e>> {
        let value = jni!(self, v1_1, GetObjectField, object.raw(), field.0.raw());
        // SAFETY: the VM has just made this local reference, or it is null.
        unsafe { self.adopt(value) }
    }

    /// GetIntField. `object` must have the field.
    pub fn int(self, object: Ref<'_>, field: IntField) -> i32 {
        jni!(self, v1_1, GetIntField, object.raw(), field.0.raw())
    }

    /// The elements of an array of objects; null elements are left out.
    pub fn elements(self, array: Ref<'_>) -> impl Iterator<Item = Local<'e>> {
        let array = array.raw();
        let length = jni!(self, v1_1, GetArrayLength, array);
        (0..length).filter_map(move |at| {
            let element = jni!(self, v1_1, GetObjectArrayElement, array, at);
            // SAFETY: the VM has just made this local reference, or it is null.
            unsafe { self.adopt(element) }
        })
    }

    /// NewStringUTF.
    pub fn string(self, text: &CStr) -> Option<Local<'e>> {
        let string = jni!(self, v1_1, NewStringUTF, text.as_ptr());
        self.unless_thrown(string)
    }

    /// The text of a `java.lang.String`, in the modified UTF-8 of JNI.
    pub fn text(self, string: Ref<'_>) -> Option<String> {
        let chars = jni!(self, v1_1, GetStringUTFChars, string.raw(), ptr::null_mut());
        if chars.is_null() {
            jni!(self, v1_1, ExceptionClear);
            return None;
        }
        // SAFETY: JNI gives zero-terminated characters, until they are released.
        let text = unsafe { CStr::from_ptr(chars) }
            .to_string_lossy()
            .into_owned();
        jni!(self, v1_1, ReleaseStringUTFChars, string.raw(), chars);
        Some(text)
    }
}
