//! JNI: environments, and references to objects, which are deleted.

use jni_sys::{JNIEnv, JNINativeMethod, JavaVM, jfieldID, jint, jlong, jobject};
use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// The JNI environment of the calling thread, as the VM passes it to native functions. The value
/// stays on this thread.
#[repr(transparent)]
#[derive(Copy, Clone)]
pub struct Env<'a>(NonNull<JNIEnv>, PhantomData<&'a ()>);

/// The identity of an environment: a word that any thread may keep and compare.
#[derive(Copy, Clone, Debug, Default, Eq, PartialEq)]
pub struct EnvAddress(pub usize);

/// A reference to an object, valid on this thread for the lifetime.
#[repr(transparent)]
#[derive(Copy, Clone)]
pub struct Ref<'a>(NonNull<jni_sys::_jobject>, PhantomData<&'a ()>);

/// A local reference that is deleted when dropped.
pub struct Local<'a> {
    env: Env<'a>,
    object: Ref<'a>,
}

/// A global reference, valid on every thread until [`Global::delete`].
#[derive(Debug)]
pub struct Global(NonNull<jni_sys::_jobject>);

// SAFETY: global references may be used from every thread (JNI, "Global and Local References").
unsafe impl Send for Global {}
// SAFETY: as above.
unsafe impl Sync for Global {}

/// A field in the objects of one class.
#[derive(Copy, Clone, Debug)]
pub(super) struct Field(NonNull<jni_sys::_jfieldID>);

// SAFETY: field ids may be used from every thread, as long as their class is loaded.
unsafe impl Send for Field {}
// SAFETY: as above.
unsafe impl Sync for Field {}

/// A field of type `long`.
#[derive(Copy, Clone, Debug)]
pub struct LongField(Field);

/// A static method without parameters that returns a `long`.
#[derive(Copy, Clone, Debug)]
pub struct StaticLong(NonNull<jni_sys::_jmethodID>);

/// A native method of a Java class. The kind of function stands for its descriptor.
#[derive(Copy, Clone)]
pub struct Native {
    /// Its name.
    pub name: &'static CStr,
    /// The function.
    pub function: Function,
}

/// Functions to which static native methods may be bound. The first two arguments are those that
/// JNI passes to every function.
#[derive(Copy, Clone)]
pub enum Function {
    /// `()V`
    Plain(extern "system" fn(Env<'_>, Ref<'_>)),
    /// `(I)V`
    TakesInt(extern "system" fn(Env<'_>, Ref<'_>, jint)),
    /// `(II)V`
    TakesInts(extern "system" fn(Env<'_>, Ref<'_>, jint, jint)),
    /// `(II)I`
    TakesIntsGivesInt(extern "system" fn(Env<'_>, Ref<'_>, jint, jint) -> jint),
    /// `(Ljava/lang/Object;I)V`
    TakesObjectAndInt(extern "system" fn(Env<'_>, Ref<'_>, Option<Ref<'_>>, jint)),
    /// `(Ljava/lang/Object;II)Ljava/lang/Throwable;`
    GivesThrowable(GivesThrowable),
}

/// Takes an object and two numbers, returns a throwable, which may be the object itself.
pub type GivesThrowable =
    for<'a> extern "system" fn(Env<'a>, Ref<'a>, Option<Ref<'a>>, jint, jint) -> Option<Ref<'a>>;

impl Function {
    fn parts(self) -> (&'static CStr, *mut c_void) {
        match self {
            Function::Plain(function) => (c"()V", function as *mut c_void),
            Function::TakesInt(function) => (c"(I)V", function as *mut c_void),
            Function::TakesInts(function) => (c"(II)V", function as *mut c_void),
            Function::TakesIntsGivesInt(function) => (c"(II)I", function as *mut c_void),
            Function::TakesObjectAndInt(function) => {
                (c"(Ljava/lang/Object;I)V", function as *mut c_void)
            }
            Function::GivesThrowable(function) => {
                let descriptor = c"(Ljava/lang/Object;II)Ljava/lang/Throwable;";
                (descriptor, function as *mut c_void)
            }
        }
    }
}

/// Calls a function of the environment's table.
macro_rules! jni {
    ($env:expr, $version:ident, $function:ident $(, $arg:expr)* $(,)?) => {{
        let env = $env.raw();
        // SAFETY: the calling thread's environment, which is why `Env` cannot leave it; the
        // references are good on this thread, as their types say.
        unsafe { ((**env).$version.$function)(env $(, $arg)*) }
    }};
}
pub(super) use jni;

impl<'a> Env<'a> {
    /// The identity of this environment.
    pub fn address(self) -> EnvAddress {
        EnvAddress(self.0.as_ptr() as usize)
    }

    pub(super) fn raw(self) -> *mut JNIEnv {
        self.0.as_ptr()
    }

    fn local(self, object: jobject) -> Option<Local<'a>> {
        Some(Local {
            env: self,
            object: Ref::new(object)?,
        })
    }

