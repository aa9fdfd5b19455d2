//! The facts about the instant of a mismatch, on which causes and evidence rest.

use super::anchor::anchored;
use super::code::{code_of, describe};
use super::proofs::{self, Sampled, Stacks};
use super::return_address::{self, Found};
use crate::jvm::Jvm;
use crate::jvm::jni::Env;
use crate::jvm::remembered_code::RememberedCode;
use crate::sampling::sample::Sample;
use hotspot::case::Instant;
use hotspot::code::CodeKind;
use hotspot::proofs::Proofs;
use hotspot::return_address::ReturnAddress;
use oracle::record::{Address, CodeBytes, Evidence, StackWord};
use vm::memory::kernel::{can_read, peek_bytes};

/// How many bytes at a program counter are looked at.
const BYTES: usize = 16;

/// The facts about one mismatch.
pub struct InstantFacts<'a> {
    jvm: &'a Jvm,
    /// What causes rest on.
    pub proofs: Proofs,
    signal: Option<InSignal<'a>>,
}

/// The facts about a thread that a signal interrupted.
struct InSignal<'a> {
    sample: &'a Sample,
    code: CodeKind,
    anchor: Option<CodeKind>,
    bytes: Vec<u8>,
    return_address: Option<Found>,
}

impl<'a> InstantFacts<'a> {
    /// Collects the facts about stacks that were `seen` in this way; `env` is the calling thread's.
    pub fn collect(
        jvm: &'a Jvm,
        env: Env<'_>,
        seen: Sampled<'a>,
        stacks: &Stacks<'_>,
    ) -> InstantFacts<'a> {
        InstantFacts {
            jvm,
            proofs: proofs::find(jvm, env, seen, stacks),
            signal: match seen {
                Sampled::InSignal(sample) => Some(InSignal::of(jvm, sample)),
                Sampled::Plainly | Sampled::Here => None,
            },
        }
    }

    /// No facts, for mismatches without a search.
    pub fn none(jvm: &'a Jvm) -> InstantFacts<'a> {
        InstantFacts {
            jvm,
            proofs: Proofs::default(),
            signal: None,
        }
    }

    /// What a cause depends on, for a thread that a signal interrupted.
    pub fn instant(&self) -> Option<Instant<'_>> {
        let found = self.signal.as_ref()?;
        let seen = found.sample.at.seen;
        Some(Instant {
            in_java: seen.is_some_and(|seen| seen.is_without_pc()),
            code: found.code,
            anchor: found.anchor,
            bytes: &found.bytes,
            return_address: found
                .return_address
                .map_or(ReturnAddress::Usual, |found| found.place),
        })
    }

    /// Adds what was found to `evidence`, as texts.
    pub fn add_to(&self, evidence: &mut Evidence) {
        let stubs = &self.proofs.stubs;
        evidence.stack_stubs = (!stubs.is_empty()).then(|| stubs.join(", "));
        if let Some(found) = &self.signal {
            found.add_to(evidence, self.jvm);
        }
    }
}

impl<'a> InSignal<'a> {
    fn of(jvm: &Jvm, sample: &'a Sample) -> InSignal<'a> {
        let cache = jvm.code_cache().ok().map(RememberedCode::new);
        let cache = cache.as_ref();
        let anchored = cache.and_then(|cache| anchored(cache, &sample.at));
        InSignal {
            sample,
            code: code_of(jvm, sample.at.registers.pc),
            anchor: anchored.map(|pc| code_of(jvm, pc)),
            bytes: peek_bytes(sample.at.registers.pc, BYTES),
            return_address: cache.and_then(|cache| return_address::find(jvm, cache, &sample.at)),
        }
    }

    /// Adds registers, state of the thread, and the code that ran.
    fn add_to(&self, evidence: &mut Evidence, jvm: &Jvm) {
        let registers = self.sample.at.registers;
        evidence.pc = Some(Address(registers.pc));
        evidence.sp = Some(Address(registers.sp));
        evidence.fp = Some(Address(registers.fp));
        if let Some(seen) = self.sample.at.seen {
            evidence.state = Some(seen.state.name().into());
            evidence.last_java_sp = Some(Address(seen.last.sp));
            evidence.last_java_pc = Some(Address(seen.last.pc));
            let has_pc = seen.last.pc != 0;
            evidence.last_java_code = has_pc.then(|| describe(jvm, seen.last.pc));
        }
        evidence.code = Some(describe(jvm, registers.pc));
        evidence.memory = can_read().err().map(ToString::to_string);
        evidence.bytes = Some(CodeBytes(self.bytes.clone()));
        if let Some(found) = self.return_address {
            self.add_return_address(evidence, jvm, found);
        }
    }

    /// Adds where the walker looks for the return address, and where the return address is.
    fn add_return_address(&self, evidence: &mut Evidence, jvm: &Jvm, found: Found) {
        let Found {
            place,
            frame_words,
            below,
        } = found;
        let word = |index| {
            let index = below + index;
            let what = match self.sample.at.stack_top.word(index) {
                Some(word) => format!("{word:#x}, {}", describe(jvm, word)),
                None => "not copied".into(),
            };
            Some(StackWord { index, what })
        };
        let expected = frame_words - 1;
        evidence.return_address_by_frame_size = word(expected);
        evidence.return_address = match place {
            ReturnAddress::Usual | ReturnAddress::InLink => None,
            ReturnAddress::Beyond(words) => word(expected + words),
            ReturnAddress::AtTop(index) => word(index),
        };
    }
}
