//! What the tests share.
#![allow(dead_code)]

pub mod assemble;
pub mod corpus;
pub mod dump;
pub mod generate;
pub mod jdk;
