//! The class-file format: a lossless codec, the operators of the JVM, and outlines of classes.
//!
//! # Purpose
//! Three users need the same knowledge of class files. `instrumenter` edits them, and must keep
//! each byte that it does not edit. `oracle` asks what an instruction can call, initialise or
//! throw. The agent builds a class file for a class that has none. So the knowledge is here, in one
//! place:
//!
//! | module | holds | JVMS |
//! |---|---|---|
//! | [`mod@file`] | the class file, its members, attributes and `Code` | 4.1, 4.5 to 4.7 |
//! | [`pool`] | the constant pool, and constants that an edit appends | 4.4 |
//! | [`descriptor`] | field and method descriptors | 4.3 |
//! | [`operators`] | one table with a row for each opcode: operands, effect, flow, may it throw | 6.5 |
//! | [`instruction`] | instructions, decoded and written | 4.9, 6.5 |
//! | [`types`] | stack map frames, and the types that follow from instructions | 4.7.4, 4.10.1 |
//! | [`outline`] | methods, and what each instruction may call, initialise, link or throw | 5.4, 5.5, 6.5 |
//! | [`parts`] | a class file from JVMTI's description of a class | 4.1 |
//!
//! Lengths, stack effects, calls, branches and what may throw all follow from the rows of
//! [`operators`]; nothing else lists opcodes.
//!
//! ```
//! # fn f(class_file: &[u8]) -> classfile::Result<()> {
//! let outline = classfile::Outline::read(class_file)?;
//! for method in &outline.methods {
//!     for site in method.code.iter().flat_map(|code| &code.sites) {
//!         println!("{:?} at BCI {}: {:?}", method.name, site.bci, site.refers);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # The caller's duties
//! - All models borrow the file: keep the bytes as long as the model.
//! - Names and descriptors are the file's bytes, in modified UTF-8 (JVMS 4.4.7). Code that shows
//!   them must convert them.
//! - Offsets in a [`Malformed`] count from the start of the file, BCIs from the start of the method's
//!   code.
//!
//! # Limits
//! - The crate verifies nothing beyond what it needs to read: a class file that can be read may be
//!   refused by a JVM. Each [`Malformed`] names the broken rule and its section.
//! - Attributes that the crate does not know are kept as bytes. [`file::CodeTable`] says which hold
//!   code offsets.
//! - No I/O, and no knowledge of any JVM.
//!
//! # Proof
//! [`identity()`] reads a class file whole and writes it back. The tests do this with all classes
//! of java.base of each JDK found. They also compare instructions, calls and exception tables with
//! `cafebabe` and `classfile-parser`, which share no code with this crate.
#![forbid(unsafe_code)]

pub mod access;
pub mod descriptor;
pub mod entry;
mod error;
pub mod file;
mod identity;
pub mod instruction;
pub mod operators;
pub mod outline;
pub mod parts;
pub mod pool;
mod reader;
pub mod types;

pub use error::{Malformed, Result};
pub use identity::identity;
pub use operators::Opcode;
pub use outline::Outline;
pub use reader::Reader;
