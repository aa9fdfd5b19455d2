//! The recorded instant of a sample: registers, words of the stack, and the code to which they
//! point.

use super::methods::Named;
use crate::evidence;
use crate::jvm::code_cache::CodeCache;
use crate::jvm::symbols;
use crate::sampling::sample::Sample;
use crate::truth::context::Truth as Known;
use hotspot::arch::{Arch, Native, Registers};
use hotspot::code::{Blob, CodeMemory};
use hotspot::debug_info::Scope;
use oracle::recorded::{
    RecordedBlob, RecordedDebugInfo, RecordedInstant, RecordedScope, RecordedWord,
};
use oracle::trace::Frame;
use vm::memory::kernel::peek_bytes;

/// This many bytes of code are kept before the program counter,
const BEFORE: usize = 32;

/// and this many from the program counter on.
const BEHIND: usize = 64;

/// This many words of the stack are kept.
const WORDS: usize = 256;

/// The pieces of code so far, by number.
struct Blobs<'a> {
    cache: Option<&'a CodeCache>,
    known: Vec<Blob>,
}

impl Blobs<'_> {
    fn at(&mut self, address: usize) -> Option<usize> {
        let blob = self.cache?.blob(address)?;
        let known = self.known.iter().position(|known| *known == blob);
        Some(known.unwrap_or_else(|| {
            self.known.push(blob);
            self.known.len() - 1
        }))
    }

    fn end(self) -> Vec<RecordedBlob> {
        let record = |blob: Blob| RecordedBlob {
            start: hex(blob.start),
            frame_words: self.cache.and_then(|cache| cache.frame_words(blob.start)),
            method: self.cache.and_then(|cache| cache.method(&blob)),
            name: blob.name,
            tier: blob.tier,
        };
        self.known.into_iter().map(record).collect()
    }
}

/// The instant of `sample`, whose walk was `walk`.
pub fn of(
    known: &Known,
    sample: &Sample,
    walk: &[Frame],
    named: &mut Named<'_>,
) -> RecordedInstant {
    let Registers { pc, sp, fp, .. } = sample.registers;
    let mut blobs = Blobs {
        cache: known.jvm.code_cache().ok(),
        known: vec![],
    };
    let code = blobs.at(pc);
    let seen = sample.seen.as_ref();
    let pc_of_anchor = seen.map(|seen| seen.last.pc).filter(|&pc| pc != 0);
    RecordedInstant {
        pc: hex(pc),
        sp: hex(sp),
        fp: hex(fp),
        anchor: seen.map(|at| (at.state.name().into(), hex(at.last.sp), hex(at.last.pc))),
        code,
        library: code.is_none().then(|| symbols::library(pc)).flatten(),
        anchor_code: pc_of_anchor.and_then(|pc| blobs.at(pc)),
        bytes_before: hex_bytes(&peek_bytes(pc.saturating_sub(BEFORE), BEFORE)),
        bytes: hex_bytes(&peek_bytes(pc, BEHIND)),
        words: (0..WORDS)
            .map_while(|at| sample.stack_top.word(at))
            .map(|word| of_word(&mut blobs, word))
            .collect(),
        debug_info: debug_info(known, sample, walk, named),
        blobs: blobs.end(),
    }
}

fn of_word(blobs: &mut Blobs<'_>, word: usize) -> RecordedWord {
    let blob = blobs.at(word);
    let call = match blob {
        Some(_) => peek_bytes(word.saturating_sub(Native::CALL_SIZE), Native::CALL_SIZE),
        None => vec![],
    };
    let target = Native::call_target(&call, word);
    RecordedWord {
        v: hex(word),
        b: blob,
        call: hex_bytes(&call),
        calls: target.and_then(|target| blobs.at(target)),
    }
}

fn debug_info(
    known: &Known,
    sample: &Sample,
    walk: &[Frame],
    named: &mut Named<'_>,
) -> Option<RecordedDebugInfo> {
    let around = evidence::records_around(known.jvm, sample)?;
    let shown = |scope: &Scope| {
        let mut reported = around.behind.iter().zip(walk);
        let shown = reported.find(|(behind, _)| behind.method == scope.method);
        shown.map(|(_, frame)| frame.method)
    };
    let mut record = |scope: &Scope| {
        let by_hook = scope.hook.and_then(|hook| known.methods.key_of(hook));
        if let Some(method) = shown(scope) {
            named.scope(method, scope.bci);
        }
        RecordedScope {
            method: hex(scope.method),
            hook: scope.hook.map(|hook| hook.0),
            key: by_hook.map(|method| named.scope(method, scope.bci)),
            bci: scope.bci,
        }
    };
    Some(RecordedDebugInfo {
        before: around
            .before
            .as_ref()
            .map(|scopes| scopes.iter().map(&mut record).collect()),
        behind: around.behind.iter().map(&mut record).collect(),
    })
}

fn hex(value: usize) -> String {
    format!("{value:x}")
}

fn hex_bytes(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
