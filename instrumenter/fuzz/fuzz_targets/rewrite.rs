//! `cargo +nightly fuzz run rewrite`, best with real classes in `corpus/rewrite`.
#![no_main]

#[path = "../body.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::check(data));
