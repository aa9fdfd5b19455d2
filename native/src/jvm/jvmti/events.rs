//! Events that the VM sends.

use super::env::{Error, JMethodId, Jvmti, call, ok};
use crate::jvm::jni::{Env, Ref};
use jni_sys::{jboolean, jint, jlong};
use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::ptr;
use vm::jvmti::ExtensionEventInfo;

/// Events, by their number.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
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
    /// `JVMTI_EVENT_NATIVE_METHOD_BIND`
    NativeMethodBind = 67,
    /// `JVMTI_EVENT_MONITOR_WAIT`
    MonitorWait = 73,
    /// `JVMTI_EVENT_MONITOR_WAITED`
    MonitorWaited = 74,
    /// `JVMTI_EVENT_MONITOR_CONTENDED_ENTER`
    MonitorContendedEnter = 75,
    /// `JVMTI_EVENT_MONITOR_CONTENDED_ENTERED`
    MonitorContendedEntered = 76,
    /// `JVMTI_EVENT_OBJECT_FREE`
    ObjectFree = 83,
    /// `JVMTI_EVENT_VM_OBJECT_ALLOC`
    VmObjectAlloc = 84,
    /// `JVMTI_EVENT_SAMPLED_OBJECT_ALLOC`
    SampledObjectAlloc = 86,
    /// `JVMTI_EVENT_VIRTUAL_THREAD_START`
    VirtualThreadStart = 87,
    /// `JVMTI_EVENT_VIRTUAL_THREAD_END`
    VirtualThreadEnd = 88,
}

impl Event {
    /// The events of [`Events::in_thread`], but for sampled allocations.
    pub const IN_THREAD: [Event; 5] = [
        Event::VmObjectAlloc,
        Event::MonitorContendedEnter,
        Event::MonitorContendedEntered,
        Event::MonitorWait,
        Event::MonitorWaited,
    ];
}

