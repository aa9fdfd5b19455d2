//! JVMTI, as far as the agent uses it.
//!
//! The function table is an array of pointers; each function is called through its number
//! in the JVMTI specification (`jvmti.h`), which never changes. A test compares the
//! numbers with a JDK's own header.

use jni_sys::{JNIEnv, JavaVM, jclass, jint, jlong, jobject};
use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::mem::transmute;
use std::ptr;

/// `jmethodID`.
pub type JMethodId = *mut c_void;

/// `jvmtiError`; 0 is `JVMTI_ERROR_NONE`.
pub type Error = jint;

/// `JVMTI_VERSION_11`: the first with early class hooks and module support settled.
const VERSION: jint = 0x300B_0000;

/// `jvmtiFrameInfo`.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct FrameInfo {
    /// The method.
    pub method: JMethodId,
    /// BCI, or -1 in a native method.
    pub location: jlong,
}

/// `jvmtiLineNumberEntry`.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
struct LineNumberEntry {
    start_location: jlong,
    line_number: jint,
}

/// Events, by their number.
#[derive(Copy, Clone, Debug)]
#[repr(i32)]
pub enum Event {
    /// `JVMTI_EVENT_VM_INIT`
    VmInit = 50,
    /// `JVMTI_EVENT_VM_DEATH`
    VmDeath = 51,
    /// `JVMTI_EVENT_THREAD_START`
    ThreadStart = 52,
    /// `JVMTI_EVENT_THREAD_END`
    ThreadEnd = 53,
    /// `JVMTI_EVENT_CLASS_FILE_LOAD_HOOK`
    ClassFileLoadHook = 54,
    /// `JVMTI_EVENT_CLASS_LOAD`
    ClassLoad = 55,
    /// `JVMTI_EVENT_CLASS_PREPARE`
    ClassPrepare = 56,
    /// `JVMTI_EVENT_VM_START`
    VmStart = 57,
    /// `JVMTI_EVENT_OBJECT_FREE`
    ObjectFree = 83,
    /// `JVMTI_EVENT_VIRTUAL_THREAD_END`
    VirtualThreadEnd = 88,
}

/// Capabilities, by their bit in `jvmtiCapabilities`.
#[derive(Copy, Clone, Debug)]
#[repr(usize)]
pub enum Capability {
    /// `can_tag_objects`
    TagObjects = 0,
    /// `can_get_bytecodes`
    GetBytecodes = 3,
    /// `can_get_line_numbers`
    GetLineNumbers = 12,
    /// `can_generate_all_class_hook_events`
    AllClassHookEvents = 26,
    /// `can_generate_object_free_events`
    ObjectFreeEvents = 32,
    /// `can_get_constant_pool`
    GetConstantPool = 35,
    /// `can_generate_early_vmstart`
    EarlyVmStart = 41,
    /// `can_generate_early_class_hook_events`
    EarlyClassHookEvents = 42,
    /// `can_support_virtual_threads`
    SupportVirtualThreads = 44,
}

/// `jvmtiEventCallbacks`, up to the last one used; the length is given to the VM.
#[repr(C)]
#[derive(Default)]
pub struct EventCallbacks {
    /// VM Initialization.
    pub vm_init: Option<unsafe extern "system" fn(RawEnv, *mut JNIEnv, jobject)>,
    /// VM Death.
    pub vm_death: Option<unsafe extern "system" fn(RawEnv, *mut JNIEnv)>,
    /// Thread Start.
    pub thread_start: Option<unsafe extern "system" fn(RawEnv, *mut JNIEnv, jobject)>,
    /// Thread End.
    pub thread_end: Option<unsafe extern "system" fn(RawEnv, *mut JNIEnv, jobject)>,
    /// Class File Load Hook.
    #[allow(clippy::type_complexity, reason = "JVMTI's own signature")]
    pub class_file_load_hook: Option<
        unsafe extern "system" fn(
            RawEnv,
            *mut JNIEnv,
            jclass,
            jobject,
            *const c_char,
            jobject,
            jint,
            *const c_uchar,
            *mut jint,
            *mut *mut c_uchar,
        ),
    >,
    /// Class Load.
    pub class_load: Option<unsafe extern "system" fn(RawEnv, *mut JNIEnv, jobject, jclass)>,
    /// Class Prepare.
    pub class_prepare: Option<unsafe extern "system" fn(RawEnv, *mut JNIEnv, jobject, jclass)>,
    /// VM Start.
    pub vm_start: Option<unsafe extern "system" fn(RawEnv, *mut JNIEnv)>,
    /// Events 58 to 82.
    pub unused: [usize; 25],
    /// Object Free.
    pub object_free: Option<unsafe extern "system" fn(RawEnv, jlong)>,
    /// Events 84 to 87.
    pub unused_too: [usize; 4],
    /// Virtual Thread End; older VMs do not look at it.
    pub virtual_thread_end: Option<unsafe extern "system" fn(RawEnv, *mut JNIEnv, jobject)>,
}

