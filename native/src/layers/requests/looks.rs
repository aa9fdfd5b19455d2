//! What is seen where a request interrupts its thread. Causes rest on it.

use super::lines::Lines;
use super::records::Records;
use crate::evidence;
use crate::jvm::Jvm;
use crate::jvm::remembered_code::RememberedCode;
use crate::sampling::sample::Interruption;
use std::io;
use vm::memory::Remembering;

/// So many requests are looked at before the VM's memory is looked at anew. In a run with 10,000 samples for each second of CPU
/// time the thread that reads has a third of it, and needs 90 µs for a copy if each of them is looked at anew: more than a
/// quarter of the samples are lost.
const TOGETHER: usize = 256;

/// What was seen so far.
pub struct Looks {
    /// The debug info records that were written, and the names.
    pub records: Records,
    /// The code cache, as it is while the requests that wait are read; `None` if it cannot be read.
    code: Option<RememberedCode<'static>>,
}

impl Looks {
    /// Nothing was seen yet.
    pub fn new(jvm: &'static Jvm) -> Looks {
        Looks {
            records: Records::default(),
            code: jvm.code_cache().ok().map(RememberedCode::new),
        }
    }

    /// To be called before request number `count` of those that are read together: looks at the VM's memory anew now and then.
    pub fn refresh(&mut self, count: usize, memory: &Remembering) {
        if count.is_multiple_of(TOGETHER) {
            memory.forget();
            self.code.iter_mut().for_each(RememberedCode::forget);
        }
    }

    /// Writes what is seen where a request interrupted its thread, and returns its number; `None` without a code cache.
    pub fn write(&mut self, at: &Interruption, lines: &mut Lines<'_>) -> io::Result<Option<u32>> {
        let Looks { records, code } = self;
        let Some(code) = code else { return Ok(None) };
        let jvm = lines.layers.truth.jvm;
        let leaf_call = evidence::leaf_call_records(jvm, code, at);
        let leaf_call = leaf_call.map(|around| records.recorded(&around, lines));
        let leaf_call = leaf_call.transpose()?.flatten();
        let number = lines.write_proofs(evidence::at_request(jvm, code, at, leaf_call))?;
        Ok(Some(number))
    }
}
