//! The common parts of the tests.
#![allow(dead_code)]

pub mod corpus;
