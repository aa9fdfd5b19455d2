//! What the judge is told of a class: its methods, and what their instructions may call.

/// A class or interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassFacts<'a> {
    /// Internal name (JVMS 4.2.1).
    pub name: &'a [u8],
    /// Internal name of the superclass; none for `java/lang/Object`.
    pub super_name: Option<&'a [u8]>,
    /// Internal names of the direct superinterfaces.
    pub interfaces: Vec<&'a [u8]>,
    /// Access flags, JVMS table 4.1-B.
    pub access_flags: u16,
    /// The methods that it declares.
    pub methods: Vec<MethodFacts<'a>>,
}

/// A method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodFacts<'a> {
    /// Access flags, JVMS table 4.6-A.
    pub access_flags: u16,
    /// Name.
    pub name: &'a [u8],
    /// Descriptor.
    pub descriptor: &'a [u8],
    /// What its code does; none for native and abstract methods.
    pub code: Option<CodeFacts<'a>>,
}

/// The code of a method. Sets of BCIs are bits, BCI 0 the lowest bit of the first word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeFacts<'a> {
    /// Where instructions start.
    pub starts: Box<[u64]>,
    /// Instructions that may throw by themselves.
    pub throwing: Box<[u64]>,
    /// Instructions that call, initialise or link, by BCI, ascending.
    pub sites: Vec<(u16, Refers<'a>)>,
}

/// A method as the constant pool names it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// Internal name of the class, or the descriptor of an array.
    pub class: &'a [u8],
    /// Name.
    pub name: &'a [u8],
    /// Descriptor.
    pub descriptor: &'a [u8],
}

/// What an instruction refers to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Refers<'a> {
    /// `invokevirtual`.
    Virtual(Named<'a>),
    /// `invokespecial`.
    Special(Named<'a>),
    /// `invokestatic`.
    Static(Named<'a>),
    /// `invokeinterface`.
    Interface(Named<'a>),
    /// `invokedynamic`.
    Dynamic,
    /// `new`, `getstatic`, `putstatic`: this class is initialised (JVMS 5.5).
    Initialises(&'a [u8]),
    /// `ldc` of a method handle, method type or dynamic constant (JVMS 5.4.3.5, 5.4.3.6).
    Links,
}