/// `jvmtiExtensionEventInfo`.
#[repr(C)]
#[derive(Copy, Clone)]
struct ExtensionEventInfo {
    index: jint,
    id: *const c_char,
    description: *const c_char,
    parameters: jint,
    parameter_infos: *const c_void,
}

/// A callback of the extension events that concern a thread. JVMTI declares it with variable
/// arguments, which both of Linux's calling conventions pass like fixed ones.
pub type ThreadCallback = unsafe extern "C" fn(RawEnv, *mut JNIEnv, jobject);

/// `jvmtiEnv*`.
pub type RawEnv = *mut *const [*mut c_void; 156];

/// A JVMTI environment; usable from any attached thread.
#[derive(Copy, Clone)]
pub struct Jvmti(RawEnv);

// SAFETY: JVMTI environments may be used from every thread (JVMTI, "Environments").
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

/// Calls function number `$number` with the given argument types.
macro_rules! call {
    ($jvmti:expr, $number:literal, ($($type:ty),*), $($arg:expr),* $(,)?) => {{
        // SAFETY: the table outlives the environment; the number and the argument types
        // are those of the JVMTI specification; pointers are valid for the call.
        unsafe {
            let function = (**$jvmti.0)[$number - 1];
            let function = transmute::<
                *mut c_void,
                unsafe extern "system" fn(RawEnv, $($type),*) -> Error,
            >(function);
            function($jvmti.0, $($arg),*)
        }
    }};
}

fn ok(error: Error) -> Result<(), Error> {
    if error == 0 { Ok(()) } else { Err(error) }
}

impl Jvmti {
    /// Asks the VM for an environment.
    ///
    /// # Safety
    /// `vm` must be the VM's.
    pub unsafe fn new(vm: *mut JavaVM) -> Option<Jvmti> {
        let mut env: *mut c_void = ptr::null_mut();
        // SAFETY: `vm` is valid, as the caller promised.
        let status = unsafe { ((**vm).v1_2.GetEnv)(vm, &mut env, VERSION) };
        (status == 0 && !env.is_null()).then(|| Jvmti(env.cast()))
    }

    /// The address of one of the VM's functions.
    pub fn any_function(&self) -> *const c_void {
        // SAFETY: the table outlives the environment.
        unsafe { (**self.0)[104 - 1] }
    }

    /// AddCapabilities.
    pub fn add_capabilities(&self, capabilities: &[Capability]) -> Result<(), Error> {
        let mut bits = [0u32; 4];
        for &capability in capabilities {
            bits[capability as usize / 32] |= 1 << (capability as usize % 32);
        }
        ok(call!(self, 142, (*const u32), bits.as_ptr()))
    }

    /// SetEventCallbacks; the VM copies them.
    pub fn set_callbacks(&self, callbacks: &EventCallbacks) -> Result<(), Error> {
        let size = size_of::<EventCallbacks>() as jint;
        ok(call!(
            self,
            122,
            (*const EventCallbacks, jint),
            callbacks,
            size
        ))
    }

    /// SetEventNotificationMode for all threads.
    pub fn set_event(&self, event: Event, enabled: bool) -> Result<(), Error> {
        self.set_notification(event as jint, enabled)
    }

    fn set_notification(&self, event: jint, enabled: bool) -> Result<(), Error> {
        ok(call!(
            self,
            2,
            (jint, jint, jobject),
            jint::from(enabled),
            event,
            ptr::null_mut()
        ))
    }

    /// Allocate: memory that the VM frees.
    pub fn allocate(&self, size: usize) -> Result<*mut c_uchar, Error> {
        let mut memory = ptr::null_mut();
        ok(call!(
            self,
            46,
            (jlong, *mut *mut c_uchar),
            size as jlong,
            &mut memory
        ))?;
        Ok(memory)
    }

    fn deallocate(&self, memory: *mut c_void) {
        if !memory.is_null() {
            call!(self, 47, (*mut c_uchar), memory.cast());
        }
    }

    /// Copies a string that the VM allocated, and frees it.
    fn take_string(&self, string: *mut c_char) -> String {
        if string.is_null() {
            return String::new();
        }
        // SAFETY: JVMTI gives zero-terminated strings.
        let copy = unsafe { CStr::from_ptr(string) }
            .to_string_lossy()
            .into_owned();
        self.deallocate(string.cast());
        copy
    }

    /// GetSystemProperty; empty if there is none.
    pub fn system_property(&self, name: &CStr) -> String {
        let mut value = ptr::null_mut();
        call!(
            self,
            131,
            (*const c_char, *mut *mut c_char),
            name.as_ptr(),
            &mut value
        );
        self.take_string(value)
    }

