//! The methods that the VM calls by itself: HotSpot's uses of `JavaCalls::call…`, and the parts of
//! the JDK's native code that start a thread.

use oracle::edge::Of::{Class, Package, Subtypes};
use oracle::edge::{Occasions, Of, Upcall, package};

/// `systemDictionary.cpp`, `systemDictionaryShared.cpp`.
const LOADS: Occasions = Occasions::LOADS;
/// `systemDictionary.cpp`.
const LINKS: Occasions = Occasions::LINKS;
/// `exceptions.cpp`.
const THROWS: Occasions = Occasions::THROWS;
/// `nativeLookup.cpp`: with -Xcomp, native methods are compiled where they are linked.
const CALLS: Occasions = Occasions::CALLS;
/// `instanceKlass.cpp`, `register_finalizer`.
const FINALIZES: Occasions = Occasions::FINALIZES;
/// `thread.cpp`, `javaThread.cpp`, `os.cpp`, `java.c`.
const STARTS: Occasions = Occasions::STARTS;
/// `attachListener.cpp`, `serviceThread.cpp`, `management.cpp`, `jfrRecorderThread.cpp`.
const SERVES: Occasions = Occasions::SERVES;
const LAUNCHES: Occasions = Occasions::LAUNCHES;

const fn up(of: Of, name: &'static str, descriptor: Option<&'static str>, on: Occasions) -> Upcall {
    Upcall {
        of,
        name,
        descriptor,
        on,
    }
}

const LOADER: &str = "java/lang/ClassLoader";
const THREAD: &str = "java/lang/Thread";

