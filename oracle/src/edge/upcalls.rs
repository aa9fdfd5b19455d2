//! The methods that the VM calls by itself, by the table of the runtime.

use super::hierarchy::Tristate;
use super::names::{ClassName, Method, package};
use super::runtime::Occasions;
use super::runtime::Of::{self, Class, Package, Subtypes};
use super::world::World;

/// Whether `callee` is a method of an entry for one of the occasions `on`.
pub(super) fn calls(world: &World, on: Occasions, callee: Method) -> Tristate {
    let (name, descriptor) = world.name_and_descriptor(callee.signature);
    let mut answer = Tristate::No;
    let upcalls = world.runtime().upcalls().iter();
    let fitting = upcalls.filter(|upcall| upcall.on.overlaps(on) && upcall.fits(name, descriptor));
    for upcall in fitting {
        match is_of(world, callee.class, &upcall.of) {
            Tristate::Yes => return Tristate::Yes,
            Tristate::Unknown => answer = Tristate::Unknown,
            Tristate::No => {}
        }
    }
    answer
}

/// Whether `class` is a class of an entry for one of the occasions `on`, or above such a class: its
/// initialiser runs before the entry's method.
pub(super) fn initialises(world: &World, on: Occasions, class: ClassName) -> bool {
    let name = world.name(class);
    let upcalls = world.runtime().upcalls().iter();
    upcalls
        .filter(|upcall| upcall.on.overlaps(on))
        .any(|upcall| match upcall.of {
            Class(of) | Subtypes(of) => {
                let of = world.find(of.as_bytes());
                of.is_some_and(|of| of == class || world.is_subtype(of, class) == Tristate::Yes)
            }
            Package(of) => package(name) == of.as_bytes(),
        })
}

fn is_of(world: &World, class: ClassName, of: &Of) -> Tristate {
    let yes = |is| if is { Tristate::Yes } else { Tristate::No };
    let name = world.name(class);
    match of {
        Class(of) => yes(name == of.as_bytes()),
        Package(of) => yes(package(name) == of.as_bytes()),
        Subtypes(of) if name == of.as_bytes() => Tristate::Yes,
        Subtypes(of) => match world.find(of.as_bytes()) {
            Some(of) => world.is_subtype(class, of),
            None => Tristate::Unknown,
        },
    }
}

/// Whether the VM itself creates exceptions of exactly this class at an instruction, and so calls
/// its constructor: the classes that the runtime names, and all classes of `java.lang` below
/// `LinkageError` and `VirtualMachineError` (JVMS 5, 6.3). Native methods may call the constructors
/// of the exceptions that they throw.
pub(super) fn is_thrown(world: &World, class: ClassName) -> Tristate {
    let name = world.name(class);
    let mut thrown = world.runtime().thrown().iter();
    if thrown.any(|thrown| thrown.as_bytes() == name) {
        return Tristate::Yes;
    }
    match is_throwable(world, class) {
        Tristate::Yes => {}
        answer => return answer,
    }
    let below = |above: &[u8]| match world.find(above) {
        Some(above) => world.is_subtype(class, above),
        // All classes from this class up to `Throwable` are known, and none is one of those.
        None => Tristate::No,
    };
    match below(b"java/lang/LinkageError") {
        Tristate::No => below(b"java/lang/VirtualMachineError"),
        answer => answer,
    }
}

/// Whether `class` is a `Throwable` of `java.lang`. An exception that the VM creates initialises
/// the classes above its class, too.
pub(super) fn is_throwable(world: &World, class: ClassName) -> Tristate {
    if package(world.name(class)) != b"java/lang" {
        return Tristate::No;
    }
    match world.find(b"java/lang/Throwable") {
        Some(throwable) => world.is_subtype(class, throwable),
        None => Tristate::Unknown,
    }
}
