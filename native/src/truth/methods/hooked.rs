//! Hooked methods.

use instrumenter::{HookedMethod, RewrittenBci};
use oracle::trace::{HookId, Location, Presence};
use std::sync::Arc;

/// A hooked method with its class.
#[derive(Clone, Debug)]
pub struct Hooked {
    /// Internal name of its class.
    pub class: Arc<str>,
    /// Internal name of the superclass of its class.
    pub super_class: Option<Arc<str>>,
    /// Its name, descriptor and map.
    pub method: HookedMethod,
    /// Whether the code that runs is not the code that the map is of: another agent has changed the code
    /// after ours.
    pub is_altered: bool,
    /// Whether the VM was asked for the ids of the methods of its class (see [`KeptIds`](super::kept_ids::KeptIds)).
    pub has_id: bool,
}

impl Hooked {
    /// Whether the entry of a frame of the method at `location` is on the trace stack.
    pub fn presence(&self, location: Location) -> Presence {
        match location.bci() {
            _ if self.is_altered => Presence::Unknown,
            // A location that no code has, such as a synchronisation entry's, proves nothing.
            None => Presence::Pushing,
            Some(bci) => self.method.map.presence(RewrittenBci(bci)),
        }
    }

    /// The method in the form of reports.
    pub fn full_name(&self) -> String {
        shown_name(&self.class, &self.method.name, &self.method.descriptor)
    }

    /// `package.Class.name`.
    pub fn dotted(&self) -> String {
        dotted(&self.class, &self.method.name)
    }

    /// Whether the method has this name. `class` is a binary name.
    pub fn is_named(&self, class: &str, name: &str) -> bool {
        let dotted = |byte: u8| if byte == b'/' { b'.' } else { byte };
        *self.method.name == *name && self.class.bytes().map(dotted).eq(class.bytes())
    }

    /// Whether this is a version of the same method as `other`, or of a method of the same name in a
    /// class of the same name.
    pub fn is_version_of(&self, other: &Hooked) -> bool {
        let (own, others) = (&self.method, &other.method);
        self.class == other.class && own.name == others.name && own.descriptor == others.descriptor
    }

    /// Whether this is a constructor.
    pub fn is_constructor(&self) -> bool {
        &*self.method.name == CONSTRUCTOR
    }
}

/// The name of constructors (JVMS 2.9.1).
pub const CONSTRUCTOR: &str = "<init>";

/// A method in the form of reports: `package.Class.name` with the descriptor. `class` is an internal name.
pub fn shown_name(class: &str, name: &str, descriptor: &str) -> String {
    format!("{}{descriptor}", dotted(class, name))
}

/// `package.Class.name`. `class` is an internal name.
pub(super) fn dotted(class: &str, name: &str) -> String {
    format!("{}.{name}", class.replace('/', "."))
}

/// The meaning of a walker's method key.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// A hooked method.
    Hooked(HookId, Arc<Hooked>),
    /// One of the hooks.
    HookCall,
    /// A method without hooks.
    Plain,
    /// A method that the VM no longer knows.
    Gone,
    /// A key that was never given out with a class. It is compared as a key alone. A walker made
    /// the key up ([`Registry::is_made_up`](super::registry::Registry::is_made_up)), or the VM made the method itself (overpass
    /// methods, method handle intrinsics).
    Stranger,
}

impl Known {
    pub fn hook(&self) -> Option<HookId> {
        match self {
            Known::Hooked(id, _) => Some(*id),
            _ => None,
        }
    }

    pub fn hooked(&self) -> Option<&Hooked> {
        match self {
            Known::Hooked(_, hooked) => Some(hooked),
            _ => None,
        }
    }
}
