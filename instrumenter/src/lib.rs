//! Rewrites class files: hooks that keep a trace stack.
//!
//! # Purpose
//! The truth about a thread's stack is a stack that the program itself keeps. [`rewrite()`] gives
//! the methods that a [`Plan`] chooses hooks: one at the entry pushes the method's [`HookId`], one
//! at every way out pops it. A profiler's walk is then compared with these entries. [`CodeMap`] has
//! the positions of the hooks, the original BCI of each rewritten BCI, and what a frame's BCI
//! proves about the frame's entry ([`Presence`]).
//!
//! ```
//! use instrumenter::{Choice, HookClass, HookId, MethodInfo, Tokens, rewrite};
//! # fn f(class_file: &[u8]) -> Result<(), instrumenter::Malformed> {
//! let mut next = 0;
//! let mut all = |_: &MethodInfo<'_>| {
//!     next += 1;
//!     Choice::Hook { id: HookId(next), check: false, plain: false }
//! };
//! let name = "java/lang/StackwitnessTrace";
//! let hooks = HookClass { name, tokens: Tokens::WhereNeeded };
//! let rewritten = rewrite(class_file, hooks, &mut all)?;
//! for method in &rewritten.hooked {
//!     println!("{}{}: {} hooks", method.name, method.descriptor, method.map.windows().count());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # How
//! `choose` chooses the methods. `layout` scans a method's code and computes new positions. `cover`
//! says which code the catch-all handlers cover, which pop the entry. `frames` makes the new stack
//! map. `write` writes the method. `hooks` has the code of the hooks, and `map` the relation of old
//! and new BCIs. Arrows between these folders go one way. The format itself is the crate
//! `classfile`.
//!
//! # The caller's duties
//! - The [`HookClass`] has the static methods that [`Tokens`] lists, and `check()V`.
//! - [`HookId`]s are the caller's to choose, and should be unique among the methods of a run.
//! - [`OriginalBci`] and [`RewrittenBci`] are different types: a walk of rewritten code gives rewritten
//!   BCIs.
//!
//! # Limits
//! - Hooks change the program: a method gets more bytes and more calls, and up to three more slots
//!   of operand stack. Methods that keep a token get a local variable or two.
//!   [`HookedMethod::growth`] says what a method got.
//! - Some methods cannot be hooked. They are left as they are, each with its [`Reason`].
//! - An exception that leaves `super(...)` passes the constructor without a hook: no handler can cover
//!   that call (JVMS 4.10.1.4).
//! - Unknown attributes of code are kept as they are, and counted.
//! - No I/O, and no knowledge of any JVM. Constants of the file keep their indices, and unedited
//!   parts are copied byte for byte. The result satisfies JVMS 4.9 and 4.10 where the class did.
//!
//! # Proof
//! Ordinary tests take java.base of every JDK found, and generated classes. Further tests take
//! minutes:
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

mod choose;
mod cover;
mod field;
mod frames;
mod hooks;
mod layout;
mod map;
mod method;
mod outcome;
mod reason;
mod rewrite;
mod write;

pub use choose::{Choice, MethodInfo, Pattern, Patterns, Plan};
pub use classfile::entry::{HookId, Presence};
pub use classfile::{Malformed, Result};
pub use field::add_field;
pub use hooks::{HookClass, Tokens, hook_id_of};
pub use map::{CodeMap, HookKind, HookWindow, OriginalBci, RewrittenBci};
pub use outcome::{Growth, HookedMethod, LeftMethod, Rewritten};
pub use reason::Reason;
pub use rewrite::rewrite;
