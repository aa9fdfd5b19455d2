//! What walkers return, and what the trace stack holds.

pub use trace_entry::{HookId, Presence};

/// A method as the walkers name it: a `jmethodID`, used as a key and never followed.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct MethodKey(pub usize);

/// Where a frame stands in its method: a BCI of the code that runs (the *rewritten* one,
/// where the method is hooked), or [`Location::NATIVE`].
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct Location(pub i32);

impl Location {
    /// A frame of a native method: -3 in AsyncGetCallTrace, -1 in JVMTI.
    pub const NATIVE: Location = Location(-3);

    /// The location that AsyncGetCallTrace reports as `lineno` (HotSpot `forte.cpp`).
    pub fn from_asgct(lineno: i32) -> Location {
        Location(lineno)
    }

    /// The location that GetStackTrace reports (JVMTI `jlocation`).
    pub fn from_jvmti(location: i64) -> Location {
        match location {
            -1 => Location::NATIVE,
            bci => Location(i32::try_from(bci).unwrap_or(i32::MIN)),
        }
    }

    /// The BCI, unless the frame is native or the walker gave none.
    pub fn bci(self) -> Option<u32> {
        u32::try_from(self.0).ok()
    }
}

/// One frame of a walk.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Hash)]
pub struct Frame {
    /// The method that runs.
    pub method: MethodKey,
    /// Where in it.
    pub location: Location,
}

/// What a truth-aware judge must know of methods.
pub trait Methods {
    /// The hook of `method`, if it has one, and what `location` proves.
    fn hook(&self, method: MethodKey, location: Location) -> Option<(HookId, Presence)>;

    /// Whether `method` belongs to the hooks themselves (`push`, `pop` and so on).
    fn is_hook_call(&self, method: MethodKey) -> bool;

    /// Whether the method of `hook` is a constructor.
    fn is_constructor(&self, hook: HookId) -> bool;

    /// What the code of `method` has at `location`.
    fn site(&self, method: MethodKey, location: Location) -> Site;

    /// Whether the VM itself may call `method`, whatever instruction the caller stands at: to load
    /// a class, for instance, before it leaves compiled code.
    fn may_be_called_by_vm(&self, _: MethodKey) -> bool {
        false
    }
}

/// What the code of a method has at a location. The code is that which runs, hooks included.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Site {
    /// The code is not known, or the location is a special one.
    Unknown,
    /// The frame is native, and the method too.
    Native,
    /// The frame has a BCI, but the method is native.
    IsNative,
    /// The frame is native, but the method is not.
    NotNative,
    /// No instruction starts there: it is inside of one, or past the end.
    NoInstruction,
    /// An instruction that runs no other code: it calls nothing, loads no class and throws nothing by
    /// itself.
    Silent,
    /// An instruction that may run other code.
    Calls,
}

/// The trace stack of one thread at one instant.
#[derive(Copy, Clone, Debug, Default)]
pub struct Truth<'a> {
    /// The hooked frames, bottom first.
    pub entries: &'a [HookId],
    /// All frames of the newest checked frame and below it, bottom first; empty if no
    /// frame that is still active was checked. The last one's location has moved since.
    pub checked: &'a [Frame],
    /// How many of `entries` belong to `checked`; the newest of them is its last frame.
    pub checked_entries: usize,
    /// Constructors among the entries that may have ended, oldest first.
    pub leaving: &'a [Leaving],
}

/// Entries of constructors that an exception is leaving, or has left. The verifier lets no
/// handler cover the call of `super(...)` or `this(...)`, so that no hook runs where one
/// leaves that: any number of these frames, newest first, may have ended.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Leaving {
    /// How many entries lie up to and with the newest of them.
    pub upto: usize,
    /// How many they are.
    pub count: usize,
}
