//! Whether thread states are what the VM says they are.

use crate::jvm::{Jvm, sight};
use crate::records::Records;
use crate::sampling::sample::Sample;
use hotspot::code::{CodeKind, CodeMemory};
use hotspot::layout::thread_state::{Activity, ThreadState};
use oracle::record::Record;

/// So many threads in compiled code are enough.
const ENOUGH: u32 = 10;

/// What was seen of threads that run compiled code.
#[derive(Default)]
pub struct StateCheck {
    seen: u32,
    in_java: u32,
}

impl StateCheck {
    /// Looks at the thread of `sample`. If no thread that ran compiled code was in the state that the VM publishes for
    /// Java code, the number is not the one that the VM uses: what rests on states is lost, and the reader learns it.
    pub fn look(&mut self, jvm: &Jvm, records: &Records, sample: &Sample) {
        // Compiled code changes the state of its thread only in the wrappers of native methods, which are another kind of
        // code (`SharedRuntime::generate_native_wrapper`).
        let (Ok(cache), Some(seen)) = (jvm.code_cache(), sample.at.seen) else {
            return;
        };
        let is_compiled = || {
            let blob = cache.blob(sample.at.registers.pc);
            blob.is_some_and(|blob| blob.kind() == CodeKind::Compiled)
        };
        if self.seen == ENOUGH || !is_compiled() {
            return;
        }
        self.seen += 1;
        self.in_java += u32::from(seen.state == ThreadState::of(Activity::Java));
        if self.seen == ENOUGH && self.in_java == 0 {
            let why = Activity::Java.contradicted();
            let lost = sight::contradicted(why.to_string());
            records.write(&Record::Lost(vec![lost]));
        }
    }
}
