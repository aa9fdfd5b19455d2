//! Classes that are unloaded. The agent forgets their methods, so that endless loading and
//! unloading does not fill the memory.
//!
//! JVMTI has no event for unloading, but an event for the end of a tagged object (JVMTI, "Object
//! Free"). A class ends with its `java.lang.Class` object, and a loader's classes end with the
//! loader, including classes that were never linked or could not be defined.
//!
//! Samples under way may still name the methods, so the methods are kept for some time. A method
//! that is forgotten too early makes a check unverifiable, not wrong, because the VM has forgotten
//! the method too.

use crate::jvm::jvmti::JMethodId;
use crate::locks::lock;
use oracle::trace::HookId;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// How long methods outlive their class. This is longer than any sample is under way.
pub const GRACE: Duration = Duration::from_secs(1);

/// The agent's own thread forgets methods every second. If methods wait for this long, that thread is late (it
/// was seen to be late by a minute on a busy machine).
pub const LATE: Duration = Duration::from_secs(4);

/// How many classes and loaders were unloaded.
static UNLOADED: AtomicU64 = AtomicU64::new(0);

/// How many classes and loaders the VM has reported as unloaded. A method that is loaded later may have the address of one of
/// theirs: whoever keeps facts by addresses of methods forgets them when this number has changed. The VM reports shortly after
/// it unloads, so that for a moment facts may be old.
pub fn unloaded() -> u64 {
    UNLOADED.load(Relaxed)
}

/// The methods that end with one object.
#[derive(Debug, Default)]
pub struct KnownMethods {
    /// Their keys.
    pub keys: Vec<usize>,
    /// Their hooks.
    pub hooks: Vec<HookId>,
}

/// The classes and loaders that may be unloaded.
#[derive(Debug, Default)]
pub struct Unloading {
    tagged: Mutex<Tagged>,
    /// The tags of unloaded classes and loaders, with the time. They have a lock of their own,
    /// because the VM reports them while threads that load classes may wait for the report.
    unloaded: Mutex<Vec<(Instant, i64)>>,
}

#[derive(Debug, Default)]
struct Tagged {
    last: i64,
    by_tag: HashMap<i64, KnownMethods>,
}

impl Unloading {
    /// Remembers methods that end with an object. `tag` gets a tag that no object has, and returns
    /// the object's tag: the new tag, or the tag that the object already had. Methods of an object
    /// that cannot be tagged are never forgotten.
    pub fn add(&self, known: KnownMethods, tag: impl FnOnce(i64) -> Option<i64>) {
        // Held while the tag is set, so that two threads do not set two tags. The VM may stop the
        // thread meanwhile; a thread that waits for this lock does not block the VM.
        let mut tagged = lock(&self.tagged);
        let fresh = tagged.last + 1;
        let Some(tag) = tag(fresh) else { return };
        tagged.last = fresh;
        let of_object = tagged.by_tag.entry(tag).or_default();
        of_object.keys.extend(known.keys);
        of_object.hooks.extend(known.hooks);
    }

    /// The object with this tag has ended. Takes no lock that is held for long, and calls no
    /// function of the VM.
    pub fn note(&self, tag: i64) {
        UNLOADED.fetch_add(1, Relaxed);
        lock(&self.unloaded).push((Instant::now(), tag));
    }

    /// Whether the methods of an object are kept that ended at least `after` ago.
    pub fn is_late(&self, after: Duration) -> bool {
        let unloaded = lock(&self.unloaded);
        unloaded
            .first()
            .is_some_and(|(at, _)| at.elapsed() >= after)
    }

    /// The methods that ended at least a `grace` ago. Each is returned once.
    pub fn take(&self, grace: Duration) -> Vec<KnownMethods> {
        let mut unloaded = lock(&self.unloaded);
        let waiting = unloaded.iter().position(|(at, _)| at.elapsed() < grace);
        let over = waiting.unwrap_or(unloaded.len());
        let over: Vec<_> = unloaded.drain(..over).collect();
        drop(unloaded);
        let mut tagged = lock(&self.tagged);
        let known = over.iter().filter_map(|(_, tag)| tagged.by_tag.remove(tag));
        known.collect()
    }
}

impl KnownMethods {
    /// The methods with these ids. `hook_of` returns the hook of a method, if it has one.
    pub fn new(
        methods: &[JMethodId],
        hook_of: impl Fn(JMethodId) -> Option<HookId>,
    ) -> KnownMethods {
        KnownMethods {
            keys: methods.iter().map(|&method| method.0).collect(),
            hooks: methods
                .iter()
                .filter_map(|&method| hook_of(method))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn methods(keys: &[usize]) -> KnownMethods {
        KnownMethods {
            keys: keys.into(),
            hooks: vec![],
        }
    }

    #[test]
    fn unloaded_methods_are_returned_once_and_not_too_early() {
        let unloading = Unloading::default();
        let mut tags = vec![];
        for key in [7, 8] {
            unloading.add(methods(&[key]), |fresh| {
                tags.push(fresh);
                Some(fresh)
            });
        }
        assert!(tags[0] != 0 && tags[0] != tags[1]);
        unloading.add(methods(&[9]), |_| Some(tags[1]));
        unloading.add(methods(&[10]), |_| None);

        assert!(!unloading.is_late(Duration::ZERO));
        unloading.note(tags[1]);
        assert!(unloading.take(Duration::from_secs(600)).is_empty());
        assert!(unloading.is_late(Duration::ZERO));
        assert!(!unloading.is_late(Duration::from_secs(600)));
        let gone = unloading.take(Duration::ZERO);
        let keys: Vec<_> = gone.into_iter().map(|known| known.keys).collect();
        assert_eq!(keys, [[8, 9]]);
        unloading.note(tags[1]);
        assert!(unloading.take(Duration::ZERO).is_empty());
        assert_eq!(lock(&unloading.tagged).by_tag.len(), 1);
    }
}
