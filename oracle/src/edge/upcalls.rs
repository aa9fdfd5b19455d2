//! Which methods the VM calls by itself, by the table of the runtime.

use super::kind::package;
use super::world::{Answer, ClassName, Method, World};

/// Occasions on which the VM calls Java, as a set.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Occasions(u8);

impl Occasions {
    /// A class may be loaded.
    pub const LOADS: Occasions = Occasions(1);
    /// A method handle, call site or dynamic constant is linked.
    pub const LINKS: Occasions = Occasions(2);
    /// The VM throws an exception.
    pub const THROWS: Occasions = Occasions(4);
    /// An object with a finaliser comes to be.
    pub const FINALIZES: Occasions = Occasions(8);
    /// The thread has no Java frame.
    pub const STARTS: Occasions = Occasions(16);
    /// The thread has no Java frame, and is one that the VM starts for itself.
    pub const SERVES: Occasions = Occasions(32);
    /// The thread has no Java frame, and is the one that starts the VM.
    pub const LAUNCHES: Occasions = Occasions(64);

    /// All occasions of both sets.
    #[must_use]
    pub const fn and(self, other: Occasions) -> Occasions {
        Occasions(self.0 | other.0)
    }

    /// The same if `condition` holds, else this set.
    #[must_use]
    pub fn and_if(self, condition: bool, other: Occasions) -> Occasions {
        if condition { self.and(other) } else { self }
    }

    /// Whether the sets have an occasion in common.
    pub fn overlaps(self, other: Occasions) -> bool {
        self.0 & other.0 != 0
    }
}

/// Which classes an entry is for.
#[derive(Copy, Clone, Debug)]
pub enum Of {
    /// This class.
    Class(&'static str),
    /// This class and its subclasses.
    Subtypes(&'static str),
    /// All classes of this package.
    Package(&'static str),
}
use Of::{Class, Package, Subtypes};

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

impl Upcall {
    /// Whether the name and the descriptor of a method fit.
    pub fn fits(&self, name: &[u8], descriptor: &[u8]) -> bool {
        let same = |wanted: &str| wanted.as_bytes() == descriptor;
        fits(self.name, name) && self.descriptor.is_none_or(same)
    }
}

/// Whether a method of some entry that is for one of `on` is this one.
pub(super) fn calls(world: &World, on: Occasions, callee: Method) -> Answer {
    let (name, descriptor) = world.name_and_descriptor(callee.signature);
    let mut answer = Answer::No;
    let upcalls = world.runtime().upcalls().iter();
    let fitting = upcalls.filter(|upcall| upcall.on.overlaps(on) && upcall.fits(name, descriptor));
    for upcall in fitting {
        match is_of(world, callee.class, &upcall.of) {
            Answer::Yes => return Answer::Yes,
            Answer::Unknown => answer = Answer::Unknown,
            Answer::No => {}
        }
    }
    answer
}

/// Whether `class` is one that an entry for one of `on` is for, or above such a class: its
/// initialiser runs before the entry's method.
pub(super) fn initialises(world: &World, on: Occasions, class: ClassName) -> bool {
    let name = world.name(class);
    let upcalls = world.runtime().upcalls().iter();
    upcalls
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

/// Whether the VM itself makes exceptions of this very class at an instruction, and so calls its
/// constructor: those that the runtime names, and below `LinkageError` and
/// `VirtualMachineError` whatever `java.lang` has (JVMS 5, 6.3). What native methods throw they
/// may call themselves.
pub(super) fn is_thrown(world: &World, class: ClassName) -> Answer {
    let name = world.name(class);
    let mut thrown = world.runtime().thrown().iter();
    if thrown.any(|thrown| thrown.as_bytes() == name) {
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
