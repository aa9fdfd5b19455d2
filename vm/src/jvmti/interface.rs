//! JVMTI's table of functions (`jvmtiInterface_1_` in `jvmti.h`), by name. The order never changes; the functions that
//! are called have their types.

use jni_sys::{jclass, jint, jlong, jobject};
use std::ffi::{c_char, c_uchar, c_void};
use std::ptr::NonNull;

/// `jmethodID`: identifies a method as long as its class is loaded. Any thread may keep it.
#[repr(transparent)]
#[derive(Copy, Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct JMethodId(pub usize);

/// `jvmtiError`; 0 is `JVMTI_ERROR_NONE`.
pub type Error = jint;

/// A JVMTI environment, `jvmtiEnv*`; usable from any attached thread.
#[repr(transparent)]
#[derive(Copy, Clone)]
pub struct Env(pub(super) NonNull<*const Interface>);

// SAFETY: JVMTI environments may be used from every thread (JVMTI, "Environments").
unsafe impl Send for Env {}
// SAFETY: as above.
unsafe impl Sync for Env {}

impl Env {
    /// The VM's functions.
    #[inline]
    pub fn functions(self) -> &'static Interface {
        // SAFETY: the table outlives the environment, which is never disposed of.
        unsafe { &**self.0.as_ptr() }
    }
}

/// `jvmtiFrameInfo`.
#[repr(C)]
#[derive(Copy, Clone, Debug, Default)]
pub struct FrameInfo {
    /// The method.
    pub method: JMethodId,
    /// BCI, or -1 in a native method.
    pub location: jlong,
}

/// `jvmtiStackInfo`.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct StackInfo {
    /// The thread.
    pub thread: jobject,
    /// The thread's state.
    pub state: jint,
    /// Its frames, newest first.
    pub frames: *const FrameInfo,
    /// The number of frames.
    pub count: jint,
}

/// `jvmtiLineNumberEntry`.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct LineNumberEntry {
    /// The first BCI of the line.
    pub start_location: jlong,
    /// The line.
    pub line_number: jint,
}

/// `jvmtiExtensionFunction`.
pub type ExtensionFunction = unsafe extern "C" fn(Env, ...) -> Error;

/// `jvmtiExtensionFunctionInfo`.
#[repr(C)]
#[derive(Copy, Clone)]
pub struct ExtensionFunctionInfo {
    /// The function.
    pub function: Option<ExtensionFunction>,
    /// Its name, zero-terminated.
    pub id: *const c_char,
    description: *const c_char,
    parameters: jint,
    parameter_infos: *const c_void,
    errors: jint,
    error_codes: *const c_void,
}

/// `jvmtiExtensionEventInfo`.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct ExtensionEventInfo {
    /// Its number.
    pub index: jint,
    /// Its name, zero-terminated.
    pub id: *const c_char,
    description: *const c_char,
    parameters: jint,
    parameter_infos: *const c_void,
}

/// `jvmtiCapabilities`: a bit for each.
pub type Capabilities = [u32; 4];