    /// Takes over a local reference that a function of the VM has just made.
    ///
    /// # Safety
    /// `object` must be null, or a local reference of this thread that no other code deletes.
    pub(super) unsafe fn adopt(self, object: jobject) -> Option<Local<'a>> {
        self.local(object)
    }

    /// `found`. If there is nothing, clears the exception.
    pub(super) fn or_clear<T>(self, found: Option<T>) -> Option<T> {
        if found.is_none() {
            jni!(self, v1_1, ExceptionClear);
        }
        found
    }

    /// FindClass: the class with this internal name, if it exists.
    pub fn find_class(self, name: &CStr) -> Option<Local<'a>> {
        let class = jni!(self, v1_1, FindClass, name.as_ptr());
        self.or_clear(self.local(class))
    }

    /// DefineClass in the boot loader, under the name that the class file has.
    pub fn define_boot_class(self, class_file: &[u8]) -> Option<Local<'a>> {
        let (name, loader) = (ptr::null(), ptr::null_mut());
        let (bytes, length) = (class_file.as_ptr().cast(), class_file.len() as jint);
        let class = jni!(self, v1_1, DefineClass, name, loader, bytes, length);
        self.local(class)
    }

    /// GetObjectClass.
    pub fn class_of(self, object: Ref<'_>) -> Option<Local<'a>> {
        self.local(jni!(self, v1_1, GetObjectClass, object.raw()))
    }

    /// GetSuperclass; `None` for `Object` and for interfaces.
    pub fn superclass(self, class: Ref<'_>) -> Option<Local<'a>> {
        self.local(jni!(self, v1_1, GetSuperclass, class.raw()))
    }

    /// Whether the VM's JNI knows virtual threads, by GetVersion.
    pub fn has_virtual_threads(self) -> bool {
        /// `JNI_VERSION_19`: the first with `IsVirtualThread`.
        const FIRST: i32 = 0x0013_0000;
        jni!(self, v1_1, GetVersion) >= FIRST
    }

    /// IsInstanceOf.
    pub fn is_instance(self, object: Ref<'_>, class: Ref<'_>) -> bool {
        jni!(self, v1_1, IsInstanceOf, object.raw(), class.raw())
    }

    /// IsSameObject.
    pub fn is_same(self, one: Ref<'_>, other: Ref<'_>) -> bool {
        jni!(self, v1_1, IsSameObject, one.raw(), other.raw())
    }

    /// NewGlobalRef; `None` if there is no memory.
    pub fn global(self, object: Ref<'_>) -> Option<Global> {
        NonNull::new(jni!(self, v1_1, NewGlobalRef, object.raw())).map(Global)
    }

    /// NewLocalRef.
    pub fn local_of(self, object: Ref<'_>) -> Option<Local<'a>> {
        self.local(jni!(self, v1_2, NewLocalRef, object.raw()))
    }

    /// GetFieldID.
    pub(super) fn field(self, class: Ref<'_>, name: &CStr, descriptor: &CStr) -> Option<Field> {
        let (class, name, descriptor) = (class.raw(), name.as_ptr(), descriptor.as_ptr());
        let field = jni!(self, v1_1, GetFieldID, class, name, descriptor);
        self.or_clear(NonNull::new(field).map(Field))
    }

    /// GetFieldID of a field of type `long`.
    pub fn long_field(self, class: Ref<'_>, name: &CStr) -> Option<LongField> {
        self.field(class, name, c"J").map(LongField)
    }

    /// GetLongField. `object` must have the field.
    pub fn long(self, object: Ref<'_>, field: LongField) -> jlong {
        jni!(self, v1_1, GetLongField, object.raw(), field.0.raw())
    }

    /// SetLongField. `object` must have the field.
    pub fn set_long(self, object: Ref<'_>, field: LongField, value: jlong) {
        let (object, field) = (object.raw(), field.0.raw());
        jni!(self, v1_1, SetLongField, object, field, value);
    }

    /// GetStaticMethodID of a method without parameters that returns a `long`. Initialises the class.
    pub fn static_long(self, class: Ref<'_>, name: &CStr) -> Option<StaticLong> {
        let (class, name) = (class.raw(), name.as_ptr());
        let method = jni!(self, v1_1, GetStaticMethodID, class, name, c"()J".as_ptr());
        self.or_clear(NonNull::new(method).map(StaticLong))
    }

    /// CallStaticLongMethod. The method must be one of `class`, and must throw nothing.
    pub fn call_static_long(self, class: Ref<'_>, method: StaticLong) -> jlong {
        let (method, none) = (method.0.as_ptr(), ptr::null());
        jni!(self, v1_1, CallStaticLongMethodA, class.raw(), method, none)
    }

    /// Sets a static field of type `long`; false if the class has no such field.
    pub fn set_static_long(self, class: Ref<'_>, name: &CStr, value: jlong) -> bool {
        let (name, descriptor) = (name.as_ptr(), c"J".as_ptr());
        let field = jni!(self, v1_1, GetStaticFieldID, class.raw(), name, descriptor);
        if self.or_clear(NonNull::new(field)).is_none() {
            return false;
        }
        jni!(self, v1_1, SetStaticLongField, class.raw(), field, value);
        true
    }

    /// RegisterNatives; false if the class lacks one of the methods.
    pub fn register_natives(self, class: Ref<'_>, natives: &[Native]) -> bool {
        let method = |native: &Native| {
            let (descriptor, function) = native.function.parts();
            JNINativeMethod {
                name: native.name.as_ptr().cast_mut(),
                signature: descriptor.as_ptr().cast_mut(),
                fnPtr: function,
            }
        };
        let methods: Vec<_> = natives.iter().map(method).collect();
        let (data, count) = (methods.as_ptr(), methods.len() as jint);
        jni!(self, v1_2, RegisterNatives, class.raw(), data, count) == 0
    }
}

impl Field {
    pub(super) fn raw(self) -> jfieldID {
        self.0.as_ptr()
    }
}

impl<'a> Ref<'a> {
    fn new(object: jobject) -> Option<Ref<'a>> {
        Some(Ref(NonNull::new(object)?, PhantomData))
    }

    pub(super) fn raw(self) -> jobject {
        self.0.as_ptr()
    }
}

impl<'a> Local<'a> {
    /// The environment of the reference.
    pub fn env(&self) -> Env<'a> {
        self.env
    }

    /// The reference.
    pub fn get(&self) -> Ref<'_> {
        self.object
    }
}

