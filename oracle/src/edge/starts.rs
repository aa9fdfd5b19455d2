//! How threads started, by their own stacks.

use super::hierarchy::Tristate;
use super::judge::ThreadStart;
use super::names::MethodId;
use super::runtime::Occasions;
use super::upcalls;
use super::world::World;
use std::collections::HashMap;
use std::hash::Hash;

/// The starts of threads. `K` identifies a thread.
///
/// Java started a thread whose lowest frame was `Thread.run`. A thread whose lowest frame was
/// `main` is the launcher's, if the JDK's launcher started the VM.
#[derive(Clone, Debug)]
pub struct Starts<K> {
    /// Whether the JDK's launcher started the VM.
    launched: bool,
    known: HashMap<K, ThreadStart>,
}

impl<K: Eq + Hash> Starts<K> {
    /// No threads yet. `launched` says whether the JDK's launcher started the VM.
    pub fn new(launched: bool) -> Starts<K> {
        Starts {
            launched,
            known: HashMap::new(),
        }
    }

    /// Learns from a whole stack of `thread`, whose lowest frame is of `lowest`. The first finding
    /// stays.
    pub fn learn(&mut self, world: &World, thread: K, lowest: MethodId) {
        let (name, descriptor) = world.name_and_descriptor(world.of(lowest).signature);
        if (name, descriptor) == (b"run", b"()V") {
            // Only `run` of a thread counts, and no other `run` that the VM calls.
            if upcalls::calls(world, Occasions::STARTS, world.of(lowest)) == Tristate::Yes {
                self.known.entry(thread).or_insert(ThreadStart::Java);
            }
        } else if self.launched && (name, descriptor) == (b"main", b"([Ljava/lang/String;)V") {
            self.known.entry(thread).or_insert(ThreadStart::Launcher);
        }
    }

    /// Forgets all threads if so many are known. The ones that still run can be learned again.
    pub fn forget_at(&mut self, most: usize) {
        if self.known.len() >= most {
            self.known.clear();
        }
    }

    /// How `thread` started, if this is known.
    pub fn of(&self, thread: &K) -> ThreadStart {
        self.known
            .get(thread)
            .copied()
            .unwrap_or(ThreadStart::Unknown)
    }
}
