//! Rewrites class files: a lossless codec, and hooks that keep a trace stack.
//!
//! [`rewrite()`] takes a class file and gives it hooks at every method's entry and at every way
//! out; [`CodeMap`] tells where the hooks are and which original BCI a rewritten one stands for.
//! [`identity()`] reads a class file whole and writes it back.
//!
//! The crate does no I/O and knows no JVM. What it does not edit it copies byte for byte. Sources:
//! the Java Virtual Machine Specification (JVMS), whose sections the documentation names.
//!
//! ```
//! use instrumenter::{Choice, HookId, MethodInfo, rewrite};
//! # fn f(class_file: &[u8]) -> Result<(), instrumenter::Malformed> {
//! let mut next = 0;
//! let mut all = |_: &MethodInfo<'_>| {
//!     next += 1;
//!     Choice::Hook { id: HookId(next), check: false }
//! };
//! let rewritten = rewrite(class_file, "java/lang/StackwitnessTrace", &mut all)?;
//! for method in &rewritten.hooked {
//!     println!("{}{}: {} hooks", method.name, method.descriptor, method.map.windows().count());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Proof
//! Ordinary tests take java.base of every JDK found, and generated classes. More takes minutes:
//!
//! ```sh
//! # Every module of every JDK, the jars of Debian's packages, and those of STACKWITNESS_JARS
//! cargo test --release -p instrumenter -- --ignored --nocapture
//! # Programs print and write the same, hooked and not, interpreted and compiled
//! cargo test --release --test same_behaviour -- --ignored --nocapture
//! # Arbitrary bytes and mutated classes (in instrumenter/; wants cargo-fuzz and a nightly compiler)
//! cargo +nightly fuzz run rewrite -- -max_total_time=600
//! ```
#![forbid(unsafe_code)]

mod body;
pub mod class;
pub mod code;
mod constructor;
mod coverage;
mod descriptor;
mod entry;
mod error;
mod exceptions;
mod field;
mod frames;
mod hooks;
mod identity;
mod inferred;
pub mod instruction;
mod layout;
mod map;
mod method;
pub mod opcode;
mod outcome;
pub mod outline;
mod plan;
pub mod pool;
mod reader;
mod rewrite;
mod scan;
pub mod select;
mod simulate;
mod stack_map;
mod switch;
mod tables;
mod types;

pub use error::{Malformed, Result};
pub use field::add_field;
pub use hooks::{HookId, hook_id_of};
pub use identity::identity;
pub use map::{CodeMap, HookKind, HookWindow, OriginalBci, Presence, RewrittenBci};
pub use outcome::{HookedMethod, LeftMethod, Reason, Rewritten};
pub use plan::{Choice, MethodInfo, Plan};
pub use reader::Reader;
pub use rewrite::rewrite;
