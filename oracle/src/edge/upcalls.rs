//! What the VM calls by itself: HotSpot's uses of `JavaCalls::call…`, and what of the JDK's own
//! native code starts a thread.

use super::kind::package;
use super::world::{Answer, ClassName, Method, World};

/// Occasions on which the VM calls Java, as a set.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Occasions(u8);

/// A class may be loaded (`systemDictionary.cpp`, `systemDictionaryShared.cpp`).
pub(super) const LOADS: Occasions = Occasions(1);
/// A method handle, call site or dynamic constant is linked (`systemDictionary.cpp`).
pub(super) const LINKS: Occasions = Occasions(2);
/// The VM throws an exception (`exceptions.cpp`).
pub(super) const THROWS: Occasions = Occasions(4);
/// An object with a finaliser comes to be (`instanceKlass.cpp`, `register_finalizer`).
pub(super) const FINALIZES: Occasions = Occasions(8);
/// The thread has no Java frame (`thread.cpp`, `javaThread.cpp`, `os.cpp`, `java.c`).
pub(super) const STARTS: Occasions = Occasions(16);
/// The same, on a thread that the VM starts for itself (`attachListener.cpp`,
/// `serviceThread.cpp`, `management.cpp`, `jfrRecorderThread.cpp`).
pub(super) const SERVES: Occasions = Occasions(32);
/// The same, on the thread that starts the VM.
pub(super) const LAUNCHES: Occasions = Occasions(64);

impl Occasions {
    pub(super) fn and(self, other: Occasions) -> Occasions {
        Occasions(self.0 | other.0)
    }

    pub(super) fn and_if(self, condition: bool, other: Occasions) -> Occasions {
        if condition { self.and(other) } else { self }
    }

    pub(super) fn has(self, other: Occasions) -> bool {
        self.overlaps(other)
    }

    fn overlaps(self, other: Occasions) -> bool {
        self.0 & other.0 != 0
    }
}

/// Which classes an entry is for.
enum Of {
    /// This one.
    Class(&'static str),
    /// This one and its subclasses.
    Subtypes(&'static str),
    /// All of this package.
    Package(&'static str),
}
use Of::{Class, Package, Subtypes};

/// One or more methods: `*` at the end of a name stands for anything; no descriptor for any.
struct Upcall {
    of: Of,
    name: &'static str,
    descriptor: Option<&'static str>,
    on: Occasions,
}

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

/// Class initialisers and constructors of exceptions are not in it: their classes decide.
static UPCALLS: &[Upcall] = &[
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
    // Classes of the CDS archive get their package and protection domain.
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
    // Agents and JFR look at classes as they load.
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
    up(Class(LOADER), "get*ClassLoader", None, LAUNCHES),
    up(Package("sun/launcher"), "*", None, LAUNCHES),
];

/// Whether a method of some entry that is for one of `on` is this one.
pub(super) fn calls(world: &World, on: Occasions, callee: Method) -> Answer {
    let (name, descriptor) = world.name_and_descriptor(callee.signature);
    let mut answer = Answer::No;
    for upcall in UPCALLS.iter().filter(|upcall| upcall.on.overlaps(on)) {
        if !fits(upcall.name, name)
            || upcall
                .descriptor
                .is_some_and(|d| d.as_bytes() != descriptor)
        {
            continue;
        }
        match is_of(world, callee.class, &upcall.of) {
            Answer::Yes => return Answer::Yes,
            Answer::Unknown => answer = Answer::Unknown,
            Answer::No => {}
        }
    }
    answer
}

/// Whether the VM itself calls `method`, as far as its name alone tells: `package.Class.name`
/// with its descriptor, as reports have it. Methods that start a thread are not meant.
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
    let on = LOADS.and(LINKS).and(THROWS).and(FINALIZES);
    UPCALLS.iter().any(|upcall| {
        let fits_class = match upcall.of {
            Class(of) => of == class,
            Package(of) => package(class.as_bytes()) == of.as_bytes(),
            // A name does not tell what it is a subtype of.
            Subtypes(_) => true,
        };
        upcall.on.overlaps(on)
            && fits_class
            && fits(upcall.name, name.as_bytes())
            && upcall.descriptor.is_none_or(|d| d == descriptor)
    })
}

/// Whether `class` is one that an entry for one of `on` is for, or above such a class: its
/// initialiser runs before the entry's method.
pub(super) fn initialises(world: &World, on: Occasions, class: ClassName) -> bool {
    let name = world.name(class);
    UPCALLS
        .iter()
        .filter(|upcall| upcall.on.overlaps(on))
        .any(|upcall| match upcall.of {
            Class(of) | Subtypes(of) => {
                let of = world.find(of.as_bytes());
                of.is_some_and(|of| of == class || world.is_subtype(of, class) == Answer::Yes)
            }
            Package(of) => package(name) == of.as_bytes(),
        })
}

fn is_of(world: &World, class: ClassName, of: &Of) -> Answer {
    let yes = |is| if is { Answer::Yes } else { Answer::No };
    let name = world.name(class);
    match of {
        Class(of) => yes(name == of.as_bytes()),
        Package(of) => yes(package(name) == of.as_bytes()),
        Subtypes(of) if name == of.as_bytes() => Answer::Yes,
        Subtypes(of) => match world.find(of.as_bytes()) {
            Some(of) => world.is_subtype(class, of),
            None => Answer::Unknown,
        },
    }
}

fn fits(pattern: &str, name: &[u8]) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            name.len() >= start.len() + end.len()
                && name.starts_with(start.as_bytes())
                && name.ends_with(end.as_bytes())
        }
        None => pattern.as_bytes() == name,
    }
}

