//! How threads started, told by their own stacks.

use super::hierarchy::Tristate;
use super::judge::ThreadStart;
use super::names::MethodId;
use super::runtime::Occasions;
use super::upcalls;
use super::world::World;
use std::collections::HashMap;
use std::hash::Hash;

/// What is known of each thread's start. `K` tells threads apart.
///
/// A thread that was seen in `Thread.run` at its bottom was started by Java. One that was seen in
/// `main` is the launcher's, if the JDK's launcher started the VM.
#[derive(Clone, Debug)]
pub struct Starts<K> {
    /// Whether the JDK's launcher started the VM.
    launched: bool,
    known: HashMap<K, ThreadStart>,
}

impl<K: Eq + Hash> Starts<K> {
    /// Knows no thread yet. `launched` says whether the JDK's launcher started the VM.
    pub fn new(launched: bool) -> Starts<K> {
        Starts {
            launched,
            known: HashMap::new(),
        }
    }

    /// Learns from a whole stack of `thread`, whose lowest frame is of `lowest`. What was learned
    /// once stays.
    pub fn learn(&mut self, world: &World, thread: K, lowest: MethodId) {
        let (name, descriptor) = world.name_and_descriptor(world.of(lowest).signature);
        if (name, descriptor) == (b"run", b"()V") {
            // Not any `run` of the VM's own calls: only that of a thread.
            if upcalls::calls(world, Occasions::STARTS, world.of(lowest)) == Tristate::Yes {
                self.known.entry(thread).or_insert(ThreadStart::Java);
            }
        } else if self.launched && (name, descriptor) == (b"main", b"([Ljava/lang/String;)V") {
            self.known.entry(thread).or_insert(ThreadStart::Launcher);
        }
    }

    /// How `thread` started, as far as is known.
    pub fn of(&self, thread: &K) -> ThreadStart {
        self.known
            .get(thread)
            .copied()
            .unwrap_or(ThreadStart::Unknown)
    }
}