impl Drop for Local<'_> {
    fn drop(&mut self) {
        jni!(self.env, v1_1, DeleteLocalRef, self.object.raw());
    }
}

impl Global {
    /// The reference.
    pub fn get(&self) -> Ref<'_> {
        Ref(self.0, PhantomData)
    }

    /// Gives the reference back.
    pub fn delete(self, env: Env<'_>) {
        jni!(env, v1_1, DeleteGlobalRef, self.0.as_ptr());
    }

    /// The reference as a word, which another thread may take.
    pub fn into_raw(self) -> jobject {
        self.0.as_ptr()
    }

    /// The reference of a word from [`Global::into_raw`]; `None` for null.
    ///
    /// # Safety
    /// `object` must be null or come from there, and no code may delete the reference while this is
    /// used.
    pub unsafe fn from_raw(object: jobject) -> Option<Global> {
        NonNull::new(object).map(Global)
    }
}

/// The VM's invocation interface, as the VM passes it to an agent. Every thread may use it.
#[repr(transparent)]
#[derive(Copy, Clone)]
pub struct Vm(NonNull<JavaVM>);

// SAFETY: JNI allows it ("The Invocation API").
unsafe impl Send for Vm {}
// SAFETY: as above.
unsafe impl Sync for Vm {}

impl Vm {
    pub(super) fn raw(self) -> *mut JavaVM {
        self.0.as_ptr()
    }

    /// GetEnv: JNI, if the calling thread is attached.
    fn interface(self) -> Option<NonNull<c_void>> {
        let (vm, mut env) = (self.raw(), ptr::null_mut());
        // SAFETY: the VM's own interface, and a place for the answer.
        let status = unsafe { ((**vm).v1_2.GetEnv)(vm, &mut env, jni_sys::JNI_VERSION_1_8) };
        NonNull::new(env).filter(|_| status == 0)
    }

    /// Runs `body` with the environment of the calling thread; none if the thread is not attached.
    pub fn with_env<T>(self, body: impl FnOnce(Env<'_>) -> T) -> Option<T> {
        let env = self.interface()?;
        Some(body(Env(env.cast(), PhantomData)))
    }

    /// Runs `body` with the calling thread attached as a daemon, so that it keeps no VM alive;
    /// `None` if the VM refuses. A thread without a name gets a number from the VM.
    pub fn attached<T>(self, name: Option<&CStr>, body: impl FnOnce(Env<'_>) -> T) -> Option<T> {
        let (vm, mut env) = (self.0.as_ptr(), ptr::null_mut());
        let mut arguments = jni_sys::JavaVMAttachArgs {
            version: jni_sys::JNI_VERSION_1_8,
            name: name.map_or(ptr::null_mut(), |name| name.as_ptr().cast_mut()),
            group: ptr::null_mut(),
        };
        // SAFETY: the VM is live; the arguments outlive the call.
        let status = unsafe {
            let arguments = ptr::from_mut(&mut arguments).cast();
            ((**vm).v1_4.AttachCurrentThreadAsDaemon)(vm, &mut env, arguments)
        };
        let env = NonNull::new(env.cast()).filter(|_| status == 0)?;
        let result = body(Env(env, PhantomData));
        // SAFETY: this thread attached itself and has no Java frames.
        unsafe { ((**vm).v1_2.DetachCurrentThread)(vm) };
        Some(result)
    }
}
