//! What Stackwitness must be able to read of a VM.
//!
//! Walkers ([`crate::walkers::Walker::needs`]), causes ([`crate::causes::Cause::needs`]) and truths say which of these
//! they need ([`crate::needs`]).

/// Something of a VM that can be read, or not.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum Capability {
    /// The function AsyncGetCallTrace.
    AsyncGetCallTrace,
    /// The code cache: the piece of code at an address.
    CodeCache,
    /// Compiled methods: their method, tier, compilation, handlers and tables.
    CompiledMethods,
    /// The debug info records of compiled methods.
    DebugInfo,
    /// The states of threads, and the anchors of their last Java frames.
    ThreadStates,
    /// The frames through which the VM calls Java.
    JavaCalls,
    /// The parts of the interpreter.
    Interpreter,
    /// The names of methods and classes by their addresses.
    MethodNames,
    /// The VM's flags.
    Flags,
    /// All that AsyncGetStackTrace of the crate `walker` reads.
    OwnWalker,
    /// Frames of virtual threads in the heap.
    FramesInHeap,
}

impl Capability {
    /// All, in the order in which reports name them.
    pub const ALL: [Capability; 11] = [
        Capability::AsyncGetCallTrace,
        Capability::CodeCache,
        Capability::CompiledMethods,
        Capability::DebugInfo,
        Capability::ThreadStates,
        Capability::JavaCalls,
        Capability::Interpreter,
        Capability::MethodNames,
        Capability::Flags,
        Capability::OwnWalker,
        Capability::FramesInHeap,
    ];

    /// What it is, in a sentence like "this VM's … cannot be read".
    pub fn name(self) -> &'static str {
        match self {
            Capability::AsyncGetCallTrace => "AsyncGetCallTrace",
            Capability::CodeCache => "code cache",
            Capability::CompiledMethods => "compiled methods",
            Capability::DebugInfo => "debug info",
            Capability::ThreadStates => "threads",
            Capability::JavaCalls => "JavaCalls entries",
            Capability::Interpreter => "interpreter",
            Capability::MethodNames => "method names",
            Capability::Flags => "flags",
            Capability::OwnWalker => "stacks, by AsyncGetStackTrace,",
            Capability::FramesInHeap => "frames of virtual threads in the heap",
        }
    }

    /// Whether `imprecise` stacks cannot be told from false ones without it.
    pub fn tells_imprecise(self) -> bool {
        IMPRECISE.contains(&self)
    }
}

/// What shows that compiled code has no debug info record of its own: then a stack is `imprecise`, and not wrong.
pub(crate) const IMPRECISE: &[Capability] = &[
    Capability::CodeCache,
    Capability::CompiledMethods,
    Capability::DebugInfo,
    Capability::ThreadStates,
];
