//! What a blocked thread waits for, as the VM notes it beside the thread: `ThreadState` of `share/runtime/osThread.hpp`.

use super::fields::{Fields, Missing};
use super::thread::JavaThread;
use crate::memory::Memory;

/// What a thread waits for.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub enum Wait {
    /// A monitor that another thread has (`OSThreadContendState`).
    Monitor,
    /// `Object.wait` (`OSThreadWaitState` with `is_object_wait`).
    Object,
    /// Anything else: `LockSupport.park` and `Thread.sleep` (`os_posix.cpp`, `javaThread.cpp`), or a condition of the VM itself.
    Condition,
}

/// The states of waiting threads, by their names in HotSpot.
const NAMES: [(Wait, &str); 3] = [
    (Wait::Monitor, "MONITOR_WAIT"),
    (Wait::Object, "OBJECT_WAIT"),
    (Wait::Condition, "CONDVAR_WAIT"),
];

/// Where the VM notes it.
#[derive(Copy, Clone, Debug)]
pub struct Waits {
    /// The field of a thread with its `OSThread`.
    os_thread: usize,
    state: usize,
    numbers: [(u32, Wait); NAMES.len()],
}

impl Waits {
    /// Finds the places.
    pub fn find(fields: &impl Fields) -> Result<Waits, Missing> {
        let mut numbers = [(0, Wait::Condition); NAMES.len()];
        for (number, (wait, name)) in numbers.iter_mut().zip(NAMES) {
            *number = (fields.constant(name)?.cast_unsigned(), wait);
        }
        Ok(Waits {
            os_thread: fields.field(&["JavaThread", "Thread"], "_osthread")?,
            state: fields.field(&["OSThread"], "_state")?,
            numbers,
        })
    }

    /// What `thread` waits for; `None` if it does not wait, or cannot be read.
    pub fn of(&self, memory: &impl Memory, JavaThread(thread): JavaThread) -> Option<Wait> {
        let os_thread = memory.word(thread.wrapping_add(self.os_thread))?;
        let state = memory.u32(os_thread.wrapping_add(self.state))?;
        let mut known = self.numbers.iter();
        known.find_map(|&(number, wait)| (number == state).then_some(wait))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::fields::toy::Toy;
    use crate::memory::toy::Words;

    #[test]
    fn a_thread_waits_for_what_its_os_thread_says() {
        let vm = Toy::of(&[
            ("Thread::_osthread", 0x10),
            ("OSThread::_state", 0x8),
            ("MONITOR_WAIT", 3),
            ("CONDVAR_WAIT", 4),
            ("OBJECT_WAIT", 5),
        ]);
        let waits = Waits::find(&vm).expect("a layout");
        let of = |state| {
            let memory = Words([(0x1010, 0x2000), (0x2008, state)].into_iter().collect());
            waits.of(&memory, JavaThread(0x1000))
        };
        let [monitor, condition, object] = [3, 4, 5].map(of);
        assert_eq!(monitor, Some(Wait::Monitor));
        assert_eq!(condition, Some(Wait::Condition));
        assert_eq!(object, Some(Wait::Object));
        assert_eq!(of(2), None, "it runs");
    }
}
