//! The judge's finding on an edge.

use std::fmt;

/// Whether a frame can be above another frame, with the reason.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Finding {
    /// The class files allow the edge.
    Possible(Possible),
    /// The class files forbid the edge.
    Impossible(Impossible),
    /// The class files that would decide are not known.
    Unknown(Unknown),
}

/// The rule by which an edge is possible.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Possible {
    /// `invokestatic`.
    Static,
    /// `invokespecial`.
    Special,
    /// `invokevirtual`.
    Virtual,
    /// `invokeinterface`.
    Interface,
    /// `invokedynamic` calls into `java.lang.invoke`.
    Dynamic,
    /// A method handle, or the code that `java.lang.invoke` generates to run a method handle, can
    /// call any method.
    MethodHandle,
    /// A native method can call any method.
    Native,
    /// The instruction initialises the class.
    Initialises,
    /// The VM loads a class.
    Loads,
    /// The VM links a call site, method handle or dynamic constant.
    Links,
    /// The VM throws an exception.
    Throws,
    /// The VM registers an object with a finaliser.
    Finalizes,
    /// A class that the JDK generates for a lambda, a proxy or reflection can call any method.
    Generated,
    /// The top frame is at an instruction.
    Instruction,
    /// The top frame is before its first instruction.
    MethodEntry,
    /// The top frame is native, and its method too.
    NativeTop,
    /// The VM or the launcher starts with this method.
    Entry,
}

/// Why an edge is impossible.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Impossible {
    /// No instruction starts at the BCI.
    NoInstruction,
    /// The instruction calls nothing, and the VM does not call this method there.
    NoCall,
    /// The instruction calls a method of another name.
    OtherName,
    /// The instruction calls a method of another descriptor.
    OtherDescriptor,
    /// The instruction cannot call a method of this class.
    OtherClass,
    /// The method cannot override the named method, which is not visible to it.
    NotAnOverride,
    /// The method has no code.
    Abstract,
    /// The frame is native, but the method is not.
    NotNative,
    /// The frame has a BCI, but the method is native.
    IsNative,
    /// No thread starts with this method.
    NoEntry,
    /// The frame names no method of the VM.
    NotAMethod,
}

/// The missing knowledge.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unknown {
    /// The caller's class.
    CallerClass,
    /// The class is known, but without such a method.
    CallerMethod,
    /// The top frame's class.
    TopClass,
    /// A class between the named class and the callee's class.
    Hierarchy,
    /// A class below the named class and the callee's class.
    Receiver,
    /// The method of one of the two frames.
    Method,
    /// The BCI of the caller, or of the frame that runs.
    Location,
    /// Code that was made at run time.
    Generated,
    /// Other code than that of the class file may have run: a tool rewrites the class, or another JDK
    /// has a class of this name.
    Rewritten,
    /// The methods that may start a thread that native code attached.
    Entry,
}

impl Impossible {
    /// Each reason, with its name in recorded samples.
    pub const NAMES: [(Impossible, &str); 11] = [
        (Impossible::NoInstruction, "no-instruction"),
        (Impossible::NoCall, "no-call"),
        (Impossible::OtherName, "other-name"),
        (Impossible::OtherDescriptor, "other-descriptor"),
        (Impossible::OtherClass, "other-class"),
        (Impossible::NotAnOverride, "not-an-override"),
        (Impossible::Abstract, "abstract"),
        (Impossible::NotNative, "not-native"),
        (Impossible::IsNative, "is-native"),
        (Impossible::NoEntry, "no-entry"),
        (Impossible::NotAMethod, "not-a-method"),
    ];

    /// The reason in a few words.
    pub fn phrase(self) -> &'static str {
        match self {
            Impossible::NoInstruction => "no instruction starts at the BCI",
            Impossible::NoCall => "the instruction is no call",
            Impossible::OtherName => "the instruction calls another name",
            Impossible::OtherDescriptor => "the instruction calls another descriptor",
            Impossible::OtherClass => "the instruction calls another class",
            Impossible::NotAnOverride => "the method does not override the called one",
            Impossible::Abstract => "the method is abstract",
            Impossible::NotNative => "a native frame of a method that is not native",
            Impossible::IsNative => "a BCI in a native method",
            Impossible::NoEntry => "no thread starts there",
            Impossible::NotAMethod => "the method ID is that of no method",
        }
    }
}

impl Finding {
    /// The finding's name in recorded samples: `possible`, `unknown`, or why the edge is impossible.
    pub fn name(self) -> &'static str {
        match self {
            Finding::Possible(_) => "possible",
            Finding::Unknown(_) => "unknown",
            Finding::Impossible(fault) => {
                let row = Impossible::NAMES.iter().find(|(known, _)| *known == fault);
                row.map_or("impossible", |(_, name)| name)
            }
        }
    }

    /// The better of two findings: possible before unknown before impossible.
    #[must_use]
    pub fn or(self, other: Finding) -> Finding {
        let rank = |finding| match finding {
            Finding::Possible(_) => 0,
            Finding::Unknown(_) => 1,
            Finding::Impossible(_) => 2,
        };
        if rank(other) < rank(self) {
            other
        } else {
            self
        }
    }

    /// Whether the class files forbid the edge.
    pub fn is_impossible(self) -> bool {
        matches!(self, Finding::Impossible(_))
    }

    /// Whether the caller's instruction names the callee, or a method that the callee overrides.
    pub fn is_named(self) -> bool {
        use Possible::{Interface, Special, Static, Virtual};
        matches!(
            self,
            Finding::Possible(Static | Special | Virtual | Interface)
        )
    }

    /// The reason in a few words.
    pub fn reason(self) -> &'static str {
        match self {
            Finding::Possible(rule) => match rule {
                Possible::Static => "invokestatic",
                Possible::Special => "invokespecial",
                Possible::Virtual => "invokevirtual",
                Possible::Interface => "invokeinterface",
                Possible::Dynamic => "invokedynamic",
                Possible::MethodHandle => "method handle",
                Possible::Native => "native caller",
                Possible::Initialises => "class initialiser",
                Possible::Loads => "class loading by the VM",
                Possible::Links => "linking by the VM",
                Possible::Throws => "exception of the VM",
                Possible::Finalizes => "finaliser registered by the VM",
                Possible::Generated => "generated caller",
                Possible::Instruction => "top at an instruction",
                Possible::MethodEntry => "top at the method's entry",
                Possible::NativeTop => "native top",
                Possible::Entry => "entry of the VM",
            },
            Finding::Impossible(fault) => fault.phrase(),
            Finding::Unknown(cause) => match cause {
                Unknown::CallerClass => "the caller's class is not known",
                Unknown::CallerMethod => "the caller's method is not known",
                Unknown::TopClass => "the top's class is not known",
                Unknown::Hierarchy => "a superclass is not known",
                Unknown::Receiver => "no class is known that has both",
                Unknown::Method => "a method was redefined, unloaded or never known",
                Unknown::Location => "the frame has no BCI",
                Unknown::Generated => "code made at run time",
                Unknown::Rewritten => "other code may have run",
                Unknown::Entry => "native code may have called it",
            },
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self {
            Finding::Possible(_) => "possible",
            Finding::Impossible(_) => "impossible",
            Finding::Unknown(_) => "unknown",
        };
        write!(f, "{verdict}: {}", self.reason())
    }
}
