//! Where the key of a method comes from: a loaded class, an unloaded class, or no class at all.

use crate::locks::{lock, read, write};
use rustc_hash::FxBuildHasher;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, RwLock};
use std::thread;
use std::time::{Duration, Instant};

/// How long a key without a class may wait for its class. Other threads may run a class a moment
/// before the event of its preparation is handled.
const PATIENCE: Duration = Duration::from_millis(20);

/// After a look at all classes this many times its duration passes before the next.
const LOOKS_REST: u32 = 20;

/// The most keys of unloaded classes, and the most keys without a class, that are remembered, so
/// that they do not fill the memory. A sample with such a key is under way for a far shorter time
/// than the unloading of so many methods takes.
const MOST: usize = 1 << 15;

/// The origin of a key.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A class that was prepared.
    Class,
    /// A class that was unloaded.
    Unloaded,
    /// No class.
    Nowhere,
    /// No known class, and the classes were not looked at just now.
    Unknown,
}

/// The origins of the keys of all classes that were prepared.
#[derive(Debug, Default)]
pub struct KeyOrigins {
    keys: RwLock<Keys>,
    /// Keys without a class, whose time of waiting is over.
    nowhere: Mutex<HashSet<usize, FxBuildHasher>>,
    /// Before this moment the classes are not looked at again.
    next_look: Mutex<Option<Instant>>,
}

#[derive(Debug, Default)]
struct Keys {
    /// Whether the class of each key is still loaded.
    all: HashMap<usize, bool, FxBuildHasher>,
    /// The keys of unloaded classes, the oldest first.
    unloaded: VecDeque<usize>,
}

impl Keys {
    fn unload(&mut self, key: usize) {
        if self.all.insert(key, false) != Some(false) {
            self.unloaded.push_back(key);
        }
        if self.unloaded.len() > MOST
            && let Some(oldest) = self.unloaded.pop_front()
            && self.all.get(&oldest) == Some(&false)
        {
            self.all.remove(&oldest);
        }
    }
}

impl KeyOrigins {
    /// The VM has given out the keys of a class.
    pub fn add(&self, keys: impl Iterator<Item = usize>) {
        let mut known = write(&self.keys);
        known.all.extend(keys.map(|key| (key, true)));
    }

    /// The class of the keys was unloaded.
    pub fn unloaded(&self, keys: impl Iterator<Item = usize>) {
        let mut known = write(&self.keys);
        keys.for_each(|key| known.unload(key));
    }

