//! The frames that walkers return, and the contents of a trace stack.

pub use classfile::entry::{HookId, Presence};

/// A method, as walkers name it: a `jmethodID`, which is used as a key and never dereferenced.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct MethodKey(pub usize);

/// The place of a frame in its method: a BCI of the code that runs (the *rewritten* BCI, if the
/// method is hooked), or one of the constants.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct Location(pub i32);

impl Location {
    /// A frame of a native method: -3 in AsyncGetCallTrace, -1 in JVMTI.
    pub const NATIVE: Location = Location(-3);

    /// A frame of Java code whose BCI the walker does not know.
    pub const UNKNOWN: Location = Location(-5);

    /// A frame of compiled code at an instruction without a debug info record, by the walker's own word: the BCI
    /// is not known, and frames that are inlined there may be missing above.
    pub const UNRECORDED: Location = Location(-4);

    /// Whether the walker says that it does not know the BCI.
    pub fn is_unknown(self) -> bool {
        self == Location::UNKNOWN || self == Location::UNRECORDED
    }

    /// The location that AsyncGetCallTrace reports as `lineno` (HotSpot `forte.cpp`): -3 or a BCI. It has no number for
    /// a BCI that it does not know, so any other number is a false BCI.
    pub fn from_asgct(lineno: i32) -> Location {
        let location = Location(lineno);
        if location.is_unknown() {
            Location(i32::MIN)
        } else {
            location
        }
    }

    /// The location that GetStackTrace reports (JVMTI `jlocation`).
    pub fn from_jvmti(location: i64) -> Location {
        match location {
            -1 => Location::NATIVE,
            bci => Location(i32::try_from(bci).unwrap_or(i32::MIN)),
        }
    }

    /// The BCI, unless the frame is native or the walker returned none.
    pub fn bci(self) -> Option<u32> {
        u32::try_from(self.0).ok()
    }
}

/// A frame of a walk.
#[derive(Copy, Clone, Debug, Eq, PartialEq, Hash)]
pub struct Frame {
    /// The method that runs.
    pub method: MethodKey,
    /// Its place in the method.
    pub location: Location,
}

/// The facts about methods that a judge needs.
pub trait Methods {
    /// The hook of `method`, if the method has one, and what `location` proves.
    fn hook(&self, method: MethodKey, location: Location) -> Option<(HookId, Presence)>;

    /// What the frame at `at` of `walk` proves, with its calls taken into account: a frame that stands at a hook and has
    /// called something other than the hook (class resolution, for instance) has not run the hook yet.
    fn presence(&self, walk: &[Frame], at: usize) -> Option<(HookId, Presence)> {
        let frame = walk[at];
        let (id, presence) = self.hook(frame.method, frame.location)?;
        let called_elsewhere = || at > 0 && !self.is_hook_call(walk[at - 1].method);
        let settled = match presence {
            Presence::Pushing if called_elsewhere() => Presence::Absent,
            Presence::Popping | Presence::Catching | Presence::Unwinding if called_elsewhere() => {
                Presence::Present
            }
            other => other,
        };
        Some((id, settled))
    }

    /// Whether `method` belongs to the hooks themselves (`push`, `pop` and so on).
    fn is_hook_call(&self, method: MethodKey) -> bool;

    /// Whether the method of `hook` is a constructor.
    fn is_constructor(&self, hook: HookId) -> bool;

    /// The site at `location` in the code of `method`.
    fn site(&self, method: MethodKey, location: Location) -> Site;

    /// Whether the VM itself may call `method` at any instruction of the caller: for example to
    /// load a class, before the VM leaves compiled code.
    fn may_be_called_by_vm(&self, _: MethodKey) -> bool {
        false
    }

    /// How many frames of the method of `hook` a compiled frame may stand for, its own frame included; `None` if that is not
    /// known, or if there is no limit. Here with the usual flags of HotSpot (`MaxRecursiveInlineLevel` and
    /// `C1MaxRecursiveInlineLevel`).
    fn most_inlined_alike(&self, _hook: HookId) -> Option<usize> {
        Some(2)
    }
}

/// The kind of code at a location of a method. The code is the code that runs, hooks included.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Site {
    /// The code is not known, or the location is a special one.
    Unknown,
    /// The frame and the method are native.
    Native,
    /// The frame has a BCI, but the method is native.
    IsNative,
    /// The frame is native, but the method is not.
    NotNative,
    /// No instruction starts there: the location is inside an instruction, or past the end.
    NoInstruction,
    /// The key is that of no method.
    NotAMethod,
    /// An instruction that runs no other code: it calls nothing, loads no class and throws nothing by
    /// itself.
    Silent,
    /// An instruction that may run other code.
    Calls,
}

/// The trace stack of one thread at one instant.
#[derive(Copy, Clone, Debug, Default)]
pub struct TraceSnapshot<'a> {
    /// The hooked frames, bottom first.
    pub entries: &'a [HookId],
    /// All frames from the newest checked frame down, bottom first; empty if no checked frame is
    /// still active. The location of the last one may have changed since.
    pub checked: &'a [Frame],
    /// How many of `entries` belong to frames of `checked`. The newest of these entries belongs to
    /// its last frame.
    pub checked_entries: usize,
    /// Constructors among the entries that may have ended, oldest first.
    pub leaving: &'a [Leaving],
}

/// Entries of constructors that an exception is leaving, or has left. The verifier lets no handler
/// cover the call of `super(...)` or `this(...)`, so no hook runs if an exception leaves this call.
/// Any number of these frames, newest first, may have ended.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Leaving {
    /// The number of entries from the bottom up to the newest of them.
    pub upto: usize,
    /// The number of constructors.
    pub count: usize,
}
