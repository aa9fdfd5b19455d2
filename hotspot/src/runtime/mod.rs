//! What HotSpot does by itself: the methods that it calls, the classes that it and the JDK
//! generate, and the classes that they rewrite.

mod intrinsics;
mod lambda_forms;
mod names;
mod places;
mod upcalls;

pub use lambda_forms::is_lambda_form;
pub use names::{has_address, is_hidden, may_end_before_loader, method_without_address};
pub use places::place;
pub use upcalls::is_called_by_vm;

use classfile::{Malformed, Outline};
use oracle::edge::{ClassKind, Instruction, Intrinsic, Occasions, Runtime, Upcall, World};

/// HotSpot with the class library of its JDK, versions 17 to 25.
#[derive(Copy, Clone, Debug)]
pub struct HotSpot;

impl Runtime for HotSpot {
    fn kind<'n>(&self, class: &'n [u8]) -> (&'n [u8], ClassKind) {
        names::of(class)
    }

    fn upcalls(&self) -> &'static [Upcall] {
        upcalls::UPCALLS
    }

    fn occasions(&self, at: Instruction) -> Occasions {
        // A class may be loaded anywhere: where the class is resolved, where a handler for an
        // exception is searched, and where compiled code is left because a class was not loaded
        // before (`deoptimization.cpp`, `load_class_by_index`). An object is registered for its
        // finaliser in the constructor of `Object`, or at its allocation
        // (-RegisterFinalizersAtInit).
        Occasions::LOADS
            .and_if(at.links, Occasions::LINKS)
            .and_if(at.calls, Occasions::CALLS)
            .and_if(at.throws, Occasions::THROWS)
            .and_if(at.makes_object, Occasions::FINALIZES)
    }

    fn intrinsics(&self) -> &'static [Intrinsic] {
        intrinsics::INTRINSICS
    }

    fn starts(&self, may_launch: bool) -> Occasions {
        let launch = Occasions::LAUNCHES
            .and(Occasions::LOADS)
            .and(Occasions::THROWS);
        Occasions::STARTS
            .and(Occasions::SERVES)
            .and_if(may_launch, launch)
    }

    /// The launcher (`java.c`) and the VM's start (`thread.cpp`) call the program, class
    /// initialisers and constructors of strings.
    fn launches(&self, class: &[u8], method: &[u8]) -> bool {
        match method {
            b"main" | b"<clinit>" => true,
            b"<init>" => class == b"java/lang/String",
            _ => false,
        }
    }

    fn thrown(&self) -> &'static [&'static str] {
        INSTRUCTIONS_THROW
    }

    /// JFR rewrites the classes of events (`jdk.jfr.internal.EventInstrumentation`).
    fn rewritten(&self) -> &'static [&'static str] {
        &["jdk/internal/event/Event"]
    }
}

/// Whether the JDK's own launcher started the VM. `launcher` is the VM's system property
/// `sun.java.launcher`.
pub fn is_launched_by_jdk(launcher: Option<&str>) -> bool {
    launcher == Some("SUN_STANDARD")
}

/// Adds a class file that the VM got.
pub fn add_class(world: &mut World, class_file: &[u8]) -> Result<(), Malformed> {
    let outline = Outline::read(class_file)?;
    world.add(&outline);
    if outline.name == JFR.as_bytes() {
        // JFR's rewriting is not shown to every agent.
        for class in JFR_REWRITES {
            world.distrust(class.as_bytes());
        }
    }
    Ok(())
}

/// Classes of the JDK that JFR's Java part rewrites while it records (JDK 17 to 20: the targets of
/// `jdk.jfr.internal.instrument`), in addition to the classes of events.
pub const JFR_REWRITES: &[&str] = &[
    "java/io/FileInputStream",
    "java/io/FileOutputStream",
    "java/io/RandomAccessFile",
    "java/lang/Error",
    "java/lang/Throwable",
    "java/net/Socket$SocketInputStream",
    "java/net/Socket$SocketOutputStream",
    "java/net/SocketInputStream",
    "java/net/SocketOutputStream",
    "sun/nio/ch/FileChannelImpl",
    "sun/nio/ch/SocketChannelImpl",
];

/// Whether JFR makes the class while it records (`jdk.jfr.internal.EventHandlerCreator` of JDK 17,
/// `EventWriterFactoryRecipe` of later ones).
pub fn is_made_by_jfr(class: &str) -> bool {
    class.starts_with("jdk/jfr/internal/handlers/EventHandler")
        || class == "jdk/jfr/internal/event/EventWriterFactory"
}

/// A class of JFR that is loaded before JFR rewrites anything.
pub const JFR: &str = "jdk/jfr/internal/JVM";

/// The exceptions that instructions may throw by JVMS 6.5, apart from errors of linking and of the
/// VM itself, and what HotSpot adds: a class that was not found, and an index of an array whose
/// check compiled code has inlined (`c1_Runtime1.cpp`).
const INSTRUCTIONS_THROW: &[&str] = &[
    "java/lang/ArithmeticException",
    "java/lang/ArrayIndexOutOfBoundsException",
    "java/lang/ArrayStoreException",
    "java/lang/ClassCastException",
    "java/lang/ClassNotFoundException",
    "java/lang/IllegalMonitorStateException",
    "java/lang/IndexOutOfBoundsException",
    "java/lang/NegativeArraySizeException",
    "java/lang/NullPointerException",
];
