//! The outline of a class.

use super::bcis::Bcis;
use crate::pool::MemberRef;

/// The place of a class among its supertypes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading<'a> {
    /// Internal name.
    pub name: &'a [u8],
    /// Internal name of the superclass; none for `java/lang/Object`.
    pub super_name: Option<&'a [u8]>,
    /// Internal names of the direct superinterfaces.
    pub interfaces: Vec<&'a [u8]>,
}

/// The parts of a class that matter for calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline<'a> {
    /// Internal name.
    pub name: &'a [u8],
    /// Internal name of the superclass; none for `java/lang/Object`.
    pub super_name: Option<&'a [u8]>,
    /// Internal names of the direct superinterfaces.
    pub interfaces: Vec<&'a [u8]>,
    /// Access flags, JVMS table 4.1-B.
    pub access_flags: u16,
    /// The methods it declares, in order.
    pub methods: Vec<MethodOutline<'a>>,
}

/// The parts of a method that matter for calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodOutline<'a> {
    /// Access flags, JVMS table 4.6-A.
    pub access_flags: u16,
    /// Name.
    pub name: &'a [u8],
    /// Descriptor.
    pub descriptor: &'a [u8],
    /// The outline of its code; `None` for native and abstract methods.
    pub code: Option<CodeOutline<'a>>,
}

/// The parts of code that matter for calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeOutline<'a> {
    /// [`fingerprint`](crate::instruction::fingerprint) of the bytes.
    pub fingerprint: u64,
    /// Where instructions start.
    pub starts: Bcis,
    /// Instructions that may throw by themselves (JVMS 6.5, "Run-time Exceptions" and "Linking
    /// Exceptions").
    pub throwing: Bcis,
    /// Instructions that call, initialise or link, in order.
    pub sites: Vec<Site<'a>>,
}

/// An instruction that calls, initialises or links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site<'a> {
    /// Where it starts.
    pub bci: u16,
    /// The method or class that the instruction refers to.
    pub refers: Refers<MemberRef<'a>, &'a [u8]>,
}

/// The referent of an instruction: a method `M` or a class `C`, which may be names or numbers for
/// names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refers<M, C> {
    /// `invokevirtual`.
    Virtual(M),
    /// `invokespecial`.
    Special(M),
    /// `invokestatic`.
    Static(M),
    /// `invokeinterface`.
    Interface(M),
    /// `invokedynamic`.
    Dynamic,
    /// `new`, `getstatic`, `putstatic`: this class is initialised (JVMS 5.5).
    Initialises(C),
    /// `ldc` of a method handle, method type or dynamic constant: Java code makes it (JVMS 5.4.3.5,
    /// 5.4.3.6).
    Links,
}