/// What an agent does at the VM's events. No panic may leave these functions, because the VM would
/// abort.
pub trait Events {
    /// VM Start: JNI is up, and no Java code has run.
    fn vm_start(env: Env<'_>);
    /// VM Initialization: the live phase begins. `thread` is the calling thread.
    fn vm_init(env: Env<'_>, thread: Ref<'_>);
    /// VM Death: the live phase ends.
    fn vm_death();
    /// Thread Start: `thread` is the calling thread.
    fn thread_start(env: Env<'_>, thread: Ref<'_>);
    /// Thread End of the calling thread.
    fn thread_end(env: Env<'_>);
    /// Virtual Thread Start: `thread` is the calling thread.
    fn virtual_thread_start(env: Env<'_>, thread: Ref<'_>);
    /// Virtual Thread End of the calling thread.
    fn virtual_thread_end(env: Env<'_>);
    /// Class File Load Hook: the class file that the VM loads instead; `None` for the file as it
    /// is.
    fn class_file(class_file: ClassFile<'_>) -> Option<Vec<u8>>;
    /// Native Method Bind: the function to bind `method` to instead of the one at `function`, if any.
    /// Without an `env` the VM cannot be asked about methods yet.
    fn native_method_bind(
        env: Option<Env<'_>>,
        method: JMethodId,
        function: usize,
    ) -> Option<usize>;
    /// Class Load.
    fn class_load(env: Env<'_>);
    /// Class Prepare.
    fn class_prepare(env: Env<'_>, class: Ref<'_>);
    /// An allocation, or what a thread does with a monitor.
    fn in_thread(env: Env<'_>, event: Event);
    /// Object Free. The VM may be at a safepoint, so no function of the VM may be called.
    fn object_free(tag: jlong);
}

/// A class that the VM is about to load.
#[derive(Copy, Clone)]
pub struct ClassFile<'a> {
    /// The class that this class file redefines or retransforms, if it does.
    pub redefined: Option<Ref<'a>>,
    /// The loader; `None` for the boot loader.
    pub loader: Option<Ref<'a>>,
    /// The internal name.
    pub name: &'a str,
    /// The class file.
    pub bytes: &'a [u8],
}

/// A callback of the extension events that concern a thread. JVMTI declares the callback with
/// variable arguments, which both calling conventions of Linux pass like fixed arguments.
pub type ThreadCallback = extern "C" fn(Jvmti, Env<'_>, Ref<'_>);

type ThreadEvent = extern "system" fn(Jvmti, Env<'_>, Option<Ref<'_>>);
type ClassEvent = extern "system" fn(Jvmti, Env<'_>, Option<Ref<'_>>, Ref<'_>);
type AllocationEvent = extern "system" fn(Jvmti, Env<'_>, Object, Object, Object, jlong);
type MonitorEvent = extern "system" fn(Jvmti, Env<'_>, Object, Object);

type NativeMethodBindEvent =
    extern "system" fn(Jvmti, Option<Env<'_>>, Object, JMethodId, usize, *mut usize);

/// What the agent does not look at.
type Object = Option<Ref<'static>>;

type ClassFileEvent = for<'a> extern "system" fn(
    Jvmti,
    Env<'a>,
    Option<Ref<'a>>,
    Option<Ref<'a>>,
    *const c_char,
    Option<Ref<'a>>,
    jint,
    *const c_uchar,
    *mut jint,
    *mut *mut c_uchar,
);

/// `jvmtiEventCallbacks`, up to the last event that is used. The VM gets the length.
#[repr(C)]
struct Callbacks {
    vm_init: ThreadEvent,
    vm_death: extern "system" fn(Jvmti, Env<'_>),
    thread_start: ThreadEvent,
    thread_end: ThreadEvent,
    class_file_load_hook: ClassFileEvent,
    class_load: ClassEvent,
    class_prepare: ClassEvent,
    vm_start: extern "system" fn(Jvmti, Env<'_>),
    /// Events 58 to 66.
    unused: [usize; 9],
    native_method_bind: NativeMethodBindEvent,
    /// Events 68 to 72.
    unused_before_wait: [usize; 5],
    monitor_wait: extern "system" fn(Jvmti, Env<'_>, Object, Object, jlong),
    monitor_waited: extern "system" fn(Jvmti, Env<'_>, Object, Object, jboolean),
    monitor_contended_enter: MonitorEvent,
    monitor_contended_entered: MonitorEvent,
    /// Events 77 to 82.
    unused_before_free: [usize; 6],
    object_free: extern "system" fn(Jvmti, jlong),
    vm_object_alloc: AllocationEvent,
    /// Event 85.
    unused_before_sampled: usize,
    sampled_object_alloc: AllocationEvent,
    /// Older VMs ignore this event and the next.
    virtual_thread_start: ThreadEvent,
    virtual_thread_end: ThreadEvent,
}

extern "system" fn vm_start<E: Events>(_: Jvmti, env: Env<'_>) {
    E::vm_start(env);
}

extern "system" fn vm_init<E: Events>(_: Jvmti, env: Env<'_>, thread: Option<Ref<'_>>) {
    if let Some(thread) = thread {
        E::vm_init(env, thread);
    }
}

extern "system" fn vm_death<E: Events>(_: Jvmti, _: Env<'_>) {
    E::vm_death();
}

extern "system" fn thread_start<E: Events>(_: Jvmti, env: Env<'_>, thread: Option<Ref<'_>>) {
    if let Some(thread) = thread {
        E::thread_start(env, thread);
    }
}

extern "system" fn thread_end<E: Events>(_: Jvmti, env: Env<'_>, _: Option<Ref<'_>>) {
    E::thread_end(env);
}

extern "system" fn virtual_thread_start<E: Events>(
    _: Jvmti,
    env: Env<'_>,
    thread: Option<Ref<'_>>,
) {
    if let Some(thread) = thread {
        E::virtual_thread_start(env, thread);
    }
}

extern "system" fn virtual_thread_end<E: Events>(_: Jvmti, env: Env<'_>, _: Option<Ref<'_>>) {
    E::virtual_thread_end(env);
}

/// AsyncGetCallTrace answers only if an agent listens to this event.
extern "system" fn class_load<E: Events>(_: Jvmti, env: Env<'_>, _: Option<Ref<'_>>, _: Ref<'_>) {
    E::class_load(env);
}

extern "system" fn native_method_bind<E: Events>(
    _: Jvmti,
    env: Option<Env<'_>>,
    _: Object,
    method: JMethodId,
    function: usize,
    bound: *mut usize,
) {
    if let Some(instead) = E::native_method_bind(env, method, function) {
        // SAFETY: the VM gives a place for the answer.
        unsafe { *bound = instead };
    }
}

/// Declares the callbacks of [`Events::in_thread`], with the types of what the VM tells besides.
macro_rules! in_thread {
    ($($callback:ident = $event:ident($($type:ty),*);)*) => {
        $(extern "system" fn $callback<E: Events>(_: Jvmti, env: Env<'_>, $(_: $type),*) {
            E::in_thread(env, Event::$event);
        })*
    };
}

in_thread! {
    vm_object_alloc = VmObjectAlloc(Object, Object, Object, jlong);
    sampled_object_alloc = SampledObjectAlloc(Object, Object, Object, jlong);
    monitor_contended_enter = MonitorContendedEnter(Object, Object);
    monitor_contended_entered = MonitorContendedEntered(Object, Object);
    monitor_wait = MonitorWait(Object, Object, jlong);
    monitor_waited = MonitorWaited(Object, Object, jboolean);
}

extern "system" fn class_prepare<E: Events>(
    _: Jvmti,
    env: Env<'_>,
    _: Option<Ref<'_>>,
    class: Ref<'_>,
) {
    E::class_prepare(env, class);
}

extern "system" fn object_free<E: Events>(_: Jvmti, tag: jlong) {
    E::object_free(tag);
}

#[allow(clippy::too_many_arguments, reason = "JVMTI's own signature")]
extern "system" fn class_file_load_hook<'a, E: Events>(
    jvmti: Jvmti,
    _: Env<'a>,
    redefined: Option<Ref<'a>>,
    loader: Option<Ref<'a>>,
    name: *const c_char,
    _: Option<Ref<'a>>,
    length: jint,
    bytes: *const c_uchar,
    new_length: *mut jint,
    new_bytes: *mut *mut c_uchar,
) {
    if name.is_null() || bytes.is_null() {
        return;
    }
    // SAFETY: the VM gives a zero-terminated name and `length` bytes.
    let (name, bytes) = unsafe {
        let bytes = std::slice::from_raw_parts(bytes, length.max(0) as usize);
        (CStr::from_ptr(name).to_string_lossy(), bytes)
    };
    let class_file = ClassFile {
        redefined,
        loader,
        name: &name,
        bytes,
    };
    let Some(replaced) = E::class_file(class_file) else {
        return;
    };
    let Ok(memory) = jvmti.copy_out(&replaced) else {
        return;
    };
    // SAFETY: the VM gives places for the answer, and takes the memory over.
    unsafe {
        *new_length = replaced.len() as jint;
        *new_bytes = memory;
    }
}

impl Jvmti {
    /// SetEventCallbacks; the VM copies them.
    pub fn set_callbacks<E: Events>(self) -> Result<(), Error> {
        let callbacks = Callbacks {
            vm_init: vm_init::<E>,
            vm_death: vm_death::<E>,
            thread_start: thread_start::<E>,
            thread_end: thread_end::<E>,
            class_file_load_hook: class_file_load_hook::<E>,
            class_load: class_load::<E>,
            class_prepare: class_prepare::<E>,
            vm_start: vm_start::<E>,
            unused: [0; 9],
            native_method_bind: native_method_bind::<E>,
            unused_before_wait: [0; 5],
            monitor_wait: monitor_wait::<E>,
            monitor_waited: monitor_waited::<E>,
            monitor_contended_enter: monitor_contended_enter::<E>,
            monitor_contended_entered: monitor_contended_entered::<E>,
            unused_before_free: [0; 6],
            object_free: object_free::<E>,
            vm_object_alloc: vm_object_alloc::<E>,
            unused_before_sampled: 0,
            sampled_object_alloc: sampled_object_alloc::<E>,
            virtual_thread_start: virtual_thread_start::<E>,
            virtual_thread_end: virtual_thread_end::<E>,
        };
        let size = size_of::<Callbacks>() as jint;
        ok(call!(
            self,
            SetEventCallbacks,
            ptr::from_ref(&callbacks).cast(),
            size
        ))
    }

    /// SetEventNotificationMode for all threads.
    pub fn enable_event(self, event: Event) -> Result<(), Error> {
        self.notify(event as jint, true)
    }

    /// SetEventNotificationMode for all threads.
    pub fn disable_event(self, event: Event) -> Result<(), Error> {
        self.notify(event as jint, false)
    }

    /// SetHeapSamplingInterval: on average one object in so many allocated bytes is reported.
    pub fn set_heap_sampling_interval(self, bytes: jint) -> Result<(), Error> {
        ok(call!(self, SetHeapSamplingInterval, bytes))
    }

    fn notify(self, event: jint, enable: bool) -> Result<(), Error> {
        ok(call!(
            self,
            SetEventNotificationMode,
            jint::from(enable),
            event,
            ptr::null_mut()
        ))
    }

    /// The number of the VM's own event called `id`, if it has one (GetExtensionEvents).
    pub fn extension_event(self, id: &CStr) -> Option<jint> {
        let (mut count, mut events) = (0, ptr::null_mut::<ExtensionEventInfo>());
        ok(call!(self, GetExtensionEvents, &mut count, &mut events)).ok()?;
        // SAFETY: the VM returned `count` events. What these point at would have to be freed
        // piece by piece; this is called twice in a VM's life.
        let events = unsafe { self.take_array(events, count) };
        // SAFETY: the `id` of each is a zero-terminated string that is not freed.
        let named = |event: &&ExtensionEventInfo| unsafe { CStr::from_ptr(event.id) } == id;
        events.iter().find(named).map(|event| event.index)
    }

    /// SetExtensionEventCallback, then SetEventNotificationMode: HotSpot needs both.
    pub fn enable_extension_event(
        self,
        event: jint,
        callback: ThreadCallback,
    ) -> Result<(), Error> {
        ok(call!(
            self,
            SetExtensionEventCallback,
            event,
            callback as *const c_void
        ))?;
        self.notify(event, true)
    }
}