/// Class initialisers and constructors of exceptions are not in the table, because their classes
/// decide.
pub(super) static UPCALLS: &[Upcall] = &[
    up(
        Subtypes(LOADER),
        "loadClass",
        Some("(Ljava/lang/String;)Ljava/lang/Class;"),
        LOADS,
    ),
    up(Class(LOADER), "checkPackageAccess", None, LOADS),
    up(
        Class(LOADER),
        "addClass",
        Some("(Ljava/lang/Class;)V"),
        LOADS,
    ),
    // The VM checks names in class files before Java 5 (`classFileParser.cpp`).
    up(
        Class("java/lang/Character"),
        "isJavaIdentifier*",
        Some("(I)Z"),
        LOADS,
    ),
    // Value objects are compared by their fields where `if_acmpeq` and its kin, or the VM's own code, compare references
    // (`InterpreterRuntime::is_substitutable`; C2 calls the method itself), and hashed by them (`ObjectSynchronizer::FastHashCode`).
    // JDK 28, preview.
    up(
        Class("java/lang/runtime/ValueObjectMethods"),
        "*",
        None,
        LOADS,
    ),
    // Classes that are initialised in an AOT cache (`aotClassInitializer.cpp`, JDK 24).
    up(
        Subtypes("java/lang/Object"),
        "runtimeSetup",
        Some("()V"),
        LOADS.and(LAUNCHES),
    ),
    // The VM defines package and protection domain of classes of the CDS archive.
    up(Subtypes(LOADER), "getProtectionDomain", None, LOADS),
    up(Subtypes(LOADER), "definePackage", None, LOADS),
    up(Subtypes(LOADER), "defineOrCheckPackage", None, LOADS),
    up(
        Class("jdk/internal/loader/ClassLoaders"),
        "toFileURL",
        None,
        LOADS,
    ),
    up(Class("java/util/jar/Manifest"), "<init>", None, LOADS),
    up(Class("java/io/ByteArrayInputStream"), "<init>", None, LOADS),
    // Agents and JFR transform classes at load.
    up(
        Class("sun/instrument/InstrumentationImpl"),
        "transform",
        None,
        LOADS,
    ),
    up(
        Class("jdk/internal/module/Modules"),
        "transformedByAgent",
        None,
        LOADS,
    ),
    up(Class("jdk/jfr/internal/JVMUpcalls"), "*", None, LOADS),
    up(
        Class("java/lang/invoke/MethodHandleNatives"),
        "*",
        None,
        LINKS,
    ),
    up(Class(LOADER), "findNative", None, CALLS),
    up(Subtypes("java/lang/Throwable"), "initCause", None, THROWS),
    // A class initialiser that failed (`javaClasses.cpp`, `create_initialization_error`).
    up(
        Subtypes("java/lang/Throwable"),
        "getStackTrace",
        None,
        THROWS,
    ),
    up(
        Class("java/lang/ref/Finalizer"),
        "register",
        Some("(Ljava/lang/Object;)V"),
        FINALIZES,
    ),
    up(Subtypes(THREAD), "run", Some("()V"), STARTS),
    up(Class(THREAD), "exit", Some("()V"), STARTS),
    up(Class(THREAD), "dispatchUncaughtException", None, STARTS),
    // A virtual thread's own stack (`continuationFreezeThaw.cpp`, `vframe.cpp`).
    up(Class("jdk/internal/vm/Continuation"), "enter", None, STARTS),
    up(
        Class("jdk/internal/vm/Continuation"),
        "enterSpecial",
        None,
        STARTS,
    ),
    up(
        Class("jdk/internal/misc/Signal"),
        "dispatch",
        Some("(I)V"),
        SERVES,
    ),
    up(Package("sun/instrument"), "*", None, SERVES),
    up(Package("jdk/internal/vm"), "*", None, SERVES),
    up(Package("jdk/internal/agent"), "*", None, SERVES),
    up(Package("sun/management"), "*", None, SERVES),
    up(Package("com/sun/management/internal"), "*", None, SERVES),
    up(Package("jdk/jfr/internal"), "*", None, SERVES),
    up(Package("jdk/jfr/internal/dcmd"), "*", None, SERVES),
    up(Package("jdk/vm/ci/hotspot"), "*", None, SERVES),
    up(Package("jdk/vm/ci/services"), "*", None, SERVES),
    // An agent adds to the class path (`jvmtiEnv.cpp`).
    up(
        Subtypes(LOADER),
        "appendToClassPathForInstrumentation",
        None,
        LAUNCHES.and(SERVES),
    ),
    // `statSampler.cpp`, `perfData.cpp`.
    up(Class("java/lang/System"), "getProperty", None, LAUNCHES),
    // The VM writes the CDS archive at its end, or on demand (`lambdaFormInvokers.cpp`,
    // `dynamicArchive.cpp`, `diagnosticCommand.cpp`).
    up(
        Class("jdk/internal/misc/CDS"),
        "*",
        None,
        LAUNCHES.and(SERVES),
    ),
    up(Class("java/lang/System"), "initPhase*", None, LAUNCHES),
    up(
        Class("java/lang/System"),
        "initializeSystemClass",
        None,
        LAUNCHES,
    ),
    up(Class("java/lang/Shutdown"), "shutdown", None, LAUNCHES),
    up(Class(THREAD), "<init>", None, LAUNCHES),
    up(Class("java/lang/ThreadGroup"), "<init>", None, LAUNCHES),
    // The VM starts threads of its own, in JDK 17 (`thread.cpp`, `os.cpp`, `attachListener.cpp`).
    up(
        Class("java/lang/ThreadGroup"),
        "add",
        None,
        LAUNCHES.and(SERVES),
    ),
    up(Class(LOADER), "get*ClassLoader", None, LAUNCHES),
    up(Package("sun/launcher"), "*", None, LAUNCHES),
];

/// Whether the VM itself calls `method`, as far as the name alone shows: `package.Class.name` with
/// its descriptor, as in reports. Methods that start a thread do not count.
pub fn is_called_by_vm(method: &str) -> bool {
    let (path, descriptor) = method.split_at(method.find('(').unwrap_or(method.len()));
    let Some((class, name)) = path.rsplit_once('.') else {
        return false;
    };
    let is_throwable = class.ends_with("Exception") || class.ends_with("Error");
    if name == "<clinit>" || (name == "<init>" && is_throwable) {
        return true;
    }
    let class = class.replace('.', "/");
    let on = LOADS.and(LINKS).and(THROWS).and(FINALIZES).and(CALLS);
    UPCALLS.iter().any(|upcall| {
        let fits_class = match upcall.of {
            Class(of) => of == class,
            Package(of) => package(class.as_bytes()) == of.as_bytes(),
            // The name does not show the supertypes of the class.
            Subtypes(_) => true,
        };
        let fits_method = upcall.fits(name.as_bytes(), descriptor.as_bytes());
        upcall.on.overlaps(on) && fits_class && fits_method
    })
}
