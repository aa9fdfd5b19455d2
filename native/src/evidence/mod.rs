//! Mismatches: their kinds are counted, and some are recorded with their evidence.

mod code;
pub mod compiled;
mod instant_facts;
mod intact;
mod kinds;
mod proofs;
mod reporter;
mod reservoirs;
mod return_address;
mod share;
mod shown;
pub mod state_check;

pub use code::{code_of, describe, kind_at};
pub use intact::is_intact;
pub use kinds::MismatchKind;
pub use proofs::Sampled;
pub use reporter::{Found, Reporter};