/// What an instruction may throw by JVMS 6.5, besides errors of linking and of the VM itself, with
/// what HotSpot adds: a class that was not found, and the index of an array that compiled code has
/// inlined the check of (`c1_Runtime1.cpp`).
static INSTRUCTIONS_THROW: [&[u8]; 9] = [
    b"java/lang/ArithmeticException",
    b"java/lang/ArrayIndexOutOfBoundsException",
    b"java/lang/ArrayStoreException",
    b"java/lang/ClassCastException",
    b"java/lang/ClassNotFoundException",
    b"java/lang/IllegalMonitorStateException",
    b"java/lang/IndexOutOfBoundsException",
    b"java/lang/NegativeArraySizeException",
    b"java/lang/NullPointerException",
];

/// Whether the VM itself makes exceptions of this very class at an instruction, and so calls its
/// constructor: those of [`INSTRUCTIONS_THROW`], and below `LinkageError` and
/// `VirtualMachineError` whatever `java.lang` has (JVMS 5, 6.3). What native methods throw they
/// may call themselves.
pub(super) fn is_thrown(world: &World, class: ClassName) -> Answer {
    let name = world.name(class);
    if INSTRUCTIONS_THROW.contains(&name) {
        return Answer::Yes;
    }
    match is_throwable(world, class) {
        Answer::Yes => {}
        answer => return answer,
    }
    let below = |above: &[u8]| match world.find(above) {
        Some(above) => world.is_subtype(class, above),
        // All classes from this one up to `Throwable` are known, and it is none of them.
        None => Answer::No,
    };
    match below(b"java/lang/LinkageError") {
        Answer::No => below(b"java/lang/VirtualMachineError"),
        answer => answer,
    }
}

/// Whether `class` is a `Throwable` of `java.lang`: with an exception that the VM makes it
/// initialises the classes above it, too.
pub(super) fn is_throwable(world: &World, class: ClassName) -> Answer {
    if package(world.name(class)) != b"java/lang" {
        return Answer::No;
    }
    match world.find(b"java/lang/Throwable") {
        Some(throwable) => world.is_subtype(class, throwable),
        None => Answer::Unknown,
    }
}