    /// GetLoadedClasses: local references.
    pub fn loaded_classes(&self) -> Result<Vec<jclass>, Error> {
        let (mut count, mut classes) = (0, ptr::null_mut());
        ok(call!(
            self,
            78,
            (*mut jint, *mut *mut jclass),
            &mut count,
            &mut classes
        ))?;
        // SAFETY: the VM returned `count` classes.
        let copy = unsafe { copy_slice(classes, count) };
        self.deallocate(classes.cast());
        Ok(copy)
    }

    /// GetClassMethods. It gives every method its `jmethodID`: AsyncGetCallTrace shows methods
    /// without one as unknown.
    pub fn create_method_ids(&self, class: jclass) -> Result<Vec<JMethodId>, Error> {
        let (mut count, mut methods) = (0, ptr::null_mut::<JMethodId>());
        ok(call!(
            self,
            52,
            (jclass, *mut jint, *mut *mut JMethodId),
            class,
            &mut count,
            &mut methods
        ))?;
        // SAFETY: the VM returned `count` methods.
        let copy = unsafe { copy_slice(methods, count) };
        self.deallocate(methods.cast());
        Ok(copy)
    }

    /// GetTag, and SetTag with `fresh` if there is none: the end of `object` will be told with
    /// the tag that it has then.
    pub fn tag(&self, object: jobject, fresh: jlong) -> Result<jlong, Error> {
        let mut tag = 0;
        ok(call!(self, 106, (jobject, *mut jlong), object, &mut tag))?;
        if tag != 0 {
            return Ok(tag);
        }
        ok(call!(self, 107, (jobject, jlong), object, fresh))?;
        Ok(fresh)
    }

    /// GetClassSignature, such as `Ljava/lang/String;`.
    pub fn class_signature(&self, class: jclass) -> Result<String, Error> {
        let mut signature = ptr::null_mut();
        ok(call!(
            self,
            48,
            (jclass, *mut *mut c_char, *mut *mut c_char),
            class,
            &mut signature,
            ptr::null_mut()
        ))?;
        Ok(self.take_string(signature))
    }

    /// GetClassModifiers: the access flags of JVMS table 4.1-B.
    pub fn class_modifiers(&self, class: jclass) -> Result<u16, Error> {
        let mut flags = 0;
        ok(call!(self, 51, (jclass, *mut jint), class, &mut flags))?;
        Ok(flags as u16)
    }

    /// GetMethodModifiers: the access flags of JVMS table 4.6-A.
    pub fn method_modifiers(&self, method: JMethodId) -> Result<u16, Error> {
        let mut flags = 0;
        ok(call!(self, 66, (JMethodId, *mut jint), method, &mut flags))?;
        Ok(flags as u16)
    }

    /// GetImplementedInterfaces, the direct ones: local references.
    pub fn interfaces(&self, class: jclass) -> Result<Vec<jclass>, Error> {
        let (mut count, mut interfaces) = (0, ptr::null_mut());
        ok(call!(
            self,
            54,
            (jclass, *mut jint, *mut *mut jclass),
            class,
            &mut count,
            &mut interfaces
        ))?;
        // SAFETY: the VM returned `count` classes.
        let copy = unsafe { copy_slice(interfaces, count) };
        self.deallocate(interfaces.cast());
        Ok(copy)
    }

    /// GetConstantPool: `constant_pool_count` and the entries, as a class file has them.
    pub fn constant_pool(&self, class: jclass) -> Result<(u16, Vec<u8>), Error> {
        let (mut count, mut size, mut bytes) = (0, 0, ptr::null_mut::<c_uchar>());
        ok(call!(
            self,
            146,
            (jclass, *mut jint, *mut jint, *mut *mut c_uchar),
            class,
            &mut count,
            &mut size,
            &mut bytes
        ))?;
        // SAFETY: the VM returned `size` bytes.
        let copy = unsafe { copy_slice(bytes, size) };
        self.deallocate(bytes.cast());
        Ok((count as u16, copy))
    }

    /// GetClassLoader: a local reference, null for the boot loader.
    pub fn class_loader(&self, class: jclass) -> Result<jobject, Error> {
        let mut loader = ptr::null_mut();
        ok(call!(self, 57, (jclass, *mut jobject), class, &mut loader))?;
        Ok(loader)
    }

    /// GetMethodName: name and descriptor.
    pub fn method_name(&self, method: JMethodId) -> Result<(String, String), Error> {
        let (mut name, mut descriptor) = (ptr::null_mut(), ptr::null_mut());
        ok(call!(
            self,
            64,
            (
                JMethodId,
                *mut *mut c_char,
                *mut *mut c_char,
                *mut *mut c_char
            ),
            method,
            &mut name,
            &mut descriptor,
            ptr::null_mut()
        ))?;
        Ok((self.take_string(name), self.take_string(descriptor)))
    }

