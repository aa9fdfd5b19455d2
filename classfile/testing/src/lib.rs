//! The common parts of tests of class files: an assembler and a generator of classes, a printer of
//! classes, the JDKs of this machine, and readers that share no code with `classfile`. For tests
//! only.
#![forbid(unsafe_code)]
#![allow(missing_docs)]

pub mod assemble;
pub mod dump;
pub mod folder;
pub mod generate;
pub mod jdk;
pub mod readers;