    /// The origin of `key`. Waits a moment if this is the first question about a key without a
    /// class. Then `look` adds the keys of all loaded classes: the VM does not report each class.
    pub fn origin(&self, key: usize, look: impl FnOnce()) -> Origin {
        let mut origin = self.origin_now(key);
        if origin != Origin::Nowhere || !self.is_new(key) {
            return origin;
        }
        let start = Instant::now();
        while origin == Origin::Nowhere && start.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
            origin = self.origin_now(key);
        }
        match origin {
            Origin::Nowhere => self.origin_by_looking(key, look),
            known => known,
        }
    }

    /// As [`origin`](Self::origin), without waiting: for callers with thousands of keys, of which most may be forgotten.
    pub fn origin_at_once(&self, key: usize, look: impl FnOnce()) -> Origin {
        match self.origin_now(key) {
            Origin::Nowhere if self.is_new(key) => self.origin_by_looking(key, look),
            origin => origin,
        }
    }

    /// The highest key of all.
    pub fn highest(&self) -> Option<usize> {
        read(&self.keys).all.keys().copied().max()
    }

    /// The origin of `key`, as far as classes were reported.
    pub fn origin_if_known(&self, key: usize) -> Origin {
        match self.origin_now(key) {
            Origin::Nowhere => Origin::Unknown,
            known => known,
        }
    }

    fn origin_by_looking(&self, key: usize, look: impl FnOnce()) -> Origin {
        if !self.looks(look) {
            return Origin::Unknown;
        }
        self.remember_nowhere(key);
        self.origin_now(key)
    }

    /// Looks at the classes, unless that was done a moment ago; whether it was done.
    fn looks(&self, look: impl FnOnce()) -> bool {
        // One thread looks, and the others wait for it.
        let mut next = lock(&self.next_look);
        let start = Instant::now();
        if next.is_some_and(|next| start < next) {
            return false;
        }
        look();
        *next = Some(Instant::now() + start.elapsed() * LOOKS_REST);
        true
    }

    fn origin_now(&self, key: usize) -> Origin {
        let known = read(&self.keys);
        match known.all.get(&key) {
            Some(true) => Origin::Class,
            Some(false) => Origin::Unloaded,
            None => Origin::Nowhere,
        }
    }

    fn is_new(&self, key: usize) -> bool {
        !self.nowhere().contains(&key)
    }

    fn remember_nowhere(&self, key: usize) {
        let mut nowhere = self.nowhere();
        if nowhere.len() >= MOST {
            nowhere.clear();
        }
        nowhere.insert(key);
    }

    fn nowhere(&self) -> MutexGuard<'_, HashSet<usize, FxBuildHasher>> {
        lock(&self.nowhere)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_with_classes_and_go_with_them() {
        let origins = KeyOrigins::default();
        origins.add([7, 8].into_iter());
        origins.unloaded([8].into_iter());
        assert_eq!(origins.origin(7, || {}), Origin::Class);
        assert_eq!(origins.origin(8, || {}), Origin::Unloaded);
        assert_eq!(origins.origin(9, || {}), Origin::Nowhere);
        assert_eq!(origins.origin_if_known(8), Origin::Unloaded);
        assert_eq!(origins.origin_if_known(10), Origin::Unknown);
        origins.add([8, 9].into_iter());
        assert_eq!(origins.origin(8, || {}), Origin::Class, "given once more");
        assert_eq!(origins.origin(9, || {}), Origin::Class);
    }

    #[test]
    fn keys_of_unloaded_classes_do_not_fill_the_memory() {
        let origins = KeyOrigins::default();
        for key in 1..=4 * MOST {
            origins.add([key].into_iter());
            origins.unloaded([key].into_iter());
        }
        assert_eq!(origins.origin(4 * MOST, || {}), Origin::Unloaded);
        let known = origins.keys.read().unwrap();
        assert_eq!((known.all.len(), known.unloaded.len()), (MOST, MOST));
    }

    #[test]
    fn classes_that_nobody_reported_are_found() {
        let origins = KeyOrigins::default();
        let slowly = || thread::sleep(Duration::from_millis(1));
        assert_eq!(
            origins.origin(7, || origins.add([7, 8].into_iter())),
            Origin::Class
        );
        assert_eq!(origins.origin(8, || panic!("it is known")), Origin::Class);
        let origins = KeyOrigins::default();
        assert_eq!(origins.origin(7, slowly), Origin::Nowhere);
        let found = origins.origin(7, || panic!("the classes were looked at"));
        assert_eq!(found, Origin::Nowhere);
    }

    #[test]
    fn thousands_of_forgotten_keys_are_not_waited_for() {
        let origins = KeyOrigins::default();
        let slowly = || thread::sleep(Duration::from_millis(1));
        let start = Instant::now();
        for key in 1..=20_000 {
            let origin = origins.origin_at_once(key, slowly);
            assert!(matches!(origin, Origin::Nowhere | Origin::Unknown));
        }
        // Waited for, they take 400 seconds.
        assert!(start.elapsed() < PATIENCE * 2_000);
        let found = KeyOrigins::default();
        let report = || found.add([7].into_iter());
        assert_eq!(found.origin_at_once(7, report), Origin::Class);
    }

    #[test]
    fn a_class_that_is_being_prepared_is_waited_for() {
        let origins = KeyOrigins::default();
        thread::scope(|scope| {
            scope.spawn(|| origins.add([7].into_iter()));
            // The second question does not wait.
            let found = origins.origin(7, || {});
            assert!(matches!(
                found,
                Origin::Class | Origin::Nowhere | Origin::Unknown
            ));
        });
        assert_eq!(origins.origin(7, || {}), Origin::Class);
    }
}