    /// GetMethodDeclaringClass: a local reference.
    pub fn declaring_class(&self, method: JMethodId) -> Result<jclass, Error> {
        let mut class = ptr::null_mut();
        ok(call!(
            self,
            65,
            (JMethodId, *mut jclass),
            method,
            &mut class
        ))?;
        Ok(class)
    }

    /// GetBytecodes, handed to `read`.
    pub fn bytecodes<T>(
        &self,
        method: JMethodId,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, Error> {
        let (mut size, mut code) = (0, ptr::null_mut::<c_uchar>());
        ok(call!(
            self,
            75,
            (JMethodId, *mut jint, *mut *mut c_uchar),
            method,
            &mut size,
            &mut code
        ))?;
        // SAFETY: the VM returned `size` bytes.
        let result = read(unsafe { slice(code, size) });
        self.deallocate(code.cast());
        Ok(result)
    }

    /// GetLineNumberTable: pairs of start BCI and line, in the table's order.
    pub fn line_numbers(&self, method: JMethodId) -> Result<Vec<(i64, i32)>, Error> {
        let (mut count, mut table) = (0, ptr::null_mut::<LineNumberEntry>());
        ok(call!(
            self,
            70,
            (JMethodId, *mut jint, *mut *mut LineNumberEntry),
            method,
            &mut count,
            &mut table
        ))?;
        // SAFETY: the VM returned `count` entries.
        let lines = unsafe { slice(table, count) }
            .iter()
            .map(|entry| (entry.start_location, entry.line_number))
            .collect();
        self.deallocate(table.cast());
        Ok(lines)
    }

    /// The number of the VM's own event called `id`, if it has one (GetExtensionEvents).
    pub fn extension_event(&self, id: &CStr) -> Option<jint> {
        let (mut count, mut events) = (0, ptr::null_mut::<ExtensionEventInfo>());
        ok(call!(
            self,
            125,
            (*mut jint, *mut *mut ExtensionEventInfo),
            &mut count,
            &mut events
        ))
        .ok()?;
        // SAFETY: the VM returned `count` events. What they point at would have to be freed
        // piece by piece; this is called twice in a VM's life.
        let events = unsafe { slice(events, count) };
        // SAFETY: the `id` of each is a zero-terminated string that is not freed.
        let named = |event: &&ExtensionEventInfo| unsafe { CStr::from_ptr(event.id) } == id;
        events.iter().find(named).map(|event| event.index)
    }

    /// SetExtensionEventCallback, then SetEventNotificationMode: HotSpot wants both.
    pub fn set_extension_event(&self, event: jint, callback: ThreadCallback) -> Result<(), Error> {
        ok(call!(self, 126, (jint, ThreadCallback), event, callback))?;
        self.set_notification(event, true)
    }

    /// GetThreadLocalStorage of the calling thread, virtual or not.
    pub fn thread_local<T>(&self) -> *const T {
        let mut word = ptr::null_mut();
        call!(
            self,
            102,
            (jobject, *mut *mut c_void),
            ptr::null_mut(),
            &mut word
        );
        word.cast()
    }

    /// SetThreadLocalStorage of the calling thread, virtual or not.
    pub fn set_thread_local<T>(&self, word: *const T) -> Result<(), Error> {
        ok(call!(
            self,
            103,
            (jobject, *const c_void),
            ptr::null_mut(),
            word.cast()
        ))
    }

    /// GetFrameCount of the calling thread: whether there are any.
    pub fn has_frames(&self) -> Result<bool, Error> {
        let mut count = 0;
        ok(call!(
            self,
            16,
            (jobject, *mut jint),
            ptr::null_mut(),
            &mut count
        ))?;
        Ok(count > 0)
    }

    /// GetStackTrace of `thread` (null: the calling one) into `buffer`; the frames' count.
    pub fn stack_trace(&self, thread: jobject, buffer: &mut [FrameInfo]) -> Result<usize, Error> {
        let mut count = 0;
        ok(call!(
            self,
            104,
            (jobject, jint, jint, *mut FrameInfo, *mut jint),
            thread,
            0,
            buffer.len() as jint,
            buffer.as_mut_ptr(),
            &mut count
        ))?;
        Ok(count as usize)
    }
}

/// # Safety
/// `data` must be null or valid for `count` reads.
unsafe fn slice<'a, T>(data: *const T, count: jint) -> &'a [T] {
    if data.is_null() || count <= 0 {
        return &[];
    }
    // SAFETY: as the caller promised.
    unsafe { std::slice::from_raw_parts(data, count as usize) }
}

/// # Safety
/// As [`slice`].
unsafe fn copy_slice<T: Copy>(data: *const T, count: jint) -> Vec<T> {
    // SAFETY: as the caller promised.
    unsafe { slice(data, count) }.to_vec()
}
