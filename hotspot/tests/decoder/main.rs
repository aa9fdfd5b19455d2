//! The decoder of x86-64 beside iced-x86, another decoder.
//!
//! Our walker and the truth of steps rest on one decoder, so a mistake in it would confirm itself. Here each instruction is
//! decoded by both. They must agree on the length, on where the code goes on, on the stack pointer and on the registers
//! that change. The decoder may refuse what iced decodes: then code is not followed. How many it refuses is counted.

mod compare;
mod live;
mod opcodes;

use compare::{Compared, Comparison};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The differences, and how many instructions were compared.
#[derive(Debug, Default)]
pub struct Found {
    same: u64,
    refused: u64,
    /// A difference of each of iced's instructions.
    differences: BTreeMap<String, String>,
    /// The bytes of some that were refused.
    examples: BTreeMap<String, [u8; 16]>,
}

impl Found {
    /// Compares the instruction at the start of `code`, and returns its length.
    fn add(&mut self, comparison: &mut Comparison, code: &[u8; 16]) -> usize {
        match comparison.of(code) {
            Ok(Compared::Same(length)) => {
                self.same += 1;
                length
            }
            Ok(Compared::Refused(length)) => {
                self.refused += 1;
                if self.examples.len() < 400 {
                    self.examples.insert(compare::name(code), *code);
                }
                length
            }
            Ok(Compared::Invalid) => 1,
            Err(difference) => {
                self.differences.insert(compare::name(code), difference);
                1
            }
        }
    }

    /// Adds those of other code.
    fn merge(&mut self, other: Found) {
        self.same += other.same;
        self.refused += other.refused;
        self.differences.extend(other.differences);
        self.examples.extend(other.examples);
    }

    /// Fails if there is a difference.
    #[track_caller]
    fn check(&self, what: &str) {
        let Found { same, refused, .. } = self;
        println!("{what}: {same} instructions are the same, {refused} are refused");
        let names: Vec<_> = self.examples.keys().map(String::as_str).collect();
        println!("refused: {}", names.join(", "));
        assert!(
            self.differences.is_empty(),
            "{what}: {:#?}",
            self.differences
        );
    }
}

/// The bytes of `code` from `at` on, and `nop` behind.
fn bytes_at(code: &[u8], at: usize) -> [u8; 16] {
    let rest = &code[at..code.len().min(at + 16)];
    let mut bytes = [0x90; 16];
    bytes[..rest.len()].copy_from_slice(rest);
    bytes
}

/// Compares the instructions of `code` one after another.
fn row(comparison: &mut Comparison, code: &[u8]) -> Found {
    let (mut found, mut at) = (Found::default(), 0);
    while at + 16 <= code.len() {
        at += found.add(comparison, &bytes_at(code, at));
    }
    found
}

/// Prefixes, an opcode and what follows, such as they come in code and such as they do not.
fn code() -> impl Strategy<Value = [u8; 16]> {
    let legacy = prop::sample::select(&[0x66, 0x67, 0x2e, 0x3e, 0x64, 0x65, 0xf0, 0xf2, 0xf3][..]);
    let prefixes = prop::collection::vec(legacy, 0..3);
    let rex = prop::option::of(0x40u8..0x50);
    let escape = prop::sample::select(vec![
        vec![],
        vec![0x0f],
        vec![0x0f, 0x38],
        vec![0x0f, 0x3a],
        vec![0xc5],
        vec![0xc4],
        vec![0x62],
    ]);
    (prefixes, rex, escape, any::<[u8; 16]>()).prop_map(|(prefixes, rex, escape, rest)| {
        let mut all = prefixes;
        all.extend(rex);
        all.extend(escape);
        all.extend(rest);
        bytes_at(&all, 0)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200_000))]

    #[test]
    fn any_bytes_that_decode_are_decoded_as_iced_decodes_them(code in code()) {
        let difference = Comparison::new().of(&code).err();
        prop_assert_eq!(difference, None);
    }
}

/// Code of real JVMs, from the instruction at which a thread was interrupted.
#[test]
fn recorded_code_is_decoded_as_iced_decodes_it() {
    let (mut found, mut comparison) = (Found::default(), Comparison::new());
    for file in ["jdk-17", "jdk-21", "jdk-25"] {
        let path = format!("tests/recorded/{file}.jsonl");
        let text = std::fs::read_to_string(path).expect("recorded samples");
        for line in text.lines() {
            let sample: serde_json::Value = serde_json::from_str(line).expect("a sample");
            let bytes = sample["instant"]["bytes"].as_str().map(unhex);
            found.merge(row(&mut comparison, &bytes.unwrap_or_default()));
        }
    }
    found.check("recorded code");
    assert!(found.same > 1_000, "{found:?}");
    // Behind the code may stand tables.
    assert!(found.refused * 1_000 < found.same, "{found:?}");
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks_exact(2);
    let byte = |pair: &[u8]| {
        std::str::from_utf8(pair)
            .ok()
            .map(|pair| u8::from_str_radix(pair, 16))
    };
    digits
        .map(|pair| byte(pair).expect("ASCII").expect("hexadecimal"))
        .collect()
}
