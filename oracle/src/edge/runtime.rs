//! What a JVM does that class files do not show.

use std::fmt::Debug;

/// A JVM, as far as call edges depend on it: what the VM calls by itself, and the classes that it
/// generates. Names are internal names (JVMS 4.2.1).
pub trait Runtime: Debug + Sync {
    /// The name of a class without the part that differs between generated classes of one name, and
    /// the kind of the class.
    fn kind<'n>(&self, class: &'n [u8]) -> (&'n [u8], ClassKind);

    /// The methods that the VM calls by itself, without class initialisers and constructors of
    /// exceptions. The classes decide about those.
    fn upcalls(&self) -> &'static [Upcall];

    /// The occasions on which the VM may call Java at an instruction.
    fn occasions(&self, at: Instruction) -> Occasions;

    /// The native methods that the VM replaces by code of its own, and that still call Java.
    fn intrinsics(&self) -> &'static [Intrinsic];

    /// The occasions on which the VM may call the lowest frame of a thread. `may_launch`: the
    /// thread may be the thread that started the VM.
    fn starts(&self, may_launch: bool) -> Occasions;

    /// Whether the thread that started the VM may begin with this method, in addition to the VM's
    /// own calls: for example with the program's main method.
    fn launches(&self, class: &[u8], method: &[u8]) -> bool;

    /// The exceptions that the VM itself throws at an instruction, apart from linkage errors and
    /// errors of the VM.
    fn thrown(&self) -> &'static [&'static str];

    /// Classes whose subclasses may run with other code than their class files have, because the
    /// runtime rewrites them.
    fn rewritten(&self) -> &'static [&'static str];
}

/// The effects of an instruction apart from the call of the named method.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Instruction {
    /// The instruction links a method handle, call site or dynamic constant.
    pub links: bool,
    /// The instruction names a method to call.
    pub calls: bool,
    /// The instruction may throw by itself.
    pub throws: bool,
    /// The instruction allocates an object, or belongs to the constructor of `Object`.
    pub makes_object: bool,
}

/// The kind of class that has a name.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ClassKind {
    /// A class of a class file.
    Ordinary,
    /// A class of `java.lang.invoke` between a method handle or call site and its target. Some have
    /// class files; most are generated at run time.
    Linker,
    /// A hidden class that `LambdaMetafactory` or `StringConcatFactory` made.
    Lambda,
    /// An accessor that `Method.invoke` and similar methods generate (JDK 17 and before).
    Accessor,
    /// A class that `java.lang.reflect.Proxy` made.
    Proxy,
    /// Any other hidden class.
    Hidden,
}

/// Occasions on which the VM calls Java, as a set.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Occasions(u16);

impl Occasions {
    /// A class may be loaded.
    pub const LOADS: Occasions = Occasions(1);
    /// A method handle, call site or dynamic constant is linked.
    pub const LINKS: Occasions = Occasions(2);
    /// The VM throws an exception.
    pub const THROWS: Occasions = Occasions(4);
    /// An object with a finaliser is created.
    pub const FINALIZES: Occasions = Occasions(8);
    /// The thread has no Java frame.
    pub const STARTS: Occasions = Occasions(16);
    /// The thread has no Java frame, and is one that the VM starts for itself.
    pub const SERVES: Occasions = Occasions(32);
    /// The thread has no Java frame, and is the one that starts the VM.
    pub const LAUNCHES: Occasions = Occasions(64);

    /// A call is linked, and the native code of its method is looked for.
    pub const CALLS: Occasions = Occasions(128);
    /// Any class may be initialised.
    pub const INITIALISES: Occasions = Occasions(256);

    /// All occasions of both sets.
    #[must_use]
    pub const fn and(self, other: Occasions) -> Occasions {
        Occasions(self.0 | other.0)
    }

    /// All occasions of both sets if `condition` holds, else those of this set.
    #[must_use]
    pub fn and_if(self, condition: bool, other: Occasions) -> Occasions {
        if condition { self.and(other) } else { self }
    }

    /// Whether the sets have an occasion in common.
    pub fn overlaps(self, other: Occasions) -> bool {
        self.0 & other.0 != 0
    }
}

/// The classes of an entry.
#[derive(Copy, Clone, Debug)]
pub enum Of {
    /// This class.
    Class(&'static str),
    /// This class and its subclasses.
    Subtypes(&'static str),
    /// All classes of this package.
    Package(&'static str),
}

/// One or more methods that the VM calls by itself.
#[derive(Copy, Clone, Debug)]
pub struct Upcall {
    /// The classes that declare them.
    pub of: Of,
    /// Their name; `*` stands for anything.
    pub name: &'static str,
    /// Their descriptor; none for any.
    pub descriptor: Option<&'static str>,
    /// When the VM calls them.
    pub on: Occasions,
}

/// A native method that compiled code replaces by code of its own: the Java frames that this code
/// calls are above the frame of the method's caller.
#[derive(Copy, Clone, Debug)]
pub struct Intrinsic {
    /// The class that declares it.
    pub class: &'static str,
    /// Its name.
    pub name: &'static str,
    /// When it calls Java.
    pub on: Occasions,
}

impl Upcall {
    /// Whether the name and the descriptor of a method fit.
    pub fn fits(&self, name: &[u8], descriptor: &[u8]) -> bool {
        let same = |wanted: &str| wanted.as_bytes() == descriptor;
        fits(self.name, name) && self.descriptor.is_none_or(same)
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