macro_rules! interface {
    (@type) => { *const c_void };
    (@type $($argument:ident: $type:ty),+) => {
        unsafe extern "system" fn(Env, $($type),+) -> Error
    };
    ($($name:ident $(($($argument:ident: $type:ty),+))?,)*) => {
        /// The functions.
        #[repr(C)]
        #[allow(non_snake_case, missing_docs, reason = "JVMTI's own names, which it describes")]
        pub struct Interface {
            $(pub $name: interface!(@type $($($argument: $type),+)?),)*
        }

        /// The names of the functions, in their order.
        #[cfg(test)]
        pub(super) const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

interface! {
    reserved1,
    SetEventNotificationMode(mode: jint, event: jint, thread: jobject),
    GetAllModules,
    GetAllThreads(count: *mut jint, threads: *mut *mut jobject),
    SuspendThread(thread: jobject),
    ResumeThread(thread: jobject),
    StopThread,
    InterruptThread,
    GetThreadInfo,
    GetOwnedMonitorInfo,
    GetCurrentContendedMonitor,
    RunAgentThread,
    GetTopThreadGroups,
    GetThreadGroupInfo,
    GetThreadGroupChildren,
    GetFrameCount(thread: jobject, count: *mut jint),
    GetThreadState,
    GetCurrentThread(thread: *mut jobject),
    GetFrameLocation,
    NotifyFramePop,
    GetLocalObject,
    GetLocalInt,
    GetLocalLong,
    GetLocalFloat,
    GetLocalDouble,
    SetLocalObject,
    SetLocalInt,
    SetLocalLong,
    SetLocalFloat,
    SetLocalDouble,
    CreateRawMonitor,
    DestroyRawMonitor,
    RawMonitorEnter,
    RawMonitorExit,
    RawMonitorWait,
    RawMonitorNotify,
    RawMonitorNotifyAll,
    SetBreakpoint,
    ClearBreakpoint,
    GetNamedModule,
    SetFieldAccessWatch,
    ClearFieldAccessWatch,
    SetFieldModificationWatch,
    ClearFieldModificationWatch,
    IsModifiableClass,
    Allocate(size: jlong, memory: *mut *mut c_uchar),
    Deallocate(memory: *mut c_uchar),
    GetClassSignature(class: jclass, signature: *mut *mut c_char, generic: *mut *mut c_char),
    GetClassStatus,
    GetSourceFileName,
    GetClassModifiers(class: jclass, modifiers: *mut jint),
    GetClassMethods(class: jclass, count: *mut jint, methods: *mut *mut JMethodId),
    GetClassFields,
    GetImplementedInterfaces(class: jclass, count: *mut jint, interfaces: *mut *mut jclass),
    IsInterface,
    IsArrayClass,
    GetClassLoader(class: jclass, loader: *mut jobject),
    GetObjectHashCode,
    GetObjectMonitorUsage,
    GetFieldName,
    GetFieldDeclaringClass,
    GetFieldModifiers,
    IsFieldSynthetic,
    GetMethodName(method: JMethodId, name: *mut *mut c_char, signature: *mut *mut c_char, generic: *mut *mut c_char),
    GetMethodDeclaringClass(method: JMethodId, class: *mut jclass),
    GetMethodModifiers(method: JMethodId, modifiers: *mut jint),
    ClearAllFramePops,
    GetMaxLocals,
    GetArgumentsSize,
    GetLineNumberTable(method: JMethodId, count: *mut jint, table: *mut *mut LineNumberEntry),
    GetMethodLocation,
    GetLocalVariableTable,
    SetNativeMethodPrefix,
    SetNativeMethodPrefixes,
    GetBytecodes(method: JMethodId, size: *mut jint, code: *mut *mut c_uchar),
    IsMethodNative,
    IsMethodSynthetic,
    GetLoadedClasses(count: *mut jint, classes: *mut *mut jclass),
    GetClassLoaderClasses,
    PopFrame,
    ForceEarlyReturnObject,
    ForceEarlyReturnInt,
    ForceEarlyReturnLong,
    ForceEarlyReturnFloat,
    ForceEarlyReturnDouble,
    ForceEarlyReturnVoid,
    RedefineClasses,
    GetVersionNumber,
    GetCapabilities,
    GetSourceDebugExtension,
    IsMethodObsolete,
    SuspendThreadList,
    ResumeThreadList,
    AddModuleReads,
    AddModuleExports,
    AddModuleOpens,
    AddModuleUses,
    AddModuleProvides,
    IsModifiableModule,
    GetAllStackTraces(most: jint, stacks: *mut *mut StackInfo, count: *mut jint),
    GetThreadListStackTraces(count: jint, threads: *const jobject, most: jint, stacks: *mut *mut StackInfo),
    GetThreadLocalStorage(thread: jobject, word: *mut *mut c_void),
    SetThreadLocalStorage(thread: jobject, word: *const c_void),
    GetStackTrace(thread: jobject, start: jint, most: jint, frames: *mut FrameInfo, count: *mut jint),
    reserved105,
    GetTag(object: jobject, tag: *mut jlong),
    SetTag(object: jobject, tag: jlong),
    ForceGarbageCollection,
    IterateOverObjectsReachableFromObject,
    IterateOverReachableObjects,
    IterateOverHeap,
    IterateOverInstancesOfClass,
    reserved113,
    GetObjectsWithTags,
    FollowReferences,
    IterateThroughHeap,
    reserved117,
    SuspendAllVirtualThreads,
    ResumeAllVirtualThreads,
    SetJNIFunctionTable,
    GetJNIFunctionTable,
    SetEventCallbacks(callbacks: *const c_void, size: jint),
    GenerateEvents,
    GetExtensionFunctions(count: *mut jint, functions: *mut *mut ExtensionFunctionInfo),
    GetExtensionEvents(count: *mut jint, events: *mut *mut ExtensionEventInfo),
    SetExtensionEventCallback(event: jint, callback: *const c_void),
    DisposeEnvironment,
    GetErrorName,
    GetJLocationFormat,
    GetSystemProperties,
    GetSystemProperty(name: *const c_char, value: *mut *mut c_char),
    SetSystemProperty,
    GetPhase,
    GetCurrentThreadCpuTimerInfo,
    GetCurrentThreadCpuTime,
    GetThreadCpuTimerInfo,
    GetThreadCpuTime,
    GetTimerInfo,
    GetTime,
    GetPotentialCapabilities,
    reserved141,
    AddCapabilities(capabilities: *const Capabilities),
    RelinquishCapabilities,
    GetAvailableProcessors,
    GetClassVersionNumbers,
    GetConstantPool(class: jclass, count: *mut jint, size: *mut jint, bytes: *mut *mut c_uchar),
    GetEnvironmentLocalStorage,
    SetEnvironmentLocalStorage,
    AddToBootstrapClassLoaderSearch,
    SetVerboseFlag,
    AddToSystemClassLoaderSearch,
    RetransformClasses,
    GetOwnedMonitorStackDepthInfo,
    GetObjectSize,
    GetLocalInstance,
    SetHeapSamplingInterval(bytes: jint),
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The functions in a JDK's own header.
    fn of_header(text: &str) -> Vec<&str> {
        let start = text
            .find("typedef struct jvmtiInterface_1_ {")
            .expect("the table");
        let end = text.find("} jvmtiInterface_1;").expect("its end");
        let after = |line: &'static str, name: &str| name.strip_prefix(line).map(str::len);
        let lines = text[start..end].lines().map(str::trim);
        let name = |line: &'_ str| -> Option<usize> {
            after("void *", line).or(after("jvmtiError (JNICALL *", line))
        };
        lines
            .filter_map(|line| {
                let rest = &line[line.len() - name(line)?..];
                rest.split([')', ';']).next()
            })
            .collect()
    }

    #[test]
    fn functions_have_the_places_that_the_headers_of_jdks_give_them() {
        let jdks = std::fs::read_dir("/usr/lib/jvm");
        let home = std::env::var_os("JAVA_HOME").map(std::path::PathBuf::from);
        let jdks = jdks
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let headers = home
            .into_iter()
            .chain(jdks)
            .map(|jdk| jdk.join("include/jvmti.h"))
            .filter(|header| Path::is_file(header));
        let mut compared = 0;
        for header in headers {
            let text = std::fs::read_to_string(&header).expect("a header");
            let known = of_header(&text);
            assert_eq!(known.len(), NAMES.len(), "{}", header.display());
            // Newer JDKs have functions where older ones have reserved places.
            let is_reserved = |name: &str| name.starts_with("reserved");
            let pairs = known.into_iter().zip(NAMES.iter().copied());
            let is_other = |&(one, other): &(&str, &str)| {
                one != other && !is_reserved(one) && !is_reserved(other)
            };
            let others: Vec<_> = pairs.filter(is_other).collect();
            assert!(others.is_empty(), "{}: {others:?}", header.display());
            compared += 1;
        }
        if compared == 0 {
            println!("skipped: no JDK has a header here");
        }
        assert_eq!(size_of::<Interface>(), NAMES.len() * size_of::<usize>());
    }
}
