//! What tests of class files share: an assembler and a generator of classes, a printer of them,
//! the JDKs of this machine, and readers that share nothing with ours. For tests only.
#![forbid(unsafe_code)]
#![allow(missing_docs)]

pub mod assemble;
pub mod dump;
pub mod folder;
pub mod generate;
pub mod jdk;
pub mod readers;
