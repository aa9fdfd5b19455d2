//! Frames of methods that have no key any more: of an old version of a redefined method, or of an
//! unloaded class.
//!
//! The key of a redefined method stands for its newest version. AsyncGetCallTrace gives a frame of an
//! older version no key, GetStackTrace a key of its own. The trace stack tells the versions apart: each
//! version has a hook of its own, because each redefinition is rewritten anew. So such a frame is
//! taken for what the trace stack has in its place, and all other frames are judged as they are.

use super::hooked::Hooked;
use super::registry::Registry;
use oracle::judge::{Versions, old_frames};
use oracle::trace::{Frame, HookId, Location, MethodKey, Methods, Presence, Site, TraceSnapshot};
use oracle::{Judgement, Reason, Verdict};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The trace stacks that a walk is held against.
#[derive(Copy, Clone)]
pub struct Against<'a> {
    /// That of the thread, or of the virtual thread that it carries.
    pub truth: &'a TraceSnapshot<'a>,
    /// That of the carrier, if the thread carries a virtual one.
    pub carrier: Option<&'a TraceSnapshot<'a>>,
    /// The frame at which the walk passes from the virtual thread to the carrier.
    pub boundary: Option<usize>,
    /// When the thread was asked, in nanoseconds of `clock::since_start`.
    pub asked: u64,
}

/// A registry in which some keys that it does not know stand for old versions.
pub struct WithOld<'a> {
    methods: &'a Registry,
    old: HashMap<MethodKey, Old>,
}

/// A version of a method that its key does not stand for; without a map if its class was unloaded.
pub(super) type Old = (HookId, Option<Arc<Hooked>>);

impl<'a> WithOld<'a> {
    pub(super) fn new(methods: &'a Registry) -> WithOld<'a> {
        WithOld {
            methods,
            old: HashMap::new(),
        }
    }

    /// From here on `key` stands for the version; which version it stood for already, or stands for now.
    pub(super) fn add(&mut self, key: MethodKey, version: &Old) -> HookId {
        self.old.entry(key).or_insert_with(|| version.clone()).0
    }

    /// Gives frames of `walk` in this part of it, that of `truth`, keys of their own if they must be of old
    /// versions.
    pub(super) fn name(
        &mut self,
        walk: &mut [Frame],
        part: Range<usize>,
        truth: &TraceSnapshot<'_>,
        asked: u64,
    ) {
        let versions = At {
            methods: self.methods,
            asked,
        };
        let start = part.start;
        for (at, hook) in old_frames(&walk[part], truth, self.methods, &versions) {
            if let Some(version) = self.methods.old_version(hook) {
                // No method has such a key.
                let key = MethodKey(usize::MAX - self.old.len());
                self.add(key, &version);
                walk[start + at].method = key;
            }
        }
    }
}

/// The registry as it knows walks of an instant.
struct At<'a> {
    methods: &'a Registry,
    /// In nanoseconds of `clock::since_start`.
    asked: u64,
}

impl Versions for At<'_> {
    fn may_be_old(&self, frame: &Frame) -> bool {
        self.methods.may_be_old(frame, self.asked)
    }

    fn old(&self, hook: HookId, frame: &Frame) -> Option<Presence> {
        let version = self.methods.old_version(hook)?;
        let named = self.methods.known(frame.method);
        let both = named.hooked().zip(version.1.as_ref());
        let is_other = both.is_some_and(|(named, old)| !old.is_version_of(named));
        (!is_other).then(|| presence(&version, frame.location))
    }
}

fn presence((_, hooked): &Old, location: Location) -> Presence {
    let known = hooked.as_ref();
    known.map_or(Presence::Present, |hooked| hooked.presence(location))
}

impl Registry {
    /// Judges `found`, the judgement of `walk`, again where frames may be of methods that have no key any
    /// more: only these frames are doubtful. `Unverifiable` if nothing else differs.
    pub fn settle_walk(
        &self,
        found: Judgement,
        walk: &[Frame],
        against: Against<'_>,
        judge: impl Fn(&WithOld<'_>, &[Frame]) -> Judgement,
    ) -> Judgement {
        let Against {
            truth,
            carrier,
            boundary,
            asked,
        } = against;
        if found.is_mismatch() {
            self.notice_changes(walk, truth.entries);
        }
        if !found.differs() {
            return found;
        }
        let (mut methods, mut named) = (WithOld::new(self), walk.to_vec());
        if !self.is_doubtful(walk, &[]) {
            // A key may have become known since the walk was judged.
            return judge(&methods, walk);
        }
        let end = walk.len();
        match (boundary, carrier) {
            (None, _) => methods.name(&mut named, 0..end, truth, asked),
            // Above the boundary nothing is known.
            (Some(at), None) => methods.name(&mut named, at + 1..end, truth, asked),
            (Some(at), Some(carrier)) => {
                methods.name(&mut named, 0..at, truth, asked);
                methods.name(&mut named, at + 1..end, carrier, asked);
            }
        }
        let found = judge(&methods, &named);
        if found.differs() {
            found
        } else {
            Judgement::plain(Verdict::Unverifiable, Reason::MethodGone)
        }
    }

    /// Whether the frame may be of a method that had no key when its thread was asked, at `asked`, or
    /// whose key stands for another version since.
    fn may_be_old(&self, frame: &Frame, asked: u64) -> bool {
        let key = frame.method;
        key.0 == 0
            || self.is_stranger(key)
            || self.was_redefined(key) && self.has_changed_since(key, asked)
    }
}

impl Methods for WithOld<'_> {
    fn hook(&self, method: MethodKey, location: Location) -> Option<(HookId, Presence)> {
        match self.old.get(&method) {
            Some(old) => Some((old.0, presence(old, location))),
            None => self.methods.hook(method, location),
        }
    }

    fn is_hook_call(&self, method: MethodKey) -> bool {
        !self.old.contains_key(&method) && self.methods.is_hook_call(method)
    }

    fn is_constructor(&self, hook: HookId) -> bool {
        self.methods.is_constructor(hook)
    }

    fn may_be_called_by_vm(&self, method: MethodKey) -> bool {
        self.old.contains_key(&method) || self.methods.may_be_called_by_vm(method)
    }

    fn most_inlined_alike(&self, hook: HookId) -> Option<usize> {
        self.methods.most_inlined_alike(hook)
    }

    fn site(&self, method: MethodKey, location: Location) -> Site {
        if self.old.contains_key(&method) {
            Site::Unknown
        } else {
            self.methods.site(method, location)
        }
    }
}
